//! The JSON text of content that another server sent, which is passed on instead of its parts.

use std::ops::Range;
use std::rc::Rc;

use serde::ser::{Error, SerializeMap};
use serde::{Serialize, Serializer};

use crate::json::write::Raw;
use crate::json::{Document, JsonLimits};

/// The members of a block that a program can set.
pub(super) const ANNOTATIONS: &str = "annotations";
pub(super) const META: &str = "_meta";

/// The JSON text of a block: a part of the text of its result.
#[derive(Clone, Debug)]
pub(super) struct Received {
    text: Rc<str>,
    range: Range<usize>,
    /// The members that the program has set.
    replaced: Vec<&'static str>,
}

impl Received {
    /// Creates the text of a block: the `range` of `text`.
    pub(super) fn new(text: Rc<str>, range: Range<usize>) -> Self {
        Self { text, range, replaced: Vec::new() }
    }

    /// Notes that the program has set a member.
    pub(super) fn replace(&mut self, member: &'static str) {
        self.replaced.push(member);
    }

    /// Returns the text, except for members that the program has set.
    pub(super) fn get(&self) -> Option<&str> {
        self.text.get(self.range.clone())
    }

    /// Serializes the text, with the members that the program has set.
    pub(super) fn serialize<S: Serializer>(
        &self,
        annotations: &impl Serialize,
        meta: &impl Serialize,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = self.get().ok_or_else(|| S::Error::custom("the block is not a part of its result"))?;
        if self.replaced.is_empty() {
            return Raw(text).serialize(serializer);
        }
        let document = Document::parse(text.as_bytes(), JsonLimits::MOST).map_err(S::Error::custom)?;
        let mut block = serializer.serialize_map(None)?;
        for (name, value) in document.root().members().filter(|(name, _)| !self.replaced.contains(&&**name)) {
            block.serialize_entry(&name, &Raw(value.text()))?;
        }
        if self.replaced.contains(&ANNOTATIONS) {
            block.serialize_entry(ANNOTATIONS, annotations)?;
        }
        if self.replaced.contains(&META) {
            block.serialize_entry(META, meta)?;
        }
        block.end()
    }
}
