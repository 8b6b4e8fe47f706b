//! The registration of this program as a client of an authorization server. Revision 2026-07-28 deprecates it.
//!
//! Sources: RFC 7591 §2 and §3; OpenID Connect Registration 1.0 §2 for `application_type`.

use edge_json::write;
use edge_json::{Document, JsonLimits, Kind};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use serde::{Deserialize, Serialize};

use super::documents::Requests;
use super::error::OAuthError;
use super::server_metadata::ServerMetadata;
use super::token_response::{rejection, text};
use crate::config::SecureUrl;
use crate::host::is_on_localhost;

/// The methods of authentication. The first one that the authorization server names is used. Authorization servers of the Python SDK read the
/// client id only from the form, and for a revocation also the secret. Others reject an id in the form beside Basic.
const METHODS: [&str; 3] = ["client_secret_post", BASIC, "none"];
/// The method of an authorization server that names none (RFC 8414 §2).
const BASIC: &str = "client_secret_basic";

/// A client to register.
pub(in crate::client) struct NewClient<'a> {
    pub client_name: &'a str,
    pub redirect_uri: &'a str,
    pub scopes: &'a [String],
}

/// A registered client. The token store keeps it.
#[derive(Clone, Deserialize, Serialize)]
pub(in crate::client) struct RegisteredClient {
    pub client_id: String,
    pub client_secret: Option<String>,
    /// The method of authentication.
    pub method: String,
    /// The time at which the secret expires, in milliseconds since 1970, if it expires.
    pub expires_ms: Option<u64>,
}

impl NewClient<'_> {
    /// Registers the client at `endpoint`.
    ///
    /// # Errors
    /// The authorization server does not register it.
    pub(in crate::client) async fn register(
        &self,
        endpoint: &SecureUrl,
        server: &ServerMetadata,
        requests: Requests<'_>,
    ) -> Result<RegisteredClient, OAuthError> {
        let default = if server.supports(BASIC) { BASIC } else { "none" };
        let method = METHODS.into_iter().find(|method| server.names_method(method)).unwrap_or(default);
        let metadata = ClientMetadata::new(self.client_name, self.redirect_uri).registration(method, self.scopes);
        // Strings always serialize.
        let mut request = endpoint.request(Method::POST, write::to_string(&metadata).unwrap_or_default());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = requests.send(request).await?;
        let document = Document::parse(&answer.body, JsonLimits::default()).ok();
        let object = document.as_ref().map(Document::root).filter(|root| root.kind() == Kind::Object);
        if !matches!(answer.status, 200 | 201) {
            let (reason, description) = rejection(answer.status, object);
            return Err(OAuthError::NotRegistered { reason, description });
        }
        let invalid = OAuthError::InvalidAnswer("sent an answer to the registration of this program that is not valid");
        let object = object.ok_or_else(|| invalid.clone())?;
        let seconds = object.get("client_secret_expires_at").and_then(|at| at.text().parse::<u64>().ok());
        let client_secret = text(object, "client_secret");
        let issued = text(object, "token_endpoint_auth_method").filter(|method| METHODS.contains(&method.as_str()));
        let method =
            if client_secret.is_none() { "none".to_owned() } else { issued.unwrap_or_else(|| method.to_owned()) };
        Ok(RegisteredClient {
            client_id: text(object, "client_id").ok_or(invalid)?,
            client_secret,
            method,
            expires_ms: seconds.filter(|seconds| *seconds > 0).map(|seconds| seconds.saturating_mul(1000)),
        })
    }
}

/// The metadata of a client for persons: in its metadata document, and in a registration.
#[derive(Serialize)]
pub(in crate::client) struct ClientMetadata<'a> {
    /// The client id. A registration has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<&'a str>,
    client_name: &'a str,
    redirect_uris: [&'a str; 1],
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    application_type: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    scope: String,
}

impl<'a> ClientMetadata<'a> {
    /// Creates the metadata of a public client.
    pub(in crate::client) fn new(client_name: &'a str, redirect_uri: &'a str) -> Self {
        Self {
            client_id: None,
            client_name,
            redirect_uris: [redirect_uri],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
            // A client on localhost runs on the machine of the person.
            application_type: if is_on_localhost(redirect_uri) { "native" } else { "web" },
            scope: String::new(),
        }
    }

    /// Sets the client id.
    pub(in crate::client) fn client_id(self, id: &'a str) -> Self {
        Self { client_id: Some(id), ..self }
    }

    /// Sets the method of authentication, and the scopes that the client will request.
    fn registration(self, method: &'static str, scopes: &[String]) -> Self {
        Self { token_endpoint_auth_method: method, scope: scopes.join(" "), ..self }
    }
}
