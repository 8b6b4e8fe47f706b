//! Hooks, which observe the calls of a tool.

use std::error::Error;
use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::Value;

use crate::call::context::Context;
use crate::call::result::ToolResult;

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

type Failure = Box<dyn Error>;
type Observe = Rc<dyn Fn(ToolEvent, Context) -> LocalBoxFuture<'static, Result<(), Failure>>>;

/// The hooks of a tool.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Observe>);

impl Hooks {
    pub(super) fn add<F>(&mut self, observe: impl Fn(ToolEvent, Context) -> F + 'static)
    where
        F: Future<Output = Result<(), Failure>> + 'static,
    {
        self.0.push(Rc::new(move |event, cx| observe(event, cx).boxed_local()));
    }

    /// Returns whether there are no hooks. If so, events do not have to be created.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls all hooks in sequence, and returns their failures. A failure does not stop the hooks after it.
    pub(crate) async fn tell(&self, event: ToolEvent, cx: &Context) -> Vec<Failure> {
        let mut failures = Vec::new();
        for observe in &self.0 {
            failures.extend(observe(event.clone(), cx.clone()).await.err());
        }
        failures
    }
}
