//! The results of requests.

use edge_json::deserialize::read;
use edge_json::{Document, JsonLimits, Kind, Value};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::protocol::content::Content;

/// The result of a tool call.
#[derive(Clone, Debug)]
pub struct CallResult {
    json: Box<RawValue>,
    is_error: bool,
}

impl CallResult {
    /// Checks the result of `tools/call`.
    pub(super) fn read(json: Box<RawValue>) -> Result<Self, &'static str> {
        let is_error = {
            let document = parsed(&json).ok_or("has a result that is not JSON")?;
            let result = document.root();
            if result.get("content").is_none_or(|content| content.kind() != Kind::Array) {
                return Err("has a result without `content`");
            }
            match result.get("isError") {
                None => false,
                Some(flag) if flag.kind() == Kind::Boolean => flag.text() == "true",
                Some(_) => return Err("has an `isError` that is not a boolean"),
            }
        };
        Ok(Self { json, is_error })
    }

    /// Returns whether the tool failed. The text then describes the problem for a model.
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// Returns the text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        let Some(document) = parsed(&self.json) else { return String::new() };
        let Some(content) = document.root().get("content") else { return String::new() };
        let blocks = content.items().filter(|block| block.get("type").is_some_and(|kind| kind.is_str("text")));
        blocks.filter_map(|block| block.string("text")).collect::<Vec<_>>().join("\n")
    }

    /// Reads the structured content, or else the text as JSON, into a type.
    ///
    /// # Errors
    /// The tool failed, or the content does not match the type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HandlerError> {
        if self.is_error {
            return Err(HandlerError::new(self.text()));
        }
        let document = parsed(&self.json);
        let structured = document.as_ref().and_then(|document| document.root().get("structuredContent"));
        let outcome = if let Some(structured) = structured {
            read_owned(structured)
        } else {
            let text = self.text();
            let document = Document::parse(text.as_bytes(), JsonLimits::default());
            document.map_err(|error| error.to_string()).and_then(|document| read_owned(document.root()))
        };
        outcome.map_err(|problem| {
            HandlerError::new("Another server gave a result in an unexpected form.").because(problem)
        })
    }

    /// Converts the result for the caller of a tool of this program. Blocks of an unknown type are left out.
    pub fn into_tool_result(self) -> ToolResult {
        let Some(document) = parsed(&self.json) else { return ToolResult::default() };
        let blocks = document.root().get("content").into_iter().flat_map(Value::items);
        let mut result = ToolResult::new(blocks.filter_map(Content::read));
        result.structured_content = document.root().get("structuredContent").map(|value| value.text().into());
        if self.is_error { result.error() } else { result }
    }

    /// Returns the result as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        self.json.get()
    }
}

fn read_owned<T: DeserializeOwned>(value: Value<'_>) -> Result<T, String> {
    read(value).map_err(|error| error.to_string())
}

fn parsed(json: &RawValue) -> Option<Document<'_>> {
    Document::parse(json.get().as_bytes(), JsonLimits::MOST).ok()
}
