//! Compares the store in memory with a simple model. The example `passage_store` also compares it with a store in SQLite.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod comparison;
mod isolation;
mod model;

use std::rc::Rc;

use comparison::Comparison;
use edge_mcp::rag::MemoryStore;
use edge_mcp::testing;
use edge_mcp_test_support::random::{self, Random};

/// R22, R26, R40, R62, R66, R72, R84, R85 and R103: after random changes, the store has the passages and the edges of the model.
#[test]
fn the_store_in_memory_has_the_passages_of_a_model() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        testing::run(async {
            let mut comparison = Comparison::new(vec![Box::new(MemoryStore::new())]);
            for _ in 0..100 {
                comparison.step(&mut random).await;
            }
        });
    }
}

fn store() -> Rc<MemoryStore> {
    Rc::new(MemoryStore::new())
}

/// R91: the correction of a word does not tell whether others use it.
#[test]
fn corrections_do_not_depend_on_the_documents_of_others() {
    testing::run(async { isolation::corrections(&store()).await });
}

/// R91: the scores of own passages do not tell how many passages of others contain a word.
#[test]
fn scores_do_not_depend_on_the_documents_of_others() {
    testing::run(async { isolation::scores(&store()).await });
}

/// R91: the order of own passages does not tell how many passages of others contain a word, or how long these passages are.
#[test]
fn the_order_of_passages_does_not_depend_on_the_documents_of_others() {
    testing::run(async { isolation::order(&store()).await });
}

/// R85 and R91: connected passages do not tell the links and the sections of others.
#[test]
fn connections_do_not_depend_on_the_documents_of_others() {
    testing::run(async { isolation::connections(&store()).await });
}

/// R88 and R91: a caller gets the same bytes, whatever other documents are stored.
#[test]
fn random_documents_of_others_have_no_effect() {
    for seed in 0..2 {
        testing::run(async { isolation::random(&store(), &mut Random::new(seed), 6).await });
    }
}
