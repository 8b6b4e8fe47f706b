//! The description that a server gives of itself.
//!
//! Source: 2026-07-28, server/discover; 2025-11-25, basic/lifecycle.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind, Value};
use serde_json::value::RawValue;

use crate::protocol::revision::Revision;
use crate::text::visible;

/// The member of `_meta` in which a modern server names itself.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The description that a server gives of itself: its name, version, capabilities and instructions. Cloning is cheap.
///
/// Each text comes from the server, without hidden characters. Do not put the instructions of a server that you do not trust into a prompt.
#[derive(Clone, Debug)]
pub struct About(Rc<Parts>);

#[derive(Debug)]
struct Parts {
    revision: Revision,
    json: Box<RawValue>,
}

impl About {
    /// Creates the description from the result of `server/discover` or `initialize`.
    pub(in crate::client) fn of(revision: Revision, json: Box<RawValue>) -> Self {
        Self(Rc::new(Parts { revision, json }))
    }

    /// Returns the revision that the client and the server use.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// Returns the name that the server has for itself, or an empty text.
    pub fn name(&self) -> String {
        self.text(|result| info(result)?.string("name")).unwrap_or_default()
    }

    /// Returns the version of the server, or an empty text.
    pub fn version(&self) -> String {
        self.text(|result| info(result)?.string("version")).unwrap_or_default()
    }

    /// Returns the instructions for a model.
    pub fn instructions(&self) -> Option<String> {
        self.text(|result| result.string("instructions"))
    }

    /// Returns whether the server has a capability, such as `tools`, `resources`, `prompts` or `completions`.
    pub fn has_capability(&self, name: &str) -> bool {
        let has = |result: Value<'_>| Some(result.get("capabilities")?.get(name)?.kind() == Kind::Object);
        self.read(has).unwrap_or(false)
    }

    /// Returns the description as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        self.0.json.get()
    }

    fn text(&self, read: impl Fn(Value<'_>) -> Option<String>) -> Option<String> {
        self.read(read).map(|text| visible(&text))
    }

    fn read<T>(&self, read: impl Fn(Value<'_>) -> Option<T>) -> Option<T> {
        read(Document::parse(self.raw().as_bytes(), JsonLimits::MOST).ok()?.root())
    }
}

fn info(result: Value<'_>) -> Option<Value<'_>> {
    result.get("_meta").and_then(|meta| meta.get(SERVER_INFO)).or_else(|| result.get("serverInfo"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_hidden_characters() {
        let hidden = "x\u{e0041}\u{202e}";
        let json = serde_json::json!({ "serverInfo": { "name": hidden, "version": hidden }, "instructions": hidden });
        let json = RawValue::from_string(json.to_string()).expect("JSON");
        let about = About::of(Revision::V2025_11_25, json);
        assert_eq!((about.name(), about.version(), about.instructions()), ("x".into(), "x".into(), Some("x".into())));
    }
}
