//! The messages to the objects, and their answers. They stay within one deployment.
//!
//! The platform may deliver a message twice, late, or after the one that follows it. So each message that changes a task names its generation,
//! and a message about another generation changes nothing.

use std::rc::Rc;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits, Value};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::record::StoredCall;
use super::stored::{Stored, stored};
use crate::host::TaskObjects;

/// A message to an object.
pub(super) enum TaskMessage {
    /// Creates a task, unless the object has it, or has another one that goes on or has completed.
    Create(Box<Created>),
    /// Describes the task, after an end, a question or this time in milliseconds.
    Get { wait_ms: u64 },
    /// Answers questions.
    Update { generation: String, answers: Answers },
    /// Cancels the task, whatever its generation is if there is none.
    Cancel { generation: Option<String> },
    /// Counts a task of a caller.
    Enter(Entry),
    /// Stops counting a task.
    Leave { place: String },
}

/// Answers by the keys of their questions.
pub(super) struct Answers(pub Vec<(String, Box<RawValue>)>);

/// A place that a task takes in the count of its caller.
pub(super) struct Entry {
    /// The object of the task, and its generation.
    pub place: String,
    /// The number of tasks that the caller can have.
    pub most: u64,
    /// The time until which the place is taken, in milliseconds since 1970.
    pub until_ms: u64,
    /// The time at which the task expires.
    pub expires_ms: u64,
}

/// A new task.
pub(crate) struct Created {
    pub tool: String,
    pub generation: String,
    pub ttl_ms: u64,
    /// The object that counts the tasks of the caller.
    pub quota: String,
    /// The number of tasks that the caller can have.
    pub most: u64,
    pub call: StoredCall,
    /// The places, names and results of the steps that have finished.
    pub steps: Vec<(String, String, Box<RawValue>)>,
    /// The keys, digests and answers of the questions that have been answered.
    pub answers: Vec<(String, String, Box<RawValue>)>,
}

/// The answer of an object.
pub(super) enum TaskReply {
    Task(Box<View>),
    /// There is no such task for this owner.
    Unknown,
    /// An answer does not fit its question. The text is for the caller.
    Invalid(String),
    /// The count has changed.
    Counted,
    /// The caller has too many tasks. The time at which the first of them expires, in milliseconds since 1970.
    Full(u64),
}

/// A task as its caller sees it.
pub(super) struct View {
    pub tool: String,
    pub generation: String,
    /// The members that every description of the task has, besides its id: a JSON object.
    pub task: Box<RawValue>,
    pub state: Phase,
}

/// The state of a task, with what its caller needs.
pub(super) enum Phase {
    Working,
    /// The questions: an object with their keys.
    InputRequired(Box<RawValue>),
    Completed(Box<RawValue>),
    Failed(Box<RawValue>),
    Cancelled,
}

impl Phase {
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_) | Self::Cancelled)
    }

    /// Returns the member with what the state adds to the description of a task.
    fn member(&self) -> Option<(&'static str, &RawValue)> {
        match self {
            Self::Working | Self::Cancelled => None,
            Self::InputRequired(questions) => Some(("inputRequests", questions)),
            Self::Completed(result) => Some(("result", result)),
            Self::Failed(error) => Some(("error", error)),
        }
    }
}

impl View {
    /// Returns the description of the task with this id.
    pub(super) fn describe(&self, id: &str) -> Box<RawValue> {
        let members = self.task.get().strip_prefix('{').unwrap_or_default();
        write::raw_value(format!("{{\"taskId\":\"{id}\",{members}"))
    }

    /// Returns the description with what its state adds, as `tasks/get` returns it.
    pub(super) fn detailed(&self, id: &str) -> Box<RawValue> {
        let task = self.describe(id);
        let Some((name, value)) = self.state.member() else { return task };
        let members = task.get().strip_suffix('}').unwrap_or_default();
        write::raw_value(format!("{members},\"{name}\":{value}}}"))
    }
}

stored!(Entry { place: "place", most: "most", until_ms: "untilMs", expires_ms: "expiresMs" });
stored!(Created {
    tool: "tool",
    generation: "generation",
    ttl_ms: "ttlMs",
    quota: "quota",
    most: "most",
    call: "call",
    steps: "steps",
    answers: "answers"
});
stored!(View { tool: "tool", generation: "generation", task: "task", state: "state" });

