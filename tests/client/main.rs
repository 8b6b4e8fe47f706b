//! The MCP client, against servers in the same program and against scripted peers.

#![cfg(feature = "client")]
#![allow(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

mod calls;
mod definitions;
mod hostile;
mod legacy;
mod lists;
mod passed_questions;
mod peer;
mod questions;
mod results;
mod sources;
mod streams;
