//! Tools of other servers as tools of this server.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::definition::Listed;
use super::hidden::clean_descriptions;
use super::mcp_client::McpClient;
use crate::call::context::Context;
use crate::host::warning;
use crate::json::{Document, JsonLimits, Value, write};
use crate::protocol::description::Text;
use crate::schema::{Schema, SchemaError};
use crate::server::cache::Cacheable;
use crate::server::definition::name_problem;
use crate::server::source::{Found, Source};
use crate::server::tool::Tool;
use crate::server::tool_handler::{AnyToolHandler, ToolFuture};

/// Tools of the servers of a client, as a source of a server or an agent. The name of a tool is `<server>_<tool>`.
pub struct RemoteTools {
    client: McpClient,
    /// The names of the tools. `None` means the read-only tools of trusted servers.
    names: Option<Vec<Text>>,
}

impl McpClient {
    /// Returns a source for an agent or a server: the tools with these full names, such as `weather_get-forecast`.
    pub fn tools<T: Into<Text>>(&self, names: impl IntoIterator<Item = T>) -> RemoteTools {
        RemoteTools { client: self.clone(), names: Some(names.into_iter().map(Into::into).collect()) }
    }

    /// Returns a source for an agent: the read-only tools of the servers that the program [trusts](super::Upstream::trusted).
    ///
    /// A server with this source lists the tools, but cannot call them: use [`tools`](Self::tools) for a server.
    pub fn read_only_tools(&self) -> RemoteTools {
        RemoteTools { client: self.clone(), names: None }
    }
}

impl RemoteTools {
    fn offers(&self, listed: &Listed, is_trusted: bool) -> bool {
        match &self.names {
            Some(names) => names.iter().any(|name| *name == listed.full_name()),
            None => is_trusted && listed.has_hint("readOnlyHint") && !listed.has_hint("destructiveHint"),
        }
    }

    /// Returns the tool for a definition, or `None` for a tool that a server cannot list.
    fn tool_of(&self, listed: &Listed, is_trusted: bool) -> Option<Tool> {
        if name_problem(&listed.full_name()).is_some() {
            return None;
        }
        let input = schema(listed, "inputSchema")?;
        let handler = RemoteHandler {
            client: self.client.clone(),
            server: listed.server().to_owned(),
            tool: listed.name().to_owned(),
            input,
        };
        let mut tool = Tool::of_handler(listed.full_name().into(), listed.description().into(), Box::new(handler));
        if let Some(title) = listed.title() {
            tool = tool.title(title);
        }
        // Annotations of a server that is not trusted are ignored.
        if is_trusted && listed.has_hint("readOnlyHint") {
            tool = tool.read_only();
        }
        Some(tool)
    }
}

impl Source for RemoteTools {
    fn tool(&self, name: &str) -> Option<Tool> {
        let names = self.names.as_ref()?;
        let (server, tool) = name.split_once('_').filter(|_| names.iter().any(|known| known == name))?;
        self.client.0.servers.iter().find(|known| known.name == server)?;
        let handler = RemoteHandler {
            client: self.client.clone(),
            server: server.to_owned(),
            tool: tool.to_owned(),
            input: Schema::unenforced(serde_json::Value::Object(serde_json::Map::new()), RawValue::NULL.to_owned()),
        };
        Some(Tool::of_handler(name.to_owned().into(), Text::Borrowed(""), Box::new(handler)))
    }

    fn find(&self, list: Cacheable, cx: &Context) -> LocalBoxFuture<'static, Found> {
        if list != Cacheable::Tools {
            return std::future::ready(Found::default()).boxed_local();
        }
        let source = Self { client: self.client.clone(), names: self.names.clone() };
        let cx = cx.clone();
        let found = async move {
            let connection = source.client.connect(&cx);
            let listing = connection.list_tools().await;
            let mut found = Found::default();
            for listed in &listing.items {
                let server = source.client.0.servers.iter().find(|server| server.name == listed.server());
                let is_trusted = server.is_some_and(|server| server.upstream.is_trusted);
                if !source.offers(listed, is_trusted) {
                    continue;
                }
                match source.tool_of(listed, is_trusted) {
                    Some(tool) => found = found.tool(tool),
                    None => warn_of_invalid(listed.server(), &cx),
                }
            }
            for error in &listing.missing {
                found = found.missing(error.server(), error.to_string());
            }
            found
        };
        found.boxed_local()
    }
}

/// Logs that a server has tools that are left out. The text does not depend on the tool: the number of different warnings is limited.
fn warn_of_invalid(server: &str, cx: &Context) {
    let problem = format!(
        "Tools of the server `{server}` are left out: they have no input schema, or a name that a server cannot list."
    );
    warning::once(cx.host(), "client", &problem);
}

/// Calls a tool of another server.
struct RemoteHandler {
    client: McpClient,
    server: String,
    tool: String,
    input: Rc<Schema>,
}

impl AnyToolHandler for RemoteHandler {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        Ok(self.input.clone())
    }

    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        None
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        let arguments = arguments.to_raw();
        let (client, server, tool) = (self.client.clone(), self.server.clone(), self.tool.clone());
        let call = async move {
            let connection = client.connect(&cx);
            let result = connection.server(&server)?.call(&tool, arguments).through(&cx).await?;
            Ok(result.into_tool_result())
        };
        Ok(call.boxed_local())
    }
}

/// Returns a schema of a definition. It is published as the server sent it, except for deceptive characters in descriptions.
fn schema(listed: &Listed, name: &str) -> Option<Rc<Schema>> {
    let document = Document::parse(listed.json().as_bytes(), JsonLimits::MOST).ok()?;
    let schema = document.root().get(name)?;
    let (mut value, mut raw) = (schema.to_json()?, schema.to_raw()?);
    if clean_descriptions(&mut value) {
        raw = write::to_raw_value(&value).ok()?;
    }
    Some(Schema::unenforced(value, raw))
}
