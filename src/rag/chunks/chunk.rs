//! A chunk.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::base64::URL_SAFE;

/// A part of a document under one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The headings above the chunk, from the title of the document to the innermost heading.
    pub heading: Vec<Rc<str>>,
    /// The text without its headings. A piece of a long code block or table also has the fences or the header row.
    pub text: String,
    /// The bytes of the document that the chunk consists of, without repeated text.
    pub range: Range<usize>,
    /// The metadata of the chunk alone, such as its page. A field replaces that of the same name in the metadata of the document. Filters and
    /// results see both, as the metadata of the passage, which [`check_metadata`](crate::rag::check_metadata) must accept.
    pub metadata: Map<String, Value>,
    /// The links of the chunk, for a search that follows [connections](crate::rag::Retriever::graph). [`add_links`](crate::rag::add_links)
    /// finds them. Links to a document that is not stored have no effect until it is.
    pub links: Vec<Link>,
}

/// A link to a document, or to one of its sections.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The name of the document. A link with a name that no document can have is ignored.
    pub document: String,
    /// The section: its heading, or the fragment of a URI, such as `warm-water` for the heading "Warm water". Only letters and digits count.
    /// A link without a section, or with one that the document does not have, leads to the first passage of the document.
    pub section: Option<String>,
}

impl Chunk {
    /// Returns a hash of the headings and the text: 43 characters of base64. Chunks with equal headings and texts have equal hashes.
    pub fn hash(&self) -> String {
        let mut digest = Sha256::new();
        // Each part follows its length, so different parts cannot have the same bytes.
        for part in self.heading.iter().map(AsRef::as_ref).chain([self.text.as_str()]) {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        URL_SAFE.encode(digest.finalize())
    }

    /// Returns the [anchor] of the innermost heading. It is empty without a heading.
    pub(in crate::rag) fn anchor(&self) -> String {
        self.heading.last().map(|heading| anchor(heading)).unwrap_or_default()
    }
}

/// Returns the form in which a heading and the fragments of links to it are equal: the letters and digits, in lower case. Programs that make
/// fragments from headings treat other characters in different ways.
pub(in crate::rag) fn anchor(heading: &str) -> String {
    heading.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the chunks of a document with the hashes by which a store recognizes them. The hashes are unique: the second of two equal chunks
/// has the suffix `.1`.
pub(in crate::rag) fn hashed(chunks: &[Chunk]) -> impl Iterator<Item = (&Chunk, String)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    chunks.iter().map(move |chunk| {
        let hash = chunk.hash();
        let times = seen.entry(hash.clone()).or_default();
        let unique = if *times == 0 { hash } else { format!("{hash}.{times}") };
        *times = times.saturating_add(1);
        (chunk, unique)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R62: a store keeps the chunks whose hashes stay.
    #[test]
    fn equal_chunks_of_a_document_have_different_hashes() {
        let chunk =
            |heading: &str, text: &str| Chunk { heading: vec![heading.into()], text: text.into(), ..Chunk::default() };
        let chunks = [chunk("a", "b"), chunk("a", "b"), chunk("ab", ""), chunk("a", "c")];
        let hashes: Vec<_> = hashed(&chunks).map(|(_, hash)| hash).collect();
        let first = chunks[0].hash();
        assert_eq!(hashes[..2], [first.clone(), format!("{first}.1")]);
        assert!(hashes[2..].iter().all(|hash| hash.len() == first.len() && *hash != first), "{hashes:?}");
    }

    #[test]
    fn a_heading_and_its_fragment_are_equal() {
        for (heading, fragment) in
            [("Warm water", "warm-water"), ("`tools/list` & more", "toolslist--more"), ("1. Äpfel_mus", "1-äpfel_mus")]
        {
            assert_eq!(anchor(heading), anchor(fragment));
        }
        assert_eq!(
            Chunk { heading: vec!["Tea".into(), "Warm water".into()], ..Chunk::default() }.anchor(),
            "warmwater"
        );
    }
}
