//! The caller that a token identifies.

use edge_json::write::{self, ObjectWriter};
use serde_json::{Map, Value};

/// The prefix of the subject of a client that calls for itself. A `sub` claim must not begin with it.
pub(super) const CLIENT_PREFIX: &str = "edge-mcp:client:";

/// The prefix of the issuers that this library gives to callers. An `iss` claim must not begin with it.
pub(super) const OWN_ISSUERS: &str = "edge-mcp:";

/// The caller that a valid token identifies. It does not contain the token.
///
/// Issuer, subject and client together identify the caller. Request states, durable tasks and rate limits belong to this identity. The
/// tokens with which a person has signed in to other servers belong to the issuer and the subject, because a person may use several clients.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Principal {
    /// The user (`sub`). For a client that calls for itself, it is `edge-mcp:client:` followed by the client's id. The prefix keeps a
    /// client with the id `ada` apart from the user `ada`.
    pub subject: String,
    /// The issuer of the token (`iss`). The same subject of two issuers identifies two users. If a token names no issuer, it is the validator
    /// that vouches for the subject: `edge-mcp:static` for [`StaticTokens`](crate::StaticTokens), and the URL of the endpoint for
    /// [`Introspection`](crate::auth::Introspection).
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

    /// Returns the text that identifies the caller. Two callers have the same text only if their issuer, subject and client are equal.
    pub(crate) fn identity(&self) -> String {
        format!("{:?}", (&self.issuer, &self.subject, &self.client_id))
    }

    /// Returns the text that identifies the person, whichever client calls for it.
    #[cfg(feature = "client")]
    pub(crate) fn person(&self) -> String {
        format!("{:?}", (&self.issuer, &self.subject))
    }

    /// Returns the principal as JSON, for [`read`](Self::read).
    pub(crate) fn to_json(&self) -> String {
        let texts = |texts: &[String]| write::text(&texts.into());
        let object = ObjectWriter::new()
            .text("subject", &self.subject)
            .json("scopes", &texts(&self.scopes))
            .json("audience", &texts(&self.audience))
            .json("claims", &write::text(&self.claims.clone().into()));
        let text = |object: ObjectWriter, name, text: &Option<String>| match text {
            Some(text) => object.text(name, text),
            None => object,
        };
        let object = text(text(object, "issuer", &self.issuer), "clientId", &self.client_id);
        match self.expires {
            Some(expires) => object.json("expires", &expires.to_string()),
            None => object,
        }
        .finish()
    }

    /// Reads a principal that [`to_json`](Self::to_json) has written.
    pub(crate) fn read(json: edge_json::Value<'_>) -> Option<Self> {
        let texts = |name| -> Option<Vec<String>> {
            json.get(name)?.items().map(|text| text.as_str().map(Into::into)).collect()
        };
        Some(Self {
            subject: json.string("subject")?,
            issuer: json.string("issuer"),
            client_id: json.string("clientId"),
            scopes: texts("scopes")?,
            expires: json.get("expires").and_then(|expires| expires.text().parse().ok()),
            audience: texts("audience")?,
            claims: json.get("claims")?.to_map()?,
        })
    }

    /// Sets the scopes.
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Returns whether the token grants `scope`.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}
