//! What a tool's function may return.
//!
//! | returned | the caller gets |
//! |---|---|
//! | `String`, `&'static str` | a block of text |
//! | [`Content`], `Vec<Content>` | these blocks |
//! | [`Json<T>`] | `T` as structured content, and as text for clients that know only text; the tool has an output schema |
//! | `(Json<T>, Vec<Content>)` | `T` as structured content, with these blocks in place of its text |
//! | `()` | no content |
//! | `Result<one of them, E>` | an error is a result with `isError` |

use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::{HandlerError, IntoHandlerError};
use crate::protocol::content::Content;
use crate::schema::{Schema, SchemaError};

/// The result of `tools/call`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    pub(crate) content: Vec<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) structured_content: Option<Box<RawValue>>,
    pub(crate) is_error: bool,
    /// Goes where all of a result's `_meta` is put together.
    #[serde(skip)]
    pub(crate) meta: Map<String, Value>,
}

impl ToolResult {
    /// A failure that the model is told of, and may correct.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self { content: vec![Content::text(message)], is_error: true, ..Self::default() }
    }

    /// The blocks of text in it, a line break between them.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(Content::as_text);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The structured content, as JSON.
    pub fn structured_content(&self) -> Option<&RawValue> {
        self.structured_content.as_deref()
    }

    /// Whether it says that the tool has failed.
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

/// Structured content: the tool's output schema is that of `T`.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

/// What a tool's function may return.
pub trait IntoToolResult {
    /// Makes the result.
    ///
    /// # Errors
    /// The function's own error, or that of serializing what it returned.
    fn into_tool_result(self) -> Result<ToolResult, HandlerError>;

    /// The schema of the structured content, if there is any.
    fn output_schema() -> Option<Result<Rc<Schema>, SchemaError>> {
        None
    }
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        Ok(ToolResult::default())
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        Content::text(self).into_tool_result()
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        Content::text(self).into_tool_result()
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        vec![self].into_tool_result()
    }
}

impl IntoToolResult for Vec<Content> {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        Ok(ToolResult { content: self, ..ToolResult::default() })
    }
}

impl<T: Serialize + JsonSchema + 'static> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        let structured = serde_json::value::to_raw_value(&self.0)?;
        let content = vec![Content::text(structured.get())];
        Ok(ToolResult { content, structured_content: Some(structured), ..ToolResult::default() })
    }

    fn output_schema() -> Option<Result<Rc<Schema>, SchemaError>> {
        Some(Schema::of::<T>())
    }
}

impl<T: Serialize + JsonSchema + 'static> IntoToolResult for (Json<T>, Vec<Content>) {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        let (json, content) = self;
        Ok(ToolResult { content, ..json.into_tool_result()? })
    }

    fn output_schema() -> Option<Result<Rc<Schema>, SchemaError>> {
        Json::<T>::output_schema()
    }
}

impl<R: IntoToolResult, E: IntoHandlerError> IntoToolResult for Result<R, E> {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        self.map_err(E::into_handler_error)?.into_tool_result()
    }

    fn output_schema() -> Option<Result<Rc<Schema>, SchemaError>> {
        R::output_schema()
    }
}
