//! Who calls.

use serde_json::{Map, Value};

/// The prefix of the subject of a client that calls for itself. No `sub` claim may begin with it.
pub(super) const CLIENT: &str = "edge-mcp:client:";

/// Who a valid token speaks for. The token itself is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The user (`sub`). For a client that calls for itself it is `edge-mcp:client:` and the client's id, so that a client named `ada`
    /// is not the user `ada`.
    pub subject: String,
    /// Who says so (`iss`): subjects of two issuers are two, also where they have one name.
    pub issuer: Option<String>,
    /// The program that calls for the subject (`client_id`), if it is known.
    pub client_id: Option<String>,
    /// What the token permits, with what that [includes](crate::http::Endpoint::scope_includes).
    pub scopes: Vec<String>,
    /// When the token ends, in seconds since 1970-01-01T00:00:00Z, if it does.
    pub expires: Option<u64>,
    /// The servers that the token is for (`aud`); empty, if it does not say.
    pub audience: Vec<String>,
    /// All that the token, or the answer about it, says.
    pub claims: Map<String, Value>,
}

impl Principal {
    /// A principal without scopes.
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

    /// The same principal with these scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Whether the token permits `scope`.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}
