//! How the calls of a tool become durable tasks. The room `tasks` implements it.

use super::extension::ExtensionMethods;
use super::tool_handler::ToolCall;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::task_info::Begin;
use crate::text::Text;

/// The durable tasks of a tool. Only `Tool::task` creates it, so the wasm module of a server without such tools does not contain them.
pub(crate) trait ToolTask {
    /// Returns the point at which the task of a call of the tool `name` begins.
    ///
    /// # Errors
    /// The tool can only answer with a task, and the client does not support tasks.
    fn begin(&self, name: &str, cx: &Context) -> Result<Begin, HandlerError>;

    /// Runs `call` until its task begins, and then starts the task. `arguments` is JSON text.
    fn start_after(&self, call: ToolCall, name: Text, arguments: Box<str>, cx: Context) -> ToolCall;

    /// Returns whether a client can get another result than that of the handler, so that the tool cannot publish its output schema.
    fn has_job(&self) -> bool;

    /// Returns whether the tool needs an endpoint with durable tasks.
    fn is_required(&self) -> bool;

    /// Adds the methods that clients need for tasks.
    fn install(&self, methods: &mut ExtensionMethods);
}
