//! Workflows: steps that follow one another, as a tool.
//!
//! A workflow with the key `ingest` is the tool `run_ingest`. It takes what its first step takes and gives what its last one gives. A
//! step that fails ends it, by its name. A step that asks the client for input ends the round. The next round continues at that step, with
//! the results of the steps before it, which the client has carried and cannot read. A finished step is not run again for the same call
//! path, name and input. Its effects happen at least once: a round may be sent again, and an answer may be lost.

mod run;

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use super::definition::is_blank;
use super::tool::{Origin, Tool};
use super::tool_result::{IntoToolResult, Json, ToolError, ToolResult};
use crate::protocol::description::Text;
use crate::schema::{Schema, SchemaError};

pub(crate) use run::RUN;
use run::{Run, Status};

/// What goes from one step to the next: it may be carried by a client meanwhile, and a step may be tried again with it.
pub trait StepValue: Clone + Serialize + DeserializeOwned + 'static {}
impl<T: Clone + Serialize + DeserializeOwned + 'static> StepValue for T {}

type StepFuture<O> = LocalBoxFuture<'static, Result<O, ToolError>>;
type Steps<I, O> = Rc<dyn Fn(I, Rc<Run>) -> StepFuture<O>>;

/// How often a step is tried, and how long is waited in between: each time twice as long as before.
#[derive(Clone, Copy, Debug)]
struct Retry {
    attempts: u32,
    wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 1, wait: Duration::ZERO }
    }
}

/// A workflow from `I` to `O`.
///
/// ```
/// use std::time::Duration;
///
/// use edge_mcp::server::Workflow;
/// use edge_mcp::{Context, McpServer, ToolError};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Deserialize, JsonSchema, Serialize)]
/// struct Text {
///     text: String,
/// }
///
/// #[derive(Clone, Deserialize, JsonSchema, Serialize)]
/// struct Count {
///     words: usize,
/// }
///
/// async fn trim(Text { text }: Text, _: Context) -> Result<String, ToolError> {
///     Ok(text.trim().to_owned())
/// }
///
/// async fn count(text: String, _: Context) -> Result<Count, ToolError> {
///     Ok(Count { words: text.split_whitespace().count() })
/// }
///
/// let words = Workflow::new("words")
///     .describe("Counts the words of a text.")
///     .then("trim", trim)
///     .then("count", count)
///     .retry(3, Duration::from_millis(100));
/// let server = McpServer::builder("texts", "1.0.0").workflow(words).build()?;
/// # Ok::<_, edge_mcp::BuildError>(())
/// ```
pub struct Workflow<I, O> {
    key: Text,
    title: Option<Text>,
    description: Text,
    is_read_only: bool,
    steps: Steps<I, O>,
    /// How many there are, for progress.
    count: Rc<Cell<u32>>,
    /// Of the step that was added last.
    retry: Rc<Cell<Retry>>,
}

impl<T: StepValue> Workflow<T, T> {
    /// A workflow without steps. Its tool is named by `key`, after `run_`.
    pub fn new(key: impl Into<Text>) -> Self {
        Self {
            key: key.into(),
            title: None,
            description: Text::default(),
            is_read_only: false,
            steps: Rc::new(|value, _| async { Ok(value) }.boxed_local()),
            count: Rc::default(),
            retry: Rc::default(),
        }
    }
}

impl<I: StepValue, O: StepValue> Workflow<I, O> {
    /// What it is for, for the model that decides whether to run it. It must not be empty.
    #[must_use]
    pub fn describe(mut self, description: impl Into<Text>) -> Self {
        self.description = description.into();
        self
    }

    /// Its name for people: the key, unless it is said.
    #[must_use]
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// It changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Goes on with `step`, which takes what the one before has given.
    #[must_use]
    pub fn then<P: StepValue, F>(
        self,
        name: impl Into<Text>,
        step: impl Fn(O, Context) -> F + 'static,
    ) -> Workflow<I, P>
    where
        F: Future<Output = Result<P, ToolError>> + 'static,
    {
        let (before, step) = (self.steps.clone(), Step::new(name.into(), step));
        let retry = step.retry.clone();
        self.followed_by(1, retry, move |value, run| {
            let (before, step) = (before.clone(), step.clone());
            async move { step.run(before(value, run.clone()).await?, &run).await }.boxed_local()
        })
    }

