//! Calls of tools by handlers and by the program.

use std::any::Any;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind, write};
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::tool_call::run_tool;
use crate::call::context::{CallTools, CallableTool, Context, Hook, PassTasks, unknown_tool};
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::limits::NESTED_CALLS;
use crate::protocol::error::INTERNAL;
use crate::server::access::permits;
use crate::server::builder::McpServer;
use crate::server::tool::Tool;

impl McpServer {
    /// Calls the tool `name` from the program, like a call of a client. The arguments, the scopes of the caller in `cx` and
    /// the output are checked. Hooks run, and the deadline applies.
    ///
    /// If the tool fails, or if the arguments do not fit its schema, the result has [`is_error`](ToolResult::is_error).
    ///
    /// # Errors
    /// The tool does not exist, the caller lacks a scope, `arguments` is not an object, or tool calls are nested too
    /// deeply.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError, McpServer, Tool};
    /// use serde_json::json;
    ///
    /// async fn greeting(cx: &Context) -> Result<String, HandlerError> {
    ///     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
    ///     let server = McpServer::builder("greeter", "1.0.0").tool(greet).build()?;
    ///     Ok(server.execute_tool("greet", json!({}), cx).await?.text())
    /// }
    /// ```
    pub async fn execute_tool(
        &self,
        name: &str,
        arguments: serde_json::Value,
        cx: &Context,
    ) -> Result<ToolResult, HandlerError> {
        let tool = self.tool(name).ok_or_else(|| HandlerError::new(unknown_tool(name)))?;
        call_tool(Rc::new(self.clone()), &tool, arguments, cx).await
    }
}

/// Calls `tool`, a tool of `server` or of a source, as a nested call of `cx`.
pub(crate) async fn call_tool(
    server: Rc<dyn CallTools>,
    tool: &Rc<Tool>,
    arguments: serde_json::Value,
    cx: &Context,
) -> Result<ToolResult, HandlerError> {
    let text = write::text(&arguments);
    // Free the arguments before the tool runs.
    drop(arguments);
    call_tool_with_text(server, tool, text, cx).await
}

/// Calls `tool` like [`call_tool`]. The arguments are JSON text.
pub(crate) async fn call_tool_with_text(
    server: Rc<dyn CallTools>,
    tool: &Rc<Tool>,
    text: String,
    cx: &Context,
) -> Result<ToolResult, HandlerError> {
    let name = &*tool.metadata.name;
    if !permits(cx.request(), &tool.access.scopes) {
        let scopes = tool.access.scopes.join(" ");
        return Err(HandlerError::new(format!("`{name}` needs the scope {scopes}, which the caller does not have.")));
    }
    if cx.depth() >= NESTED_CALLS {
        let message = format!("`{name}` was not called: tool calls are nested too deeply (limit: {NESTED_CALLS}).");
        return Err(HandlerError::new(message));
    }
    let document = Document::parse(text.as_bytes(), JsonLimits::MOST)
        .ok()
        .filter(|document| document.root().kind() == Kind::Object)
        .ok_or_else(|| HandlerError::new(format!("The arguments of `{name}` must be an object.")))?;
    let inner = cx.within(server.clone(), name, &text);
    let work = run_tool(&*server, tool, document.root(), &inner);
    // Free the arguments before the tool runs.
    drop(document);
    drop(text);
    match work.await? {
        // A nested call never becomes a task.
        Some(result) if result.task.is_some() => Err(HandlerError::new(INTERNAL)),
        Some(result) => Ok(result),
        // The questions also end the outermost call.
        None => std::future::pending().await,
    }
}

impl CallTools for McpServer {
    fn name(&self) -> &str {
        &self.definitions.info.name
    }

    fn hooks(&self) -> &[Hook] {
        &self.definitions.hooks
    }

    fn has_own_tool(&self, name: &str) -> bool {
        self.has_own_tool(name)
    }

    fn may_use(&self, name: &str, cx: &Context) -> bool {
        self.tool(name).is_some_and(|tool| permits(cx.request(), &tool.access.scopes))
    }

    fn passed_tasks(&self) -> Option<&Rc<dyn PassTasks>> {
        // Without the feature, the compiler then removes the code for tasks.
        if cfg!(feature = "tasks") { self.definitions.passed_tasks.as_ref() } else { None }
    }

    fn mount_of(&self, name: &str) -> Option<Rc<dyn Any>> {
        self.tool(name)?.handler.mount()
    }

    fn callable(&self, name: &str, cx: &Context) -> Option<CallableTool> {
        let is_callable = |tool: &Rc<Tool>| !tool.is_for_app_only() && permits(cx.request(), &tool.access.scopes);
        let tool = self.tool(name).filter(is_callable)?;
        tool.callable()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: serde_json::Value,
        cx: &'a Context,
    ) -> LocalBoxFuture<'a, Result<ToolResult, HandlerError>> {
        // Boxed, because a tool may call itself, and a future cannot contain itself.
        self.execute_tool(name, arguments, cx).boxed_local()
    }
}
