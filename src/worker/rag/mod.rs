//! The bindings for retrieval (feature `rag`): D1 as a store of passages.

pub(super) mod d1;