    /// Goes on with two steps at the same time, which take the same. If one of them fails, so does the workflow.
    #[must_use]
    pub fn parallel<P: StepValue, Q: StepValue, F, G>(
        self,
        (name, step): (impl Into<Text>, impl Fn(O, Context) -> F + 'static),
        (other_name, other): (impl Into<Text>, impl Fn(O, Context) -> G + 'static),
    ) -> Workflow<I, (P, Q)>
    where
        F: Future<Output = Result<P, ToolError>> + 'static,
        G: Future<Output = Result<Q, ToolError>> + 'static,
    {
        let (before, step) = (self.steps.clone(), Step::new(name.into(), step));
        let other = step.beside(other_name.into(), other);
        let retry = step.retry.clone();
        self.followed_by(2, retry, move |value, run| {
            let (before, step, other) = (before.clone(), step.clone(), other.clone());
            async move {
                let value = before(value, run.clone()).await?;
                futures::try_join!(step.run(value.clone(), &run), other.run(value, &run))
            }
            .boxed_local()
        })
    }

    /// Goes on with the first step where `takes_first` says so, else with the second.
    #[must_use]
    pub fn branch<P: StepValue, F, G>(
        self,
        takes_first: impl Fn(&O) -> bool + 'static,
        (name, step): (impl Into<Text>, impl Fn(O, Context) -> F + 'static),
        (other_name, other): (impl Into<Text>, impl Fn(O, Context) -> G + 'static),
    ) -> Workflow<I, P>
    where
        F: Future<Output = Result<P, ToolError>> + 'static,
        G: Future<Output = Result<P, ToolError>> + 'static,
    {
        let (before, step) = (self.steps.clone(), Step::new(name.into(), step));
        let other = step.beside(other_name.into(), other);
        let (retry, takes_first) = (step.retry.clone(), Rc::new(takes_first));
        self.followed_by(1, retry, move |value, run| {
            let (before, step, other, takes_first) = (before.clone(), step.clone(), other.clone(), takes_first.clone());
            async move {
                let value = before(value, run.clone()).await?;
                if takes_first(&value) { step.run(value, &run).await } else { other.run(value, &run).await }
            }
            .boxed_local()
        })
    }

    /// Tries the last step so many times in all, and waits in between: `wait`, then twice as long each time. What a step asks of the
    /// client is no failure.
    #[must_use]
    pub fn retry(self, attempts: u32, wait: Duration) -> Self {
        self.retry.set(Retry { attempts: attempts.max(1), wait });
        self
    }

    fn followed_by<P>(
        self,
        count: u32,
        retry: Rc<Cell<Retry>>,
        steps: impl Fn(I, Rc<Run>) -> StepFuture<P> + 'static,
    ) -> Workflow<I, P> {
        self.count.set(self.count.get().saturating_add(count));
        let Self { key, title, description, is_read_only, count, .. } = self;
        Workflow { key, title, description, is_read_only, steps: Rc::new(steps), count, retry }
    }
}

/// One step.
struct Step<F> {
    name: Text,
    work: Rc<F>,
    retry: Rc<Cell<Retry>>,
}

impl<F> Clone for Step<F> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), work: self.work.clone(), retry: self.retry.clone() }
    }
}

impl<F> Step<F> {
    fn new(name: Text, work: F) -> Self {
        Self { name, work: Rc::new(work), retry: Rc::default() }
    }

    /// Another step, which is tried as often as this one.
    fn beside<G>(&self, name: Text, work: G) -> Step<G> {
        Step { retry: self.retry.clone(), ..Step::new(name, work) }
    }

    /// The result of the step. A step that an earlier round of the call has finished with the same input is not run again.
    async fn run<I: StepValue, O: StepValue, Fut>(&self, value: I, run: &Run) -> Result<O, ToolError>
    where
        F: Fn(I, Context) -> Fut,
        Fut: Future<Output = Result<O, ToolError>>,
    {
        let cx = run.within_step(&self.name, &value)?;
        if let Some(result) = run.remembered(&self.name, &cx) {
            return Ok(result);
        }
        // Until the result is remembered, the round waits for this step.
        let _running = cx.begin(&run.log_name(&self.name)).await;
        let record = run.begin(&self.name);
        let outcome = self.attempt(value, &cx).await;
        let outcome = match outcome {
            Ok(result) => run.finish(&self.name, record, &result, &cx).map(|()| result),
            Err(error) => Err(error),
        };
        outcome.map_err(|error| run.fail(&self.name, record, error))
    }

    async fn attempt<I: StepValue, O, Fut>(&self, value: I, cx: &Context) -> Result<O, ToolError>
    where
        F: Fn(I, Context) -> Fut,
        Fut: Future<Output = Result<O, ToolError>>,
    {
        let Retry { attempts: mut left, mut wait } = self.retry.get();
        loop {
            left = left.saturating_sub(1);
            match (self.work)(value.clone(), cx.clone()).await {
                Err(error) if left > 0 && error.input.is_none() => cx.host().sleep(wait).await,
                outcome => return outcome,
            }
            wait = wait.saturating_mul(2);
        }
    }
}

/// What a workflow has given, and the run that led to it.
struct Outcome<O> {
    result: O,
    run: Option<serde_json::Value>,
}

impl<O: Serialize + JsonSchema + 'static> IntoToolResult for Outcome<O> {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        let mut result = Json(self.result).into_tool_result()?;
        result.meta.extend(self.run.map(|run| (RUN.to_owned(), run)));
        Ok(result)
    }

    fn output_schema() -> Option<Result<Rc<Schema>, SchemaError>> {
        Json::<O>::output_schema()
    }
}

/// The tool that runs `workflow`.
pub(super) fn tool<I, O>(workflow: Workflow<I, O>) -> Tool
where
    I: StepValue + JsonSchema,
    O: StepValue + JsonSchema,
{
    let Workflow { key, title, description, is_read_only, steps, count, .. } = workflow;
    let is_blank = is_blank(&description);
    let about = format!("Run workflow '{key}'. Workflow description: {description}");
    let name = format!("run_{key}");
    let (title, total, own_key) = (title.unwrap_or_else(|| key.clone()), count.get(), key.clone());
    let start = move |input: I, cx: Context| {
        let run = Rc::new(Run::new(cx, own_key.clone(), total));
        let work = steps(input, run.clone());
        async move {
            match work.await {
                Ok(result) => Ok(Outcome { result, run: run.meta(Status::Success) }),
                Err(mut error) => {
                    if let Some(run) = run.meta(Status::Failed) {
                        error.meta.get_or_insert_default().insert(RUN.to_owned(), run);
                    }
                    Err(error)
                }
            }
        }
    };
    let mut tool = Tool::new(name, start).title(title).description(about);
    tool.annotations.read_only_hint = Some(is_read_only);
    tool.origin = Origin::Workflow { key: key.to_string(), is_blank };
    tool
}
