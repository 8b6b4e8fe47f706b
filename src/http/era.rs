//! The kind and the revision of a message.
//!
//! The body takes precedence: a request that names a revision in its `_meta` is modern. If `_meta` names no revision, the version header
//! decides. Without the header, the request is legacy. The specification defines the order of the errors: a header that contradicts the
//! body, then an unsupported revision, then a missing header.
//!
//! Source: 2026-07-28, basic/versioning, "Backward Compatibility"; basic/transports/streamable-http.

use edge_json::{Kind, Value, object};

use super::http_error::HttpError;
use super::request_headers;
use crate::call::client_extensions::CapabilitySource;
use crate::engine::head::BoundedRequest;
use crate::engine::header_params::check_name;
use crate::engine::limits::Limits;
use crate::engine::message::Message;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::{JsonRpcMessage, NotAMessage, Request};
use crate::protocol::meta::{self, Envelope};
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Feature, Revision};
use crate::text::shortened;

/// What a body holds.
#[derive(Debug)]
pub(super) enum Messages<'d> {
    /// Messages that need no response.
    NoRequest(Era),
    /// One request.
    Request(Box<Message<'d>>),
    /// The requests of a batch, in a revision that has batches. Its other messages need no response.
    Batch(Vec<Message<'d>>),
}

/// Classifies the body `root` of the request `head`.
///
/// # Errors
/// 400 if the body is not a valid message of its revision, and 431 if a header is too long.
#[inline(never)]
pub(super) fn classify<'d>(
    root: Value<'d>,
    head: &BoundedRequest,
    limits: &Limits,
) -> Result<Messages<'d>, Box<HttpError>> {
    let version = request_headers::version(head)?;
    let header_era = version.as_deref().map(Revision::era_of);
    if root.kind() == Kind::Array {
        request_headers::check_batch(head)?;
        return batch(root, version.as_deref(), limits.batch);
    }
    let request = match JsonRpcMessage::read(root).map_err(not_a_message)? {
        JsonRpcMessage::Request(request) => request,
        JsonRpcMessage::Response if header_era == Some(Era::Modern) => {
            return Err(invalid(
                "A client must not send responses in this revision, because the server does not send requests.",
            ));
        }
        JsonRpcMessage::Response => return Ok(Messages::NoRequest(Era::Legacy)),
        JsonRpcMessage::Notification { claims_revision } => {
            let modern = claims_revision || header_era == Some(Era::Modern);
            return Ok(Messages::NoRequest(if modern { Era::Modern } else { Era::Legacy }));
        }
    };
    let id = request.id.clone();
    let read = match era_of(&request, header_era) {
        Ok(Era::Modern) => read_modern(request, head, version.as_deref()),
        Ok(Era::Legacy) => read_legacy(request, head, version.as_deref()),
        Err(error) => Err(error.into()),
    };
    read.map(Box::new).map(Messages::Request).map_err(|error| error.with_id(Some(id)))
}

fn era_of(request: &Request<'_>, header_era: Option<Era>) -> Result<Era, RpcError> {
    let claim = meta::claim(request.meta);
    if request.known_method == Some(Method::Initialize) {
        // `initialize` belongs to older revisions. In a modern revision, it is an unknown method.
        let claims_modern = claim.and_then(Value::as_str).is_some_and(|claim| Revision::era_of(&claim) == Era::Modern);
        return match (claims_modern, header_era) {
            (true, _) => Ok(Era::Modern),
            (false, Some(Era::Modern)) => Err(RpcError::new(
                ErrorCode::HeaderMismatch,
                "The header MCP-Protocol-Version names a revision without `initialize`. Remove the header, or call \
                 server/discover with the revision in `_meta`.",
            )),
            (false, _) => Ok(Era::Legacy),
        };
    }
    Ok(if claim.is_some() || header_era == Some(Era::Modern) { Era::Modern } else { Era::Legacy })
}

#[inline(never)]
fn read_modern<'d>(
    request: Request<'d>,
    head: &BoundedRequest,
    version: Option<&str>,
) -> Result<Message<'d>, Box<HttpError>> {
    let Envelope { version: claim, capabilities } = Envelope::read(request.meta)?;
    request_headers::check_version_and_method(head, version, &claim, &request)?;
    let revision = Revision::named(&claim).filter(|revision| revision.era() == Era::Modern);
    let revision = revision.ok_or_else(|| {
        let supported = Revision::names_of(Era::Modern);
        RpcError::new(ErrorCode::UnsupportedVersion, "This protocol version is not supported.")
            .with_data(object(vec![("supported", supported.into()), ("requested", claim.into())]))
    })?;
    request_headers::check_presence_and_name(head, version, &request)?;
    Ok(Message { request, revision, capabilities, declared: CapabilitySource::InMeta })
}

