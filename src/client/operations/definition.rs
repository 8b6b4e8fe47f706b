//! The definitions that a server lists: tools, resources, resource templates and prompts.
//!
//! A definition is read once, and keeps the JSON text that the server sent. Its schemas are neither resolved nor dereferenced.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::rc::Rc;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits, Kind, Value};
use percent_encoding::percent_decode_str;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::param_headers;
use super::strict_schema::{has_strict_root, with_strict_root};
use crate::client::wire::visible_schema::{HiddenInContract, cleaned};
use crate::config::ConfigError;
use crate::host::{Host, log};
use crate::limits::{FOREIGN_SCHEMA_STEPS, UPSTREAM_DEFINITION_BYTES, UPSTREAM_DIGITS, UPSTREAM_NAME_BYTES};
use crate::protocol::method::Method;
use crate::protocol::ui;
use crate::schema::{HeaderParam, NotEnforceable, Schema, SchemaError};
use crate::server::list::ListKind;
use crate::text::{Text, is_plain, line, visible};

/// The definition of a tool, resource, resource template or prompt of another server. Cloning is cheap.
#[derive(Clone)]
pub struct Definition(Rc<Shared>);

/// The data that all clones of a definition share: what was read of it once, and the text that the server sent.
struct Shared {
    server: Text,
    kind: ListKind,
    name: String,
    full_name: String,
    title: Option<String>,
    description: String,
    /// The annotations that are true.
    hints: Box<[String]>,
    input: Option<Rc<Schema>>,
    /// The arguments that headers repeat.
    headers: Box<[HeaderParam]>,
    is_for_app_only: bool,
    app: Option<String>,
    output: Option<Rc<OutputSchema>>,
    json: Box<RawValue>,
}

/// The output schema of a tool, without hidden characters if it can be cleaned.
pub(crate) struct OutputSchema {
    server: Text,
    tool: String,
    schema: Rc<Schema>,
    is_visible: bool,
    /// Whether strict clients accept a list with the schema.
    is_strict: bool,
    /// Whether this library can enforce the schema. Empty if this is not known yet.
    is_enforceable: OnceCell<Result<(), NotEnforceable>>,
}

/// The names that the protocol has for a kind of list.
pub(super) struct Names {
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

/// Returns the names of a kind of list.
pub(super) const fn protocol_names(kind: ListKind) -> Names {
    let (method, capability, list, single, key) = match kind {
        ListKind::Tools => (Method::ListTools, "tools", "tools", "tool", "name"),
        ListKind::Resources => (Method::ListResources, "resources", "resources", "resource", "uri"),
        ListKind::ResourceTemplates => {
            (Method::ListResourceTemplates, "resources", "resourceTemplates", "resourceTemplate", "uriTemplate")
        }
        ListKind::Prompts => (Method::ListPrompts, "prompts", "prompts", "prompt", "name"),
    };
    Names { method, capability, list, single, key }
}

const KINDS: [ListKind; 4] = [ListKind::Tools, ListKind::Resources, ListKind::ResourceTemplates, ListKind::Prompts];

/// The length of a name or a problem in a message, in characters.
const SHOWN: usize = 128;

impl Definition {
    /// Reads an item of a list.
    ///
    /// # Errors
    /// The problem with it, as a sentence.
    pub(super) fn read(server: &Text, kind: ListKind, item: Value<'_>) -> Result<Self, String> {
        let problem = |problem: &str| format!("A {} of the server `{server}` {problem}.", protocol_names(kind).single);
        if item.text().len() > UPSTREAM_DEFINITION_BYTES {
            return Err(problem("is too long"));
        }
        // Some JSON readers reject a whole list because of such a number.
        if item.text().as_bytes().split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() > UPSTREAM_DIGITS) {
            return Err(problem("has a number that is too long"));
        }
        let name = item.string(protocol_names(kind).key).ok_or_else(|| problem("has no name"))?;
        if name.is_empty() || name.len() > UPSTREAM_NAME_BYTES {
            return Err(problem("has a name that is empty or too long"));
        }
        if !is_plain(&name) {
            return Err(problem("has a name with hidden characters"));
        }
        let mut definition = Shared {
            server: server.clone(),
            kind,
            full_name: format!("{server}_{name}"),
            title: item.string("title").map(|text| visible(&text)),
            description: item.string("description").map(|text| visible(&text)).unwrap_or_default(),
            hints: item.get("annotations").map(true_members).unwrap_or_default(),
            input: None,
            headers: Box::default(),
            is_for_app_only: false,
            app: None,
            output: None,
            json: item.to_raw().ok_or_else(|| problem("is not JSON"))?,
            name,
        };
        if kind == ListKind::Tools {
            let invalid = |error: String| {
                let (name, error) = (line(&definition.name, SHOWN), line(&error, SHOWN));
                format!("The tool `{name}` of the server `{server}` is not valid: {error}.")
            };
            definition.is_for_app_only = ui::is_for_app_only(item);
            definition.app = ui::resource_uri(item).and_then(Value::as_str).map(Cow::into_owned);
            definition.headers = param_headers::marked(item).map_err(invalid)?.into();
            definition.input = item.get("inputSchema").map(input_schema).transpose().map_err(invalid)?.flatten();
            let output = |schema| OutputSchema::read(server, &definition.name, schema);
            definition.output = item.get("outputSchema").map(output).transpose().map_err(invalid)?.map(Rc::new);
        }
        Ok(Self(Rc::new(definition)))
    }

