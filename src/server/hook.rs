//! Hooks, which observe the calls of a tool.

use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;

use crate::call::context::{Context, Hook};
use crate::call::error::HandlerError;
use crate::call::tool_event::ToolEvent;
use crate::text::Text;

/// Creates a hook from a function that gets the name of the tool.
pub(super) fn hook<F>(observe: impl Fn(&Text, ToolEvent, Context) -> F + 'static) -> Hook
where
    F: Future<Output = Result<(), HandlerError>> + 'static,
{
    Rc::new(move |tool, event, cx| observe(tool, event, cx).boxed_local())
}

/// Calls all hooks in sequence with an event of a call of `tool`, and returns their failures. If a hook fails, the next hooks
/// still run.
pub(super) async fn notify(hooks: &[Hook], tool: &Text, event: ToolEvent, cx: &Context) -> Vec<HandlerError> {
    let mut failures = Vec::new();
    for hook in hooks {
        failures.extend(hook(tool, event.clone(), cx.clone()).await.err());
    }
    failures
}
