//! The requests that must come before another request: `server/discover` and `initialize`.
//!
//! Source: 2026-07-28, server/discover; 2025-11-25, basic/lifecycle.

use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use http::HeaderValue;

use super::about::About;
use super::negotiation::{History, Initialized, Knowledge};
use super::reactions::RequestKind;
use super::remote_request::RemoteRequest;
use super::send::Ready;
use super::standing_stream;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure, of_rpc_error};
use crate::client::questions::handlers::capabilities_json;
use crate::client::wire::message::Params;
use crate::client::wire::response::{parsed, unsupported};
use crate::limits::UPSTREAM_NEGOTIATION_SECONDS;
use crate::protocol::log_level::LogLevel;
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Revision};

pub(super) const TIME: Duration = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
/// The longest id of a session.
const SESSION_ID: usize = 512;

/// Sends `server/discover`, which has no effect on any server, and returns the knowledge from its answer, and the error of a server that rejects
/// it. Such a server may be legacy.
pub(super) async fn discover(conversation: &Rc<Conversation>) -> Result<(Knowledge, Option<ClientError>), ClientError> {
    let discovery = RemoteRequest::new(Method::Discover, Params::default(), TIME);
    let failed = |error| conversation.error_of(discovery.method.clone())(of_negotiation(error));
    let mut history = History::new(Knowledge::Nothing, RequestKind::Discover, false);
    let unknown = || ready(Ok(Knowledge::Nothing)).boxed_local();
    match (conversation.attempts(&discovery, &mut history, &unknown).await, history.known) {
        (Ok(result), Knowledge::Modern(revision)) => {
            let document = parsed(&result.json).map_err(failed)?;
            conversation.about.replace(Some(About::of(revision, document.root())));
            Ok((history.known, None))
        }
        // The error does not show the era of the server.
        (Err(error), Knowledge::Nothing) => Err(failed(error)),
        (answer, known) => Ok((known, answer.err().map(failed))),
    }
}

/// Begins a session with a server that seems to be legacy. `rejected` is the error of a server that rejected `server/discover` just now.
///
/// If a server that was legacy rejects `initialize`, it may be modern now, which `server/discover` shows.
pub(super) async fn begin(
    conversation: &Rc<Conversation>,
    known: Knowledge,
    rejected: Option<ClientError>,
) -> Result<Knowledge, ClientError> {
    // The headers of `initialize` do not have the revision of an earlier `initialize`.
    conversation.session.take();
    let initialize = RemoteRequest::new(Method::Initialize, initialize_params(conversation, known.legacy()), TIME);
    let error = match initialized(conversation, &initialize, known).await {
        Ok(known) => return Ok(known),
        Err(error) => conversation.error_of(initialize.method.clone())(of_negotiation(error)),
    };
    conversation.assumed.set(None);
    if !error.failure().is_rejection() {
        return Err(error);
    }
    if let Some(rejected) = rejected {
        // The server accepts neither request, so it is not legacy: the first rejection counts.
        return Err(rejected);
    }
    if conversation.learned().era() == Era::Legacy && !conversation.is_pinned() {
        let discovered = discover(conversation).await;
        if let Ok((known @ Knowledge::Modern(_), _)) = discovered {
            return Ok(known);
        }
        conversation.assumed.set(None);
    }
    Err(error)
}

/// Returns the failure of a request of the negotiation. A JSON-RPC error that answers it must not look like the answer to the request that
/// comes after it.
fn of_negotiation(error: ClientError) -> ClientError {
    match error.failure() {
        Failure::Rpc { code, message, .. } => {
            ClientError::new(Failure::NotNegotiated, Some(of_rpc_error(*code, message)))
        }
        _ => error,
    }
}

/// Sends `initialize` and `notifications/initialized`, and returns the knowledge from the answer.
///
/// A server with a session may reject a request that overtakes the notification.
async fn initialized(
    conversation: &Rc<Conversation>,
    initialize: &RemoteRequest,
    known: Knowledge,
) -> Result<Knowledge, ClientError> {
    let mut history = History::new(known, RequestKind::Handshake, conversation.is_pinned());
    let result = conversation.attempts(initialize, &mut history, &|| ready(Ok(known)).boxed_local()).await?;
    let id = result.session.filter(is_session_id);
    let document = parsed(&result.json)?;
    let description = document.root();
    let version = description.string("protocolVersion").unwrap_or_default();
    let logs = description.get("capabilities").is_some_and(|capabilities| capabilities.get("logging").is_some());
    let Some(revision) = Revision::named(&version).filter(|revision| revision.era() == Era::Legacy) else {
        return Err(unsupported(vec![version]));
    };
    let known = if id.is_some() { Knowledge::WithSession(revision) } else { Knowledge::WithoutSession(revision) };
    conversation.session.replace(Some(Initialized { revision, id, logs, log_level: None }));
    conversation.learn(known);
    conversation.about.replace(Some(About::of(revision, description)));
    conversation.notify("notifications/initialized").await?;
    standing_stream::open(conversation).await;
    Ok(known)
}

fn initialize_params(conversation: &Conversation, revision: Revision) -> Params {
    let upstream = &conversation.server.upstream;
    let capabilities = capabilities_json(upstream.handlers.capabilities(), &upstream.extensions, revision);
    Params::default()
        .with_text("protocolVersion", revision.name())
        .with("capabilities", write::raw_value(capabilities))
        .with("clientInfo", conversation.client.0.info.clone())
}

/// Sets the level of the log messages of a legacy server. Modern servers get it with each request.
pub(super) async fn set_log_level(
    conversation: &Rc<Conversation>,
    level: LogLevel,
    known: Knowledge,
    negotiated: &Ready<'_>,
) {
    let is_lower = conversation.session.borrow_mut().as_mut().is_some_and(|session| session.lowers_log_level(level));
    if is_lower {
        let params = Params::default().with_text("level", level.name());
        let setting = RemoteRequest::new(Method::SetLogLevel, params, TIME);
        // Without the level, the server decides which messages it sends.
        let mut history = History::new(known, RequestKind::Handshake, conversation.is_pinned());
        let _ = conversation.attempts(&setting, &mut history, negotiated).await;
    }
}

fn is_session_id(id: &HeaderValue) -> bool {
    !id.is_empty() && id.len() <= SESSION_ID && id.as_bytes().iter().all(u8::is_ascii_graphic)
}
