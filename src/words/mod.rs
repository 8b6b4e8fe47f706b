//! The words of texts in plain language, for search (features `rag` and `gateway`).

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
