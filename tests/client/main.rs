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
mod app_only;
mod calls;
mod configuration;
mod contents;
mod costly_schemas;
mod definitions;
mod discovery;
mod errors;
mod extensions;
mod foreign;
mod forwarded;
mod frontmatter;
mod hostile;
mod hostile_lists;
mod hostile_sessions;
mod hostile_skills;
#[path = "../conformance/client/src/http1.rs"]
mod http1;
mod legacy;
mod lists;
#[path = "../conformance/client/src/host.rs"]
mod local_host;
mod parallel_calls;
mod passed_questions;
mod peer;
mod questions;
mod received_bytes;
mod redirects;
mod rejections;
mod requests;
mod results;
mod retries;
mod scripted;
mod sessions;
mod sign_in;
mod skills;
mod sources;
mod standing_stream;
mod streams;
mod tasks;
mod tcp;
mod telemetry;
mod tokens;
mod untrusted;

use edge_mcp_test_support::fake_model;
