//! Steps: work that runs once over all rounds of a call.
//!
//! A handler that asks its client runs again from its beginning in the next round. A finished step does not run again, because the
//! encrypted request state contains its result. The effects of a step happen at least once, not exactly once: a client can send a round
//! again, and a response can be lost.

use std::cell::Cell;
use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as Task, Poll};

use edge_json::deserialize::read_text;
use edge_json::write;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::call_path::{CallPath, CurrentPath};
use super::context::Context;
use super::error::HandlerError;
use super::rounds::{Rounds, RunningStep};
use crate::host::log;
use crate::protocol::error::INTERNAL;

/// A step of a call, created by [`Context::step`]. It runs when it is awaited.
#[must_use = "a step runs when it is awaited"]
pub struct Step<'a, T> {
    run: LocalBoxFuture<'a, Result<(), HandlerError>>,
    /// The result, once the step has run.
    result: Rc<Cell<Option<T>>>,
}

impl<T> Future for Step<'_, T> {
    type Output = Result<T, HandlerError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        match self.run.poll_unpin(task) {
            Poll::Ready(Ok(())) => Poll::Ready(
                self.result
                    .take()
                    .ok_or_else(|| HandlerError::new(INTERNAL).because("a step was polled after it had finished")),
            ),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Context {
    /// Runs `work` as the step `name`, or returns the result that an earlier round of this call stored.
    ///
    /// A step is identified by the calls and steps that contain it, its name, its `input`, and its number among equal steps. Only the
    /// order of equal steps matters, so steps can run in parallel, for example with `futures::try_join!`. If the `input` of a step differs
    /// from its input in an earlier round, the step runs again and a warning is logged.
    ///
    /// Only `Ok` results are stored. After a question to the client, no new step starts. The round ends when the running steps have
    /// finished, or at the deadline.
    ///
    /// Effects happen at least once. Use [`idempotency_key`](Self::idempotency_key) for effects that must not happen twice.
    ///
    /// # Errors
    /// The error of `work`, or an error if `input` or the result cannot be serialized to JSON.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError, Tool};
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Deserialize, Serialize, JsonSchema)]
    /// struct Order {
    ///     article: String,
    /// }
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Address {
    ///     city: String,
    /// }
    ///
    /// async fn charge(order: &Order, idempotency_key: &str) -> Result<String, HandlerError> {
    ///     Ok(format!("receipt for {} ({idempotency_key})", order.article))
    /// }
    ///
    /// async fn buy(order: Order, cx: Context) -> Result<String, HandlerError> {
    ///     let receipt = cx.step("charge", &order, async || charge(&order, &cx.idempotency_key()?).await).await?;
    ///     // The next round runs `buy` again. This step then returns the stored receipt.
    ///     let Some(Address { city }) = cx.elicit("address", "Where to?").await?.accepted() else {
    ///         return Err(HandlerError::new("Nothing was sent: there is no address."));
    ///     };
    ///     Ok(format!("{receipt}, sent to {city}"))
    /// }
    ///
    /// let tool = Tool::new("buy", "Buys an article.", buy);
    /// ```
    pub fn step<'a, T, W>(&self, name: impl Display, input: &impl Serialize, work: W) -> Step<'a, T>
    where
        T: Serialize + DeserializeOwned + 'a,
        W: AsyncFnOnce() -> Result<T, HandlerError> + 'a,
    {
        self.step_at(CallPath::of_step, name, input, work)
    }

    /// Runs `work` as a step at the path that `path_of` returns.
    pub(super) fn step_at<'a, T, W>(
        &self,
        path_of: PathOf,
        name: impl Display,
        input: &impl Serialize,
        work: W,
    ) -> Step<'a, T>
    where
        T: Serialize + DeserializeOwned + 'a,
        W: AsyncFnOnce() -> Result<T, HandlerError> + 'a,
    {
        let result = Rc::new(Cell::new(None));
        let (loaded, made) = (result.clone(), result.clone());
        let load = move |json: &RawValue| match read_text(json.get().as_bytes()) {
            Some(value) => {
                loaded.set(Some(value));
                true
            }
            None => false,
        };
        let has_rounds = self.has_rounds();
        let work = async move {
            let value = work().await?;
            let json = if has_rounds { Some(write::to_raw_value(&value)?) } else { None };
            made.set(Some(value));
            Ok(json)
        };
        let input = write::to_string(input);
        Step { run: run(self, path_of, name.to_string(), input, Box::new(load), work.boxed_local()), result }
    }

    /// Returns a key that is the same each time the current step runs. Outside of steps, it is the key of the call. A service that
    /// supports idempotency keys performs requests with the same key only once.
    ///
    /// The key is derived from a random id of the call. A client that repeats its first request begins a new call, which has new keys, unless
    /// the call becomes a durable task that replaces a failed one with the same `Task::dedupe` key.
    ///
    /// # Errors
    /// The host cannot generate random bytes.
    pub fn idempotency_key(&self) -> Result<String, HandlerError> {
        let call = self.rounds().call_id(self.host())?;
        Ok(self.path().idempotency_key(&call))
    }
}

/// The work of a step. It hands its result to the [`Step`], and returns it as JSON if it has to be stored.
type StepFuture<'a> = LocalBoxFuture<'a, Result<Option<Box<RawValue>>, HandlerError>>;

/// Returns the path of a step with this name and input within another path.
type PathOf = fn(&CallPath, &str, &str, &Rounds) -> CallPath;

/// Runs a step, or loads the result that an earlier round stored. `load` returns whether it could read the result.
///
/// This function does not depend on the type of the result, so the wasm module contains it only once.
fn run<'a>(
    cx: &Context,
    path_of: PathOf,
    name: String,
    input: serde_json::Result<String>,
    load: Box<dyn FnOnce(&RawValue) -> bool + 'a>,
    work: StepFuture<'a>,
) -> LocalBoxFuture<'a, Result<(), HandlerError>> {
    let cx = cx.clone();
    let path = input.map(|input| Rc::new(path_of(&cx.path(), &name, &input, cx.rounds())));
    let run = async move {
        let path = path?;
        match cx.rounds().result(path.place(), &name) {
            Some(result) if load(&result) => return Ok(()),
            Some(_) => {
                let problem = format!("the stored result of step `{name}` cannot be read, so the step runs again");
                log::warning(cx.host(), "rounds", &problem);
            }
            None => {}
        }
        // The round waits for this step until its result is stored.
        let running = RunningStep::begin(cx.rounds(), path.place(), &name, cx.host()).await;
        let result = StepWork { current_path: cx.current_path().clone(), path: path.clone(), work }.await?;
        if let Some(result) = result {
            cx.rounds().remember(path.place(), &name, result);
        }
        running.succeed();
        // A step whose result is not stored has not happened for the rest of the handler.
        if cx.rounds().has_stopped() {
            std::future::pending::<()>().await;
        }
        Ok(())
    };
    run.boxed_local()
}

/// The work of a step. Nested calls, steps and questions that begin while it is polled belong to the step.
struct StepWork<'a> {
    current_path: Rc<CurrentPath>,
    path: Rc<CallPath>,
    work: StepFuture<'a>,
}

impl Future for StepWork<'_> {
    type Output = Result<Option<Box<RawValue>>, HandlerError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        let outer = self.current_path.enter(self.path.clone());
        let polled = self.work.poll_unpin(task);
        self.current_path.enter(outer);
        polled
    }
}
