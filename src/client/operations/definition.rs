//! The definitions that a server lists: tools, resources, resource templates and prompts.
//!
//! A definition stays the JSON text that the server sent. Its schemas are neither resolved nor dereferenced.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value, write};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::param_headers;
use crate::client::wire::visible_schema::{HiddenInContract, cleaned};
use crate::config::ConfigError;
use crate::limits::{UPSTREAM_DEFINITION_BYTES, UPSTREAM_NAME_BYTES};
use crate::protocol::method::Method;
use crate::schema::{HeaderParam, NotEnforceable, Schema};
use crate::text::{Text, is_plain, line, visible};

/// An item of a list, with the name of its server. Cloning is cheap.
#[derive(Clone)]
pub struct Listed(Rc<Definition>);

struct Definition {
    server: Text,
    kind: Kind,
    name: String,
    json: Box<RawValue>,
}

/// The output schema of a tool.
#[derive(Clone)]
pub(super) enum Output {
    /// The tool has no output schema.
    Any,
    Enforced(Rc<Schema>),
    NotEnforced(NotEnforceable),
}

/// A kind of definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) struct Kind {
    /// The method that lists the definitions.
    pub method: Method,
    /// The capability of a server that has such definitions.
    pub capability: &'static str,
    /// The member of the result that has the list.
    pub list: &'static str,
    /// The name of one definition.
    pub single: &'static str,
    /// The member of a definition that identifies it.
    pub key: &'static str,
}

pub(in crate::client) const TOOLS: Kind =
    Kind { method: Method::ListTools, capability: "tools", list: "tools", single: "tool", key: "name" };
pub(super) const RESOURCES: Kind =
    Kind { method: Method::ListResources, capability: "resources", list: "resources", single: "resource", key: "uri" };
pub(super) const TEMPLATES: Kind = Kind {
    method: Method::ListResourceTemplates,
    capability: "resources",
    list: "resourceTemplates",
    single: "resourceTemplate",
    key: "uriTemplate",
};
pub(super) const PROMPTS: Kind =
    Kind { method: Method::ListPrompts, capability: "prompts", list: "prompts", single: "prompt", key: "name" };
const KINDS: [Kind; 4] = [TOOLS, RESOURCES, TEMPLATES, PROMPTS];

/// The length of a name or a problem in a message, in characters.
const SHOWN: usize = 128;

impl Listed {
    /// Reads an item of a list.
    ///
    /// # Errors
    /// The problem with it, as a sentence.
    pub(super) fn read(server: &Text, kind: Kind, item: Value<'_>) -> Result<Self, String> {
        let problem = |problem: &str| format!("A {} of the server `{server}` {problem}.", kind.single);
        if item.text().len() > UPSTREAM_DEFINITION_BYTES {
            return Err(problem("is too long"));
        }
        let name = item.string(kind.key).ok_or_else(|| problem("has no name"))?;
        if name.is_empty() || name.len() > UPSTREAM_NAME_BYTES {
            return Err(problem("has a name that is empty or too long"));
        }
        if !is_plain(&name) {
            return Err(problem("has a name with hidden characters"));
        }
        if kind == TOOLS {
            let invalid = |error: String| {
                format!(
                    "The tool `{}` of the server `{server}` is not valid: {}.",
                    line(&name, SHOWN),
                    line(&error, SHOWN)
                )
            };
            param_headers::marked(item).map_err(invalid)?;
            let cleaned = item.get("inputSchema").map_or(Ok(None), cleaned);
            cleaned.map_err(|HiddenInContract| {
                invalid("its input schema has names or values with hidden characters".to_owned())
            })?;
        }
        let json = item.to_raw().ok_or_else(|| problem("is not JSON"))?;
        Ok(Self(Rc::new(Definition { server: server.clone(), kind, name, json })))
    }

    /// Returns the item as JSON text: an object with the name of the server and the definition. [`from_json`](Self::from_json) reads it.
    ///
    /// A program can store the text, and later call the tool without listing the tools again.
    pub fn to_json(&self) -> String {
        let Definition { server, kind, json, .. } = &*self.0;
        // A string always serializes.
        let server = write::to_string(server).unwrap_or_default();
        format!("{{\"server\":{server},\"{}\":{}}}", kind.single, json.get())
    }

