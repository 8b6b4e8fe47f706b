//! Durable tasks. Their steps have effects on a server of the test, and they panic at chosen points.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::pending;
use std::time::Duration;

use edge_mcp::tasks::Task;
use edge_mcp::{Context, HandlerError, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use worker::{Delay, Fetch, Url};

thread_local! {
    /// The number of runs of each step whose job has no server, by its idempotency key.
    static RUNS: RefCell<BTreeMap<String, u32>> = const { RefCell::new(BTreeMap::new()) };
}

/// A variable that differs between two deployments of the test.
pub(crate) struct Build(pub String);

#[derive(Deserialize, JsonSchema)]
struct Job {
    /// Calls with the same name are one task.
    name: String,
    /// The URL of the server that counts the effects. Without it, the isolate counts the runs of the steps.
    effects: Option<String>,
    steps: u32,
    /// The wait in each step, in milliseconds
    #[serde(default)]
    ms: u64,
    /// The durable sleep after each step, in milliseconds
    #[serde(default)]
    pause_ms: u64,
    /// Whether the steps run at the same time
    #[serde(default)]
    is_parallel: bool,
    /// Whether the task asks before its last step
    #[serde(default)]
    asks: bool,
    /// The point at which the server can make the middle step panic, or each of them
    fault: Option<Fault>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Fault {
    AfterBegin,
    AfterEffect,
    AfterResult,
    BeforeReply,
    /// After the result of each step
    AfterEachResult,
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    confirm: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Charge {
    name: String,
    effects: String,
    /// The durable sleep after the step, in milliseconds
    pause_ms: u64,
    /// Whether the input of the step depends on the build
    is_changed: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Panic {
    name: String,
    /// The number of waits before the panic
    #[serde(default)]
    waits: u32,
    /// Whether a step finishes before the waits
    #[serde(default)]
    has_step: bool,
}

impl Job {
    async fn run(&self, cx: &Context) -> Result<String, HandlerError> {
        let last = self.steps.saturating_sub(1);
        let before_last = if self.asks { last } else { self.steps };
        let mut receipts = Vec::new();
        if self.is_parallel {
            let steps = (0..before_last).map(|nth| self.step(nth, cx));
            receipts = futures::future::try_join_all(steps).await?;
        } else {
            for nth in 0..before_last {
                receipts.push(self.step(nth, cx).await?);
                self.pause(cx).await;
            }
        }
        if self.asks {
            let answer = cx.elicit::<Confirmation>("confirm", "Continue?").await?.accepted();
            let Some(Confirmation { confirm: true }) = answer else { return Ok("declined".to_owned()) };
            receipts.push(self.step(last, cx).await?);
            self.pause(cx).await;
        }
        self.fault(Fault::BeforeReply).await?;
        Ok(receipts.join(" "))
    }

    async fn step(&self, nth: u32, cx: &Context) -> Result<String, HandlerError> {
        let is_faulty = nth == self.steps / 2;
        let name = format!("step {nth}");
        let step = cx.step(name, &(), async || {
            if is_faulty {
                self.fault(Fault::AfterBegin).await?;
            }
            wait(self.ms).await;
            let receipt = effect(self.effects.as_deref(), &self.name, nth, cx).await?;
            if is_faulty {
                self.fault(Fault::AfterEffect).await?;
            }
            Ok(receipt)
        });
        let receipt = step.await?;
        if is_faulty {
            self.fault(Fault::AfterResult).await?;
        }
        if self.fault == Some(Fault::AfterEachResult) {
            self.may_panic(&format!("{}-{nth}", self.name)).await?;
        }
        Ok(receipt)
    }

    async fn pause(&self, cx: &Context) {
        if self.pause_ms > 0 {
            cx.sleep(Duration::from_millis(self.pause_ms)).await;
        }
    }

    async fn fault(&self, point: Fault) -> Result<(), HandlerError> {
        if self.fault == Some(point) { self.may_panic(&self.name).await } else { Ok(()) }
    }

    /// Panics if the server says so. It says so once for a name.
    async fn may_panic(&self, name: &str) -> Result<(), HandlerError> {
        let Some(effects) = &self.effects else { return Ok(()) };
        assert!(get(&format!("{effects}/fault?job={name}")).await? != "panic", "the test asked for a panic");
        Ok(())
    }
}

async fn wait(ms: u64) {
    if ms > 0 {
        Delay::from(Duration::from_millis(ms)).await;
    }
}

/// Has the effect of the step `nth`, and returns the receipt of the server.
async fn effect(effects: Option<&str>, job: &str, nth: u32, cx: &Context) -> Result<String, HandlerError> {
    let key = cx.idempotency_key()?;
    if let Some(effects) = effects {
        return get(&format!("{effects}/effect?job={job}&step={nth}&key={key}")).await;
    }
    RUNS.with_borrow_mut(|runs| *runs.entry(key).or_default() += 1);
    Ok(format!("{job}/{nth}"))
}

async fn get(url: &str) -> Result<String, HandlerError> {
    let failed = |error: worker::Error| HandlerError::new(format!("The server of the test failed: {error}."));
    let url: Url = url.parse().map_err(|_| HandlerError::new("The URL of the test's server is not valid."))?;
    let mut response = Fetch::Url(url).send().await.map_err(failed)?;
    response.text().await.map_err(failed)
}

async fn job(job: Job, cx: Context) -> Result<String, HandlerError> {
    job.run(&cx).await
}

async fn charge(Charge { name, effects, pause_ms, is_changed }: Charge, cx: Context) -> Result<String, HandlerError> {
    let build = cx.state::<Build>()?;
    let input = if is_changed { build.0.as_str() } else { "the same" };
    let receipt = cx.step("charge", &input, async || effect(Some(&effects), &name, 0, &cx).await).await?;
    cx.sleep(Duration::from_millis(pause_ms)).await;
    Ok(format!("{receipt} by {}", build.0))
}

/// Never ends in its first attempt.
async fn hang(Named { name }: Named, cx: Context) -> Result<String, HandlerError> {
    let attempt = cx.task().map_or(0, |task| task.attempt);
    if attempt == 1 {
        return cx.step("hang", &(), async || pending().await).await;
    }
    Ok(format!("{name} ended in attempt {attempt}"))
}

async fn panic(Panic { waits, has_step, .. }: Panic, cx: Context) -> Result<String, HandlerError> {
    if has_step {
        cx.step("step", &(), async || Ok(())).await?;
    }
    for _ in 0..waits {
        wait(50).await;
    }
    panic!("the test asked for a panic")
}

/// Reports the number of steps that ran, and the largest number of runs of one step.
async fn runs() -> String {
    RUNS.with_borrow(|runs| format!("{} {}", runs.len(), runs.values().max().copied().unwrap_or_default()))
}

pub(crate) fn tools() -> Vec<Tool> {
    // The callers of the test share one number of tasks.
    let task = || Task::new().answer_within(Duration::from_millis(500)).per_caller(100_000);
    let named = |Named { name }: Named| name;
    let order = |Charge { name, .. }: Charge| name;
    let charging = || task().dedupe(order);
    vec![
        Tool::new("job", "Runs steps.", job).task(task().dedupe(|Job { name, .. }: Job| name)),
        Tool::new("charge", "Runs a step, and sleeps.", charge).task(charging()),
        Tool::new("charge_anyhow", "Tolerates changes.", charge).task(charging().tolerates_changes()),
        Tool::new("hang", "Never ends in its first attempt.", hang).task(task().dedupe(named)),
        Tool::new("panic_always", "Panics in each attempt.", panic)
            .task(task().dedupe(|Panic { name, .. }: Panic| name)),
        Tool::new("runs", "Reports the number of runs of steps.", runs),
    ]
}
