//! The headers of a request.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::auth::ConfigError;
use crate::protocol::header_value::encode;

/// The session of a legacy server.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method.
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The target of the method: a name or a URI.
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The event after which a stream is resumed.
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
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
pub(super) fn own_header(name: &'static str, value: &str) -> Result<(HeaderName, HeaderValue), ConfigError> {
    let parsed = HeaderName::from_bytes(name.as_bytes()).ok();
    let Some(parsed) = parsed.filter(|parsed| !is_reserved(parsed)) else {
        return Err(ConfigError::new(name, "is not the name of a header that a program can set"));
    };
    match visible(value) {
        Some(value) => Ok((parsed, value)),
        None => Err(ConfigError::new(name, "has a value that is not visible ASCII text")),
    }
}

/// Returns the header with a token.
pub(super) fn bearer(token: &str) -> Option<HeaderValue> {
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok().filter(|_| is_token)?;
    value.set_sensitive(true);
    Some(value)
}

fn visible(value: &str) -> Option<HeaderValue> {
    let is_visible = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    HeaderValue::from_str(value)
        .ok()
        .filter(|_| !value.is_empty() && value.trim() == value && value.bytes().all(is_visible))
}

/// Creates the headers that every POST of a message has.
pub(super) fn of_post(
    own: &[(HeaderName, HeaderValue)],
    agent: &HeaderValue,
    credential: Option<HeaderValue>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, agent.clone());
    for (name, value) in own {
        headers.append(name, value.clone());
    }
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, JSON_OR_STREAM);
    if let Some(credential) = credential {
        headers.insert(AUTHORIZATION, credential);
    }
    headers
}

/// Adds the headers that repeat values of a modern request.
pub(super) fn add_modern(headers: &mut HeaderMap, version: &'static str, method: &'static str, target: Option<&str>) {
    headers.insert(VERSION, HeaderValue::from_static(version));
    headers.insert(METHOD, HeaderValue::from_static(method));
    if let Some(target) = target {
        insert_encoded(headers, NAME, target);
    }
}

/// Adds a header that repeats a value of the body.
pub(super) fn insert_encoded(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // An encoded value is visible ASCII.
    if let Ok(value) = HeaderValue::from_str(&encode(value)) {
        headers.insert(name, value);
    }
}
