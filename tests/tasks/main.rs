//! Tests of durable tasks.

// Tests and their helpers may panic when an assumption fails.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod methods;
