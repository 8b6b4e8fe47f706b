//! The metadata document of this client. Its URL is the client id.
//!
//! Source: the Internet-Draft "OAuth Client ID Metadata Document"; 2026-07-28, basic/authorization, "Client ID Metadata Documents".

use edge_json::write;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response};

use super::settings::{Settings, SignIn};
use crate::client::oauth::client_metadata::ClientMetadata;

impl SignIn {
    /// Returns the metadata document of this client, for the page at `<url>/client.json`. Authorization servers read it.
    pub fn metadata_document(&self) -> Response<Vec<u8>> {
        let Settings { name, document, .. } = &*self.0;
        let own = format!("{}/client.json", self.0.url.as_str());
        let redirect_uri = self.0.redirect_uri();
        let client_id = document.as_ref().map_or(&*own, |url| url.as_str());
        let document = ClientMetadata::new(name, &redirect_uri).client_id(client_id);
        // Strings always serialize.
        let mut response = Response::new(write::to_vec(&document).unwrap_or_default());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
        response
    }
}
