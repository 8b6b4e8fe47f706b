//! The journal of an attempt.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::live::LiveTask;
use super::record::{RECORD, RELEASES, Record};
use super::rows::StoredRows;
use super::stored::stored;
use crate::base64::URL_SAFE;
use crate::call::journal::{Journal, JournalError};
use crate::call::task_info::TaskInfo;
use crate::limits::{TASK_JOURNAL_BYTES, TASK_MESSAGE_CHARACTERS, TASK_RESULT_BYTES, TASK_STEPS};
use crate::text::{line, shortened};

/// The prefix of the rows with each [`StoredStep`].
const STEP: &str = "step:";
/// The prefix of the encrypted rows with the results.
const RESULT: &str = "result:";

/// A step that has begun. The row is not encrypted, so that operators can read it.
struct StoredStep {
    name: String,
    /// The digest of the position that contains the step.
    parent: String,
    /// The version of the program that began the step.
    version: Option<String>,
    /// The size of the result in bytes, if the step has finished.
    bytes: Option<u64>,
    /// Whether another version of the program may have begun the step, and this attempt has not reached it.
    is_foreign: bool,
}

stored!(StoredStep { name: "name", parent: "parent", version: "version", bytes: "bytes" } but is_foreign);

/// The numbers of foreign steps that this attempt has not reached.
#[derive(Default)]
struct Foreign {
    /// By their names and the positions that contain them.
    named: FxHashMap<(String, String), usize>,
    /// By the part of their keys that equal steps share, so by their inputs too.
    equal: FxHashMap<String, usize>,
}

impl Foreign {
    fn add(&mut self, key: &str, step: &StoredStep) {
        let named = self.named.entry((step.name.clone(), step.parent.clone())).or_default();
        *named = named.saturating_add(1);
        let equal = self.equal.entry(shared(key).to_owned()).or_default();
        *equal = equal.saturating_add(1);
    }

    fn remove(&mut self, key: &str, step: &StoredStep) {
        let named = self.named.get_mut(&(step.name.clone(), step.parent.clone()));
        let counts = named.into_iter().chain(self.equal.get_mut(shared(key)));
        counts.for_each(|count| *count = count.saturating_sub(1));
    }

    /// Returns whether there is one with the name and the parent of the step at `place`, but with another input.
    fn has_other_input(&self, place: &str, step: &str) -> bool {
        // In a program of the same version there are none, and no digest has to be computed.
        if self.named.is_empty() {
            return false;
        }
        let Some(named) = self.named.get(&(step.to_owned(), parent(place))) else { return false };
        *named > self.equal.get(shared(&key(place))).copied().unwrap_or_default()
    }
}

/// The journal of an attempt.
pub(crate) struct TaskJournal {
    info: TaskInfo,
    rows: Rc<StoredRows>,
    live: Rc<LiveTask>,
    /// The generation of the task. If another task has replaced it, nothing is stored.
    generation: String,
    version: Option<String>,
    /// The steps, by the digests of their positions.
    steps: RefCell<FxHashMap<String, StoredStep>>,
    foreign: RefCell<Foreign>,
    /// The bytes of all results.
    bytes: Cell<u64>,
    tolerates_changes: Cell<bool>,
}

impl TaskJournal {
    /// Reads the steps of earlier attempts.
    pub(super) fn open(
        info: TaskInfo,
        (rows, live, generation): (Rc<StoredRows>, Rc<LiveTask>, String),
        version: Option<String>,
    ) -> Result<Self, String> {
        let mut steps = FxHashMap::default();
        let (mut foreign, mut bytes) = (Foreign::default(), 0_u64);
        for (key, mut step) in rows.list::<StoredStep>(STEP)? {
            let key = key.strip_prefix(STEP).unwrap_or_default().to_owned();
            // Without the version, each attempt may be one of another version.
            step.is_foreign = step.version.is_none() || step.version != version;
            if step.is_foreign {
                foreign.add(&key, &step);
            }
            bytes = bytes.saturating_add(step.bytes.unwrap_or_default());
            steps.insert(key, step);
        }
        let (steps, foreign, bytes) = (RefCell::new(steps), RefCell::new(foreign), Cell::new(bytes));
        Ok(Self { info, rows, live, generation, version, steps, foreign, bytes, tolerates_changes: Cell::new(false) })
    }

    /// Stores steps that finished before the task began.
    pub(super) fn import(
        rows: &StoredRows,
        version: Option<&String>,
        steps: Vec<(String, String, Box<RawValue>)>,
    ) -> Result<(), String> {
        for (place, name, result) in steps {
            let bytes = u64::try_from(result.get().len()).ok();
            let version = version.cloned();
            let step = StoredStep { name, parent: parent(&place), version, bytes, is_foreign: false };
            rows.seal(&format!("{RESULT}{}", key(&place)), &result)?;
            rows.write(&format!("{STEP}{}", key(&place)), &step)?;
        }
        Ok(())
    }

    /// Returns the name of a step that another version of the program began, if `step` at `place` may be the same step with a different input.
    fn similar(&self, place: &str, step: &str) -> bool {
        !self.tolerates_changes.get()
            && self.foreign.borrow().has_other_input(place, step)
            && !self.steps.borrow().contains_key(&key(place))
    }

