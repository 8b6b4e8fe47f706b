//! The rules of the protocol, chapter by chapter: requests to an endpoint that runs here, without Workers.
//!
//! Each test names the rules that it holds by their numbers in the checklist that the project keeps.

// A test may stop at the first surprise, and its helpers too.
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
mod bad_input;
mod batches;
mod building;
mod caching;
mod completion;
mod envelope;
mod header_params;
mod hooks;
mod input_faults;
mod input_required;
mod json_rpc;
mod legacy;
mod limits;
mod lists;
mod live;
mod native;
mod older_revisions;
mod one_request;
mod pages;
mod panics;
mod prompts;
mod resources;
mod schemas;
mod sessions;
mod streamable_http;
mod support;
mod tools;
mod visibility;
mod workflows;