    /// Returns the item as JSON text: an object with the name of the server and the definition. [`from_json`](Self::from_json) reads it.
    ///
    /// A program can store the text, and later call the tool without listing the tools again.
    pub fn to_json(&self) -> String {
        let Shared { server, kind, json, .. } = &*self.0;
        ObjectWriter::new().text("server", server).json(protocol_names(*kind).single, json.get()).finish()
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
        let item = KINDS.into_iter().find_map(|kind| Some((kind, root.get(protocol_names(kind).single)?)));
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

    /// Returns the text that identifies the item on its server: the name of a tool or a prompt, and the [URI](Self::uri) of a resource or
    /// a resource template.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the URI of a resource, or the URI template of a resource template. Tools and prompts have none.
    pub fn uri(&self) -> Option<&str> {
        matches!(self.0.kind, ListKind::Resources | ListKind::ResourceTemplates).then_some(&*self.0.name)
    }

    /// Returns the name of a resource or a resource template, which need not be unique. Invisible characters and characters that reorder text
    /// are removed. The names of tools and prompts identify them: see [`name`](Self::name).
    pub fn resource_name(&self) -> Option<String> {
        self.uri().and_then(|_| self.text("name"))
    }

    /// Returns the name of a tool or a prompt with the name of its server as a prefix: `weather_get-forecast`.
    pub fn full_name(&self) -> &str {
        &self.0.full_name
    }

    /// Returns the description, or an empty text. Invisible characters and characters that reorder text are removed.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// Returns the title, if there is one. Invisible characters and characters that reorder text are removed.
    pub fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }

    /// Returns the media type of a resource, if its server states it. The media type of a folder is `inode/directory`.
    pub fn mime_type(&self) -> Option<String> {
        self.text("mimeType")
    }

    /// Returns a member of the definition that is a text.
    fn text(&self, member: &str) -> Option<String> {
        let document = Document::parse(self.0.json.get().as_bytes(), JsonLimits::MOST).ok()?;
        document.root().string(member).map(|text| visible(&text))
    }

    /// Returns the definition as JSON text, as the server sent it. It may have hidden characters, so do not pass it to a model.
    pub fn raw(&self) -> &str {
        self.0.json.get()
    }

    /// Returns the input schema of a tool as JSON text. Hidden characters are removed from titles and descriptions. Other annotations that
    /// have hidden characters are removed.
    ///
    /// A schema without a `type` gets `"type": "object"`. Returns `None` for a schema that clients reject: its `type` is another one, or its
    /// `properties` or `required` are not valid.
    pub fn input_schema(&self) -> Option<&str> {
        self.input().map(|schema| schema.json().get())
    }

    /// Returns the output schema of a tool as JSON text, without hidden characters like [`input_schema`](Self::input_schema). Returns `None`
    /// if a name or a value in it has hidden characters, because these cannot be removed.
    pub fn output_schema(&self) -> Option<&str> {
        self.0.output.as_ref().filter(|output| output.is_visible).map(|output| output.schema.json().get())
    }

    /// Returns the input schema of a tool, which its server enforces.
    pub(crate) fn input(&self) -> Option<&Rc<Schema>> {
        self.0.input.as_ref()
    }

    /// Returns whether an annotation of a tool is true, such as `readOnlyHint`. Annotations are hints: rely only on those of servers that
    /// you trust.
    pub fn has_hint(&self, name: &str) -> bool {
        self.0.hints.iter().any(|hint| hint == name)
    }

