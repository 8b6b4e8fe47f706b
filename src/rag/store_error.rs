//! The error of a store.

use super::filter::FilterError;
use super::filter::field::quoted;
use super::vector_index::VectorIndexError;
use crate::call::error::HandlerError;
use crate::storage::{DatabaseError, DatabaseFailure};

/// The error of a store. It converts into a [`HandlerError`].
#[derive(Clone, Debug)]
pub struct StoreError {
    /// The kind of the failure.
    pub kind: StoreFailure,
    /// The cause. The caller sees it only if the kind says so, and otherwise a fixed sentence.
    pub cause: String,
}

impl StoreError {
    /// Creates the error of a search in an index that does not exist.
    pub(super) fn unknown_index(name: &str) -> Self {
        Self { kind: StoreFailure::UnknownIndex, cause: format!("Unknown index {}.", quoted(name)) }
    }

    /// Compares the model and the dimensions of the vectors of an index with others.
    pub(super) fn check_model(of_index: (&str, usize), other: (&str, usize)) -> Result<(), Self> {
        if of_index == other {
            return Ok(());
        }
        let ((model, dimensions), (of_other, other_dimensions)) = (of_index, other);
        let cause = format!(
            "the index has vectors of `{model}` with {dimensions} dimensions, and not of `{of_other}` with {other_dimensions}"
        );
        Err(Self { kind: StoreFailure::OtherModel, cause })
    }
}

/// The kind of a failure of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFailure {
    /// The tables do not exist.
    NotMigrated,
    /// The store does not answer, or failed.
    Unavailable,
    /// A constraint rejects the row of the program that [`save_with_row`](super::SqlitePassages::save_with_row) inserts.
    Constraint,
    /// The filter is not valid.
    Filter,
    /// The space has passages, but only in other indexes. The cause is a sentence for the caller.
    UnknownIndex,
    /// The document is not valid. The cause is a sentence for the caller.
    Document,
    /// The index has vectors of another embedding model.
    OtherModel,
    /// The store does not search so many vectors. The cause is a sentence for the caller.
    TooManyVectors,
}

impl From<FilterError> for StoreError {
    fn from(error: FilterError) -> Self {
        Self { kind: StoreFailure::Filter, cause: error.to_string() }
    }
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        let kind = match error.kind {
            DatabaseFailure::NotMigrated => StoreFailure::NotMigrated,
            DatabaseFailure::Constraint => StoreFailure::Constraint,
            _ => StoreFailure::Unavailable,
        };
        Self { kind, cause: error.to_string() }
    }
}

impl From<VectorIndexError> for StoreError {
    fn from(VectorIndexError(cause): VectorIndexError) -> Self {
        Self { kind: StoreFailure::Unavailable, cause }
    }
}

impl From<StoreError> for HandlerError {
    fn from(StoreError { kind, cause }: StoreError) -> Self {
        let message = match kind {
            StoreFailure::NotMigrated => {
                "The search index has no tables. Its operator must apply the migrations: `npx wrangler d1 migrations apply DB`."
            }
            StoreFailure::Unavailable => "The search index does not respond. Try again later.",
            StoreFailure::Constraint => {
                "The data was not saved, because it conflicts with data that is stored already."
            }
            StoreFailure::Filter => "The search failed, because a filter of this server is not valid.",
            StoreFailure::OtherModel => {
                "The search index was made with another embedding model. Its operator must make the vectors again."
            }
            StoreFailure::UnknownIndex | StoreFailure::TooManyVectors => return Self::new(cause),
            StoreFailure::Document => return Self::invalid(cause),
        };
        Self::new(message).because(cause)
    }
}
