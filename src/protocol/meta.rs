//! The keys of `_meta`, and the envelope: the `_meta` of a 2026-07-28 request.
//!
//! Source: 2026-07-28, basic, "`_meta`"; schema, `RequestMetaObject`.

use edge_json::{Kind, Value, deserialize};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::capabilities::ClientCapabilities;
use super::description::Implementation;
use super::error::RpcError;
use super::log_level::LogLevel;
use crate::limits::PROGRESS_TOKEN_BYTES;

/// The prefix of the keys that belong to the protocol.
#[cfg(feature = "client")]
pub(crate) const OF_PROTOCOL: &str = "io.modelcontextprotocol/";
/// The key of the revision of a request.
pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The key of the client's capabilities in this request.
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The key of the client's name and version. Use them for display and logs only: they are not verified.
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The key of the server's name and version in the `_meta` of a result.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The key of the lowest level of log messages that the client requests.
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Returns the value of [`PROTOCOL_VERSION`] in the `_meta` of a request. The value may have any type.
pub(crate) fn claim(meta: Option<Value<'_>>) -> Option<Value<'_>> {
    meta?.get(PROTOCOL_VERSION)
}

/// The envelope of a 2026-07-28 request.
#[derive(Debug)]
pub(crate) struct Envelope {
    /// The revision that the request names. It may be unknown.
    pub(crate) version: String,
    pub(crate) capabilities: ClientCapabilities,
}

impl Envelope {
    /// Reads the envelope in the `_meta` of a request that names a revision.
    ///
    /// # Errors
    /// -32602 with the first key that is missing or malformed.
    pub(crate) fn read(meta: Option<Value<'_>>) -> Result<Self, RpcError> {
        let member = |key: &str| meta.and_then(|meta| meta.get(key));
        let malformed = |key: &str, expected: &str| {
            RpcError::invalid_params(format!("`_meta[\"{key}\"]` of a 2026-07-28 request must be {expected}"))
        };
        let version = member(PROTOCOL_VERSION).and_then(Value::as_str);
        let version = version.ok_or_else(|| malformed(PROTOCOL_VERSION, "a string"))?.into_owned();
        let capabilities = member(CLIENT_CAPABILITIES).filter(|declared| declared.kind() == Kind::Object);
        let capabilities = capabilities.ok_or_else(|| malformed(CLIENT_CAPABILITIES, "an object; it may be empty"))?;
        let capabilities = ClientCapabilities::read(capabilities);
        if member(CLIENT_INFO).is_some_and(|info| read_client(info).is_none()) {
            return Err(malformed(CLIENT_INFO, "absent, or an object with the strings `name` and `version`"));
        }
        let level_of = |level: Value<'_>| level.as_str().and_then(|level| LogLevel::named(&level));
        if member(LOG_LEVEL).is_some_and(|level| level_of(level).is_none()) {
            return Err(malformed(LOG_LEVEL, &format!("absent, or one of {}", LogLevel::names())));
        }
        Ok(Self { version, capabilities })
    }
}

/// The notifications that a client requests for the duration of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestedNotifications {
    pub(crate) progress_token: Option<Box<RawValue>>,
    /// The lowest level of the log messages that the client requests.
    pub(crate) log_level: Option<LogLevel>,
}

impl RequestedNotifications {
    /// Reads the `_meta` of a request.
    ///
    /// # Errors
    /// -32602 for a progress token that is too long.
    pub(crate) fn of(meta: Option<Value<'_>>) -> Result<Self, RpcError> {
        let member = |key: &str| meta?.get(key);
        let progress_token = member("progressToken").filter(|token| token.is_string_or_integer());
        let length = progress_token.map_or(0, |token| token.text().len());
        if length > PROGRESS_TOKEN_BYTES {
            let message =
                format!("`_meta.progressToken` must be at most {PROGRESS_TOKEN_BYTES} bytes of JSON (got {length})");
            return Err(RpcError::invalid_params(message));
        }
        Ok(Self {
            progress_token: progress_token.and_then(Value::to_raw),
            log_level: member(LOG_LEVEL).and_then(Value::as_str).and_then(|level| LogLevel::named(&level)),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.progress_token.is_none() && self.log_level.is_none()
    }
}

/// Reads `clientInfo`. Returns `None` if a required member is missing.
pub(crate) fn read_client(info: Value<'_>) -> Option<Implementation> {
    #[derive(Deserialize)]
    struct ClientInfo {
        name: String,
        version: String,
        title: Option<String>,
    }
    let ClientInfo { name, version, title } = deserialize::read(info).ok()?;
    Some(Implementation { title: title.map(Into::into), ..Implementation::new(name, version) })
}
