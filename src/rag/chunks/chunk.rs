//! A chunk.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::base64::URL_SAFE;

/// A part of a document under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The headings above the chunk, from the title of the document to the innermost heading.
    pub heading: Vec<Rc<str>>,
    /// The text without its headings. A piece of a long code block or table also has the fences or the header row.
    pub text: String,
    /// The bytes of the document that the chunk consists of, without repeated text.
    pub range: Range<usize>,
}

impl Chunk {
    /// Returns a hash of the headings and the text: 43 characters of base64. Equal chunks have equal hashes.
    pub fn hash(&self) -> String {
        let mut digest = Sha256::new();
        // Each part follows its length, so different parts cannot have the same bytes.
        for part in self.heading.iter().map(AsRef::as_ref).chain([self.text.as_str()]) {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        URL_SAFE.encode(digest.finalize())
    }
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
        let chunk = |heading: &str, text: &str| Chunk { heading: vec![heading.into()], text: text.into(), range: 0..1 };
        let chunks = [chunk("a", "b"), chunk("a", "b"), chunk("ab", ""), chunk("a", "c")];
        let hashes: Vec<_> = hashed(&chunks).map(|(_, hash)| hash).collect();
        let first = chunks[0].hash();
        assert_eq!(hashes[..2], [first.clone(), format!("{first}.1")]);
        assert!(hashes[2..].iter().all(|hash| hash.len() == first.len() && *hash != first), "{hashes:?}");
    }
}