fn read_legacy<'d>(
    request: Request<'d>,
    head: &BoundedRequest,
    version: Option<&str>,
) -> Result<Message<'d>, Box<HttpError>> {
    request_headers::check_method(head, &request)?;
    // `initialize` negotiates the revision in its body, so the endpoint ignores the header.
    let revision = if request.known_method == Some(Method::Initialize) {
        Revision::NEWEST_LEGACY
    } else {
        legacy_revision(version)?
    };
    if let Some(param) = request.known_method.and_then(Method::target_param) {
        check_name(head, param, &request, Era::Legacy)?;
    }
    Ok(legacy(request, revision))
}

fn legacy(request: Request<'_>, revision: Revision) -> Message<'_> {
    let declared = match request.known_method {
        Some(Method::Initialize) => {
            let capabilities = request.param("capabilities");
            capabilities
                .map_or(CapabilitySource::Nowhere, |capabilities| CapabilitySource::Here(capabilities.text().into()))
        }
        _ => CapabilitySource::Nowhere,
    };
    Message { request, revision, capabilities: ClientCapabilities::default(), declared }
}

/// Returns the revision that the version header names. Without the header, returns the revision that the specification requires.
fn legacy_revision(version: Option<&str>) -> Result<Revision, RpcError> {
    let Some(version) = version else { return Ok(Revision::UNNAMED) };
    Revision::named(version).filter(|revision| revision.era() == Era::Legacy).ok_or_else(|| {
        let known = Revision::names_of(Era::Legacy).join(", ");
        let version = shortened(version);
        let message = format!(
            "The header MCP-Protocol-Version is {version:?}, which this server does not support. Supported: {known}."
        );
        RpcError::new(ErrorCode::InvalidRequest, message)
    })
}

/// Classifies a batch.
///
/// Source: 2025-03-26, basic, "Batching". Later revisions have no batches.
#[inline(never)]
fn batch<'d>(root: Value<'d>, version: Option<&str>, limit: usize) -> Result<Messages<'d>, Box<HttpError>> {
    let length = root.items().count();
    if length == 0 {
        return Err(invalid("The batch is empty."));
    }
    if length > limit {
        return Err(invalid(format!("The batch must have at most {limit} messages (got {length}).")));
    }
    let mut requests = Vec::with_capacity(length);
    for item in root.items() {
        match JsonRpcMessage::read(item).map_err(|NotAMessage { why, .. }| invalid(format!("In the batch: {why}.")))? {
            JsonRpcMessage::Request(request) if meta::claim(request.meta).is_some() => return Err(no_batches()),
            JsonRpcMessage::Notification { claims_revision: true } => return Err(no_batches()),
            JsonRpcMessage::Request(request) if request.known_method == Some(Method::Initialize) => {
                return Err(invalid("`initialize` must not be part of a batch. Send it alone."));
            }
            JsonRpcMessage::Request(request) => requests.push(request),
            JsonRpcMessage::Notification { .. } | JsonRpcMessage::Response => {}
        }
    }
    let revision = legacy_revision(version).ok().filter(|revision| revision.has(Feature::Batches));
    match revision {
        None => Err(no_batches()),
        Some(_) if requests.is_empty() => Ok(Messages::NoRequest(Era::Legacy)),
        Some(revision) => Ok(Messages::Batch(requests.into_iter().map(|request| legacy(request, revision)).collect())),
    }
}

fn no_batches() -> Box<HttpError> {
    invalid("Only revision 2025-03-26 has batches. Send each message in a separate POST.")
}

fn not_a_message(NotAMessage { why, id }: NotAMessage) -> Box<HttpError> {
    let message = format!("This is not a JSON-RPC 2.0 message: {why}.");
    HttpError::message(id, RpcError::new(ErrorCode::InvalidRequest, message))
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> Box<HttpError> {
    HttpError::message(None, RpcError::new(ErrorCode::InvalidRequest, message))
}
