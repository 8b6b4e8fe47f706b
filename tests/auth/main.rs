//! Who may call: the guard, the validators, scopes, metadata, the rate limit and the settings, each asked through an endpoint.
//!
//! The authorization server and its keys are made here; tests/e2e/authorization.test.mjs asks a real one.

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

mod claims;
mod guard;
mod introspection;
mod issuer;
mod jwt;
mod metadata;
#[path = "../spec/network.rs"]
mod network;
mod rate_limit;
mod scopes;
mod settings;
#[allow(dead_code, reason = "the tests of the chapters use more of it")]
#[path = "../spec/support.rs"]
mod support;
mod validators;
