//! A gateway in front of other servers: servers in the same program, and scripted ones.

#![cfg(feature = "gateway")]
#![allow(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

mod apps;
mod breaker;
mod call_tool;
mod calls;
mod catalogue;
mod hostile;
mod lists;
mod loops;
mod names;
mod passed_on;
#[cfg(feature = "tasks")]
mod passed_tasks;
#[path = "../client/peer.rs"]
#[expect(dead_code, reason = "the tests of the client use the rest")]
mod peer;
mod pins;
mod questions;
mod servers;
mod skills;
mod tasks;
mod traces;
mod uris;
