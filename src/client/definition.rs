//! The definitions that a server lists: tools, resources, resource templates and prompts.
//!
//! A definition stays the JSON text that the server sent. Its schemas are neither resolved nor dereferenced.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use serde_json::value::RawValue;

use super::param_headers;
use crate::auth::ConfigError;
use crate::json::{Document, JsonLimits, Value, write};
use crate::limits::{UPSTREAM_DEFINITION_BYTES, UPSTREAM_NAME_BYTES};
use crate::protocol::description::Text;
use crate::protocol::method::Method;
use crate::schema::{HeaderParam, Schema};

/// An item of a list, with the name of its server. Cloning is cheap.
#[derive(Clone)]
pub struct Listed(Rc<Definition>);

struct Definition {
    server: Text,
    kind: Kind,
    name: String,
    json: Box<RawValue>,
    /// The compiled output schema of a tool.
    output: OnceCell<Output>,
}

/// The output schema of a tool.
#[derive(Clone)]
pub(super) enum Output {
    /// The tool has no output schema.
    Any,
    Enforced(Rc<Schema>),
    /// The schema cannot be compiled.
    NotEnforced,
}

/// A kind of definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
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

pub(super) const TOOLS: Kind =
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
        if kind == TOOLS {
            param_headers::marked(item)
                .map_err(|error| format!("The tool `{name}` of the server `{server}` is not valid: {error}."))?;
        }
        let json = item.to_raw().ok_or_else(|| problem("is not JSON"))?;
        Ok(Self(Rc::new(Definition { server: server.clone(), kind, name, json, output: OnceCell::new() })))
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
        self.0.json.get()
    }

    /// Returns the input schema of a tool as JSON text.
    pub fn input_schema(&self) -> Option<String> {
        self.member(|item| Some(item.get("inputSchema")?.text().to_owned()))
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

    /// Returns the output schema of a tool. It is compiled at the first call.
    pub(super) fn output(&self) -> &Output {
        self.0.output.get_or_init(|| {
            let Some(schema) = self.member(|tool| Some(tool.get("outputSchema")?.to_json())) else {
                return Output::Any;
            };
            match schema.map(Schema::of_other_server) {
                Some(Ok(schema)) => Output::Enforced(schema),
                _ => Output::NotEnforced,
            }
        })
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
