//! Hooks, which observe the calls of a tool.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;

use crate::call::context::{Context, Hook};
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::call::tool_event::{FinishedCall, HookData, ToolEvent};
use crate::host::log;
use crate::text::Text;

/// Creates a hook from a function that gets the name of the tool.
pub(super) fn hook<F>(observe: impl Fn(&Text, ToolEvent, Context) -> F + 'static) -> Hook
where
    F: Future<Output = Result<(), HandlerError>> + 'static,
{
    let observe = Rc::new(observe);
    Rc::new(move |tool, event, call, cx| {
        let last = call.and_then(|call| finished(tool, &event, call, &cx));
        let first = observe(tool, event, cx.clone());
        let Some(last) = last else { return first.boxed_local() };
        let (observe, tool) = (observe.clone(), tool.clone());
        let both = async move {
            log_failure(&tool, first.await, &cx);
            observe(&tool, last, cx).await
        };
        both.boxed_local()
    })
}

/// Returns the event that follows `event`, if the call ends with it. Only hooks reach this function, so the wasm module of a server without
/// hooks does not contain it.
fn finished(tool: &Text, event: &ToolEvent, call: &HookData, cx: &Context) -> Option<ToolEvent> {
    let outcome = match event {
        ToolEvent::Output(result) => Ok(result.clone()),
        ToolEvent::Error(message) => Err(message.clone()),
        _ => return None,
    };
    let task = cx.task().filter(|_| cx.depth() == 0);
    let began_ms = task.map_or(call.began_ms, |task| task.created_ms);
    Some(ToolEvent::Finished(Rc::new(FinishedCall {
        tool: tool.clone(),
        arguments: call.arguments.as_deref().cloned().unwrap_or_default(),
        outcome,
        time: Duration::from_millis(cx.now_ms().saturating_sub(began_ms)),
    })))
}

/// Sends an event of a call of `tool` to all hooks in sequence. If a hook fails, the next hooks still run. Failures of hooks are only logged.
pub(crate) async fn notify(hooks: &[Hook], tool: &Text, event: ToolEvent, call: Option<&HookData>, cx: &Context) {
    for hook in hooks {
        log_failure(tool, hook(tool, event.clone(), call, cx.clone()).await, cx);
    }
}

fn log_failure(tool: &str, outcome: Result<(), HandlerError>, cx: &Context) {
    if let Err(error) = outcome {
        let cause = error.0.cause.as_ref().map_or_else(String::new, |cause| format!(": {cause}"));
        log::failure(cx.host(), tool, &format!("a hook failed: {}{cause}", error.message()));
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
