//! The metadata of this program as a client of authorization servers: in its metadata document, and in a registration.
//!
//! Sources: RFC 7591 §2; OpenID Connect Registration 1.0 §2 for `application_type`.

use serde::Serialize;

use crate::host::is_on_localhost;

/// The metadata of a client for persons.
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
    pub(super) fn registration(self, method: &'static str, scopes: &[String]) -> Self {
        Self { token_endpoint_auth_method: method, scope: scopes.join(" "), ..self }
    }
}