    /// Returns whether the server shows the tool to its user interfaces only. Such a tool is not for a model.
    pub fn is_for_app_only(&self) -> bool {
        self.0.is_for_app_only
    }

    /// Returns the URI of the tool's user interface, such as `ui://parcels/form`, or `None` if it has none.
    pub fn app_uri(&self) -> Option<&str> {
        self.0.app.as_deref().filter(|uri| is_app(uri))
    }

    /// Returns whether this is the definition of the tool `name`.
    pub(super) fn is_tool(&self, name: &str) -> bool {
        self.0.kind == ListKind::Tools && self.0.name == name
    }

    /// Returns the arguments of a tool that headers repeat.
    pub(super) fn header_params(&self) -> &[HeaderParam] {
        &self.0.headers
    }

    /// Returns why the results of a tool are not checked against its output schema, as a sentence. Returns `None` if they are checked, or if the
    /// tool has no output schema.
    ///
    /// ```
    /// use edge_mcp::client::Definition;
    ///
    /// let tool = r#"{"server":"parcels","tool":{"name":"track","outputSchema":{"type":"object","unevaluatedProperties":false}}}"#;
    /// let problem = Definition::from_json(tool)?.unenforced_output().expect("it is not enforced");
    /// assert!(problem.contains("`unevaluatedProperties` is not supported"), "{problem}");
    /// # Ok::<_, edge_mcp::ConfigError>(())
    /// ```
    pub fn unenforced_output(&self) -> Option<String> {
        let output = self.0.output.as_ref()?;
        output.compiled(&Cell::new(FOREIGN_SCHEMA_STEPS)).err().map(|reason| output.problem(&reason))
    }

    /// Compiles the output schema of a tool. Returns `None` if the tool has no output schema, or one that this library cannot enforce, which is
    /// logged. `left` is the number of steps that the request has left to compile schemas.
    pub(super) fn enforced_output(&self, left: &Cell<u32>, host: &Rc<dyn Host>) -> Option<Rc<Schema>> {
        let output = self.0.output.as_ref()?;
        output.compiled(left).map_err(|reason| output.warn_of(&reason, host)).ok()
    }

    /// Returns the output schema of a tool, if a list can have it. It does not keep the rest of the definition in memory.
    pub(crate) fn listed_output(&self) -> Option<&Rc<OutputSchema>> {
        self.0.output.as_ref().filter(|output| output.is_visible)
    }

    /// Returns why a second item of this name is left out.
    pub(super) fn is_listed_twice(&self) -> String {
        self.is_left_out("is listed twice")
    }

    /// Returns why an item of another folder is left out.
    pub(super) fn is_elsewhere(&self) -> String {
        self.is_left_out("is not directly in the folder")
    }

    fn is_left_out(&self, reason: &str) -> String {
        let Shared { server, kind, name, .. } = &*self.0;
        format!("The {} `{}` of the server `{server}` {reason}.", protocol_names(*kind).single, line(name, SHOWN))
    }

    /// Returns the length of the definition in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.json.get().len()
    }
}

/// Returns whether a URI can be that of a user interface. `.` and `..` have no meaning in it, so a client must not resolve them.
fn is_app(uri: &str) -> bool {
    let is_dots = |segment: &str| matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "." | "..");
    uri.strip_prefix(ui::SCHEME).is_some_and(|path| !path.split('/').any(is_dots))
}

/// Reads an input schema. Returns `None` for a schema that strict clients reject: they then reject the whole list.
///
/// # Errors
/// The problem with it, as a sentence without its end.
fn input_schema(schema: Value<'_>) -> Result<Option<Rc<Schema>>, String> {
    let cleaned = cleaned(schema)
        .map_err(|HiddenInContract| "its input schema has names or values with hidden characters".to_owned())?;
    let raw = raw(schema, cleaned)?;
    let narrow = if has_strict_root(schema) {
        Some(raw)
    } else {
        Document::parse(raw.get().as_bytes(), JsonLimits::MOST).ok().and_then(|schema| with_strict_root(schema.root()))
    };
    Ok(narrow.map(|raw| Schema::unenforced(raw, true)))
}

/// Returns the text of a schema, or of its cleaned form.
fn raw(schema: Value<'_>, cleaned: Option<Json>) -> Result<Box<RawValue>, String> {
    let raw = match cleaned {
        None => schema.to_raw(),
        Some(cleaned) => write::to_raw_value(&cleaned).ok(),
    };
    raw.ok_or_else(|| "a schema of it cannot be written".to_owned())
}

