//! The messages of an event stream that are not the response: progress, log messages, and requests of legacy servers.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value, deserialize, write};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::connection::Link;
use super::error::{Failed, Failure};
use super::question::Question;
use crate::host::warning;
use crate::limits::{UPSTREAM_QUESTION_BYTES, UPSTREAM_QUESTIONS};
use crate::protocol::error::ErrorCode;
use crate::protocol::log_level::LogLevel;
use crate::protocol::revision::Era;

/// The progress of a call, as the server reports it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The progress. It grows with each report of a request.
    pub progress: f64,
    /// The value of `progress` at the end, if it is known.
    pub total: Option<f64>,
    /// A description for a person.
    pub message: Option<String>,
}

/// A log message of a server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LogMessage {
    /// The severity.
    pub level: LogLevel,
    /// The name of the part of the server that wrote the message.
    pub logger: Option<String>,
    /// The message: text or other JSON.
    pub data: serde_json::Value,
}

/// A function that reads a progress notification. It gets the progress token of the request and the last progress.
type ProgressListener = Rc<dyn Fn(Value<'_>, &str, &Cell<f64>)>;

/// A function that reads a log message.
type LogListener = Rc<dyn Fn(Value<'_>)>;

/// The functions that get the parameters of notifications. A program contains the code that reads them only if it has such a function.
#[derive(Clone, Default)]
pub(super) struct Listeners {
    pub progress: Option<ProgressListener>,
    /// The lowest level of log messages, and the function that gets them.
    pub log: Option<(LogLevel, LogListener)>,
}

impl Listeners {
    /// Passes reports with the token of the request to `listener`, if the progress grows.
    pub(super) fn set_progress(&mut self, listener: impl Fn(&Progress) + 'static) {
        self.progress = Some(Rc::new(move |params, token, last| {
            if let Some(progress) = Progress::read(params, token, last) {
                listener(&progress);
            }
        }));
    }

    /// Passes log messages of at least the level `lowest` to `listener`.
    pub(super) fn set_log(&mut self, lowest: LogLevel, listener: impl Fn(&LogMessage) + 'static) {
        let listener = move |params: Value<'_>| {
            if let Some(message) = LogMessage::read(params, lowest) {
                listener(&message);
            }
        };
        self.log = Some((lowest, Rc::new(listener)));
    }
}

impl Progress {
    /// Reads a report with this token that grows beyond the `last` progress.
    fn read(params: Value<'_>, expected: &str, last: &Cell<f64>) -> Option<Self> {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "progressToken")]
            token: String,
            progress: f64,
            total: Option<f64>,
            message: Option<String>,
        }
        let Params { token, progress, total, message } = deserialize::read(params).ok()?;
        if token != expected || progress <= last.get() {
            return None;
        }
        last.set(progress);
        Some(Self { progress, total, message })
    }
}

impl LogMessage {
    /// Reads a log message of at least the level that the call asks for.
    fn read(params: Value<'_>, lowest: LogLevel) -> Option<Self> {
        let level = params.string("level").and_then(|level| LogLevel::named(&level))?;
        let data = params.get("data").and_then(Value::to_json)?;
        (level >= lowest).then(|| Self { level, logger: params.string("logger"), data })
    }
}

/// Gets the messages of one event stream.
pub(super) struct Observer<'a> {
    pub link: &'a Link,
    pub listeners: &'a Listeners,
    pub era: Era,
    /// The progress token of the request.
    pub token: &'a str,
    /// The last progress.
    pub last: Cell<f64>,
    /// The number of questions of the server.
    pub questions: Cell<usize>,
}

/// A request of a server to this client.
#[derive(Debug)]
pub(super) struct ServerRequest {
    /// The id, as JSON text.
    pub id: Box<str>,
    pub method: String,
    pub params: Option<Box<RawValue>>,
}

impl Observer<'_> {
    /// Gets a notification.
    pub(super) fn notification(&self, method: &str, params: Option<Value<'_>>) {
        self.link.notice_change(method);
        let Some(params) = params else { return };
        match method {
            "notifications/progress" => {
                if let Some(listener) = &self.listeners.progress {
                    listener(params, self.token, &self.last);
                }
            }
            "notifications/message" => {
                if let Some((_, listener)) = &self.listeners.log {
                    listener(params);
                }
            }
            _ => {}
        }
    }

    /// Answers a request of a legacy server with a POST. Modern servers must not send requests.
    ///
    /// The call fails only if an answer of the program does not reach the server. Other answers are attempted once: the result of the call
    /// does not depend on them.
    ///
    /// Source: 2025-11-25, basic/transports, "Sending Messages to the Server"; client/elicitation, client/sampling, client/roots.
    pub(super) async fn respond(&self, request: ServerRequest) -> Result<(), Failed> {
        let server = &self.link.server().name;
        if self.era == Era::Modern {
            let problem =
                format!("the server `{server}` sends requests on an event stream, which revision 2026-07-28 forbids");
            warning::once(self.link.host(), "client", &problem);
            return Ok(());
        }
        let ServerRequest { id, method, params } = request;
        // A long call may cause many pings, so they are not questions.
        let is_ping = method == "ping";
        if !is_ping {
            self.questions.set(self.questions.get().saturating_add(1));
            if self.questions.get() > UPSTREAM_QUESTIONS {
                return Err(Failure::LimitExceeded("the server asks too many questions").into());
            }
        }
        let size = params.as_ref().map_or(0, |params| params.get().len()).saturating_add(id.len());
        if size > UPSTREAM_QUESTION_BYTES {
            return Err(Failure::LimitExceeded("a question is too long").into());
        }
        if is_ping && !self.link.of_call().spend_ping() {
            return Ok(());
        }
        if !self.link.has_session() {
            let problem = format!(
                "the server `{server}` asks a question without a session, so it could not find the question that an answer belongs to"
            );
            warning::once(self.link.host(), "client", &problem);
            let _ = self.link.respond(&id, Err(ErrorCode::MethodNotFound)).await;
            return Ok(());
        }
        if is_ping {
            let _ = self.link.respond(&id, Ok(&empty())).await;
            return Ok(());
        }
        match self.answer(&method, params.as_deref()).await {
            Ok(Some(answer)) => self.link.respond(&id, Ok(&answer)).await,
            Ok(None) => {
                let _ = self.link.respond(&id, Err(ErrorCode::MethodNotFound)).await;
                Ok(())
            }
            Err(failed) => {
                // The server gets an error instead of an answer. If this response fails too, the first failure is returned.
                let _ = self.link.respond(&id, Err(ErrorCode::Internal)).await;
                Err(failed)
            }
        }
    }

    /// Answers a question with the functions of the program. Returns `None` for a kind of question that was not declared.
    async fn answer(&self, method: &str, params: Option<&RawValue>) -> Result<Option<Box<RawValue>>, Failed> {
        let answer = {
            let text = params.map_or("{}", RawValue::get);
            let document = Document::parse(text.as_bytes(), JsonLimits::MOST).map_err(|error| {
                Failed::new(Failure::Malformed("asks with parameters that are not JSON"), Some(error.to_string()))
            })?;
            let question = Question::of(&self.link.server().name, method, Some(document.root()));
            let Some(question) = question? else { return Ok(None) };
            self.link.upstream().handlers.answer(&question, self.link.cx())?
        };
        match answer {
            Some(answer) => answer.await.map(Some),
            None => Ok(None),
        }
    }
}

fn empty() -> Box<RawValue> {
    write::raw_value("{}".to_owned())
}
