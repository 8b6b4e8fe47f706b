//! The values of the statements, and the rows of their results. Both are JSON arrays.

use edge_json::deserialize::read_text;
use edge_json::write;
use edge_json::{self, JsonLimits};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::limits::RAG_STATEMENT_BYTES;
use crate::rag::chunks::chunk::hashed;
use crate::rag::document::Document;
use crate::rag::impact::{IMPACTS, impacts};
use crate::rag::passage::{HEADING_SEPARATOR, Passage, PassageId};
use crate::rag::store_error::{StoreError, StoreFailure};

/// Documents that are written by the same statements. Each array is the value of a parameter.
#[derive(Default)]
pub(super) struct DocumentGroup {
    /// The documents, as `[name, metadata, chunks]`.
    pub(super) documents: Array,
    /// The chunks, as `[name, hash, ordinal, has metadata]`.
    pub(super) keys: Array,
    /// The chunks, as `[name, hash, ordinal, heading, anchor, text, words]`, in several arrays.
    pub(super) chunks: Vec<Array>,
    /// The metadata of the chunks that have metadata, as `[name, hash, metadata]`, in several arrays.
    pub(super) metadata: Vec<Array>,
    /// The links, as `[name, hash, target, section]`.
    pub(super) links: Array,
    /// The number of the chunks.
    pub(super) count: usize,
}

/// Divides valid documents into groups. D1 limits a value to 2 MB, so a new group, or a new array of chunks, begins when an array is long. The
/// limits of a document keep the rest of an array below 1.5 MB.
pub(super) fn groups(documents: &[Document]) -> Result<Vec<DocumentGroup>, StoreError> {
    let mut groups: Vec<DocumentGroup> = Vec::new();
    for document in documents {
        if groups.last().is_none_or(DocumentGroup::is_full) {
            groups.push(DocumentGroup::default());
        }
        if let Some(last) = groups.last_mut() {
            last.add(document)?;
        }
    }
    Ok(groups)
}

impl DocumentGroup {
    fn is_full(&self) -> bool {
        self.documents.is_full() || self.keys.is_full() || self.links.is_full()
    }

    fn add(&mut self, document: &Document) -> Result<(), StoreError> {
        let name = &document.name;
        self.documents.push(&(name, &serialized(&document.metadata)?, document.chunks.len()))?;
        let chunks: Vec<_> = hashed(&document.chunks).collect();
        for (ordinal, target, section) in document.links() {
            let hash = chunks.get(ordinal).map(|(_, hash)| hash);
            self.links.push(&(name, hash, target, section))?;
        }
        for (ordinal, (chunk, hash)) in chunks.into_iter().enumerate() {
            let metadata = document.metadata_of(chunk);
            self.keys.push(&(name, &hash, ordinal, u8::from(metadata.is_some())))?;
            if let Some(metadata) = metadata {
                push(&mut self.metadata, &(name, &hash, serialized(&metadata)?))?;
            }
            let heading = chunk.heading.join(HEADING_SEPARATOR);
            let words = words(&heading, &chunk.text);
            push(&mut self.chunks, &(name, &hash, ordinal, &heading, chunk.anchor(), &chunk.text, words))?;
            self.count = self.count.saturating_add(1);
        }
        Ok(())
    }
}

/// Adds an item to the last of several arrays.
fn push(arrays: &mut Vec<Array>, item: &impl Serialize) -> Result<(), StoreError> {
    if arrays.last().is_none_or(Array::is_full) {
        arrays.push(Array::default());
    }
    arrays.last_mut().map_or(Ok(()), |last| last.push(item))
}

/// Returns the words of a passage: for each impact a text, in which `·` is before each stem.
fn words(heading: &str, text: &str) -> Vec<String> {
    let mut words = vec![String::new(); usize::from(IMPACTS)];
    for (stem, impact) in impacts(heading, text) {
        if let Some(words) = words.get_mut(usize::from(impact).saturating_sub(1)) {
            words.extend([" ·", &stem]);
        }
    }
    words
}

/// The items of a JSON array.
#[derive(Default)]
pub(super) struct Array(String);

impl Array {
    fn push(&mut self, item: &impl Serialize) -> Result<(), StoreError> {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&serialized(item)?);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.0.len() >= RAG_STATEMENT_BYTES
    }

    /// Returns the array as JSON.
    pub(super) fn json(&self) -> String {
        ["[", &self.0, "]"].concat()
    }
}

/// Returns a value as JSON.
pub(super) fn serialized(value: &impl Serialize) -> Result<String, StoreError> {
    write::to_string(value).map_err(|error| unavailable(&error.to_string()))
}

/// Returns a JSON array of strings or numbers.
pub(super) fn array<T: Serialize>(items: impl IntoIterator<Item = T>) -> String {
    // Strings and numbers always serialize.
    write::to_string(&items.into_iter().collect::<Vec<_>>()).unwrap_or_default()
}

/// Reads rows that are JSON.
pub(super) fn read<T: DeserializeOwned>(rows: Vec<String>) -> Result<Vec<T>, StoreError> {
    let row = |text: String| read_text(text.as_bytes()).ok_or_else(|| unavailable("a row is malformed"));
    rows.into_iter().map(row).collect()
}

/// The row that a search reads before its passages: the number of passages that it can find, whether the space has passages only in other indexes,
/// and the number of passages with each word.
pub(super) type Statistics = (u64, u8, Vec<(String, u64)>);

/// Reads the rows of a search.
pub(super) fn found(rows: Vec<String>) -> Result<(Statistics, Vec<Passage>), StoreError> {
    let mut rows = rows.into_iter();
    let first = read(rows.by_ref().take(1).collect())?.pop();
    let statistics = first.ok_or_else(|| unavailable("a search has no rows"))?;
    Ok((statistics, passages(rows.collect())?))
}

/// Reads rows that are passages.
pub(super) fn passages(rows: Vec<String>) -> Result<Vec<Passage>, StoreError> {
    // Reading the metadata as a `Map` would add the parser of serde_json to the wasm module.
    type Row = (PassageId, String, usize, String, String, Box<RawValue>);
    let passage = |(id, document, ordinal, heading, text, metadata): Row| {
        let metadata = edge_json::Document::parse(metadata.get().as_bytes(), JsonLimits::MOST).ok()?.root().to_map()?;
        Some(Passage { id, document, ordinal, heading, text, metadata })
    };
    let passages = read::<Row>(rows)?.into_iter().map(passage);
    passages.collect::<Option<_>>().ok_or_else(|| unavailable("the metadata of a passage is malformed"))
}

pub(super) fn unavailable(cause: &str) -> StoreError {
    StoreError { kind: StoreFailure::Unavailable, cause: cause.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_passage_is_an_error() {
        let row = |metadata| vec![format!(r#"[7,"tea",0,"Tea","Text.",{metadata}]"#)];
        let passage = passages(row(r#"{"a":[1,"b"]}"#)).expect("a passage").remove(0);
        assert_eq!((passage.id, passage.metadata["a"].to_string().as_str()), (7, r#"[1,"b"]"#));
        for metadata in ["[1]", "null", "1e999", r#"{"a":1e999}"#, "{"] {
            assert!(passages(row(metadata)).is_err(), "{metadata}");
        }
    }
}
