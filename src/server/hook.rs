//! Hooks, which observe the calls of a tool.

use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;

use crate::call::context::{Context, Hook};
use crate::call::error::HandlerError;
use crate::call::failure;
use crate::call::result::ToolResult;
use crate::call::tool_event::ToolEvent;
use crate::text::Text;

/// Creates a hook from a function that gets the name of the tool.
pub(super) fn hook<F>(observe: impl Fn(&Text, ToolEvent, Context) -> F + 'static) -> Hook
where
    F: Future<Output = Result<(), HandlerError>> + 'static,
{
    Rc::new(move |tool, event, cx| observe(tool, event, cx).boxed_local())
}

/// Sends an event of a call of `tool` to all hooks in sequence. If a hook fails, the next hooks still run. Failures of hooks are only logged.
pub(crate) async fn notify(hooks: &[Hook], tool: &Text, event: ToolEvent, cx: &Context) {
    for hook in hooks {
        if let Err(error) = hook(tool, event.clone(), cx.clone()).await {
            let cause = error.0.cause.as_ref().map_or_else(String::new, |cause| format!(": {cause}"));
            failure::log(cx.host(), tool, &format!("a hook failed: {}{cause}", error.message()));
        }
    }
}

/// Returns the event for the result of a call. A task has none: its result comes later.
pub(crate) fn of_result(result: &ToolResult) -> Option<ToolEvent> {
    match result {
        result if result.task.is_some() => None,
        result if result.is_error => Some(ToolEvent::Error(result.text().into())),
        result => Some(ToolEvent::Output(Rc::new(result.clone()))),
    }
}
