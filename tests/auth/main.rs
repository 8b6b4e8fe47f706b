//! Tests of authorization: the guard, the validators, scopes, metadata, the rate limit and the settings. Every test sends requests to an
//! endpoint.
//!
//! The tests simulate the authorization server and create its keys. tests/e2e/authorization.test.mjs uses a real one.

// Tests and their helpers may panic when an assumption fails.
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
mod credentials;
mod guard;
mod introspection;
mod issuer;
mod jwt;
mod metadata;
mod rate_limit;
mod scopes;
mod settings;
mod validators;

use edge_mcp_test_support as support;
use edge_mcp_test_support::network;
