//! The search by words.
//!
//! `split` divides a text into words, and `stem` reduces a word to its stem. A store saves the `impact` of each stem in each passage, by which
//! it finds candidates. `query` has the words of a question, and `rank` orders the candidates.

pub(super) mod impact;
pub(super) mod query;
pub(super) mod rank;
mod split;
mod stem;

/// Returns the stems of the words of a text, each once, without frequent words such as "the". At most 64.
///
/// ```
/// assert_eq!(edge_mcp::rag::stems("How do I rotate the keys?"), ["rotat", "kei"]);
/// ```
pub fn stems(text: &str) -> Vec<String> {
    query::Words::of(text).stems().map(str::to_owned).collect()
}
