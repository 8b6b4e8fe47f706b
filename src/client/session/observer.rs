//! The messages of an event stream that are not the response: notifications, and requests of legacy servers.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value, write};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::listeners::Listeners;
use super::remote_request::RequestAttempts;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::questions::question::ServerQuestion;
use crate::client::wire::exchange::{ServerRequest, StreamReceiver};
use crate::client::wire::response::without_nulls;
use crate::host::log;
use crate::limits::{UPSTREAM_QUESTION_BYTES, UPSTREAM_QUESTIONS};
use crate::protocol::error::ErrorCode;
use crate::protocol::revision::Era;

/// Receives the messages that arrive while a request waits for its response.
pub(super) struct Observer {
    pub conversation: Rc<Conversation>,
    pub listeners: Listeners,
    pub era: Era,
    /// The progress token of the request.
    pub token: String,
    /// The last progress.
    pub last: Cell<f64>,
    pub attempts: Rc<RequestAttempts>,
}

impl StreamReceiver for Observer {
    fn notification(&self, method: &str, params: Option<Value<'_>>) {
        if method.ends_with("/list_changed") {
            self.conversation.notice_list_change();
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

    fn request(&self, request: ServerRequest) -> LocalBoxFuture<'_, Result<(), ClientError>> {
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
    async fn respond(&self, request: ServerRequest) -> Result<(), ClientError> {
        let server = &self.conversation.server.name;
        if self.era == Era::Modern {
            let problem =
                format!("the server `{server}` sends requests on an event stream, which revision 2026-07-28 forbids");
            log::warning_once_about(self.conversation.cx.host(), "client", [server, &problem], &problem);
            return Ok(());
        }
        let ServerRequest { id, method, params } = request;
        // A long call may cause many pings, so they are not questions.
        let is_ping = method == "ping";
        let questions = &self.attempts.questions;
        questions.set(questions.get().saturating_add(usize::from(!is_ping)));
        if questions.get() > UPSTREAM_QUESTIONS {
            return Err(Failure::LimitExceeded("the server asks too many questions").into());
        }
        let size = params.as_ref().map_or(0, |params| params.get().len()).saturating_add(id.len());
        if size > UPSTREAM_QUESTION_BYTES {
            return Err(Failure::LimitExceeded("a question is too long").into());
        }
        if is_ping && !self.conversation.budget.spend_ping() {
            return Ok(());
        }
        let outcome = if !self.conversation.has_session() {
            let problem = format!(
                "the server `{server}` asks a question without a session, so it could not find the question that an answer belongs to"
            );
            log::warning_once_about(self.conversation.cx.host(), "client", [server, &problem], &problem);
            Ok(None)
        } else if is_ping {
            Ok(Some(write::raw_value("{}".to_owned())))
        } else {
            let params = params.map(|params| without_nulls(params, self.era));
            self.answer(&method, params.as_deref()).await
        };
        match outcome {
            Ok(Some(answer)) => {
                let sent = self.conversation.respond(&id, Ok(&answer)).await;
                if is_ping { Ok(()) } else { sent }
            }
            Ok(None) => {
                let _ = self.conversation.respond(&id, Err(ErrorCode::MethodNotFound)).await;
                Ok(())
            }
            Err(error) => {
                // The server gets an error instead of an answer. If this response fails too, the first failure is returned.
                let _ = self.conversation.respond(&id, Err(ErrorCode::Internal)).await;
                Err(error)
            }
        }
    }

    /// Answers a question with the functions of the program. Returns `None` for a kind of question that was not declared.
    async fn answer(&self, method: &str, params: Option<&RawValue>) -> Result<Option<Box<RawValue>>, ClientError> {
        let answer = {
            let text = params.map_or("{}", RawValue::get);
            let document = Document::parse(text.as_bytes(), JsonLimits::MOST).map_err(|error| {
                ClientError::new(Failure::Malformed("asks with parameters that are not JSON"), Some(error.to_string()))
            })?;
            let question = ServerQuestion::of(&self.conversation.server.name, method, Some(document.root()));
            let Some(question) = question? else { return Ok(None) };
            self.conversation.server.upstream.handlers.answer(&question, &self.conversation.cx)?
        };
        match answer {
            Some(answer) => answer.await.map(Some),
            None => Ok(None),
        }
    }
}
