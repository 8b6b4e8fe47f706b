//! The description that a server gives of itself.
//!
//! Source: 2026-07-28, server/discover; 2025-11-25, basic/lifecycle.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind, Value};

use crate::protocol::meta::SERVER_INFO;
use crate::protocol::revision::Revision;
use crate::text::visible;

/// The description that a server gives of itself: its name, version, capabilities and instructions. Cloning is cheap.
///
/// Each text comes from the server, without hidden characters. Do not put the instructions of a server that you do not trust into a prompt.
#[derive(Clone, Debug)]
pub struct About(Rc<Description>);

#[derive(Debug)]
struct Description {
    revision: Revision,
    name: String,
    version: String,
    instructions: Option<String>,
    capabilities: Box<[String]>,
    json: Box<str>,
}

impl About {
    /// Reads the description from the result of `server/discover` or `initialize`.
    pub(super) fn of(revision: Revision, result: Value<'_>) -> Self {
        let info = result.get("_meta").and_then(|meta| meta.get(SERVER_INFO)).or_else(|| result.get("serverInfo"));
        let text = |of: Value<'_>, name: &str| of.string(name).map(|text| visible(&text));
        let of_info = |name: &str| info.and_then(|info| text(info, name)).unwrap_or_default();
        let capabilities = result.get("capabilities").into_iter().flat_map(Value::members);
        let capabilities = capabilities.filter(|(_, settings)| settings.kind() == Kind::Object);
        Self(Rc::new(Description {
            revision,
            name: of_info("name"),
            version: of_info("version"),
            instructions: text(result, "instructions"),
            capabilities: capabilities.map(|(name, _)| name.into_owned()).collect(),
            json: result.text().into(),
        }))
    }

    /// Returns the revision that the client and the server use.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// Returns the name that the server has for itself, or an empty text.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the version of the server, or an empty text.
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// Returns the instructions for a model.
    pub fn instructions(&self) -> Option<&str> {
        self.0.instructions.as_deref()
    }

    /// Returns whether the server has a capability, such as `tools`, `resources`, `prompts` or `completions`.
    pub fn has_capability(&self, name: &str) -> bool {
        self.0.capabilities.iter().any(|capability| capability == name)
    }

    /// Returns the settings of an extension as JSON text, or `None` if the server does not declare it. The settings are an object.
    pub fn extension(&self, id: &str) -> Option<String> {
        let document = Document::parse(self.0.json.as_bytes(), JsonLimits::MOST).ok()?;
        let settings = document.root().get("capabilities")?.get("extensions")?.get(id)?;
        (settings.kind() == Kind::Object).then(|| settings.text().to_owned())
    }

    /// Returns the description as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        &self.0.json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_hidden_characters() {
        let hidden = "x\u{e0041}\u{202e}";
        let json = serde_json::json!({ "serverInfo": { "name": hidden, "version": hidden }, "instructions": hidden });
        let json = json.to_string();
        let document = Document::parse(json.as_bytes(), JsonLimits::default()).expect("JSON");
        let about = About::of(Revision::V2025_11_25, document.root());
        assert_eq!((about.name(), about.version(), about.instructions()), ("x", "x", Some("x")));
    }
}