    /// Returns the record of the task.
    fn record(&self) -> Result<Record, JournalError> {
        let record = Record::current(&self.rows, &self.generation).map_err(JournalError::Temporary)?;
        record.ok_or_else(|| JournalError::Temporary("the task was deleted, or another one has replaced it".to_owned()))
    }

    fn write(&self, place: &str, step: StoredStep) -> Result<(), JournalError> {
        let key = key(place);
        let is_new = !self.steps.borrow().contains_key(&key);
        if is_new && self.steps.borrow().len() >= TASK_STEPS {
            return Err(JournalError::Final(format!("it has more than {TASK_STEPS} steps")));
        }
        self.rows.write(&format!("{STEP}{key}"), &step).map_err(JournalError::Temporary)?;
        self.steps.borrow_mut().insert(key, step);
        Ok(())
    }

    fn step(&self, place: &str, name: &str, bytes: Option<u64>) -> StoredStep {
        StoredStep {
            name: name.to_owned(),
            parent: parent(place),
            version: self.version.clone(),
            bytes,
            is_foreign: false,
        }
    }
}

impl Journal for TaskJournal {
    fn info(&self) -> &TaskInfo {
        &self.info
    }

    fn tolerate_changes(&self) {
        self.tolerates_changes.set(true);
    }

    fn result(&self, place: &str) -> Result<Option<Box<RawValue>>, JournalError> {
        let key = key(place);
        let is_finished = match self.steps.borrow_mut().get_mut(&key) {
            Some(step) => {
                if std::mem::take(&mut step.is_foreign) {
                    self.foreign.borrow_mut().remove(&key, step);
                }
                step.bytes.is_some()
            }
            None => false,
        };
        if !is_finished {
            return Ok(None);
        }
        match self.rows.open(&format!("{RESULT}{key}")) {
            Ok(Some(result)) => Ok(Some(result)),
            // Running the step again could repeat its effect.
            Ok(None) => Err(JournalError::Final("the result of a finished step is missing".to_owned())),
            Err(error) => Err(JournalError::Unreadable(error)),
        }
    }

    fn has_similar(&self, place: &str, step: &str) -> bool {
        self.similar(place, step)
    }

    fn begin(&self, place: &str, step: &str) -> Result<(), JournalError> {
        if self.similar(place, step) {
            return Err(JournalError::Final(format!(
                "an earlier version of the program began the step `{}` with a different input: a second run could repeat its effect",
                shortened(step)
            )));
        }
        // After a cancellation, the handler only releases what it has.
        if self.live.is_cancelled() && !self.live.is_watched() && !self.steps.borrow().contains_key(&key(place)) {
            return Err(JournalError::Temporary("the task is cancelled".to_owned()));
        }
        self.record()?;
        // The row also stops an object that another one has replaced: its effects wait until the row is stored.
        self.write(place, self.step(place, step, None))
    }

    fn finish(&self, place: &str, step: &str, result: &RawValue) -> Result<(), JournalError> {
        let bytes = u64::try_from(result.get().len()).unwrap_or(u64::MAX);
        let all = self.bytes.get().saturating_add(bytes);
        if bytes > TASK_RESULT_BYTES || all > TASK_JOURNAL_BYTES {
            let step = shortened(step);
            return Err(JournalError::Final(format!(
                "the result of the step `{step}` is too long, or all results together are"
            )));
        }
        let record = self.record()?;
        self.rows.seal(&format!("{RESULT}{}", key(place)), &result.to_owned()).map_err(JournalError::Temporary)?;
        self.write(place, self.step(place, step, Some(bytes)))?;
        self.bytes.set(all);
        // A task that makes progress goes on, however often it is interrupted.
        if record.failures > 0 {
            self.rows.write(RECORD, &Record { failures: 0, ..record }).map_err(JournalError::Temporary)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.live.is_over.get()
    }

    fn report(&self, message: &str) {
        // A model may read the message.
        let message = line(message, TASK_MESSAGE_CHARACTERS).into_owned();
        self.live.message.replace((!message.is_empty()).then_some(message));
    }

    fn must_release(&self) {
        // If the row cannot be stored, a step that follows fails too.
        if let (Ok(_), Ok(None)) = (self.record(), self.rows.read::<bool>(RELEASES)) {
            let _stored = self.rows.write(RELEASES, &true);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.live.is_cancelled()
    }

    fn cancelled(&self) -> LocalBoxFuture<'static, ()> {
        self.live.watch();
        let live = self.live.clone();
        async move { live.cancelled().await }.boxed_local()
    }
}

/// Returns a short key for a position. The keys of equal steps differ only in the number at their end.
fn key(place: &str) -> String {
    let (outer, step) = split(place);
    let (equal, number) = step.find('.').and_then(|at| step.split_at_checked(at)).unwrap_or((step, ""));
    format!("{}{number}", digest(&format!("{outer}/{equal}")))
}

/// Returns the part of a key that equal steps share.
fn shared(key: &str) -> &str {
    key.split('.').next().unwrap_or_default()
}

/// Returns the digest of the position that contains `place`.
fn parent(place: &str) -> String {
    digest(split(place).0)
}

/// Splits a position into the one that contains it and its last part.
fn split(place: &str) -> (&str, &str) {
    let place = place.strip_suffix('/').unwrap_or(place);
    place.rsplit_once('/').unwrap_or(("", place))
}

fn digest(text: &str) -> String {
    URL_SAFE.encode(Sha256::digest(text))
}
