//! The JSON text of content that another server sent, which is passed on instead of its parts.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits};
use serde::ser::Error;
use serde_json::{Map, Value};

use super::description::Annotations;

/// The members of a block that a program can set.
pub(super) const ANNOTATIONS: &str = "annotations";
pub(super) const META: &str = "_meta";

/// The values of the members that a program can set.
pub(super) struct Settable<'a> {
    pub annotations: Option<&'a Annotations>,
    pub meta: Option<&'a Map<String, Value>>,
}

/// The JSON text of a block: a part of the text of its result.
#[derive(Clone, Debug)]
pub(super) struct ForeignText {
    text: Rc<str>,
    range: Range<usize>,
    /// The members that the program has set.
    replaced: Vec<&'static str>,
    /// Writes the text with these members. Through a pointer, so that a program that reads no content of other servers does not contain it.
    write: fn(&Self, &Settable<'_>) -> serde_json::Result<String>,
}

impl ForeignText {
    /// Creates the text of a block: the `range` of `text`.
    pub(super) fn new(text: Rc<str>, range: Range<usize>) -> Self {
        Self { text, range, replaced: Vec::new(), write: Self::with_replaced }
    }

    /// Notes that the program has set a member.
    pub(super) fn replace(&mut self, member: &'static str) {
        self.replaced.push(member);
    }

    /// Returns the text, except for members that the program has set.
    pub(super) fn get(&self) -> Option<&str> {
        self.text.get(self.range.clone())
    }

    /// Returns the text, with the members that the program has set.
    ///
    /// # Errors
    /// A value cannot be written.
    pub(super) fn written(&self, values: &Settable<'_>) -> serde_json::Result<Cow<'_, str>> {
        match self.get().filter(|_| self.replaced.is_empty()) {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => (self.write)(self, values).map(Cow::Owned),
        }
    }

    fn with_replaced(&self, values: &Settable<'_>) -> serde_json::Result<String> {
        let text = self.get().ok_or_else(|| serde_json::Error::custom("the block is not a part of its result"))?;
        let document = Document::parse(text.as_bytes(), JsonLimits::MOST).map_err(serde_json::Error::custom)?;
        let mut block = ObjectWriter::new();
        for (name, value) in document.root().members().filter(|(name, _)| !self.replaced.contains(&&**name)) {
            block = block.json(&name, value.text());
        }
        if self.replaced.contains(&ANNOTATIONS) {
            block = block.json(ANNOTATIONS, &write::to_string(&values.annotations)?);
        }
        if self.replaced.contains(&META) {
            block = block.json(META, &write::to_string(&values.meta)?);
        }
        Ok(block.finish())
    }
}
