//! Workflows: handlers that run in steps, served as the tool `run_<key>`.

use std::rc::Rc;

use edge_json::{Value, object};
use futures::FutureExt;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::handler::{Handler, Parameters};
use crate::call::result::{IntoToolResult, ToolResult};
use crate::call::step_memory::StepStatus;
use crate::protocol::description::is_blank;
use crate::schema::{HasJsonSchema, Schema, SchemaError};
use crate::server::builder::McpServerBuilder;
use crate::server::tool::{Tool, ToolOrigin};
use crate::server::tool_handler::{AnyToolHandler, ToolFuture};
use crate::text::Text;

/// The `_meta` key of a run report. A request with the value `true` asks for the report. The result contains the report under the same key.
const RUN: &str = "edge-mcp/run";

/// A named handler that runs in steps ([`Context::step`]), served as the tool `run_<key>`.
///
/// Workflows use ordinary Rust: a sequence is `.await`, parallel steps are `try_join!`, a branch is `if`, and a retry is a loop. A question
/// to the client ends the round. The next round runs the handler from its beginning, and finished steps return their results.
///
/// If a request has `"edge-mcp/run": true` in its `_meta`, the `_meta` of the result contains the status and the times of the steps.
///
/// ```
/// use edge_mcp::agents::Workflow;
/// use edge_mcp::{Context, HandlerError, Json, McpServer};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Text {
///     text: String,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Count {
///     words: usize,
/// }
///
/// async fn count_words(Text { text }: Text, cx: Context) -> Result<Json<Count>, HandlerError> {
///     let trimmed: String = cx.step("trim", &text, async || Ok(text.trim().to_owned())).await?;
///     let words = cx.step("count", &trimmed, async || Ok(trimmed.split_whitespace().count())).await?;
///     Ok(Json(Count { words }))
/// }
///
/// let words = Workflow::new("words", "Counts the words of a text.", count_words);
/// let server = McpServer::builder("texts", "1.0.0").workflow(words).build()?;
/// # Ok::<_, edge_mcp::BuildError>(())
/// ```
#[must_use]
pub struct Workflow {
    tool: Tool,
}

impl Workflow {
    /// Creates a workflow. A model uses the description to decide when to run it, so it must not be empty.
    pub fn new<P, H>(key: impl Into<Text>, description: impl Into<Text>, handler: H) -> Self
    where
        P: Parameters<Arguments: HasJsonSchema>,
        H: Handler<P, Output: IntoToolResult>,
    {
        let (key, description) = (key.into(), description.into());
        let is_blank = is_blank(&description);
        let about = format!("Run workflow '{key}'. Workflow description: {description}");
        // These hints are the defaults that clients assume. Directories of servers require them.
        let mut tool = Tool::new(format!("run_{key}"), about, handler).title(key.clone()).destructive().open_world();
        tool.handler = Box::new(WithRun(tool.handler));
        let problem = move |_: &dyn Fn(&str) -> bool| {
            is_blank.then(|| "has an empty description; a model needs it to choose a workflow".into())
        };
        tool.origin = Some(ToolOrigin { kind: "workflow", key: key.into_owned(), problem: Box::new(problem) });
        Self { tool }
    }

    /// Sets the title of the tool. The default is the key.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.tool = self.tool.title(title);
        self
    }

    /// Declares that the workflow does not modify data (`readOnlyHint`).
    pub fn read_only(mut self) -> Self {
        self.tool = self.tool.read_only();
        self
    }
}

impl Tool {
    /// Creates the tool `run_<key>` of a workflow. Use this to set its [scopes](Self::scopes), [deadline](Self::deadline) or
    /// [hooks](Self::hook).
    pub fn of_workflow(workflow: Workflow) -> Self {
        workflow.tool
    }
}

impl McpServerBuilder {
    /// Adds a workflow as the tool `run_<key>`. A tool with the same name replaces it.
    pub fn workflow(self, workflow: Workflow) -> Self {
        self.tool(Tool::of_workflow(workflow))
    }
}

/// A handler that adds the run report to its results, if the caller asked for it.
struct WithRun(Box<dyn AnyToolHandler>);

impl AnyToolHandler for WithRun {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        self.0.input_schema()
    }

    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        self.0.output_schema()
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        let work = self.0.call(arguments, cx.clone())?;
        if cx.meta(RUN) != Some(true.into()) {
            return Ok(work);
        }
        let with_run = move |ended: Result<ToolResult, HandlerError>| {
            let status = if ended.is_ok() { StepStatus::Success } else { StepStatus::Failed };
            let run = object(vec![("status", status.name().into()), ("steps", cx.rounds().step_runs())]);
            match ended {
                Ok(result) => Ok(result.meta(RUN, run)),
                Err(error) => Err(error.meta(RUN, run)),
            }
        };
        Ok(work.map(with_run).boxed_local())
    }
}
