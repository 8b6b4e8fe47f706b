//! The registration of this program as a client of an authorization server. Revision 2026-07-28 deprecates it.
//!
//! Sources: RFC 7591 §2 and §3; OpenID Connect Registration 1.0 §2 for `application_type`.

use edge_json::write;
use edge_json::{Document, JsonLimits, Kind};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method};
use serde::Serialize;

use super::error::OAuthError;
use super::requests::Requests;
use super::server_metadata::ServerMetadata;
use super::token_response::{error_code, text};
use crate::config::SecureUrl;
use crate::host::is_on_localhost;

/// The grant types and the response types of a client for persons.
pub(in crate::client) const GRANT_TYPES: [&str; 2] = ["authorization_code", "refresh_token"];
pub(in crate::client) const RESPONSE_TYPES: [&str; 1] = ["code"];

/// The methods of authentication, the first one that the authorization server supports counts.
const METHODS: [&str; 3] = ["client_secret_basic", "client_secret_post", "none"];

/// A client to register.
pub(in crate::client) struct Registration<'a> {
    pub client_name: &'a str,
    pub redirect_uri: &'a str,
    pub scopes: &'a [String],
}

/// A registered client.
pub(in crate::client) struct Registered {
    pub client_id: String,
    pub client_secret: Option<String>,
    /// The method of authentication.
    pub method: String,
    /// The time at which the secret expires, in milliseconds since 1970, if it expires.
    pub expires_ms: Option<u64>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    client_name: &'a str,
    redirect_uris: [&'a str; 1],
    grant_types: [&'a str; 2],
    response_types: [&'a str; 1],
    token_endpoint_auth_method: &'a str,
    application_type: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    scope: String,
}

/// Returns whether a client with this redirect URI runs on the machine of the person or on the web.
pub(in crate::client) fn application_type(redirect_uri: &str) -> &'static str {
    if is_on_localhost(redirect_uri) { "native" } else { "web" }
}

impl Registration<'_> {
    /// Registers the client at `endpoint`.
    ///
    /// # Errors
    /// The authorization server does not register it.
    pub(in crate::client) async fn register(
        &self,
        endpoint: &SecureUrl,
        server: &ServerMetadata,
        requests: Requests<'_>,
    ) -> Result<Registered, OAuthError> {
        let method = METHODS.into_iter().find(|method| server.supports(method)).unwrap_or("none");
        let metadata = Metadata {
            client_name: self.client_name,
            redirect_uris: [self.redirect_uri],
            grant_types: GRANT_TYPES,
            response_types: RESPONSE_TYPES,
            token_endpoint_auth_method: method,
            application_type: application_type(self.redirect_uri),
            scope: self.scopes.join(" "),
        };
        // Strings always serialize.
        let mut request = endpoint.request(Method::POST, write::to_string(&metadata).unwrap_or_default());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        let answer = requests.send(request).await?;
        let document = Document::parse(&answer.body, JsonLimits::default()).ok();
        let object = document.as_ref().map(Document::root).filter(|root| root.kind() == Kind::Object);
        if !matches!(answer.status, 200 | 201) {
            let reason = object.and_then(error_code).unwrap_or_else(|| format!("status {}", answer.status));
            return Err(OAuthError::NotRegistered { reason });
        }
        let invalid = OAuthError::InvalidAnswer("sent an answer to the registration of this program that is not valid");
        let object = object.ok_or_else(|| invalid.clone())?;
        let seconds = object.get("client_secret_expires_at").and_then(|at| at.text().parse::<u64>().ok());
        let client_secret = text(object, "client_secret");
        let issued = text(object, "token_endpoint_auth_method").filter(|method| METHODS.contains(&method.as_str()));
        let method =
            if client_secret.is_none() { "none".to_owned() } else { issued.unwrap_or_else(|| method.to_owned()) };
        Ok(Registered {
            client_id: text(object, "client_id").ok_or(invalid)?,
            client_secret,
            method,
            expires_ms: seconds.filter(|seconds| *seconds > 0).map(|seconds| seconds.saturating_mul(1000)),
        })
    }
}
