//! The JSON-RPC requests of a conversation, each after the requests that must come before it.

use std::rc::Rc;

use futures::FutureExt;
use serde_json::value::RawValue;

use super::about::About;
use super::handshake;
use super::negotiation::{History, Knowledge};
use super::reactions::RequestKind;
use super::remote_request::RemoteRequest;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::wire::message::Params;
use crate::client::wire::response::{ResultKind, RoundResult, parsed, without_nulls};
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

impl Conversation {
    /// Sends a request whose result cannot be a question, and returns the result.
    pub(in crate::client) async fn result(
        self: &Rc<Self>,
        request: &RemoteRequest,
    ) -> Result<Box<RawValue>, ClientError> {
        let RoundResult { kind, result } = self.send(request).await?;
        if kind != ResultKind::Complete {
            let error = Failure::Malformed("asks for input, which only tools, resources and prompts can do").into();
            return Err(self.error_of(request.method.clone())(error));
        }
        Ok(result)
    }

    /// Sends a request and returns its result, which may be a question or a task.
    pub(in crate::client) async fn send(self: &Rc<Self>, request: &RemoteRequest) -> Result<RoundResult, ClientError> {
        let kind = if request.is_repeatable { RequestKind::Repeatable } else { RequestKind::Effectful };
        let mut history = History::new(self.known(), kind, self.is_pinned());
        let negotiated = || self.negotiated(request.may_probe()).boxed_local();
        let ready = || {
            let ready = async {
                let known = self.negotiated(request.may_probe()).await?;
                if let Some((level, _)) = &request.listeners.log {
                    handshake::set_log_level(self, *level, known, &negotiated).await;
                }
                Ok(known)
            };
            ready.boxed_local()
        };
        let result = self.attempts(request, &mut history, &ready).await;
        let result = result.and_then(|result| match history.known.era() {
            Era::Modern => result.into_round_result(&request.result_types, request.is_call()),
            Era::Legacy => result.into_legacy_result(),
        });
        let RoundResult { kind, result } = result.map_err(self.error_of(request.method.clone()))?;
        let result = if request.is_of_protocol() { without_nulls(result, history.known.era()) } else { result };
        Ok(RoundResult { kind, result })
    }

    /// Returns what is known about the server, after the requests that must come before another request. `may_probe` says whether that request
    /// may be the first one.
    async fn negotiated(self: &Rc<Self>, may_probe: bool) -> Result<Knowledge, ClientError> {
        let needs_discovery = |known| known == Knowledge::Unsettled || known == Knowledge::Nothing && !may_probe;
        let known = self.known();
        if !needs_discovery(known) && !self.needs_session(known) {
            return Ok(known);
        }
        // Parallel requests of a conversation wait for one negotiation.
        let _negotiation = self.negotiation.lock().await;
        let (mut known, mut rejected) = (self.known(), None);
        if needs_discovery(known) {
            (known, rejected) = handshake::discover(self).await?;
        }
        if self.needs_session(known) {
            known = handshake::begin(self, known, rejected).await?;
        }
        Ok(known)
    }

    /// Returns the description of the server. The server is asked once.
    pub(in crate::client) async fn about(self: &Rc<Self>) -> Result<About, ClientError> {
        {
            let _negotiation = self.negotiation.lock().await;
            let (mut known, mut rejected) = (self.known(), None);
            if matches!(known, Knowledge::Nothing | Knowledge::Unsettled) {
                (known, rejected) = handshake::discover(self).await?;
            }
            if known.era() == Era::Legacy && self.about.borrow().is_none() {
                handshake::begin(self, known, rejected).await?;
            }
        }
        if let Some(about) = &*self.about.borrow() {
            return Ok(about.clone());
        }
        let discovery = RemoteRequest::new(Method::Discover, Params::default(), handshake::TIME);
        let result = self.result(&discovery).await?;
        let about = match self.known() {
            Knowledge::Modern(revision) => parsed(&result).map(|document| About::of(revision, document.root())),
            _ => Err(Failure::Malformed("contradicts the earlier answers of the server").into()),
        };
        let about = about.map_err(self.error_of(discovery.method.clone()))?;
        self.about.replace(Some(about.clone()));
        Ok(about)
    }
}
