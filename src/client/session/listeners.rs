//! The functions of a program that get the notifications for a request: progress and log messages.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::{Value, deserialize};
use serde::Deserialize;

use crate::limits::PROGRESS_MESSAGE;
use crate::protocol::log_level::LogLevel;
use crate::text::{line, make_visible, visible};

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
pub(in crate::client) struct Listeners {
    pub progress: Option<ProgressListener>,
    /// The lowest level of log messages, and the function that gets them.
    pub log: Option<(LogLevel, LogListener)>,
}

impl Listeners {
    /// Passes reports with the token of the request to `listener`, if the progress grows.
    pub(in crate::client) fn set_progress(&mut self, listener: impl Fn(&Progress) + 'static) {
        self.progress = Some(Rc::new(move |params, token, last| {
            if let Some(progress) = Progress::read(params, token, last) {
                listener(&progress);
            }
        }));
    }

    /// Passes log messages of at least the level `lowest` to `listener`.
    pub(in crate::client) fn set_log(&mut self, lowest: LogLevel, listener: impl Fn(&LogMessage) + 'static) {
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
        let message = message.map(|text| line(&text, PROGRESS_MESSAGE).into_owned());
        Some(Self { progress, total, message })
    }
}

impl LogMessage {
    /// Reads a log message of at least the level that the call asks for.
    fn read(params: Value<'_>, lowest: LogLevel) -> Option<Self> {
        let level = params.string("level").and_then(|level| LogLevel::named(&level))?;
        let mut data = params.get("data").and_then(Value::to_json).filter(|_| level >= lowest)?;
        make_visible(&mut data);
        Some(Self { level, logger: params.string("logger").as_deref().map(visible), data })
    }
}
