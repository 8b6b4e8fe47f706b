//! Compares the store in memory with a simple model. The example `passage_store` also compares it with a store in SQLite.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod comparison;
mod model;
#[path = "../property/random.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the other functions")]
mod random;

use comparison::Comparison;
use edge_mcp::rag::MemoryStore;
use edge_mcp::testing;
use random::Random;

/// R22, R26, R40, R62, R66, R72, R84, R85 and R103: after random changes, the store has the passages and the edges of the model.
#[test]
fn the_store_in_memory_has_the_passages_of_a_model() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        testing::run(async {
            let mut comparison = Comparison::new(vec![Box::new(MemoryStore::new())]);
            for _ in 0..100 {
                comparison.step(&mut random).await;
            }
        });
    }
}
