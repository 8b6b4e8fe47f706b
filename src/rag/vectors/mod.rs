//! The arithmetic of vectors, without a store. A search by vectors has two stages: codes with one bit for each dimension find candidates
//! among all passages, and vectors with 8 bits for each dimension compare the candidates.

pub(in crate::rag) mod code;
pub(in crate::rag) mod int8;
#[cfg(test)]
mod recall;
