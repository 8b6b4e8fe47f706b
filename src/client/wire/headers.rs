//! The headers of requests and responses.

use std::borrow::Cow;

use http::{HeaderName, HeaderValue, Method};

use crate::config::ConfigError;
use crate::host::Outbound;
use crate::protocol::header_value::encode;
use crate::protocol::revision::Revision;
use crate::text::shortened;

/// The header with the revision.
const VERSION: &str = "mcp-protocol-version";

/// The session of a legacy server.
pub(super) const SESSION: HeaderName = HeaderName::from_static(SESSION_NAME);
const SESSION_NAME: &str = "mcp-session-id";
/// The event after which a stream is resumed.
pub(in crate::client) const LAST_EVENT_ID: &str = "last-event-id";

/// The longest header of a response that is read, in bytes.
pub(super) const HEADER_BYTES: usize = 8 << 10;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON_OR_STREAM: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The headers that a program cannot set, because the client or HTTP sets them. The platform decides about its own headers.
const RESERVED: [&str; 12] = [
    "authorization",
    "connection",
    "cookie",
    "dpop",
    "expect",
    "host",
    "last-event-id",
    "origin",
    "te",
    "transfer-encoding",
    "upgrade",
    "via",
];
/// The beginnings of the names of further reserved headers.
const RESERVED_PREFIXES: [&str; 5] = ["accept", "content-", "mcp-", "proxy-", "sec-"];

/// Returns whether a program cannot set this header.
pub(super) fn is_reserved(name: &HeaderName) -> bool {
    let name = name.as_str();
    RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Reads a header that a program sets.
///
/// # Errors
/// The name is reserved or not valid, or the value is not visible ASCII. The error does not contain the value.
pub(in crate::client) fn own_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ConfigError> {
    let parsed = own_name(name)?;
    match visible(value) {
        Some(value) => Ok((parsed, value)),
        None => Err(ConfigError::new(
            "the header of an MCP server",
            format!("`{parsed}` has a value that is not visible ASCII text"),
        )),
    }
}

/// Reads the name of a header that a program sets.
///
/// # Errors
/// The name is reserved or not valid.
pub(in crate::client) fn own_name(name: &str) -> Result<HeaderName, ConfigError> {
    let parsed = HeaderName::from_bytes(name.as_bytes()).ok().filter(|parsed| !is_reserved(parsed));
    let problem = || format!("cannot have the name `{}`: it is not valid, or the client sets it", shortened(name));
    parsed.ok_or_else(|| ConfigError::new("the header of an MCP server", problem()))
}

/// Returns the text of a header of a response, if it is ASCII and not too long.
pub(in crate::client) fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value?.to_str().ok().filter(|text| text.len() <= HEADER_BYTES)
}

/// Returns the header with a token.
pub(in crate::client) fn bearer(token: &str) -> Option<HeaderValue> {
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok().filter(|_| is_token)?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns the value of a header, if it is visible ASCII text.
pub(in crate::client) fn visible(value: &str) -> Option<HeaderValue> {
    let is_visible = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    HeaderValue::from_str(value)
        .ok()
        .filter(|_| !value.is_empty() && value.trim() == value && value.bytes().all(is_visible))
}

/// Adds the headers that every request has. A request that is not a POST has no message, and its answer is an event stream.
pub(in crate::client) fn add_common(
    request: &mut Outbound,
    own: &[(HeaderName, HeaderValue)],
    agent: &HeaderValue,
    credential: Option<HeaderValue>,
) {
    add(request, "user-agent", agent.clone());
    for (name, value) in own {
        request.headers.push((name.as_str().to_owned().into(), value.clone()));
    }
    if request.method == Method::POST {
        add(request, "content-type", JSON);
        add(request, "accept", JSON_OR_STREAM);
    } else {
        add(request, "accept", STREAM);
    }
    if let Some(credential) = credential {
        add(request, "authorization", credential);
    }
}

/// Adds the headers that repeat values of a modern request.
pub(in crate::client) fn add_modern(
    request: &mut Outbound,
    version: &'static str,
    method: &str,
    target: Option<&str>,
    params: &[(String, String)],
) {
    add(request, VERSION, HeaderValue::from_static(version));
    add_encoded(request, "mcp-method".into(), method);
    if let Some(target) = target {
        add_encoded(request, "mcp-name".into(), target);
    }
    for (name, value) in params {
        add_encoded(request, name.clone().into(), value);
    }
}

/// Adds the headers of a session of a legacy server.
pub(in crate::client) fn add_session(request: &mut Outbound, revision: Revision, id: Option<HeaderValue>) {
    if revision >= Revision::V2025_06_18 {
        add(request, VERSION, HeaderValue::from_static(revision.name()));
    }
    if let Some(id) = id {
        add(request, SESSION_NAME, id);
    }
}

pub(in crate::client) fn add(request: &mut Outbound, name: &'static str, value: HeaderValue) {
    request.headers.push((name.into(), value));
}

/// Adds a header that repeats a value of the body.
fn add_encoded(request: &mut Outbound, name: Cow<'static, str>, value: &str) {
    // An encoded value is visible ASCII.
    if let Ok(value) = HeaderValue::from_str(&encode(value)) {
        request.headers.push((name, value));
    }
}
