//! The definitions that a server lists: tools, resources, resource templates and prompts.
//!
//! A definition stays the JSON text that the server sent. Its schemas are neither resolved nor dereferenced.

use serde_json::value::RawValue;

use crate::json::{Document, JsonLimits, Value};
use crate::limits::{UPSTREAM_DEFINITION_BYTES, UPSTREAM_NAME_BYTES};
use crate::protocol::description::Text;

/// An item of a list, with the name of its server.
#[derive(Clone, Debug)]
pub struct Listed {
    server: Text,
    name: String,
    json: Box<RawValue>,
}

/// A kind of definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// The member of the result that has the list.
    pub list: &'static str,
    /// The member of an item that identifies it.
    pub key: &'static str,
}

impl Listed {
    /// Reads an item of a list.
    ///
    /// # Errors
    /// The problem with it, as a predicate whose subject is the item.
    pub(super) fn read(server: &Text, kind: Kind, item: Value<'_>) -> Result<Self, &'static str> {
        if item.text().len() > UPSTREAM_DEFINITION_BYTES {
            return Err("is too long");
        }
        let name = item.string(kind.key).ok_or("has no name")?;
        if name.is_empty() || name.len() > UPSTREAM_NAME_BYTES {
            return Err("has a name that is empty or too long");
        }
        let json = item.to_raw().ok_or("is not JSON")?;
        Ok(Self { server: server.clone(), name, json })
    }

    /// Returns the name that this program has for the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the name of a tool or a prompt, the URI of a resource, or the URI template of a resource template.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of a tool or a prompt with the name of its server as a prefix: `weather_get-forecast`.
    pub fn full_name(&self) -> String {
        format!("{}_{}", self.server, self.name)
    }

    /// Returns the description, or an empty text.
    pub fn description(&self) -> String {
        self.member(|item| item.string("description")).unwrap_or_default()
    }

    /// Returns the title, if there is one.
    pub fn title(&self) -> Option<String> {
        self.member(|item| item.string("title"))
    }

    /// Returns the definition as JSON text, as the server sent it.
    pub fn json(&self) -> &str {
        self.json.get()
    }

    /// Returns the input schema of a tool as JSON text.
    pub fn input_schema(&self) -> Option<String> {
        self.member(|item| Some(item.get("inputSchema")?.text().to_owned()))
    }

    /// Returns whether an annotation of a tool is true, such as `readOnlyHint`. Annotations are hints: trust only those of trusted servers.
    pub fn has_hint(&self, name: &str) -> bool {
        self.member(|item| Some(item.get("annotations")?.get(name)?.text() == "true")).unwrap_or(false)
    }

    fn member<T>(&self, read: impl Fn(Value<'_>) -> Option<T>) -> Option<T> {
        let document = Document::parse(self.json.get().as_bytes(), JsonLimits::MOST).ok()?;
        read(document.root())
    }
}
