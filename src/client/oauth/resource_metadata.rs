//! The protected resource metadata of an MCP server.
//!
//! Source: RFC 9728 §2 and §3; 2026-07-28, basic/authorization, "Protected Resource Metadata Discovery Requirements".

use edge_json::deserialize::read;
use edge_json::{Document, JsonLimits};
use serde::Deserialize;

use super::error::OAuthError;
use super::requests::Requests;
use super::url_rules;
use crate::client::wire::challenge::Challenge;
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

    /// Fetches the metadata of the MCP server at `url`: from the URL in the challenge, or from the well-known URLs.
    ///
    /// # Errors
    /// There is no metadata, or it is not that of the MCP server.
    pub(super) async fn fetch(
        url: &SecureUrl,
        challenge: Option<&Challenge>,
        requests: Requests<'_>,
    ) -> Result<Self, OAuthError> {
        let mut failure = OAuthError::NoResourceMetadata;
        for candidate in candidates(url, challenge)? {
            let Some(body) = requests.metadata(&candidate, DOCUMENT).await? else { continue };
            match Self::read(&body) {
                Ok(metadata) if covers(&metadata.resource, url) => return Ok(metadata),
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
fn candidates(url: &SecureUrl, challenge: Option<&Challenge>) -> Result<Vec<SecureUrl>, OAuthError> {
    let unsafe_url = |problem| OAuthError::UnsafeUrl { member: "resource_metadata", problem };
    if let Some(named) = challenge.and_then(|challenge| challenge.resource_metadata.as_deref()) {
        let named = url_rules::parse(named, url).map_err(unsafe_url)?;
        if !is_same_url(named.origin(), url.origin()) {
            return Err(unsafe_url("is on another host than the server"));
        }
        return Ok(vec![named]);
    }
    // The query may be a secret of the MCP server.
    let (origin, path) = (url.origin(), path_of(url.as_str()).trim_end_matches('/'));
    let root = format!("{origin}/.well-known/{WELL_KNOWN}");
    let mut texts = vec![format!("{root}{path}"), root];
    texts.dedup();
    texts.iter().map(|text| SecureUrl::parse(text).map_err(unsafe_url)).collect()
}

/// Returns whether `resource` is the MCP server at `url`, or contains it: they have the same origin, and the path of the resource is the
/// beginning of the path of the server, by whole segments.
fn covers(resource: &str, url: &SecureUrl) -> bool {
    let Ok(resource) = SecureUrl::parse(resource) else { return false };
    if !is_same_url(resource.origin(), url.origin()) || resource.has_query() {
        return false;
    }
    let (whole, part) = (path_of(url.as_str()), path_of(resource.as_str()).trim_end_matches('/'));
    whole.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hostile case 48: a resource contains a server by whole segments of the path, and on the same origin.
    #[test]
    fn a_resource_covers_a_server() {
        for (resource, expected) in [
            ("https://a.example/public/mcp", true),
            ("https://a.example/public/mcp/", true),
            ("https://A.example:443/public", true),
            ("https://a.example", true),
            ("https://a.example/", true),
            ("https://a.example/public/mc", false),
            ("https://a.example/public/mcp/x", false),
            ("https://a.example/Public", false),
            ("https://a.example/public?x", false),
            ("https://a.example:8443/public", false),
            ("https://b.example/public/mcp", false),
            ("https://a.example.evil.example/", false),
            ("a.example/public", false),
        ] {
            let url = SecureUrl::parse("https://a.example/public/mcp?key=1").expect("a URL");
            assert_eq!(covers(resource, &url), expected, "{resource}");
        }
    }
}
