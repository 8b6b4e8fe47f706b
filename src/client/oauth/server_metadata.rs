//! The metadata of an authorization server.
//!
//! Sources: RFC 8414 §2 and §3; OpenID Connect Discovery 1.0 §4; 2026-07-28, basic/authorization, "Authorization Server Metadata Discovery".

use edge_json::deserialize::read;
use edge_json::{Document, JsonLimits};
use serde::Deserialize;

use super::documents::{DocumentContent, Documents};
use super::error::OAuthError;
use super::url_rules;
use crate::config::SecureUrl;
use crate::host::{host_of, origin_of};

const DOCUMENT: &str = "the metadata of its authorization server";
const SERVER: &str = "its authorization server";

/// The members of the document that the client uses.
#[derive(Deserialize)]
struct ServerDocument {
    issuer: String,
    token_endpoint: Option<String>,
    authorization_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    client_id_metadata_document_supported: Option<bool>,
    scopes_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// The metadata of an authorization server. Its URLs obey the rules of `url_rules`.
#[derive(Debug)]
pub(in crate::client) struct ServerMetadata {
    pub issuer: String,
    pub token_endpoint: SecureUrl,
    pub authorization_endpoint: Option<SecureUrl>,
    pub revocation_endpoint: Option<SecureUrl>,
    pub registration_endpoint: Option<SecureUrl>,
    /// Whether a client id can be the URL of a metadata document.
    pub reads_client_documents: bool,
    /// Whether each answer to an authorization request names the issuer (RFC 9207).
    pub names_issuer: bool,
    scopes: Vec<String>,
    code_challenge_methods: Vec<String>,
    authentication_methods: Option<Vec<String>>,
}

impl ServerMetadata {
    /// Fetches the metadata of `issuer`, which the MCP server names. If the operator has not named the issuer (`is_trusted`), its endpoints are
    /// on its own host.
    ///
    /// # Errors
    /// There is no metadata, it is not that of the issuer, or it has a URL that the client does not use.
    pub(super) async fn fetch(issuer: &str, is_trusted: bool, documents: Documents<'_>) -> Result<Self, OAuthError> {
        let unsafe_url = |problem| OAuthError::UnsafeUrl { member: "authorization_servers", problem };
        let rules = Rules { is_local: documents.server.is_local, is_trusted };
        let url = url_rules::parse(issuer, rules.is_local).map_err(unsafe_url)?;
        if url.has_query() {
            return Err(unsafe_url("has a query"));
        }
        // Some servers answer at the first URL with another document, or with a failure, although the metadata is at the next one.
        let mut failure = None;
        for candidate in candidates(&url) {
            let candidate = SecureUrl::parse(&candidate).map_err(unsafe_url)?;
            let problem = match documents.fetch(&candidate, SERVER).await? {
                DocumentContent::Json(body) => match Self::read(&body, issuer, rules) {
                    Err(error @ (OAuthError::Malformed { .. } | OAuthError::IssuerMismatch)) => error,
                    read => return read,
                },
                DocumentContent::Failed => OAuthError::failed_on(SERVER),
                DocumentContent::Missing => continue,
            };
            failure.get_or_insert(problem);
        }
        Err(failure.unwrap_or(OAuthError::NoServerMetadata))
    }

