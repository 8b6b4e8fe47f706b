//! Results of tools.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, write};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::{HandlerError, IntoHandlerError};
use crate::protocol::content::Content;
use crate::protocol::foreign::read_meta;
use crate::protocol::meta::SERVER_INFO;
use crate::schema::{HasJsonSchema, Schema, SchemaError};

/// The result of a tool.
///
/// Most handlers return one of the types in the table of [`IntoToolResult`]. This type can express every result:
///
/// ```
/// use edge_mcp::{Content, HandlerError, ToolResult};
/// use serde_json::json;
///
/// async fn report() -> Result<ToolResult, HandlerError> {
///     let summary = ToolResult::structured(&json!({ "rows": 3 }))?;
///     Ok(summary.content([Content::text("3 rows")]).meta("example.com/cost", json!(0.02)))
/// }
///
/// let refused = ToolResult::failure("The report is not ready. Try again tomorrow.");
/// assert!(refused.is_error());
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    pub(crate) content: Vec<Content>,
    /// JSON text.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write::raw")]
    pub(crate) structured_content: Option<Box<str>>,
    pub(crate) is_error: bool,
    /// Not serialized here: the envelope writes it, together with the other members of `_meta`.
    #[serde(skip)]
    pub(crate) meta: Option<Box<Map<String, Value>>>,
    /// The description of the task that the client gets instead of the result: a JSON object. Only the outermost call of a client that supports
    /// tasks has one.
    #[serde(skip)]
    pub(crate) task: Option<Box<RawValue>>,
}

impl ToolResult {
    /// Creates the outcome of a call that continues as a task.
    pub(crate) fn of_task(task: Box<RawValue>) -> Self {
        Self { task: Some(task), ..Self::default() }
    }

    /// Creates a result with these content blocks.
    pub fn new(content: impl IntoIterator<Item = Content>) -> Self {
        Self { content: content.into_iter().collect(), ..Self::default() }
    }

    /// Reads the result of a call from its JSON text.
    pub(crate) fn read(json: &str) -> Option<Self> {
        let document = Document::parse(json.as_bytes(), JsonLimits::MOST).ok()?;
        let (result, json) = (document.root(), Rc::from(json));
        let content = result.get("content")?.items().filter_map(|block| Content::read(block, &json)).collect();
        let structured_content = result.get("structuredContent").map(|value| value.text().into());
        let is_error = result.get("isError").is_some_and(|flag| flag.text() == "true");
        let mut meta = read_meta(result);
        if let Some(meta) = &mut meta {
            // Each answer has the name of the server that answers.
            meta.remove(SERVER_INFO);
        }
        Some(Self { content, structured_content, is_error, meta: meta.filter(|meta| !meta.is_empty()), task: None })
    }

    /// Creates a result with `value` as structured content, and as text for clients that read only text.
    ///
    /// # Errors
    /// `value` cannot be written as JSON.
    pub fn structured(value: &impl Serialize) -> Result<Self, HandlerError> {
        Self::of_json(write::to_string(value))
    }

    #[inline(never)]
    fn of_json(json: serde_json::Result<String>) -> Result<Self, HandlerError> {
        let structured = json?;
        let content = vec![Content::text(&*structured)];
        Ok(Self { content, structured_content: Some(structured.into()), ..Self::default() })
    }

    /// Creates a result with `isError` and one text block: a failure that the model reads and may correct.
    #[inline(never)]
    pub fn failure(message: impl Into<String>) -> Self {
        Self::new([Content::text(message)]).error()
    }

    /// Replaces the content blocks.
    #[must_use]
    pub fn content(mut self, content: impl IntoIterator<Item = Content>) -> Self {
        self.content = content.into_iter().collect();
        self
    }

    /// Sets `isError`. Structured content of such a result is not checked against the output schema.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// Sets a member of `_meta`. Its name should have a prefix, such as `example.com/cost`.
    #[must_use]
    pub fn meta(mut self, name: impl Into<String>, value: Value) -> Self {
        self.meta.get_or_insert_default().insert(name.into(), value);
        self
    }

    /// Returns the text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        let mut texts = Vec::new();
        for block in &self.content {
            texts.extend(block.as_text());
        }
        texts.join("\n")
    }

    /// Returns the structured content, as JSON text.
    pub fn structured_content(&self) -> Option<&str> {
        self.structured_content.as_deref()
    }

    /// Returns `isError`: whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

/// Structured content. The tool's output schema is the schema of `T`.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

/// The types that a tool's handler may return.
///
/// | returned | the caller gets |
/// |---|---|
/// | `String`, `&'static str` | one text block |
/// | [`Content`], `Vec<Content>` | these content blocks |
/// | [`Json<T>`] | `T` as structured content and as text, for clients without structured content; the tool has an output schema |
/// | `(Json<T>, Vec<Content>)` | `T` as structured content, and these content blocks instead of its text |
/// | `()` | no content |
/// | `Result<one of them, E>` | an error is a result with `isError` |
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "the handler must return text, `Json<T>`, `Content`, `ToolResult`, `()` or a `Result` of one of them",
    note = "wrap a struct, a number or a list in `Json`: `Json(value)`; its type must implement `Serialize` and `JsonSchema`",
    note = "return a `Result` instead of an `Option`: `value.ok_or_else(|| HandlerError::not_found(\"…\"))`"
)]
pub trait IntoToolResult {
    /// Converts the value into a result.
    ///
    /// # Errors
    /// The handler's own error, or the error of serializing its value.
    fn into_tool_result(self) -> Result<ToolResult, HandlerError>;

    /// Returns the schema of the structured content, if there is any.
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
        Content::of_text(self.into()).into_tool_result()
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        vec![self].into_tool_result()
    }
}

impl IntoToolResult for Vec<Content> {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        Ok(ToolResult::new(self))
    }
}

impl<T: Serialize + HasJsonSchema + 'static> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        ToolResult::structured(&self.0)
    }

    fn output_schema() -> Option<Result<Rc<Schema>, SchemaError>> {
        Some(Schema::of::<T>())
    }
}

impl<T: Serialize + HasJsonSchema + 'static> IntoToolResult for (Json<T>, Vec<Content>) {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        let (json, content) = self;
        Ok(json.into_tool_result()?.content(content))
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
