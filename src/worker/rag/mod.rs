//! The bindings for retrieval (feature `rag`).
//!
//! | module | content |
//! |---|---|
//! | `d1` | the store of passages in D1 |

pub(super) mod d1;
