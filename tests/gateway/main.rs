//! A gateway in front of other servers.

// Tests and their helpers may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
