//! A client that the operator registered at an authorization server, and the proof by which a client authenticates.
//!
//! Source: RFC 6749 §2.3.1; RFC 7591 §2 for the names of the methods.

use std::rc::Rc;

use crate::auth::client_authentication::{Assertion, ClientAuthentication};
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::server_metadata::ServerMetadata;

/// A client that the operator registered at an authorization server.
#[derive(Clone)]
pub(in crate::client) struct OwnClient {
    pub issuer: String,
    pub id: String,
    pub proof: Proof,
}

/// The proof by which a client authenticates.
#[derive(Clone)]
pub(in crate::client) enum Proof {
    None,
    Secret(String),
    Assertion(Rc<dyn Assertion>),
}

impl Proof {
    /// Returns the authentication of the client `id` by a method, or `None` if the proof is not for this method.
    pub(super) fn authentication(&self, id: &str, method: &str) -> Option<ClientAuthentication> {
        let id = id.to_owned();
        match (method, self) {
            ("none", _) => Some(ClientAuthentication::None(Some(id))),
            ("client_secret_basic", Self::Secret(secret)) => Some(ClientAuthentication::Basic(id, secret.clone())),
            ("client_secret_post", Self::Secret(secret)) => Some(ClientAuthentication::Post(id, secret.clone())),
            ("private_key_jwt", Self::Assertion(assertion)) => {
                Some(ClientAuthentication::PrivateKeyJwt(assertion.clone()))
            }
            _ => None,
        }
    }

    /// Returns the method of authentication at a token endpoint.
    pub(super) fn method(&self, server: &ServerMetadata) -> Result<&'static str, OAuthError> {
        let methods: &[&str] = match self {
            Self::None => return Ok("none"),
            Self::Secret(_) => &["client_secret_basic", "client_secret_post"],
            Self::Assertion(_) => &["private_key_jwt"],
        };
        let unsupported =
            || OAuthError::UnsupportedAuthentication { method: methods.first().copied().unwrap_or("none") };
        methods.iter().copied().find(|method| server.supports(method)).ok_or_else(unsupported)
    }
}
