//! Hooks: looking on while a tool is called.

use std::error::Error;
use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::Value;

use crate::call::context::Context;
use crate::call::result::ToolResult;

/// What happens to a call of a tool, in this order.
///
/// Arguments that do not fit end with [`Error`](Self::Error) after [`InputDelta`](Self::InputDelta). A call that asks the client for input
/// ends there, without output, and begins anew with the answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolEvent {
    /// The tool was called.
    InputStart,
    /// The arguments, as they were sent. They come whole: there is one of these.
    InputDelta(Rc<str>),
    /// The arguments fit the input schema, and the function is about to be called.
    InputAvailable(Rc<Value>),
    /// The function has given a result.
    Output(Rc<ToolResult>),
    /// The call has failed. This is what the caller is told.
    Error(Rc<str>),
}

type Failure = Box<dyn Error>;
type Observe = Rc<dyn Fn(ToolEvent, Context) -> LocalBoxFuture<'static, Result<(), Failure>>>;

/// Those who look on.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Observe>);

impl Hooks {
    pub(super) fn add<F>(&mut self, observe: impl Fn(ToolEvent, Context) -> F + 'static)
    where
        F: Future<Output = Result<(), Failure>> + 'static,
    {
        self.0.push(Rc::new(move |event, cx| observe(event, cx).boxed_local()));
    }

    /// Whether nobody looks on: what they would be told need not be put together then.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells all of them, one after the other. The failures of some keep nothing from the others.
    pub(crate) async fn tell(&self, event: ToolEvent, cx: &Context) -> Vec<Failure> {
        let mut failures = Vec::new();
        for observe in &self.0 {
            failures.extend(observe(event.clone(), cx.clone()).await.err());
        }
        failures
    }
}
