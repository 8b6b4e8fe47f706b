//! Passages, their spaces, and their connections.

use serde_json::{Map, Value};

use crate::text::Text;

/// Separates the headings of a passage.
pub(super) const HEADING_SEPARATOR: &str = " > ";

/// The number of a passage. A store never uses a number again.
pub type PassageId = i64;

/// A part of a store: an index, and a space of the index. A search never leaves its space.
///
/// Use one space for each tenant. The empty space is a space as any other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Space {
    /// The name of the index, such as `docs`.
    pub index: Text,
    /// The name of the space.
    pub name: String,
}

/// A stored chunk of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage {
    /// The number of the passage.
    pub id: PassageId,
    /// The document, by the name that the program gave it.
    pub document: String,
    /// The position of the passage in its document, from 0.
    pub ordinal: usize,
    /// The headings above the passage, joined by ` > `.
    pub heading: String,
    /// The text.
    pub text: String,
    /// The metadata of the document and of the [chunk](super::Chunk::metadata).
    pub metadata: Map<String, Value>,
}

/// A connection of two passages, in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The passage at which the edge begins.
    pub source: PassageId,
    /// The passage to which the edge leads.
    pub target: PassageId,
    /// The weight, from 0 to 1.
    pub weight: f64,
}
