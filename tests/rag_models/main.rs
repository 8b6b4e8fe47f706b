//! Tests of embedding models, rerankers and chat models: at endpoints, and on Workers AI.

// Tests and their helpers may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::panic, clippy::arithmetic_side_effects, clippy::indexing_slicing)]

mod chat;
mod embeddings;
mod fake_ai;
mod hostile;
mod rerankers;

use edge_mcp_test_support::{fake_model, network};
