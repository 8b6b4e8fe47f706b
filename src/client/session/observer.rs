//! The messages of an event stream that are not the response: notifications, and requests of legacy servers.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value, write};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::channel::Channel;
use super::listeners::Listeners;
use crate::client::error::{Failed, Failure};
use crate::client::questions::question::ServerQuestion;
use crate::client::wire::absent::without_nulls;
use crate::client::wire::exchange::{Receiver, ServerRequest};
use crate::host::log;
use crate::limits::{UPSTREAM_QUESTION_BYTES, UPSTREAM_QUESTIONS};
use crate::protocol::error::ErrorCode;
use crate::protocol::revision::Era;

/// Receives the messages that arrive while a request waits for its response.
pub(super) struct Observer {
    pub channel: Rc<Channel>,
    pub listeners: Listeners,
    pub era: Era,
    /// The progress token of the request.
    pub token: String,
    /// The last progress.
    pub last: Cell<f64>,
    /// The number of questions of the server, in all repetitions of the request.
    pub questions: Rc<Cell<usize>>,
}

impl Receiver for Observer {
    fn notification(&self, method: &str, params: Option<Value<'_>>) {
        if method.ends_with("/list_changed") {
            self.channel.notice_list_change();
        }
        let Some(params) = params else { return };
        match method {
            "notifications/progress" => {
                if let Some(listener) = &self.listeners.progress {
                    listener(params, &self.token, &self.last);
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

    fn request(&self, request: ServerRequest) -> LocalBoxFuture<'_, Result<(), Failed>> {
        self.respond(request).boxed_local()
    }
}

impl Observer {
    /// Answers a request of a legacy server with a POST. Modern servers must not send requests.
    ///
    /// The call fails only if an answer of the program does not reach the server. Other answers are attempted once: the result of the call
    /// does not depend on them.
    ///
    /// Source: 2025-11-25, basic/transports, "Sending Messages to the Server"; client/elicitation, client/sampling, client/roots.
    async fn respond(&self, request: ServerRequest) -> Result<(), Failed> {
        let server = &self.channel.server().name;
        if self.era == Era::Modern {
            let problem =
                format!("the server `{server}` sends requests on an event stream, which revision 2026-07-28 forbids");
            log::warning_once_about(self.channel.host(), "client", [server, &problem], &problem);
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
        if is_ping && !self.channel.of_call().spend_ping() {
            return Ok(());
        }
        if !self.channel.has_session() {
            let problem = format!(
                "the server `{server}` asks a question without a session, so it could not find the question that an answer belongs to"
            );
            log::warning_once_about(self.channel.host(), "client", [server, &problem], &problem);
            let _ = self.channel.respond(&id, Err(ErrorCode::MethodNotFound)).await;
            return Ok(());
        }
        if is_ping {
            let _ = self.channel.respond(&id, Ok(&empty())).await;
            return Ok(());
        }
        let params = params.map(|params| without_nulls(params, self.era));
        match self.answer(&method, params.as_deref()).await {
            Ok(Some(answer)) => self.channel.respond(&id, Ok(&answer)).await,
            Ok(None) => {
                let _ = self.channel.respond(&id, Err(ErrorCode::MethodNotFound)).await;
                Ok(())
            }
            Err(failed) => {
                // The server gets an error instead of an answer. If this response fails too, the first failure is returned.
                let _ = self.channel.respond(&id, Err(ErrorCode::Internal)).await;
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
            let question = ServerQuestion::of(&self.channel.server().name, method, Some(document.root()));
            let Some(question) = question? else { return Ok(None) };
            self.channel.upstream().handlers.answer(&question, self.channel.cx())?
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
