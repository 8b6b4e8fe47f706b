//! Tests of the protocol rules, one file per chapter. The endpoint runs in the test process, without Workers.
//!
//! The comment of each test names the rules that it checks, by their numbers in `tests/rules/numbers.rs`.

// A test and its support functions may panic at the first unexpected value.
#![allow(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::struct_field_names,
    clippy::arithmetic_side_effects
)]

mod agents;
mod answers;
mod approval;
mod approval_lookups;
mod apps;
mod batches;
mod building;
mod cached_lists;
mod caching;
mod chat_agent;
mod chat_model;
mod chat_rounds;
mod clean_output;
mod client_extensions;
mod completion;
mod concurrent_steps;
mod context;
mod crashes;
mod envelope;
mod extensions;
mod forms;
mod header_params;
mod hooks;
mod hostile_input;
mod input_errors;
mod input_required;
mod json_rpc;
#[cfg(feature = "page")]
mod landing_page;
mod legacy;
mod limits;
mod lists;
mod log_policy;
mod native;
mod older_revisions;
mod pages;
mod pagination;
mod panics;
mod platform;
mod prompts;
mod registry;
mod request_isolation;
mod resources;
mod retries;
mod rounds;
mod schemas;
mod sessions;
mod skill_entry;
mod skills;
mod state;
mod streamable_http;
mod streams;
mod tools;
mod traces;
mod visibility;
mod workflows;

use edge_mcp_test_support as support;
use edge_mcp_test_support::{fake_model, network};
