//! A store in SQLite that also finds passages by their vectors.
//!
//! A search reads the codes of its space, and compares them with the code of the question. The vectors of the nearest passages are then
//! compared exactly.

mod find;
mod save;
mod scan;
mod statements;

use std::rc::Rc;

use super::{SqlitePassages, check_prefix};
use crate::config::ConfigError;
use crate::limits::{RAG_SCANNED, RAG_SCANNED_MOST};
use crate::rag::vector_index::VectorIndex;

/// Returns the SQL that creates the tables of the vectors, for a migration of the program after that of [`migration`](super::migration).
///
/// # Errors
/// The prefix does not begin with `a-z`, contains other characters than `a-z`, `0-9` and `_`, or is longer than 31 characters.
pub fn vector_migration(prefix: &str) -> Result<String, ConfigError> {
    check_prefix(prefix)?;
    Ok(super::statements::named(include_str!("../migrations/0002_vectors.sql"), prefix))
}

/// A store in a database with SQLite that finds passages by their words, their meaning, or both.
///
/// It has the tables of [`migration`](super::migration) and of [`vector_migration`]. An [`Indexer`](crate::rag::Indexer) saves the vectors.
/// A search reads a code of each passage of its space, which is 1 row and 0.2 bytes for each dimension. For more than 50 000 passages in one
/// space, or for many searches at the same time, use [`vector_index`](Self::vector_index).
#[derive(Clone)]
#[must_use]
pub struct SqliteVectors {
    passages: SqlitePassages,
    /// The service that finds the nearest vectors. Without one, a search reads the codes.
    index: Option<Rc<dyn VectorIndex>>,
    /// The most passages of a space in which a search reads the codes.
    most_scanned: usize,
}

impl SqliteVectors {
    /// Creates a store with the passages of `passages`.
    pub fn new(passages: SqlitePassages) -> Self {
        Self { passages, index: None, most_scanned: RAG_SCANNED }
    }

    /// Finds the nearest passages with another service, such as Vectorize, instead of reading the codes. The database still has the
    /// vectors, and decides which passages a caller sees.
    pub fn vector_index(self, index: Rc<dyn VectorIndex>) -> Self {
        Self { index: Some(index), ..self }
    }

    /// Sets the most passages of a space in which a search reads the codes: 50 000 by default, at most 100 000. The codes of 100 000
    /// passages with 768 dimensions have 15 MB.
    pub fn most_scanned(self, passages: usize) -> Self {
        Self { most_scanned: passages.min(RAG_SCANNED_MOST), ..self }
    }

    /// Returns the store that finds passages by their words, and that saves documents.
    pub fn passages(&self) -> &SqlitePassages {
        &self.passages
    }
}
