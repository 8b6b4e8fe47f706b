//! The protected resource metadata of an MCP server.
//!
//! Source: RFC 9728 §2 and §3; 2026-07-28, basic/authorization, "Protected Resource Metadata Discovery Requirements".

use edge_json::deserialize::read;
use edge_json::{Document, JsonLimits};
use serde::Deserialize;

use super::documents::{DocumentContent, Documents, ResourceServer};
use super::error::OAuthError;
use super::url_rules;
use crate::client::wire::challenge::BearerChallenge;
use crate::config::SecureUrl;
use crate::host::{is_same_url, path_of};

const WELL_KNOWN: &str = "oauth-protected-resource";
const DOCUMENT: &str = "its protected resource metadata";

/// The protected resource metadata of an MCP server.
#[derive(Debug, Deserialize)]
pub(super) struct ResourceMetadata {
    /// The resource indicator (RFC 8707) of requests for tokens, as the server writes it.
    pub resource: String,
    #[serde(default)]
    pub authorization_servers: Vec<String>,
    #[serde(default)]
    pub scopes_supported: Vec<String>,
}

impl ResourceMetadata {
    /// Returns what holds for a server without metadata: in revision 2025-03-26, a server is its own authorization server.
    pub(super) fn of_own_issuer(url: &SecureUrl) -> Self {
        let resource = url.without_query().to_owned();
        Self { resource, authorization_servers: vec![url.origin().to_owned()], scopes_supported: Vec::new() }
    }

    /// Fetches the metadata of the MCP server: from the URL in the challenge, or from the well-known URLs.
    ///
    /// # Errors
    /// There is no metadata, or it is not that of the MCP server.
    pub(super) async fn fetch(
        documents: Documents<'_>,
        challenge: Option<&BearerChallenge>,
    ) -> Result<Self, OAuthError> {
        let mut failure = OAuthError::NoResourceMetadata;
        for candidate in candidates(documents.server, challenge)? {
            let body = match documents.fetch(&candidate, DOCUMENT).await? {
                DocumentContent::Json(body) => body,
                DocumentContent::Missing => continue,
                DocumentContent::Failed => return Err(OAuthError::failed_on(DOCUMENT)),
            };
            match Self::read(&body) {
                Ok(metadata) if is_resource(&metadata.resource, documents.server) => return Ok(metadata),
                Ok(_) => return Err(OAuthError::WrongResource),
                // Some servers have a JSON document at every URL.
                Err(malformed) => failure = malformed,
            }
        }
        Err(failure)
    }

    fn read(body: &[u8]) -> Result<Self, OAuthError> {
        let malformed = |cause: String| OAuthError::Malformed { document: DOCUMENT, cause };
        let document =
            Document::parse(body, JsonLimits::default()).map_err(|_| malformed("it is not valid JSON".to_owned()))?;
        read(document.root()).map_err(|error| malformed(error.to_string()))
    }
}

/// Returns the URLs at which the metadata may be, in order.
fn candidates(server: &ResourceServer, challenge: Option<&BearerChallenge>) -> Result<Vec<SecureUrl>, OAuthError> {
    let unsafe_url = |problem| OAuthError::UnsafeUrl { member: "resource_metadata", problem };
    if let Some(named) = challenge.and_then(|challenge| challenge.resource_metadata.as_deref()) {
        let named = url_rules::parse(named, server.is_local).map_err(unsafe_url)?;
        if !server.owns(named.origin()) {
            return Err(unsafe_url("is on another host than the server"));
        }
        return Ok(vec![named]);
    }
    // The query may be a secret of the MCP server.
    let (origin, path) = (server.url.origin(), path_of(server.url.as_str()).trim_end_matches('/'));
    let root = format!("{origin}/.well-known/{WELL_KNOWN}");
    let mut texts = vec![format!("{root}{path}"), root];
    texts.dedup();
    texts.iter().map(|text| SecureUrl::parse(text).map_err(unsafe_url)).collect()
}

/// Returns whether `named` is the resource that the program expects: the URL of the MCP server, with its query or without it, or the one that
/// the program names.
///
/// A resource that only contains the server is another one (RFC 9728 §3.3): on a host with several servers, its tokens would be valid for all.
fn is_resource(named: &str, server: &ResourceServer) -> bool {
    let is_url = is_same_url(named, server.url.without_query()) || is_same_url(named, server.url.as_str());
    (is_url && SecureUrl::parse(named).is_ok())
        || server.resource.as_ref().is_some_and(|resource| is_same_url(named, resource.as_str()))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::host::transport::Network;

    /// The hostile case 48: the resource is the server, and not a part of it or something that contains it.
    #[test]
    fn a_resource_is_the_server_or_the_one_that_the_program_names() {
        let url = |text: &str| SecureUrl::parse(text).expect("a URL");
        let server = |resource: Option<&str>| ResourceServer {
            url: url("https://a.example/public/mcp?key=1"),
            resource: resource.map(url),
            transport: Rc::new(Network),
            is_local: false,
        };
        for (resource, expected) in [
            ("https://a.example/public/mcp", true),
            ("https://a.example/public/mcp/", true),
            ("https://A.example:443/public/mcp", true),
            ("https://a.example/public", false),
            ("https://a.example", false),
            ("https://a.example/", false),
            ("https://a.example/public/mc", false),
            ("https://a.example/public/mcp/x", false),
            ("https://a.example/Public/mcp", false),
            ("https://a.example/public/mcp?key=1", true),
            ("https://a.example/public/mcp?key=2", false),
            ("https://a.example/public/mcp?key=1&x", false),
            ("https://a.example/public/mcp#x", false),
            ("https://a.example:8443/public/mcp", false),
            ("https://b.example/public/mcp", false),
            ("https://a.example.evil.example/public/mcp", false),
            ("a.example/public/mcp", false),
        ] {
            assert_eq!(is_resource(resource, &server(None)), expected, "{resource}");
        }
        let named = server(Some("https://a.example/public"));
        for (resource, expected) in [
            ("https://a.example/public", true),
            ("https://a.example/public/mcp", true),
            ("https://a.example", false),
            ("https://a.example/public/x", false),
        ] {
            assert_eq!(is_resource(resource, &named), expected, "{resource}");
        }
    }
}
