//! The messages of an event stream that are not the response: progress, log messages, and requests of legacy servers.

use std::cell::Cell;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::connection::Link;
use super::error::{Failed, Failure};
use super::question::Question;
use crate::host::warning;
use crate::json::{Document, JsonLimits, Value, deserialize, write};
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

/// A function that gets the notifications of one kind.
type Listener<N> = Rc<dyn Fn(&N)>;

/// The functions that get the notifications of a request.
#[derive(Clone, Default)]
pub(super) struct Listeners {
    pub progress: Option<Listener<Progress>>,
    /// The lowest level of log messages, and the function that gets them.
    pub log: Option<(LogLevel, Listener<LogMessage>)>,
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
    /// The number of requests of the server.
    pub requests: Cell<usize>,
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
            "notifications/progress" => self.progress(params),
            "notifications/message" => self.log_message(params),
            _ => {}
        }
    }

    /// Passes on a report with the token of this request, if the progress grows.
    fn progress(&self, params: Value<'_>) {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "progressToken")]
            token: String,
            progress: f64,
            total: Option<f64>,
            message: Option<String>,
        }
        let Some(listener) = &self.listeners.progress else { return };
        let Ok(Params { token, progress, total, message }) = deserialize::read(params) else { return };
        if token == self.token && progress > self.last.get() {
            self.last.set(progress);
            listener(&Progress { progress, total, message });
        }
    }

    /// Passes on a log message of at least the level that the call asks for.
    fn log_message(&self, params: Value<'_>) {
        let Some((lowest, listener)) = &self.listeners.log else { return };
        let level = params.string("level").and_then(|level| LogLevel::named(&level));
        let data = params.get("data").and_then(Value::to_json);
        if let (Some(level), Some(data)) = (level.filter(|level| level >= lowest), data) {
            listener(&LogMessage { level, logger: params.string("logger"), data });
        }
    }

    /// Answers a request of a legacy server with a POST. Modern servers must not send requests.
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
        let requests = self.requests.get().saturating_add(1);
        self.requests.set(requests);
        if requests > UPSTREAM_QUESTIONS {
            return Err((Failure::LimitExceeded("the server asks too many questions"), None));
        }
        let ServerRequest { id, method, params } = request;
        let size = params.as_ref().map_or(0, |params| params.get().len()).saturating_add(id.len());
        if size > UPSTREAM_QUESTION_BYTES {
            return Err((Failure::LimitExceeded("a question is too long"), None));
        }
        if !self.link.has_session() {
            let problem = format!(
                "the server `{server}` asks a question without a session, so it could not find the question that an answer belongs to"
            );
            warning::once(self.link.host(), "client", &problem);
            return self.link.respond(&id, Err(ErrorCode::MethodNotFound)).await;
        }
        if method == "ping" {
            return self.link.respond(&id, Ok(&empty())).await;
        }
        match self.answer(&method, params.as_deref()).await {
            Ok(Some(answer)) => self.link.respond(&id, Ok(&answer)).await,
            Ok(None) => self.link.respond(&id, Err(ErrorCode::MethodNotFound)).await,
            Err(failed) => {
                // The server gets an error instead of an answer. If this response fails too, the first failure is returned.
                let _ = self.link.respond(&id, Err(ErrorCode::Internal)).await;
                Err(failed)
            }
        }
    }

    /// Answers a question with the functions of the program. Returns `None` for a kind of question that was not declared.
    async fn answer(&self, method: &str, params: Option<&RawValue>) -> Result<Option<Box<RawValue>>, Failed> {
        let question = {
            let text = params.map_or("{}", RawValue::get);
            let document = Document::parse(text.as_bytes(), JsonLimits::MOST).map_err(|error| {
                (Failure::Malformed("asks with parameters that are not JSON"), Some(error.to_string()))
            })?;
            Question::read(&self.link.server().name, method, Some(document.root()))
                .map_err(|failure| (failure, None))?
        };
        let own = self.link.upstream().handlers.capabilities();
        match question.filter(|question| question.is_declared(own)) {
            Some(question) => self.link.answer(question, self.link.cx().clone()).await.map(Some),
            None => Ok(None),
        }
    }
}

fn empty() -> Box<RawValue> {
    write::raw_value("{}".to_owned())
}
