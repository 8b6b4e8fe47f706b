//! Tests of the protocol rules, one file per chapter. The endpoint runs in the test process, without Workers.
//!
//! The comment of each test names the rules that it checks, by their numbers in `tests/rules/list.rs`.

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

mod about;
mod agents;
mod answers;
mod approval;
mod bad_input;
mod batches;
mod building;
mod caching;
mod chat_agent;
mod chat_model;
mod chat_resumed;
mod completion;
mod context;
mod crashes;
mod envelope;
mod fake_model;
mod header_params;
mod hooks;
mod input_faults;
mod input_required;
mod json_rpc;
mod kept_lists;
mod landing_page;
mod legacy;
mod limits;
mod lists;
mod live;
mod log_policy;
mod native;
#[allow(dead_code, reason = "the tests of authorization use more of it")]
mod network;
mod older_revisions;
mod one_request;
mod pages;
mod pagination;
mod panics;
mod platform;
mod prompts;
mod resources;
mod rounds;
mod running_steps;
mod schemas;
mod sessions;
mod state;
mod streamable_http;
mod support;
mod tools;
mod visibility;
mod workflows;
