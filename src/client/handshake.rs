//! The requests that must come before another request: `server/discover` and `initialize`.
//!
//! Source: 2026-07-28, server/discover; 2025-11-25, basic/lifecycle.

use std::time::Duration;

use edge_json::{Document, JsonLimits, write};
use futures::FutureExt;
use http::HeaderValue;
use serde_json::value::RawValue;

use super::about::About;
use super::connection::{Link, Session};
use super::error::{ClientError, Failed};
use super::handlers::capabilities_json;
use super::message::Params;
use super::negotiation::{Known, Sent};
use super::reactions::{Action, Kind, Lesson, Reaction};
use super::request::Outgoing;
use super::response::{Answer, RpcResult, unsupported};
use crate::limits::UPSTREAM_NEGOTIATION_SECONDS;
use crate::protocol::log_level::LogLevel;
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Revision};

const TIME: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
/// The longest id of a session.
const SESSION_ID: usize = 512;

impl Link {
    /// Returns what is known about the server, after the requests that must come before `method`.
    ///
    /// A call of a tool is never the first probe: a legacy server without sessions would execute it.
    pub(super) async fn negotiated(&self, method: Method) -> Result<Known, ClientError> {
        let needs_discovery =
            |known| known == Known::Unsettled || known == Known::Nothing && method == Method::CallTool;
        let known = self.known();
        if !needs_discovery(known) && !self.needs_session(known) {
            return Ok(known);
        }
        // Parallel requests of a connection wait for one negotiation.
        let _negotiation = self.negotiation.lock().await;
        let mut known = self.known();
        if needs_discovery(known) {
            known = self.discover().await?;
        }
        if self.needs_session(known) {
            // The headers of `initialize` do not have the revision of an earlier `initialize`.
            self.end_session();
            known = self.initialize(known).await?;
        }
        Ok(known)
    }

    /// Begins a new session if the request would need the session that another request has ended. Returns whether it did.
    ///
    /// The state of the connection may change while a request waits, for example for its token.
    pub(super) async fn renegotiated(&self, method: Method, sent: &mut Sent) -> Result<bool, Failed> {
        let is_legacy = sent.known.era() == Era::Legacy && method != Method::Initialize;
        if !is_legacy || !self.needs_session(self.known()) {
            return Ok(false);
        }
        let known = self.negotiated(method).boxed_local().await;
        sent.known = known.map_err(ClientError::into_failed)?;
        Ok(true)
    }

    /// Sends `server/discover`, which has no effect on any server, and returns the knowledge from its answer.
    pub(super) async fn discover(&self) -> Result<Known, ClientError> {
        let outgoing = Outgoing::new(Method::Discover, Params::default(), TIME);
        let failed = |failed| self.failed(Method::Discover, failed);
        let mut sent = Sent::new(Known::Nothing, Kind::Discover, false);
        loop {
            let (answer, Reaction { action, .. }) = self.post(&outgoing, &mut sent, TIME).await.map_err(failed)?;
            let lesson = match action {
                Action::Again(Lesson::Nothing) => continue,
                Action::Accept(lesson) | Action::Again(lesson) => lesson,
                Action::Unsupported => return Err(failed(unsupported(answer.supported()))),
                Action::NewToken | Action::Contradiction => Lesson::Nothing,
            };
            let Some(known) = sent.known.after(lesson) else {
                // The error does not show the era of the server.
                return answer.into_result().map(|_| sent.known).map_err(failed);
            };
            self.learn(known);
            if let (Known::Modern(revision), Ok(result)) = (known, answer.into_result()) {
                self.about.replace(Some(About::of(revision, result.json).map_err(failed)?));
            }
            return Ok(known);
        }
    }

    /// Sends `initialize` and `notifications/initialized`.
    ///
    /// A server with a session may reject a request that overtakes the notification.
    pub(super) async fn initialize(&self, known: Known) -> Result<Known, ClientError> {
        let requested = match known {
            Known::WithSession(revision) | Known::WithoutSession(revision) => revision,
            _ => Revision::NEWEST_LEGACY,
        };
        let failed = |failed| self.failed(Method::Initialize, failed);
        let outgoing = Outgoing::new(Method::Initialize, self.initialize_params(requested), TIME);
        let mut sent = Sent::new(known, Kind::Repeatable, self.is_pinned());
        let (answer, _) = self.post(&outgoing, &mut sent, TIME).await.map_err(failed)?;
        let id = match &answer {
            Answer::Response { session, .. } => session.clone().filter(is_session_id),
            Answer::Http { .. } => None,
        };
        let RpcResult { json, .. } = answer.into_result().map_err(failed)?;
        let (version, logs) = version_and_logs(&json);
        let Some(revision) = Revision::named(&version).filter(|revision| revision.era() == Era::Legacy) else {
            return Err(failed(unsupported(vec![version])));
        };
        let known = if id.is_some() { Known::WithSession(revision) } else { Known::WithoutSession(revision) };
        self.begin_session(Session { revision, id, logs, log_level: None });
        self.learn(known);
        self.about.replace(Some(About::of(revision, json).map_err(failed)?));
        self.notify("notifications/initialized").await.map_err(failed)?;
        self.open_standing_stream().await;
        Ok(known)
    }

    fn initialize_params(&self, revision: Revision) -> Params {
        let capabilities = capabilities_json(self.upstream().handlers.capabilities(), revision);
        Params::default()
            .with_text("protocolVersion", revision.name())
            .with("capabilities", write::raw_value(capabilities))
            .with("clientInfo", self.client_info().to_owned())
    }

    /// Sets the level of the log messages of a legacy server. Modern servers get it with each request.
    pub(super) async fn set_log_level(&self, level: LogLevel, known: Known) {
        if self.lowers_log_level(level) {
            let params = Params::default().with_text("level", level.name());
            let outgoing = Outgoing::new(Method::SetLogLevel, params, TIME);
            // Without the level, the server decides which messages it sends.
            let mut sent = Sent::new(known, Kind::Repeatable, self.is_pinned());
            let _ = self.post(&outgoing, &mut sent, TIME).await;
        }
    }
}

/// Returns the revision in the result of `initialize`, and whether the server sends log messages.
fn version_and_logs(result: &RawValue) -> (String, bool) {
    let Ok(document) = Document::parse(result.get().as_bytes(), JsonLimits::MOST) else { return Default::default() };
    let result = document.root();
    let logging = result.get("capabilities").and_then(|capabilities| capabilities.get("logging"));
    (result.string("protocolVersion").unwrap_or_default(), logging.is_some())
}

fn is_session_id(id: &HeaderValue) -> bool {
    !id.is_empty() && id.len() <= SESSION_ID && id.as_bytes().iter().all(u8::is_ascii_graphic)
}
