//! The metadata document of this client. Its URL is the client id.
//!
//! Source: the Internet-Draft "OAuth Client ID Metadata Document"; 2026-07-28, basic/authorization, "Client ID Metadata Documents".

use edge_json::write;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response};
use serde::Serialize;

use super::settings::{Settings, SignIn};
use crate::client::oauth::registration::{GRANT_TYPES, RESPONSE_TYPES, application_type};

#[derive(Serialize)]
struct Document<'a> {
    client_id: &'a str,
    client_name: &'a str,
    redirect_uris: [&'a str; 1],
    grant_types: [&'a str; 2],
    response_types: [&'a str; 1],
    token_endpoint_auth_method: &'a str,
    application_type: &'a str,
}

impl SignIn {
    /// Returns the metadata document of this client, for the page at `<url>/client.json`. Authorization servers read it.
    pub fn metadata_document(&self) -> Response<Vec<u8>> {
        let Settings { name, document, .. } = &*self.0;
        let own = format!("{}/client.json", self.0.url.as_str());
        let redirect_uri = self.0.redirect_uri();
        let document = Document {
            client_id: document.as_ref().map_or(&own, |url| url.as_str()),
            client_name: name,
            redirect_uris: [&redirect_uri],
            grant_types: GRANT_TYPES,
            response_types: RESPONSE_TYPES,
            token_endpoint_auth_method: "none",
            application_type: application_type(&redirect_uri),
        };
        // Strings always serialize.
        let mut response = Response::new(write::to_vec(&document).unwrap_or_default());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
        response
    }
}
