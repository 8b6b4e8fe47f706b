//! Hooks, which observe the calls of a tool.

use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::Value;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::text::Text;

/// An event of a tool call. The events occur in this order.
///
/// If the arguments do not fit the schema, [`Error`](Self::Error) follows [`InputDelta`](Self::InputDelta). A call that
/// asks the client for input ends without an output event. Its next round begins again with the first event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolEvent {
    /// The tool was called.
    InputStart,
    /// The arguments, as they were sent. There is one such event with all arguments.
    InputDelta(Rc<str>),
    /// The arguments fit the input schema. The handler runs next.
    InputAvailable(Rc<Value>),
    /// The handler returned a result.
    Output(Rc<ToolResult>),
    /// The call failed. This is the error text for the caller.
    Error(Rc<str>),
}

type Observe = Rc<dyn Fn(&Text, ToolEvent, Context) -> LocalBoxFuture<'static, Result<(), HandlerError>>>;

/// The hooks of a tool, or of all tools of a server.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Observe>);

impl Hooks {
    /// Adds a hook, which gets the name of the tool.
    pub(super) fn add<F>(&mut self, observe: impl Fn(&Text, ToolEvent, Context) -> F + 'static)
    where
        F: Future<Output = Result<(), HandlerError>> + 'static,
    {
        self.0.push(Rc::new(move |tool, event, cx| observe(tool, event, cx).boxed_local()));
    }

    /// Returns these hooks, and `others` after them.
    pub(super) fn and(&self, others: &Self) -> Self {
        let mut all = self.0.clone();
        all.extend_from_slice(&others.0);
        Self(all)
    }

    /// Returns whether there are no hooks. If so, events do not have to be created.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls all hooks in sequence with an event of a call of `tool`, and returns their failures. If a hook fails, the next hooks
    /// still run.
    pub(crate) async fn notify(&self, tool: &Text, event: ToolEvent, cx: &Context) -> Vec<HandlerError> {
        let mut failures = Vec::new();
        for observe in &self.0 {
            failures.extend(observe(tool, event.clone(), cx.clone()).await.err());
        }
        failures
    }
}
