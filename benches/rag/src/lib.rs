//! The work of a search by vectors: the scan of codes, the comparison of candidates, and the recall of both. `main.rs` measures it on this
//! machine, and `scan.mjs` measures it in WebAssembly.

#![allow(dead_code, reason = "the library uses more of the files that this crate includes")]

#[path = "../../../src/base64.rs"]
mod base64;
mod rag;
#[path = "../../../tests/property/random.rs"]
mod random;
#[path = "../../../tests/support/src/vectors.rs"]
mod vectors;

pub use rag::{Search, recall_of};
