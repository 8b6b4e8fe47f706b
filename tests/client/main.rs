//! The MCP client, against servers in the same program and against scripted peers.

#![cfg(feature = "client")]
#![allow(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

mod agents;
mod calls;
mod configuration;
mod contents;
mod costly_schemas;
mod definitions;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../spec/fake_model.rs"]
mod fake_model;
mod hostile;
mod hostile_lists;
mod hostile_sessions;
#[path = "../conformance/client/src/http1.rs"]
mod http1;
mod legacy;
mod lists;
#[path = "../conformance/client/src/host.rs"]
mod local_host;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../spec/network.rs"]
mod network;
mod parallel_calls;
mod passed_questions;
mod peer;
mod questions;
mod received_bytes;
mod requests;
mod results;
mod retries;
mod scripted;
mod sessions;
mod sources;
mod standing_stream;
mod streams;
mod tcp;
mod tokens;