impl Stored for Answers {
    fn json(&self) -> String {
        self.0.iter().fold(ObjectWriter::new(), |object, (key, answer)| answer.add_to(object, key)).finish()
    }

    fn read(answers: Value<'_>) -> Option<Self> {
        answers
            .members()
            .map(|(key, answer)| Some((key.into_owned(), answer.to_raw()?)))
            .collect::<Option<_>>()
            .map(Self)
    }
}

impl Stored for Phase {
    fn json(&self) -> String {
        match self.member() {
            Some((name, value)) => ObjectWriter::new().json(name, value.get()).finish(),
            None => self.is_final().json(),
        }
    }

    fn read(phase: Value<'_>) -> Option<Self> {
        let Some((name, value)) = phase.members().next() else {
            return bool::read(phase).map(|is_final| if is_final { Self::Cancelled } else { Self::Working });
        };
        let value = value.to_raw()?;
        Some(match &*name {
            "inputRequests" => Self::InputRequired(value),
            "result" => Self::Completed(value),
            "error" => Self::Failed(value),
            _ => return None,
        })
    }
}

impl TaskMessage {
    /// Returns the message for a task of `owner`, as JSON.
    fn json(&self, owner: &str) -> String {
        let object = ObjectWriter::new().text("owner", owner);
        match self {
            Self::Create(created) => object.json("create", &created.json()),
            Self::Get { wait_ms } => object.json("get", &wait_ms.json()),
            Self::Update { generation, answers } => answers.add_to(object, "update").text("generation", generation),
            Self::Cancel { generation } => generation.add_to(object.json("cancel", "true"), "generation"),
            Self::Enter(entry) => entry.add_to(object, "enter"),
            Self::Leave { place } => object.text("leave", place),
        }
        .finish()
    }

    /// Reads a message, and its owner.
    pub(super) fn parse(text: &str) -> Option<(String, Self)> {
        let document = Document::parse(text.as_bytes(), JsonLimits::MOST).ok()?;
        let message = document.root();
        let (kind, value) = message.members().find(|(name, _)| name != "owner")?;
        let read = match &*kind {
            "create" => Self::Create(Box::new(Created::read(value)?)),
            "get" => Self::Get { wait_ms: u64::read(value)? },
            "update" => Self::Update { generation: message.string("generation")?, answers: Answers::read(value)? },
            "cancel" => Self::Cancel { generation: message.string("generation") },
            "enter" => Self::Enter(Entry::read(value)?),
            "leave" => Self::Leave { place: String::read(value)? },
            _ => return None,
        };
        Some((message.string("owner")?, read))
    }
}

impl Stored for TaskReply {
    fn json(&self) -> String {
        let object = ObjectWriter::new();
        match self {
            Self::Task(view) => view.add_to(object, "task"),
            Self::Unknown => object.json("unknown", "true"),
            Self::Invalid(problem) => object.text("invalid", problem),
            Self::Counted => object.json("counted", "true"),
            Self::Full(free_ms) => free_ms.add_to(object, "full"),
        }
        .finish()
    }

    fn read(reply: Value<'_>) -> Option<Self> {
        let (name, value) = reply.members().next()?;
        Some(match &*name {
            "task" => Self::Task(Box::new(View::read(value)?)),
            "unknown" => Self::Unknown,
            "invalid" => Self::Invalid(value.as_str()?.into_owned()),
            "counted" => Self::Counted,
            "full" => Self::Full(u64::read(value)?),
            _ => return None,
        })
    }
}

/// Sends a message about a task of `owner` to the object `name`.
///
/// # Errors
/// The object cannot be reached. The text is for the log.
pub(super) fn send(
    objects: &Rc<dyn TaskObjects>,
    name: &str,
    owner: &str,
    message: &TaskMessage,
) -> LocalBoxFuture<'static, Result<TaskReply, String>> {
    let answer = objects.send(name, message.json(owner));
    let reply = async move {
        let reply = TaskReply::parse(answer.await?.as_bytes());
        reply.ok_or_else(|| "the object of a task did not answer as expected".to_owned())
    };
    reply.boxed_local()
}
