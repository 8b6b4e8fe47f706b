//! The caller that a token identifies.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The prefix of the subject of a client that calls for itself. A `sub` claim must not begin with it.
pub(super) const CLIENT_PREFIX: &str = "edge-mcp:client:";

/// The caller that a valid token identifies. It does not contain the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Principal {
    /// The user (`sub`). For a client that calls for itself, it is `edge-mcp:client:` followed by the client's id. The prefix keeps a
    /// client with the id `ada` apart from the user `ada`.
    pub subject: String,
    /// The issuer of the token (`iss`). The same subject of two issuers identifies two users.
    pub issuer: Option<String>,
    /// The client program that calls for the subject (`client_id`), if it is known.
    pub client_id: Option<String>,
    /// The scopes of the token, and the scopes that they [include](crate::Endpoint::scope_includes).
    pub scopes: Vec<String>,
    /// The time at which the token expires, in seconds since 1970-01-01T00:00:00Z.
    pub expires: Option<u64>,
    /// The servers for which the token was issued (`aud`). It is empty if the token does not name any, or if the validator is configured
    /// to accept audiences other than the URL of this server.
    pub audience: Vec<String>,
    /// All claims of the token or of the introspection answer.
    pub claims: Map<String, Value>,
}

impl Principal {
    /// Creates a principal without scopes.
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            issuer: None,
            client_id: None,
            scopes: Vec::new(),
            expires: None,
            audience: Vec::new(),
            claims: Map::new(),
        }
    }

    /// Sets the scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Returns whether the token grants `scope`.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}
