//! A run of a workflow: what has become of its steps, and what the client is told of it.

use std::cell::RefCell;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::json::deserialize::read_text;
use crate::protocol::description::Text;

/// Where the run is in the `_meta` of a result, and where a caller asks for it in that of a request.
pub(crate) const RUN: &str = "edge-mcp/run";

/// A run of a workflow, within one call.
pub(super) struct Run {
    pub cx: Context,
    key: Text,
    total: u32,
    records: RefCell<Vec<Record>>,
}

/// What became of a step.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    step: Text,
    status: Status,
    /// Milliseconds since 1970; none, if an earlier round of the call has finished it.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<u64>,
}

/// How far a step or a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Running,
    Success,
    Failed,
}

impl Run {
    /// A run of the workflow `key`, which has `total` steps.
    pub(super) fn new(cx: Context, key: Text, total: u32) -> Self {
        Self { cx, key, total, records: RefCell::default() }
    }

    /// The name of a step in the log: workflows may run within one another.
    pub(super) fn log_name(&self, step: &str) -> String {
        format!("{}/{step}", self.key)
    }

    /// The context of a step with this input.
    pub(super) fn within_step(&self, step: &str, input: &impl Serialize) -> Result<Context, HandlerError> {
        if !self.cx.has_rounds() {
            return Ok(self.cx.clone());
        }
        Ok(self.cx.within_step(&self.log_name(step), to_raw_value(input)?.get()))
    }

    /// What an earlier round of the call has remembered of the step whose context `cx` is.
    pub(super) fn remembered<O: DeserializeOwned>(&self, step: &str, cx: &Context) -> Option<O> {
        let result = read_text(cx.remembered()?.get().as_bytes())?;
        let record = Record { step: step.to_owned().into(), status: Status::Success, started_at: None, ended_at: None };
        self.records.borrow_mut().push(record);
        self.tell(step);
        Some(result)
    }

    pub(super) fn begin(&self, step: &str) -> usize {
        let started_at = Some(self.cx.now_ms());
        let record = Record { step: step.to_owned().into(), status: Status::Running, started_at, ended_at: None };
        let mut records = self.records.borrow_mut();
        records.push(record);
        records.len().saturating_sub(1)
    }

    fn end(&self, record: usize, status: Status) {
        if let Some(record) = self.records.borrow_mut().get_mut(record) {
            record.status = status;
            record.ended_at = Some(self.cx.now_ms());
        }
    }

    pub(super) fn finish(
        &self,
        step: &str,
        record: usize,
        result: &impl Serialize,
        cx: &Context,
    ) -> Result<(), HandlerError> {
        if cx.has_rounds() {
            cx.remember(&self.log_name(step), to_raw_value(result)?);
        }
        self.end(record, Status::Success);
        self.tell(step);
        Ok(())
    }

    pub(super) fn fail(&self, step: &str, record: usize, error: HandlerError) -> HandlerError {
        self.end(record, Status::Failed);
        if error.input.is_some() {
            return error;
        }
        let message = format!("Step `{step}` failed: {}", error.message);
        HandlerError { message: message.into(), ..error }
    }

    /// Tells the client how far the run has come.
    fn tell(&self, step: &str) {
        let records = self.records.borrow();
        let done = records.iter().filter(|record| record.status == Status::Success).count();
        let done = u32::try_from(done).unwrap_or(u32::MAX);
        self.cx.progress(f64::from(done), Some(f64::from(self.total)), step.to_owned());
    }

    /// The run, for whoever asks for it.
    pub(super) fn meta(&self, status: Status) -> Option<serde_json::Value> {
        let steps = self.records.borrow();
        self.cx.exchange().shows_run().then(|| serde_json::json!({ "status": status, "steps": *steps }))
    }
}
