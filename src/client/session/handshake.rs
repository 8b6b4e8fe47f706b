//! The requests that must come before another request: `server/discover` and `initialize`.
//!
//! Source: 2026-07-28, server/discover; 2025-11-25, basic/lifecycle.

use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits, write};
use futures::FutureExt;
use http::HeaderValue;
use serde_json::value::RawValue;

use super::about::About;
use super::channel::Channel;
use super::initialized::Initialized;
use super::negotiation::{Known, Sent};
use super::outgoing::Outgoing;
use super::reactions::RequestKind;
use super::send::{Accepted, Ready, send};
use super::standing_stream;
use crate::client::error::{ClientError, Failed, Failure, of_rpc_error};
use crate::client::questions::handlers::capabilities_json;
use crate::client::wire::message::Params;
use crate::client::wire::response::{RpcResult, ServerResponse, unsupported};
use crate::limits::UPSTREAM_NEGOTIATION_SECONDS;
use crate::protocol::log_level::LogLevel;
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Revision};

const TIME: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
/// The longest id of a session.
const SESSION_ID: usize = 512;

/// The knowledge from the answer to `server/discover`, and the error of a server that rejects it.
pub(super) type Discovery = (Known, Option<ClientError>);

/// Sends `server/discover`, which has no effect on any server, and returns the knowledge from its answer. A server that rejects it may be
/// legacy.
pub(super) async fn discover(channel: &Rc<Channel>) -> Result<Discovery, ClientError> {
    let mut outgoing = Outgoing::new(Method::Discover, Params::default(), TIME);
    let mut sent = Sent::new(Known::Nothing, RequestKind::Discover, false);
    let failed = |failed| channel.failed(Method::Discover.name().into(), of_negotiation(failed));
    let accepted = send(channel, &mut outgoing, &mut sent, &|| ready(Ok(Known::Nothing)).boxed_local()).await?;
    match (sent.known, accepted.answer.into_result()) {
        (Known::Modern(revision), Ok(result)) => {
            channel.about.replace(Some(About::of(revision, result.json).map_err(failed)?));
            Ok((sent.known, None))
        }
        // The error does not show the era of the server.
        (Known::Nothing, Err(error)) => Err(failed(error)),
        (known, answer) => Ok((known, answer.err().map(failed))),
    }
}

/// Begins a session with a server that seems to be legacy. `rejected` is the error of a server that rejected `server/discover` just now.
///
/// If a server that was legacy rejects `initialize`, it may be modern now, which `server/discover` shows.
pub(super) async fn begin(
    channel: &Rc<Channel>,
    known: Known,
    rejected: Option<ClientError>,
) -> Result<Known, ClientError> {
    // The headers of `initialize` do not have the revision of an earlier `initialize`.
    channel.end_session();
    let error = match initialize(channel, known).await {
        Ok(known) => return Ok(known),
        Err(error) => error,
    };
    channel.assume(None);
    if !error.failure().is_rejection() {
        return Err(error);
    }
    if let Some(rejected) = rejected {
        // The server accepts neither request, so it is not legacy: the first rejection counts.
        return Err(rejected);
    }
    if channel.learned().era() == Era::Legacy && !channel.is_pinned() {
        let discovered = discover(channel).await;
        if let Ok((known @ Known::Modern(_), _)) = discovered {
            return Ok(known);
        }
        channel.assume(None);
    }
    Err(error)
}

/// Returns the failure of a request of the negotiation. A JSON-RPC error that answers it must not look like the answer to the request that
/// comes after it.
fn of_negotiation(failed: Failed) -> Failed {
    match failed.failure() {
        Failure::Rpc { code, message, .. } => Failed::new(Failure::NotNegotiated, Some(of_rpc_error(*code, message))),
        _ => failed,
    }
}

/// Sends `initialize` and `notifications/initialized`, and returns the knowledge from the answer.
///
/// A server with a session may reject a request that overtakes the notification.
async fn initialize(channel: &Rc<Channel>, known: Known) -> Result<Known, ClientError> {
    let requested = match known {
        Known::WithSession(revision) | Known::WithoutSession(revision) => revision,
        _ => Revision::NEWEST_LEGACY,
    };
    let failed = |failed| channel.failed(Method::Initialize.name().into(), of_negotiation(failed));
    let mut outgoing = Outgoing::new(Method::Initialize, initialize_params(channel, requested), TIME);
    let mut sent = Sent::new(known, RequestKind::Handshake, channel.is_pinned());
    let Accepted { answer, .. } = send(channel, &mut outgoing, &mut sent, &|| ready(Ok(known)).boxed_local()).await?;
    let id = match &answer {
        ServerResponse::Rpc { session, .. } => session.clone().filter(is_session_id),
        ServerResponse::Http { .. } => None,
    };
    let RpcResult { json, .. } = answer.into_result().map_err(failed)?;
    let (version, logs) = version_and_logs(&json);
    let Some(revision) = Revision::named(&version).filter(|revision| revision.era() == Era::Legacy) else {
        return Err(failed(unsupported(vec![version])));
    };
    let known = if id.is_some() { Known::WithSession(revision) } else { Known::WithoutSession(revision) };
    channel.begin_session(Initialized { revision, id, logs, log_level: None });
    channel.learn(known);
    channel.about.replace(Some(About::of(revision, json).map_err(failed)?));
    channel.notify("notifications/initialized").await.map_err(failed)?;
    standing_stream::open(channel).await;
    Ok(known)
}

fn initialize_params(channel: &Channel, revision: Revision) -> Params {
    let upstream = channel.upstream();
    let capabilities = capabilities_json(upstream.handlers.capabilities(), &upstream.extensions, revision);
    Params::default()
        .with_text("protocolVersion", revision.name())
        .with("capabilities", write::raw_value(capabilities))
        .with("clientInfo", channel.client_info().to_owned())
}

/// Sets the level of the log messages of a legacy server. Modern servers get it with each request.
pub(super) async fn set_log_level(channel: &Rc<Channel>, level: LogLevel, known: Known, negotiated: &Ready<'_>) {
    if channel.lowers_log_level(level) {
        let params = Params::default().with_text("level", level.name());
        let mut outgoing = Outgoing::new(Method::SetLogLevel, params, TIME);
        // Without the level, the server decides which messages it sends.
        let mut sent = Sent::new(known, RequestKind::Handshake, channel.is_pinned());
        let _ = send(channel, &mut outgoing, &mut sent, negotiated).await;
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
