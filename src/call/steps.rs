//! The steps of a call: which are done, for the rounds to come, and which are running.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::{FINISHED_STEPS, STATE_BYTES};

/// The result of a step, or how far an agent has come.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Finished {
    place: String,
    /// Its name for the log.
    step: String,
    result: Box<RawValue>,
    /// An earlier round has brought it, and this one has not looked at it yet.
    #[serde(skip)]
    is_unused: bool,
    /// There was no room for the result.
    #[serde(skip)]
    is_lost: bool,
}

impl Finished {
    fn bytes(&self) -> usize {
        [self.place.len(), self.step.len(), self.result.get().len()].into_iter().fold(0, usize::saturating_add)
    }
}

/// A step that has begun and not ended.
struct Running {
    place: String,
    step: String,
    /// It waits for an answer, or for a step within it that may not begin any more.
    waits: bool,
}

#[derive(Default)]
pub(crate) struct Steps {
    finished: Vec<Finished>,
    running: Vec<Running>,
    /// The names of the steps that this round has begun.
    begun: Vec<String>,
    has_too_many: bool,
}

impl Steps {
    /// Takes over what earlier rounds have remembered.
    pub(crate) fn resume(&mut self, mut finished: Vec<Finished>) {
        for step in &mut finished {
            step.is_unused = true;
        }
        self.finished = finished;
    }

    /// The result that an earlier round has remembered at `place`.
    pub(crate) fn result(&mut self, place: &str) -> Option<Box<RawValue>> {
        let step = self.finished.iter_mut().find(|step| step.place == place && !step.is_lost)?;
        step.is_unused = false;
        Some(step.result.clone())
    }

    /// Remembers `result` at `place`, instead of what is there and within it: nobody will look for that any more.
    pub(crate) fn remember(&mut self, place: &str, step: &str, result: Box<RawValue>) {
        self.finished.retain(|within| !within.place.starts_with(place));
        if self.finished.len() >= FINISHED_STEPS {
            self.has_too_many = true;
            return;
        }
        let mut step =
            Finished { place: place.to_owned(), step: step.to_owned(), result, is_unused: false, is_lost: false };
        let bytes = self.finished.iter().map(Finished::bytes).fold(step.bytes(), usize::saturating_add);
        if bytes > STATE_BYTES {
            step.result = RawValue::NULL.to_owned();
            step.is_lost = true;
        }
        self.finished.push(step);
    }

    pub(crate) fn finished(&self) -> &[Finished] {
        &self.finished
    }

    /// What a state cannot carry, if there is more than it can.
    pub(crate) fn excess(&self) -> Option<String> {
        if self.has_too_many {
            return Some(format!("it has finished more than {FINISHED_STEPS} steps"));
        }
        let lost = self.finished.iter().find(|step| step.is_lost)?;
        Some(format!("the result of step `{}` does not fit into the {STATE_BYTES} bytes of a request state", lost.step))
    }

    pub(crate) fn begin(&mut self, place: &str, step: &str) {
        self.running.push(Running { place: place.to_owned(), step: step.to_owned(), waits: false });
        if self.begun.iter().all(|begun| begun != step) {
            self.begun.push(step.to_owned());
        }
    }

    pub(crate) fn end(&mut self, place: &str) {
        self.running.retain(|step| step.place != place);
    }

    /// Something at `place` waits for the next round, and so does each step around it.
    pub(crate) fn wait_at(&mut self, place: &str) {
        for step in self.running.iter_mut().filter(|step| place.starts_with(&step.place)) {
            step.waits = true;
        }
    }

    /// The steps that are running and can still finish in this round.
    pub(crate) fn at_work(&self) -> impl Iterator<Item = &str> {
        self.running.iter().filter(|step| !step.waits).map(|step| &*step.step)
    }

    /// The steps that were run again in this round although an earlier one has finished them: their input has changed.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &str> {
        let is_changed = |begun: &&String| self.finished.iter().any(|step| step.is_unused && step.step == **begun);
        self.begun.iter().filter(is_changed).map(String::as_str)
    }
}