    pub(super) fn read(body: &[u8], issuer: &str, rules: Rules) -> Result<Self, OAuthError> {
        let malformed = |cause: &str| OAuthError::Malformed { document: DOCUMENT, cause: cause.to_owned() };
        let document = Document::parse(body, JsonLimits::default()).map_err(|_| malformed("it is not valid JSON"))?;
        let members: ServerDocument = read(document.root()).map_err(|error| malformed(&error.to_string()))?;
        // RFC 8414 §3.3: the two are identical, without any normalization.
        if members.issuer != issuer {
            return Err(OAuthError::IssuerMismatch);
        }
        let endpoint = |member, url: Option<String>| {
            let url = url.map(|url| rules.endpoint(&url, issuer)).transpose();
            url.map_err(|problem| OAuthError::UnsafeUrl { member, problem })
        };
        let token_endpoint = endpoint("token_endpoint", members.token_endpoint)?;
        Ok(Self {
            issuer: members.issuer,
            token_endpoint: token_endpoint.ok_or_else(|| malformed("it has no `token_endpoint`"))?,
            authorization_endpoint: endpoint("authorization_endpoint", members.authorization_endpoint)?,
            revocation_endpoint: endpoint("revocation_endpoint", members.revocation_endpoint)?,
            registration_endpoint: endpoint("registration_endpoint", members.registration_endpoint)?,
            reads_client_documents: members.client_id_metadata_document_supported.unwrap_or_default(),
            names_issuer: members.authorization_response_iss_parameter_supported.unwrap_or_default(),
            scopes: members.scopes_supported.unwrap_or_default(),
            code_challenge_methods: members.code_challenge_methods_supported.unwrap_or_default(),
            authentication_methods: members.token_endpoint_auth_methods_supported,
        })
    }

    /// Returns whether the metadata names a method of client authentication.
    pub(super) fn names_method(&self, method: &str) -> bool {
        self.authentication_methods.is_some() && self.supports(method)
    }

    /// Returns whether the token endpoint supports a method of client authentication. Without a list, the client has to try.
    pub(in crate::client) fn supports(&self, method: &str) -> bool {
        self.authentication_methods.as_ref().is_none_or(|methods| methods.iter().any(|known| known == method))
    }

    /// Returns whether the authorization server supports PKCE with `S256`.
    pub(super) fn supports_s256(&self) -> bool {
        self.code_challenge_methods.iter().any(|method| method == "S256")
    }

    /// Returns whether the authorization server lists a scope.
    pub(super) fn has_scope(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope == name)
    }
}

/// The rules for the endpoints of an authorization server.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Whether the MCP server is on localhost, so that the endpoints need not be public.
    pub is_local: bool,
    /// Whether the operator has named the issuer.
    pub is_trusted: bool,
}

impl Rules {
    /// Reads the URL of an endpoint.
    ///
    /// The authorization server of an attacker could name the authorization endpoint of another one, and would get the codes of that one at
    /// its own token endpoint (mix-up, RFC 9700 §4.4). So all endpoints are on the host of the issuer.
    fn endpoint(self, url: &str, issuer: &str) -> Result<SecureUrl, &'static str> {
        let url = url_rules::parse(url, self.is_local)?;
        let is_own = host_of(url.origin()).zip(origin_of(issuer).and_then(host_of));
        let is_own = is_own.is_some_and(|(host, issuer)| host.eq_ignore_ascii_case(issuer));
        if self.is_trusted || is_own { Ok(url) } else { Err("is on another host than the issuer") }
    }
}

/// Returns the URLs at which the metadata of an issuer may be, in order.
fn candidates(issuer: &SecureUrl) -> Vec<String> {
    const OAUTH: &str = "oauth-authorization-server";
    const OPENID: &str = "openid-configuration";
    let mut candidates = vec![issuer.well_known(OAUTH), issuer.well_known(OPENID)];
    if !issuer.path().trim_end_matches('/').is_empty() {
        candidates.push(format!("{}/.well-known/{OPENID}", issuer.as_str().trim_end_matches('/')));
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_searched_in_the_order_of_the_specification() {
        let of = |issuer: &str| candidates(&SecureUrl::parse(issuer).expect("a URL"));
        for issuer in ["https://a.example", "https://a.example/"] {
            let at = "https://a.example/.well-known";
            assert_eq!(of(issuer), [format!("{at}/oauth-authorization-server"), format!("{at}/openid-configuration")]);
        }
        assert_eq!(
            of("https://a.example/tenant/1"),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant/1",
                "https://a.example/.well-known/openid-configuration/tenant/1",
                "https://a.example/tenant/1/.well-known/openid-configuration",
            ]
        );
    }
}
