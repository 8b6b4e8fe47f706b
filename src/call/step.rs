//! Steps: work that runs once over all rounds of a call.
//!
//! A handler that asks its client runs again from its beginning in the next round. A finished step is not run again then: its result
//! travels with the call, encrypted. Its effects happen at least once, since a round can be sent again and an answer can be lost.

use std::cell::Cell;
use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as Task, Poll};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::call_path::{CallPath, Place};
use super::context::Context;
use super::error::HandlerError;
use super::failure;
use super::rounds::Running;
use crate::json::deserialize::read_text;
use crate::json::write;
use crate::protocol::error::INTERNAL;

/// A step of a call, made by [`Context::step`]. It runs when it is awaited.
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
                    .ok_or_else(|| HandlerError::new(INTERNAL).because("a step was awaited after its end")),
            ),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Context {
    /// Runs `work` as the step `name`, or returns the result that an earlier round of this call remembered.
    ///
    /// The step is found again by where it is (the call, the steps around it), its name and `input`, and by its position among equal
    /// ones. Only the order of equal steps matters, so steps can run at the same time, such as in `futures::try_join!`. A step with
    /// another `input` than in an earlier round runs again, and the log gets a warning.
    ///
    /// Only `Ok` is remembered. After a question to the client no new step starts. The round ends when the running steps have finished,
    /// or at the deadline.
    ///
    /// Effects happen at least once: use [`idempotency_key`](Self::idempotency_key) for what must not happen twice.
    ///
    /// # Errors
    /// The error of `work`, or `input` or the result cannot be written as JSON.
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
    ///     // The next round runs `buy` again, and takes the receipt from its memory.
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
        Step { run: run(self, name.to_string(), input, Box::new(load), work.boxed_local()), result }
    }

    /// Returns a key for the current step (outside of steps: for the call) that is the same each time the step runs. A service that takes
    /// idempotency keys performs requests with the same key once.
    ///
    /// It is derived from a random id of the call. A client that repeats its first request begins another call.
    ///
    /// # Errors
    /// The host has no randomness.
    pub fn idempotency_key(&self) -> Result<String, HandlerError> {
        let call = self.rounds().call_id(self.host())?;
        Ok(self.path().idempotency_key(&call))
    }
}

/// Work that leaves its result where the step finds it, and returns it as JSON if it has to be remembered.
type Work<'a> = LocalBoxFuture<'a, Result<Option<Box<RawValue>>, HandlerError>>;

/// Runs a step, or loads the result that an earlier round remembered. `load` returns whether it could read the result.
///
/// It does not depend on the type of the result, so that the module contains it once.
fn run<'a>(
    cx: &Context,
    name: String,
    input: serde_json::Result<String>,
    load: Box<dyn FnOnce(&RawValue) -> bool + 'a>,
    work: Work<'a>,
) -> LocalBoxFuture<'a, Result<(), HandlerError>> {
    let cx = cx.clone();
    let path = input.map(|input| Rc::new(cx.path().of_step(&name, &input, cx.rounds())));
    let run = async move {
        let path = path?;
        match cx.rounds().result(path.place()) {
            Some(result) if load(&result) => return Ok(()),
            Some(_) => {
                let problem = format!("the stored result of step `{name}` cannot be read, so the step runs again");
                failure::warn_of_rounds(cx.host(), &problem);
            }
            None => {}
        }
        // The round waits for this step until its result is remembered.
        let running = Running::begin(cx.rounds(), path.place(), &name, cx.host()).await;
        let result = Within { place: cx.place().clone(), path: path.clone(), work }.await?;
        if let Some(result) = result {
            cx.rounds().remember(path.place(), &name, result);
        }
        running.succeed();
        Ok(())
    };
    run.boxed_local()
}

/// Work within a step. Nested calls, steps and questions that the work begins while it is polled belong to the step.
struct Within<'a> {
    place: Rc<Place>,
    path: Rc<CallPath>,
    work: Work<'a>,
}

impl Future for Within<'_> {
    type Output = Result<Option<Box<RawValue>>, HandlerError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        let around = self.place.enter(self.path.clone());
        let polled = self.work.poll_unpin(task);
        self.place.enter(around);
        polled
    }
}
