//! The JSON-RPC requests to one server, for one call of a handler.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::lock::Mutex;
use serde_json::value::RawValue;

use super::about::About;
use super::channel::Channel;
use super::handshake;
use super::negotiation::{Known, Sent};
use super::outgoing::Outgoing;
use super::reactions::RequestKind;
use super::send::send;
use crate::client::error::{ClientError, Failure};
use crate::client::wire::message::Params;
use crate::client::wire::response::{ResultKind, RoundResult};
use crate::limits::UPSTREAM_NEGOTIATION_SECONDS;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

/// The requests to one server, for one call of a handler. It negotiates before the first one.
pub(in crate::client) struct Session {
    pub channel: Rc<Channel>,
    /// Held by the task that negotiates.
    negotiation: Mutex<()>,
}

impl Session {
    pub(in crate::client) fn new(channel: Rc<Channel>) -> Self {
        Self { channel, negotiation: Mutex::new(()) }
    }

    /// Sends a request whose result cannot be a question, and returns the result.
    pub(in crate::client) async fn request(&self, outgoing: &mut Outgoing) -> Result<Box<RawValue>, ClientError> {
        let RoundResult { kind, result } = self.exchange(outgoing).await?;
        if kind != ResultKind::Complete {
            let failure = Failure::Malformed("asks for input, which only tools, resources and prompts can do");
            return Err(self.channel.failed(outgoing.method.clone(), failure.into()));
        }
        Ok(result)
    }

    /// Sends a request and returns its result, which may be a question or a task.
    pub(in crate::client) async fn exchange(&self, outgoing: &mut Outgoing) -> Result<RoundResult, ClientError> {
        let channel = &self.channel;
        let kind = if outgoing.is_repeatable { RequestKind::Repeatable } else { RequestKind::Effectful };
        let mut sent = Sent::new(channel.known(), kind, channel.is_pinned());
        let (may_probe, level) = (outgoing.may_probe, outgoing.listeners.log.as_ref().map(|(level, _)| *level));
        let negotiated = || self.negotiated(may_probe).boxed_local();
        let ready = || {
            let ready = async {
                let known = self.negotiated(may_probe).await?;
                if let Some(level) = level {
                    handshake::set_log_level(channel, level, known, &negotiated).await;
                }
                Ok(known)
            };
            ready.boxed_local()
        };
        let accepted = send(channel, outgoing, &mut sent, &ready).await?;
        accepted.into_round_result(sent.known.era(), outgoing).map_err(|failed| {
            let executed = failed.executed().or(sent.executed);
            channel.failed(outgoing.method.clone(), failed.executed_as(executed))
        })
    }

    /// Returns what is known about the server, after the requests that must come before another request. `may_probe` says whether that request
    /// may be the first one.
    async fn negotiated(&self, may_probe: bool) -> Result<Known, ClientError> {
        let needs_discovery = |known| known == Known::Unsettled || known == Known::Nothing && !may_probe;
        let known = self.channel.known();
        if !needs_discovery(known) && !self.channel.needs_session(known) {
            return Ok(known);
        }
        // Parallel requests of a connection wait for one negotiation.
        let _negotiation = self.negotiation.lock().await;
        let (mut known, mut rejected) = (self.channel.known(), None);
        if needs_discovery(known) {
            (known, rejected) = handshake::discover(&self.channel).await?;
        }
        if self.channel.needs_session(known) {
            known = handshake::begin(&self.channel, known, rejected).await?;
        }
        Ok(known)
    }

    /// Returns the description of the server. The server is asked once.
    pub(in crate::client) async fn about(&self) -> Result<About, ClientError> {
        {
            let _negotiation = self.negotiation.lock().await;
            let (mut known, mut rejected) = (self.channel.known(), None);
            if matches!(known, Known::Nothing | Known::Unsettled) {
                (known, rejected) = handshake::discover(&self.channel).await?;
            }
            if known.era() == Era::Legacy && self.channel.about.borrow().is_none() {
                handshake::begin(&self.channel, known, rejected).await?;
            }
        }
        if let Some(about) = &*self.channel.about.borrow() {
            return Ok(about.clone());
        }
        let time = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
        let result = self.request(&mut Outgoing::new(Method::Discover, Params::default(), time)).await?;
        let Known::Modern(revision) = self.channel.known() else {
            let failure = Failure::Malformed("contradicts the earlier answers of the server");
            return Err(self.channel.failed(Method::Discover.name().into(), failure.into()));
        };
        let about = About::of(revision, result)
            .map_err(|failed| self.channel.failed(Method::Discover.name().into(), failed))?;
        self.channel.about.replace(Some(about.clone()));
        Ok(about)
    }
}
