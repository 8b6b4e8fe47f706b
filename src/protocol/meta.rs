//! `_meta`: its keys, and the envelope that every 2026-07-28 request carries in it.
//!
//! Source: 2026-07-28, basic, "`_meta`"; schema, `RequestMetaObject`.

use serde::Deserialize;

use super::description::Implementation;
use super::error::RpcError;
use super::json::{Kind, Value};

/// The revision that a request is written in.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do, in this request.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client says it is: for display and logs, never for a decision.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// From which level on the client wants log messages.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Who the server is, in every result.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The levels of log messages, least severe first (RFC 5424).
pub const LOG_LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// What a request claims to be written in: the value of [`PROTOCOL_VERSION`], whatever its type, or `None`.
pub fn claim(params: Option<Value<'_>>) -> Option<Value<'_>> {
    params?.get("_meta")?.get(PROTOCOL_VERSION)
}

/// The envelope of a 2026-07-28 request.
#[derive(Debug)]
pub struct Envelope {
    /// The revision that the request claims, known here or not.
    pub version: String,
    /// Who the client says it is.
    pub client: Option<Implementation>,
}

impl Envelope {
    /// Reads the envelope of a request that makes a claim.
    ///
    /// # Errors
    /// -32602 that names the first key that is missing or malformed.
    pub fn read(params: Option<Value<'_>>) -> Result<Self, RpcError> {
        let meta = params.and_then(|params| params.get("_meta"));
        let member = |key: &str| meta.and_then(|meta| meta.get(key));
        let malformed = |key: &str, expected: &str| {
            RpcError::invalid_params(format!("`_meta[\"{key}\"]` must be {expected} in every 2026-07-28 request"))
        };
        let version = member(PROTOCOL_VERSION).and_then(Value::as_str);
        let version = version.ok_or_else(|| malformed(PROTOCOL_VERSION, "a string"))?.into_owned();
        if member(CLIENT_CAPABILITIES).map(Value::kind) != Some(Kind::Object) {
            return Err(malformed(CLIENT_CAPABILITIES, "an object, `{}` for none"));
        }
        let client = match member(CLIENT_INFO) {
            Some(info) => Some(read_client(info).ok_or_else(|| {
                malformed(CLIENT_INFO, "an object with the strings `name` and `version`, if it is sent,")
            })?),
            None => None,
        };
        if let Some(level) = member(LOG_LEVEL) {
            let known = level.as_str().is_some_and(|level| LOG_LEVELS.contains(&&*level));
            if !known {
                return Err(malformed(LOG_LEVEL, &format!("one of {}, if it is sent,", LOG_LEVELS.join(", "))));
            }
        }
        Ok(Self { version, client })
    }
}

/// `clientInfo`, if it has the members that it must have.
pub fn read_client(info: Value<'_>) -> Option<Implementation> {
    #[derive(Deserialize)]
    struct ClientInfo {
        name: String,
        version: String,
        title: Option<String>,
    }
    let ClientInfo { name, version, title } = serde_json::from_str(info.text()).ok()?;
    Some(Implementation { title: title.map(Into::into), ..Implementation::new(name, version) })
}
