//! The results of tool calls.

use std::rc::Rc;

use edge_json::deserialize::read;
use edge_json::{Document, JsonLimits, Kind, Value};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::protocol::content::Content;
use crate::protocol::foreign::read_meta;
use crate::protocol::meta::OF_PROTOCOL;

/// The result of a tool call.
#[derive(Clone, Debug)]
pub struct CallResult {
    /// The content blocks. A block of an unknown type or form is a [`Block::Unknown`](crate::content::Block::Unknown). If the server sent only structured
    /// content, its JSON is the only block.
    pub content: Vec<Content>,
    structured: Option<Box<str>>,
    is_error: bool,
    meta: Option<Box<Map<String, Json>>>,
    json: Rc<str>,
}

impl CallResult {
    /// Reads the result of `tools/call`.
    ///
    /// # Errors
    /// The problem with it, as a predicate whose subject is the server.
    pub(super) fn read(result: Value<'_>) -> Result<Self, &'static str> {
        let json: Rc<str> = result.text().into();
        let structured = result.get("structuredContent");
        let content = match (result.get("content"), structured) {
            (Some(blocks), _) if blocks.kind() == Kind::Array => {
                blocks.items().filter_map(|block| Content::read(block, &json)).collect()
            }
            // Some servers send structured content alone. Clients that read only text get its JSON.
            (None, Some(structured)) => vec![Content::text(structured.text())],
            _ => return Err("has a result without `content`"),
        };
        let is_error = match result.get("isError") {
            None => false,
            Some(flag) if flag.kind() == Kind::Boolean => flag.text() == "true",
            Some(_) => return Err("has an `isError` that is not a boolean"),
        };
        let structured = structured.map(|value| value.text().into());
        Ok(Self { content, structured, is_error, meta: read_meta(result), json })
    }

    /// Returns whether the tool failed. The text then describes the problem for a model.
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// Returns the text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
    }

    /// Returns the structured content as JSON text.
    pub fn structured_content(&self) -> Option<&str> {
        self.structured.as_deref()
    }

    /// Returns the members of `_meta`, except for those that begin with `edge-mcp/`.
    pub fn meta(&self) -> Option<&Map<String, Json>> {
        self.meta.as_deref()
    }

    /// Reads the structured content, or else the text as JSON, into a type.
    ///
    /// # Errors
    /// The tool failed, or the content does not match the type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HandlerError> {
        if self.is_error {
            return Err(HandlerError::new(self.text()));
        }
        match &self.structured {
            Some(structured) => read_text(structured, JsonLimits::MOST),
            None => read_text(&self.text(), JsonLimits::default()),
        }
    }

    /// Converts the result for the caller of a tool of this program. The caller gets the content, the structured content and the `_meta` of
    /// the other server, except for the members of `_meta` that belong to the protocol.
    ///
    /// Blocks keep the JSON text that the server sent, except for members that strict clients reject. Clients of older revisions get audio and
    /// links in the form of their revision. A block of an unknown type or form becomes a text that names the type.
    pub fn into_tool_result(self) -> ToolResult {
        let Self { content, structured: structured_content, is_error, mut meta, json: _ } = self;
        if let Some(meta) = &mut meta {
            // This server says itself what the protocol says about a result.
            meta.retain(|name, _| !name.starts_with(OF_PROTOCOL));
        }
        ToolResult { content, structured_content, is_error, meta: meta.filter(|meta| !meta.is_empty()), task: None }
    }

    /// Returns the result as JSON text, as the server sent it, without null members.
    pub fn raw(&self) -> &str {
        &self.json
    }
}

/// Reads JSON text of another server into a type.
pub(super) fn read_text<T: DeserializeOwned>(json: &str, limits: JsonLimits) -> Result<T, HandlerError> {
    let outcome = match Document::parse(json.as_bytes(), limits) {
        Ok(document) => read(document.root()).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    outcome.map_err(|problem| HandlerError::new("Another server gave a result in an unexpected form.").because(problem))
}
