//! The words of texts in plain language, for search (features `rag` and `gateway`).
//!
//! `split` divides a text into words, and `stem` reduces a word to its stem. `query` has the words of a question, and `score` says how well
//! texts match them. `work` counts the bytes that a function reads, for tests of linear time.

pub(crate) mod query;
pub(crate) mod score;
pub(crate) mod split;
pub(crate) mod stem;
pub(crate) mod work;

#[cfg(feature = "rag")]
pub use split::is_word_character;

/// Returns the stems of the words of a text, each once, without frequent words such as "the". At most 64.
///
/// ```
/// assert_eq!(edge_mcp::rag::stems("How do I rotate the keys?"), ["rotat", "kei"]);
/// ```
#[cfg(feature = "rag")]
pub fn stems(text: &str) -> Vec<String> {
    query::Words::of(text).stems().map(str::to_owned).collect()
}
