//! The steps of a call: the results to store, and the outcome of each step in this round.

use edge_json::{self, object};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::limits::FINISHED_STEPS;

/// The result of a finished step, as part of the request state.
#[derive(Clone, Serialize)]
pub(crate) struct StepResult {
    /// The position of the step within the call.
    place: String,
    /// The name, for the log.
    step: String,
    result: Box<RawValue>,
    /// Whether an earlier round finished the step and this round has not looked up its result.
    #[serde(skip)]
    is_unused: bool,
    /// Whether the result was dropped because the results together exceeded the limit.
    #[serde(skip)]
    is_lost: bool,
}

impl StepResult {
    /// Reads a result from a request state.
    pub(crate) fn read(step: edge_json::Value<'_>) -> Option<Self> {
        let (place, name, result) = (step.string("place")?, step.string("step")?, step.get("result")?.to_raw()?);
        Some(Self { place, step: name, result, is_unused: false, is_lost: false })
    }

    /// Returns the place, the name and the result.
    pub(crate) fn parts(&self) -> (String, String, Box<RawValue>) {
        (self.place.clone(), self.step.clone(), self.result.clone())
    }

    fn bytes(&self) -> usize {
        [self.place.len(), self.step.len(), self.result.get().len()].into_iter().fold(0, usize::saturating_add)
    }
}

/// The outcome of a step in this round.
struct StepRun {
    place: String,
    step: String,
    status: StepStatus,
    /// Milliseconds since 1970-01-01T00:00:00Z. `None` if an earlier round finished the step.
    started_at: Option<u64>,
    ended_at: Option<u64>,
    /// Whether the step waits for an answer, or contains a step that can no longer start in this round.
    waits: bool,
}

impl StepRun {
    fn to_json(&self) -> Value {
        let mut run = vec![("step", self.step.as_str().into()), ("status", self.status.name().into())];
        run.extend(self.started_at.map(|at| ("startedAt", at.into())));
        run.extend(self.ended_at.map(|at| ("endedAt", at.into())));
        object(run)
    }
}

/// The state of a step, or of the run of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepStatus {
    Running,
    Success,
    Failed,
}

impl StepStatus {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Success => "success",
            Self::Failed => "failed",
        }
    }
}

pub(crate) struct StepMemory {
    finished: Vec<StepResult>,
    runs: Vec<StepRun>,
    has_too_many: bool,
    /// The maximum size of all results together, in bytes.
    pub(super) limit: usize,
}

impl StepMemory {
    pub(crate) fn new(limit: usize) -> Self {
        Self { finished: Vec::new(), runs: Vec::new(), has_too_many: false, limit }
    }

    /// Restores the results of earlier rounds.
    pub(crate) fn resume(&mut self, mut finished: Vec<StepResult>) {
        for step in &mut finished {
            step.is_unused = true;
        }
        self.finished = finished;
    }

    /// Returns the result of the step at `place` that an earlier round stored.
    pub(crate) fn result(&mut self, place: &str) -> Option<Box<RawValue>> {
        let finished = self.finished.iter_mut().find(|step| step.place == place && !step.is_lost)?;
        finished.is_unused = false;
        let (result, step) = (finished.result.clone(), finished.step.clone());
        self.add_finished(place, &step);
        Some(result)
    }

    /// Adds a step whose result an earlier attempt of a durable task stored.
    pub(crate) fn add_finished(&mut self, place: &str, step: &str) {
        let (place, step, status) = (place.to_owned(), step.to_owned(), StepStatus::Success);
        self.runs.push(StepRun { place, step, status, started_at: None, ended_at: None, waits: false });
    }

    /// Stores the result of the step at `place`, and drops the results of the steps within it, which are no longer needed.
    pub(crate) fn remember(&mut self, place: &str, step: &str, result: Box<RawValue>) {
        self.finished.retain(|within| !within.place.starts_with(place));
        if self.finished.len() >= FINISHED_STEPS {
            self.has_too_many = true;
            return;
        }
        let mut step =
            StepResult { place: place.to_owned(), step: step.to_owned(), result, is_unused: false, is_lost: false };
        let bytes = self.finished.iter().map(StepResult::bytes).fold(step.bytes(), usize::saturating_add);
        if bytes > self.limit {
            step.result = RawValue::NULL.to_owned();
            step.is_lost = true;
        }
        self.finished.push(step);
    }

    /// Returns whether an earlier round has finished a step with this name.
    pub(crate) fn has_finished(&self, step: &str) -> bool {
        self.finished.iter().any(|finished| finished.step == step)
    }

    pub(crate) fn finished(&self) -> &[StepResult] {
        &self.finished
    }

    /// Returns the reason why the request state cannot contain all results, or `None` if it can.
    pub(crate) fn excess(&self) -> Option<String> {
        if self.has_too_many {
            return Some(format!("it has finished more than {FINISHED_STEPS} steps"));
        }
        let lost = self.finished.iter().find(|step| step.is_lost)?;
        let limit = self.limit;
        Some(format!("the result of step `{}` does not fit into the {limit} bytes of a request state", lost.step))
    }

    /// Begins a step. Returns the index of its run.
    pub(crate) fn begin(&mut self, place: &str, step: &str, now_ms: u64) -> usize {
        let (place, step, status) = (place.to_owned(), step.to_owned(), StepStatus::Running);
        self.runs.push(StepRun { place, step, status, started_at: Some(now_ms), ended_at: None, waits: false });
        self.runs.len().saturating_sub(1)
    }

    pub(crate) fn end(&mut self, run: usize, status: StepStatus, now_ms: u64) {
        if let Some(run) = self.runs.get_mut(run) {
            run.status = status;
            run.ended_at = Some(now_ms);
        }
    }

    /// Returns the steps of this round, in the order in which they began.
    pub(crate) fn runs(&self) -> Value {
        self.runs.iter().map(StepRun::to_json).collect()
    }

    /// Marks the running steps that contain `place` as waiting for the next round.
    pub(crate) fn wait_at(&mut self, place: &str) {
        let contains_place = |run: &&mut StepRun| run.status == StepStatus::Running && place.starts_with(&run.place);
        for run in self.runs.iter_mut().filter(contains_place) {
            run.waits = true;
        }
    }

    /// Returns the names of the running steps that can still finish in this round.
    pub(crate) fn unblocked(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().filter(|run| run.status == StepStatus::Running && !run.waits).map(|run| &*run.step)
    }

    /// Returns the names of the steps that ran again in this round, although an earlier round finished them, because
    /// their input has changed.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &str> {
        let ran = |name: &str| self.runs.iter().any(|run| run.started_at.is_some() && run.step == name);
        self.finished.iter().filter(|step| step.is_unused).map(|step| &*step.step).filter(move |name| ran(name))
    }
}