    /// Reads the text that [`to_json`](Self::to_json) returned.
    ///
    /// # Errors
    /// The text does not have the form that `to_json` returns.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let error = |problem: String| ConfigError::new("a definition of another MCP server", problem);
        let document = Document::parse(text.as_bytes(), JsonLimits::default())
            .map_err(|problem| error(format!("is not valid JSON: {problem}")))?;
        let root = document.root();
        let item = KINDS.into_iter().find_map(|kind| Some((kind, root.get(kind.single)?)));
        let (Some(server), Some((kind, item))) = (root.string("server"), item) else {
            return Err(error(
                "must have the member `server`, and `tool`, `resource`, `resourceTemplate` or `prompt`".to_owned(),
            ));
        };
        Self::read(&Text::Owned(server), kind, item).map_err(|problem| error(format!("is not valid: {problem}")))
    }

    /// Returns the name that this program has for the server.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the name of a tool or a prompt, the URI of a resource, or the URI template of a resource template.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the name of a tool or a prompt with the name of its server as a prefix: `weather_get-forecast`.
    pub fn full_name(&self) -> String {
        format!("{}_{}", self.0.server, self.0.name)
    }

    /// Returns the description, or an empty text. Invisible characters and characters that reorder text are removed.
    pub fn description(&self) -> String {
        self.member(|item| item.string("description")).map(|text| visible(&text)).unwrap_or_default()
    }

    /// Returns the title, if there is one. Invisible characters and characters that reorder text are removed.
    pub fn title(&self) -> Option<String> {
        self.member(|item| item.string("title")).map(|text| visible(&text))
    }

    /// Returns the definition as JSON text, as the server sent it. It may have hidden characters, so do not pass it to a model.
    pub fn raw(&self) -> &str {
        self.0.json.get()
    }

    /// Returns the input schema of a tool as JSON text. Hidden characters are removed from titles and descriptions. Other annotations that
    /// have hidden characters are removed.
    pub fn input_schema(&self) -> Option<String> {
        self.visible_schema().map(|(_, schema)| schema.get().to_owned())
    }

    /// Returns the input schema of a tool as the server sent it, except for annotations with hidden characters.
    pub(in crate::client) fn visible_schema(&self) -> Option<(Json, Box<RawValue>)> {
        self.member(|item| {
            let schema = item.get("inputSchema")?;
            match cleaned(schema).ok()? {
                None => Some((schema.to_json()?, schema.to_raw()?)),
                Some(schema) => write::to_raw_value(&schema).ok().map(|raw| (schema, raw)),
            }
        })
    }

    /// Returns whether an annotation of a tool is true, such as `readOnlyHint`. Annotations are hints: rely only on those of servers that
    /// you trust.
    pub fn has_hint(&self, name: &str) -> bool {
        self.member(|item| Some(item.get("annotations")?.get(name)?.text() == "true")).unwrap_or(false)
    }

    /// Returns whether this is the definition of the tool `name`.
    pub(super) fn is_tool(&self, name: &str) -> bool {
        self.0.kind == TOOLS && self.0.name == name
    }

    /// Returns the arguments of a tool that headers repeat.
    pub(super) fn header_params(&self) -> Vec<HeaderParam> {
        self.member(|tool| param_headers::marked(tool).ok()).unwrap_or_default()
    }

    /// Returns the output schema of a tool. `left` is the number of steps that the request has left to compile schemas.
    pub(super) fn output(&self, left: &Cell<u32>) -> Output {
        let compiled = self.member(|tool| Some(Schema::of_other_server(tool.get("outputSchema")?, left)));
        match compiled {
            None => Output::Any,
            Some(Ok(schema)) => Output::Enforced(schema),
            Some(Err(reason)) => Output::NotEnforced(reason),
        }
    }

    /// Returns why a second item of this name is left out.
    pub(super) fn is_listed_twice(&self) -> String {
        let Definition { server, kind, name, .. } = &*self.0;
        format!("The {} `{}` of the server `{server}` is listed twice.", kind.single, line(name, SHOWN))
    }

    /// Returns the length of the definition in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.json.get().len()
    }

    fn member<T>(&self, read: impl Fn(Value<'_>) -> Option<T>) -> Option<T> {
        let document = Document::parse(self.0.json.get().as_bytes(), JsonLimits::MOST).ok()?;
        read(document.root())
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listed").field("server", &self.0.server).field("json", &self.0.json.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C59: the isolate keeps a compiled output schema only if it is small, however short its text is.
    #[test]
    fn only_small_output_schemas_are_cached() {
        let pairs = vec![r##"{"anyOf":[{"$ref":"#/x"}]}"##; 79].join(",");
        let constants = (0..500).map(|nth| nth.to_string()).collect::<Vec<_>>().join(",");
        for (schema, is_cached) in [
            (r#"{"type":"object"}"#.to_owned(), true),
            (format!(r#"{{"x":{{"enum":[{constants}]}},"prefixItems":[{pairs}]}}"#), false),
            (r#"{"properties":{"a":{"pattern":"a{4900}"}}}"#.to_owned(), false),
            ("7".to_owned(), false),
        ] {
            let tool = format!(r#"{{"server":"parcels","tool":{{"name":"track","outputSchema":{schema}}}}}"#);
            let tool = Listed::from_json(&tool).expect("a definition");
            let compiled = || {
                let left = Cell::new(4_000_000);
                assert_eq!(matches!(tool.output(&left), Output::Enforced(_)), schema != "7", "{schema}");
                left.get() < 4_000_000
            };
            assert_eq!((compiled(), compiled()), (true, !is_cached), "{schema}");
        }
    }
}
