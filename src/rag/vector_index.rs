//! An index of vectors outside the database.

use std::error::Error;
use std::fmt::{self, Write};

use futures::future::LocalBoxFuture;
use sha2::{Digest, Sha256};

use super::passage::{PassageId, Space};

/// An index of vectors outside the database, such as Vectorize. It returns ids only: the database decides which passages a caller sees.
///
/// `edge_mcp::worker::vectorize(env, "VECTORS")` returns the index of a binding.
pub trait VectorIndex {
    /// Returns the ids of the vectors nearest to the query in its namespace, nearest first, at most `query.most` (up to 100).
    ///
    /// # Errors
    /// The index failed.
    fn query(&self, query: VectorQuery) -> LocalBoxFuture<'_, Result<Vec<PassageId>, VectorIndexError>>;

    /// Adds vectors, or replaces those with the same ids. At most 500 per call; a change is visible after some seconds.
    ///
    /// # Errors
    /// The index failed, or there are more than 500 vectors. Then no vector was added.
    fn upsert(&self, namespace: &str, vectors: Vec<IndexedVector>) -> LocalBoxFuture<'_, Result<(), VectorIndexError>>;

    /// Deletes vectors. An id without a vector is not an error. A change is visible after some seconds.
    ///
    /// # Errors
    /// The index failed. Some of the vectors may be deleted.
    fn delete(&self, ids: &[PassageId]) -> LocalBoxFuture<'_, Result<(), VectorIndexError>>;
}

/// A search for the vectors that are nearest to a vector.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorQuery {
    /// The vector.
    pub vector: Vec<f32>,
    /// The namespace to search in: [`Space::namespace`].
    pub namespace: String,
    /// The most ids to return, up to 100.
    pub most: usize,
}

/// A vector of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedVector {
    /// The number of the passage.
    pub id: PassageId,
    /// The vector. All vectors of an index have the same length.
    pub vector: Vec<f32>,
}

/// The error of a [`VectorIndex`]: a sentence for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorIndexError(pub String);

impl fmt::Display for VectorIndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for VectorIndexError {}

/// The most bytes of a namespace of Vectorize.
const NAMESPACE_BYTES: usize = 64;

/// The bytes of the digest in a namespace.
const DIGEST_BYTES: usize = 20;

impl Space {
    /// Returns the namespace of the space in a [`VectorIndex`]: `INDEX/NAME`, such as `docs/acme`. If one of the names contains a character
    /// other than `A-Z a-z 0-9 . _ -`, or if the namespace would have more than 64 bytes, it is a digest of both names in 40 hexadecimal
    /// digits. Two spaces never have the same namespace.
    ///
    /// ```
    /// use edge_mcp::rag::Space;
    ///
    /// let space = |name: &str| Space { index: "docs".into(), name: name.into() };
    /// assert_eq!(space("acme").namespace(), "docs/acme");
    /// assert_eq!(space("acme & co").namespace().len(), 40);
    /// ```
    pub fn namespace(&self) -> String {
        let Self { index, name } = self;
        let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        let namespace = format!("{index}/{name}");
        if namespace.len() <= NAMESPACE_BYTES && is_plain(index) && is_plain(name) {
            return namespace;
        }
        // The length tells the space `b/c` of the index `a` from the space `c` of the index `a/b`.
        let digest = Sha256::digest(format!("{}/{namespace}", index.len()));
        digest.iter().take(DIGEST_BYTES).fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn namespace(index: &'static str, name: &str) -> String {
        Space { index: index.into(), name: name.into() }.namespace()
    }

    /// R41: a namespace has at most 64 bytes, and belongs to one space.
    #[test]
    fn each_space_has_its_own_namespace() {
        let (longest, too_long) = ("x".repeat(59), "x".repeat(60));
        assert_eq!(namespace("docs", ""), "docs/");
        assert_eq!(namespace("docs", "Team_1.a-b"), "docs/Team_1.a-b");
        assert_eq!(namespace("docs", &longest), format!("docs/{longest}"));
        let mut seen = BTreeSet::new();
        for (index, name) in [
            ("docs", too_long.as_str()),
            ("docs", "a b"),
            ("docs", "a/b"),
            ("docs/a", "b"),
            ("docs", "ü"),
            ("docs", "a\0b"),
            ("docs", "\""),
            ("", "/"),
            ("/", ""),
        ] {
            let namespace = namespace(index, name);
            let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            assert!(namespace.len() == 40 && namespace.bytes().all(is_digit), "{namespace}");
            assert!(seen.insert(namespace), "{index:?} {name:?}");
        }
        // A stored vector keeps its namespace.
        assert_eq!(namespace("docs", "a b"), "719d10ec7ddc83505099973bc28a8045763f2e66");
    }
}
