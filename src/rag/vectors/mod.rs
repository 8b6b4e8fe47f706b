//! The arithmetic of vectors, without a store. A search by vectors has two stages: `code` finds candidates among all passages with one bit
//! for each dimension, by a `scan` of the codes, and `int8` compares the candidates with 8 bits for each dimension. `diverse` leaves out candidates that resemble
//! better ones.

pub(in crate::rag) mod code;
pub(in crate::rag) mod diverse;
pub(in crate::rag) mod int8;
#[cfg(test)]
mod recall;
pub(in crate::rag) mod scan;
