//! A document, as a store saves it.

use serde_json::{Map, Value};

use super::chunks::chunk::anchor;
use super::chunks::{Chunk, Link};
use super::filter::check_metadata;
use super::filter::field::quoted;
use super::store_error::{StoreError, StoreFailure};
use crate::limits::{RAG_CHUNK_MOST_BYTES, RAG_DOCUMENT_CHUNKS, RAG_LINKS, RAG_NAME_BYTES};

/// A document to store.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The name: 1 to 256 bytes, without control characters. Documents of a space have different names.
    pub name: String,
    /// The metadata, which [`check_metadata`] accepts. It is also the metadata of each passage. The fields of [`Chunk::metadata`] replace those of
    /// the same name.
    pub metadata: Map<String, Value>,
    /// The chunks, at most 2000. All links after the first 1000 are ignored.
    pub chunks: Vec<Chunk>,
}

impl Document {
    /// Checks whether a store can save the document. Every store does this before it saves.
    ///
    /// # Errors
    /// A sentence for the caller, of the kind [`StoreFailure::Document`]: the name, the metadata or a chunk is not valid, or there are too
    /// many chunks.
    pub fn check(&self) -> Result<(), StoreError> {
        let invalid = |cause: String| Err(StoreError { kind: StoreFailure::Document, cause });
        let name = quoted(&self.name);
        if !is_name(&self.name) {
            return invalid(format!(
                "The name of a document must have 1 to {RAG_NAME_BYTES} bytes and no control characters (got {name})."
            ));
        }
        if let Err(problem) = check_metadata(&self.metadata) {
            return invalid(problem.to_string());
        }
        for (chunk, number) in self.chunks.iter().zip(1_usize..) {
            if let Some(Err(problem)) = self.metadata_of(chunk).as_ref().map(check_metadata) {
                return invalid(format!(
                    "Chunk {number} of the document {name}, with the metadata of the document: {problem}"
                ));
            }
        }
        let count = self.chunks.len();
        if count > RAG_DOCUMENT_CHUNKS {
            return invalid(format!(
                "The document {name} has {count} chunks, and must have at most {RAG_DOCUMENT_CHUNKS}. Divide it into several documents."
            ));
        }
        let bytes = |chunk: &Chunk| {
            chunk.heading.iter().fold(chunk.text.len(), |sum, heading| sum.saturating_add(heading.len()))
        };
        match self.chunks.iter().map(bytes).find(|bytes| *bytes > RAG_CHUNK_MOST_BYTES) {
            Some(bytes) => invalid(format!(
                "A chunk of the document {name} has {bytes} bytes with its headings, and must have at most {RAG_CHUNK_MOST_BYTES}. Divide the text into smaller chunks."
            )),
            None => Ok(()),
        }
    }

    /// Returns the metadata of the passage of a chunk that has metadata of its own.
    pub(super) fn metadata_of(&self, chunk: &Chunk) -> Option<Map<String, Value>> {
        if chunk.metadata.is_empty() {
            return None;
        }
        let mut metadata = self.metadata.clone();
        metadata.extend(chunk.metadata.clone());
        Some(metadata)
    }

    /// Returns the links that a store saves, with the positions of their chunks. A section is in the form of [`anchor`], and empty for the
    /// whole document.
    pub(super) fn links(&self) -> impl Iterator<Item = (usize, &str, String)> {
        let chunks = self.chunks.iter().enumerate();
        let links = chunks.flat_map(|(ordinal, chunk)| chunk.links.iter().map(move |link| (ordinal, link)));
        let valid = links.filter_map(|(ordinal, Link { document, section })| {
            let section = section.as_deref().unwrap_or_default();
            let is_valid = is_name(document) && *document != self.name && section.len() <= RAG_NAME_BYTES;
            is_valid.then(|| (ordinal, document.as_str(), anchor(section)))
        });
        valid.take(RAG_LINKS)
    }
}

fn is_name(name: &str) -> bool {
    (1..=RAG_NAME_BYTES).contains(&name.len()) && !name.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use serde_json::json;

    use super::*;
    use crate::call::error::HandlerError;

    fn document(name: &str, texts: &[&str]) -> Document {
        let heading: Vec<Rc<str>> = vec!["Tea".into()];
        let chunk = |text: &&str| Chunk { heading: heading.clone(), text: (*text).to_owned(), ..Chunk::default() };
        Document { name: name.into(), metadata: Map::new(), chunks: texts.iter().map(chunk).collect() }
    }

    /// R65: a document beyond a limit is an error for the caller, with the limit.
    #[test]
    fn documents_have_limits() {
        let longest = "x".repeat(RAG_CHUNK_MOST_BYTES - "Tea".len());
        for valid in [
            document("tea", &[]),
            document(&"x".repeat(256), &["", &longest]),
            document("docs/tea \"1\" ü", &vec!["x"; 2000]),
        ] {
            assert!(valid.check().is_ok(), "{}", valid.name);
        }
        let tags = json!({ "tags": [[]] }).as_object().cloned().unwrap_or_default();
        for (invalid, message) in [
            (document("", &[]), "The name of a document must have 1 to 256 bytes and no control characters (got ``)."),
            (
                document("a\n", &[]),
                "The name of a document must have 1 to 256 bytes and no control characters (got `a\\n`).",
            ),
            (
                document("a", &vec!["x"; 2001]),
                "The document `a` has 2001 chunks, and must have at most 2000. Divide it into several documents.",
            ),
            (
                document("a", &[&(longest + "y")]),
                "A chunk of the document `a` has 100001 bytes with its headings, and must have at most 100000. Divide the text into smaller chunks.",
            ),
            (
                Document { metadata: tags, ..document("a", &[]) },
                "Metadata `tags[0]` must be a string, a number or a boolean, because it is in an array.",
            ),
        ] {
            let error = invalid.check().expect_err(message);
            assert_eq!(error.kind, StoreFailure::Document);
            assert_eq!(HandlerError::from(error).message(), message);
        }
        assert!(document(&"x".repeat(257), &[]).check().is_err());
    }

    #[test]
    fn links_that_no_document_can_have_are_ignored() {
        let long = "x".repeat(257);
        let link =
            |name: &str, section: Option<&str>| Link { document: name.into(), section: section.map(str::to_owned) };
        let mut document = document("d", &["x", "y"]);
        document.chunks[0].links = ["", "a", "b\0", "d", &long].map(|name| link(name, None)).into();
        document.chunks[1].links = vec![link("c", Some("Warm-water")), link("c", Some(&long))];
        let links: Vec<_> = document.links().collect();
        assert_eq!(links, [(0, "a", String::new()), (1, "c", "warmwater".to_owned())]);
        document.chunks[0].links.resize(2000, link("e", None));
        assert_eq!(document.links().count(), RAG_LINKS);
    }
}
