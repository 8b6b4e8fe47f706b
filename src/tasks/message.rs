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

use super::record::{StoredCall, number};
use super::rows::Row;
use crate::host::TaskObjects;

/// A message to an object.
pub(super) enum Message {
    /// Creates a task, unless the object has it, or has another one that goes on or has completed.
    Create(Box<Created>),
    /// Describes the task, after an end, a question or this time in milliseconds.
    Get { wait_ms: u64 },
    /// Answers questions.
    Update { generation: String, answers: Vec<(String, Box<RawValue>)> },
    /// Cancels the task, whatever its generation is if there is none.
    Cancel { generation: Option<String> },
    /// Counts a task of a caller.
    Enter(Entry),
    /// Stops counting a task.
    Leave { place: String },
}

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
pub(super) enum Reply {
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
    pub state: State,
}

/// The state of a task, with what its caller needs.
pub(super) enum State {
    Working,
    /// The questions: an object with their keys.
    InputRequired(Box<RawValue>),
    Completed(Box<RawValue>),
    Failed(Box<RawValue>),
    Cancelled,
}

impl State {
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

    fn json(&self) -> String {
        let object = ObjectWriter::new().text("tool", &self.tool).text("generation", &self.generation);
        let object = object.json("task", self.task.get());
        match self.state.member() {
            Some((name, value)) => object.json(name, value.get()),
            None if self.state.is_final() => object.json("isCancelled", "true"),
            None => object,
        }
        .finish()
    }

    fn read(view: Value<'_>) -> Option<Self> {
        let member = |name| view.get(name).and_then(Value::to_raw);
        let state = if let Some(result) = member("result") {
            State::Completed(result)
        } else if let Some(error) = member("error") {
            State::Failed(error)
        } else if let Some(questions) = member("inputRequests") {
            State::InputRequired(questions)
        } else if view.get("isCancelled").is_some() {
            State::Cancelled
        } else {
            State::Working
        };
        Some(Self { tool: view.string("tool")?, generation: view.string("generation")?, task: member("task")?, state })
    }
}

impl Message {
    /// Returns the message for a task of `owner`, as JSON.
    fn json(&self, owner: &str) -> String {
        let of_kind = |kind: &str| ObjectWriter::new().text("owner", owner).text("message", kind);
        match self {
            Self::Create(created) => {
                let Created { tool, generation, ttl_ms, quota, most, call, steps, answers } = &**created;
                of_kind("create")
                    .text("tool", tool)
                    .text("generation", generation)
                    .json("ttlMs", &ttl_ms.to_string())
                    .text("quota", quota)
                    .json("most", &most.to_string())
                    .json("call", &call.json())
                    .json("steps", &triples(steps))
                    .json("answers", &triples(answers))
            }
            Self::Get { wait_ms } => of_kind("get").json("waitMs", &wait_ms.to_string()),
            Self::Update { generation, answers } => {
                let add =
                    |object: ObjectWriter, (key, answer): &(String, Box<RawValue>)| object.json(key, answer.get());
                let answers = answers.iter().fold(ObjectWriter::new(), add).finish();
                of_kind("update").text("generation", generation).json("answers", &answers)
            }
            Self::Cancel { generation: Some(generation) } => of_kind("cancel").text("generation", generation),
            Self::Cancel { generation: None } => of_kind("cancel"),
            Self::Enter(Entry { place, most, until_ms, expires_ms }) => of_kind("enter")
                .text("place", place)
                .json("most", &most.to_string())
                .json("untilMs", &until_ms.to_string())
                .json("expiresMs", &expires_ms.to_string()),
            Self::Leave { place } => of_kind("leave").text("place", place),
        }
        .finish()
    }

    /// Reads a message, and its owner.
    pub(super) fn read(text: &str) -> Option<(String, Self)> {
        let document = Document::parse(text.as_bytes(), JsonLimits::MOST).ok()?;
        let message = document.root();
        let read = match &*message.string("message")? {
            "create" => Self::Create(Box::new(Created {
                tool: message.string("tool")?,
                generation: message.string("generation")?,
                ttl_ms: number(message, "ttlMs")?,
                quota: message.string("quota")?,
                most: number(message, "most")?,
                call: StoredCall::read(message.get("call")?)?,
                steps: read_triples(message.get("steps")?)?,
                answers: read_triples(message.get("answers")?)?,
            })),
            "get" => Self::Get { wait_ms: number(message, "waitMs")? },
            "update" => {
                Self::Update { generation: message.string("generation")?, answers: members(message.get("answers")?)? }
            }
            "cancel" => Self::Cancel { generation: message.string("generation") },
            "enter" => Self::Enter(Entry {
                place: message.string("place")?,
                most: number(message, "most")?,
                until_ms: number(message, "untilMs")?,
                expires_ms: number(message, "expiresMs")?,
            }),
            "leave" => Self::Leave { place: message.string("place")? },
            _ => return None,
        };
        Some((message.string("owner")?, read))
    }
}

impl Reply {
    pub(super) fn json(&self) -> String {
        let object = ObjectWriter::new();
        match self {
            // The result can be long, so it is not copied into another object.
            Self::Task(view) => return view.json(),
            Self::Unknown => object.json("unknown", "true"),
            Self::Invalid(problem) => object.text("invalid", problem),
            Self::Counted => object.json("counted", "true"),
            Self::Full(free_ms) => object.json("full", &free_ms.to_string()),
        }
        .finish()
    }

    fn read(text: &str) -> Option<Self> {
        let document = Document::parse(text.as_bytes(), JsonLimits::MOST).ok()?;
        let (name, value) = document.root().members().next()?;
        Some(match &*name {
            "tool" => Self::Task(Box::new(View::read(document.root())?)),
            "unknown" => Self::Unknown,
            "invalid" => Self::Invalid(value.as_str()?.into_owned()),
            "counted" => Self::Counted,
            "full" => Self::Full(u64::read(value)?),
            _ => return None,
        })
    }
}

/// Returns the members of an object.
pub(super) fn members(object: Value<'_>) -> Option<Vec<(String, Box<RawValue>)>> {
    object.members().map(|(name, value)| Some((name.into_owned(), value.to_raw()?))).collect()
}

fn triples(triples: &[(String, String, Box<RawValue>)]) -> String {
    let text = |text: &String| write::text(&text.as_str().into());
    let triples: Vec<_> = triples.iter().map(|(a, b, json)| format!("[{},{},{json}]", text(a), text(b))).collect();
    format!("[{}]", triples.join(","))
}

fn read_triples(triples: Value<'_>) -> Option<Vec<(String, String, Box<RawValue>)>> {
    let read = |triple: Value<'_>| {
        let mut items = triple.items();
        let (first, second, third) = (items.next()?.as_str()?, items.next()?.as_str()?, items.next()?.to_raw()?);
        Some((first.into_owned(), second.into_owned(), third))
    };
    triples.items().map(read).collect()
}

/// Sends a message about a task of `owner` to the object `name`.
///
/// # Errors
/// The object cannot be reached. The text is for the log.
pub(super) fn send(
    objects: &Rc<dyn TaskObjects>,
    name: &str,
    owner: &str,
    message: &Message,
) -> LocalBoxFuture<'static, Result<Reply, String>> {
    let answer = objects.send(name, message.json(owner));
    let reply = async move {
        Reply::read(&answer.await?).ok_or_else(|| "the object of a task did not answer as expected".to_owned())
    };
    reply.boxed_local()
}