/// Returns the names of the members that are true.
fn true_members(annotations: Value<'_>) -> Box<[String]> {
    annotations.members().filter(|(_, value)| value.text() == "true").map(|(name, _)| name.into_owned()).collect()
}

impl OutputSchema {
    fn read(server: &Text, tool: &str, schema: Value<'_>) -> Result<Self, String> {
        let cleaned = cleaned(schema);
        let is_visible = cleaned.is_ok();
        let is_of_objects = schema.get("type").is_some_and(|kind| kind.is_str("object"));
        // In older revisions, a schema of other values becomes that of a member.
        let is_strict = schema.kind() == Kind::Object && (!is_of_objects || has_strict_root(schema));
        let schema = Schema::unenforced(raw(schema, cleaned.unwrap_or_default())?, is_of_objects);
        let (server, tool) = (server.clone(), tool.to_owned());
        Ok(Self { server, tool, schema, is_visible, is_strict, is_enforceable: OnceCell::new() })
    }

    /// Returns the schema for a list. A valid schema that this library does not support is published, too, and logged. Returns `None` for a
    /// schema because of which clients may reject the whole list, and logs it. `left` is the number of steps that the request has left to compile
    /// schemas.
    pub(crate) fn published(&self, left: &Cell<u32>, host: &Rc<dyn Host>) -> Option<Rc<Schema>> {
        let outcome = match self.is_enforceable.get() {
            _ if !self.is_strict => {
                Err(NotEnforceable::Invalid(SchemaError::at("", "`properties` or `required` is not valid")))
            }
            Some(Ok(())) => Ok(()),
            _ => self.compiled(left).map(drop),
        };
        let Err(reason) = outcome else { return Some(self.schema.clone()) };
        self.warn_of(&reason, host);
        matches!(reason, NotEnforceable::Unsupported(_)).then(|| self.schema.clone())
    }

    /// Compiles the schema. `left` is the number of steps that the request has left to compile schemas.
    ///
    /// # Errors
    /// This library cannot enforce the schema.
    fn compiled(&self, left: &Cell<u32>) -> Result<Rc<Schema>, NotEnforceable> {
        if let Some(Err(reason)) = self.is_enforceable.get() {
            return Err(reason.clone());
        }
        let has_all_steps = left.get() >= FOREIGN_SCHEMA_STEPS;
        let compiled = Schema::of_other_server(self.schema.json().get(), left);
        // With fewer steps, other schemas of the request may be the reason of a failure.
        if compiled.is_ok() || has_all_steps {
            drop(self.is_enforceable.set(compiled.as_ref().map(drop).map_err(Clone::clone)));
        }
        compiled
    }

    /// Describes why the schema is not enforced, as a sentence.
    fn problem(&self, reason: &NotEnforceable) -> String {
        let (consequence, reason) = match reason {
            NotEnforceable::Unsupported(error) => ("not enforced here", error.to_string()),
            NotEnforceable::Invalid(error) => ("neither enforced nor listed", error.to_string()),
            NotEnforceable::TooCostly => ("neither enforced nor listed", "it takes too long to compile".to_owned()),
        };
        let (tool, reason) = (line(&self.tool, SHOWN), line(&reason, SHOWN));
        format!("The output schema of the tool `{tool}` of the server `{}` is {consequence}: {reason}.", self.server)
    }

    fn warn_of(&self, reason: &NotEnforceable, host: &Rc<dyn Host>) {
        let problem = self.problem(reason);
        log::warning_once_about(host, "output schema of an MCP server", [&self.server, &problem], &problem);
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("server", &self.0.server).field("json", &self.0.json.get()).finish()
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
            // The definition remembers that the schema cannot be enforced.
            ("7".to_owned(), true),
        ] {
            let tool = format!(r#"{{"server":"parcels","tool":{{"name":"track","outputSchema":{schema}}}}}"#);
            let tool = Definition::from_json(&tool).expect("a definition");
            let compiled = || {
                let left = Cell::new(4_000_000);
                let host: Rc<dyn Host> = Rc::new(crate::testing::TestHost::new());
                assert_eq!(tool.enforced_output(&left, &host).is_some(), schema != "7", "{schema}");
                left.get() < 4_000_000
            };
            assert_eq!((compiled(), compiled()), (true, !is_cached), "{schema}");
        }
    }
}
