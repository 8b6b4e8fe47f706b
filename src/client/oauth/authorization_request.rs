//! The URL at which a person allows this program to use an MCP server.
//!
//! Sources: RFC 6749 §4.1.1; RFC 7636 §4.3; RFC 8707 §2.1; OpenID Connect Core 1.0 §11 for `offline_access`; 2026-07-28,
//! basic/authorization, "Authorization Code Protection" and "Refresh Tokens".

use sha2::{Digest, Sha256};

use super::error::OAuthError;
use super::server_metadata::ServerMetadata;
use crate::base64::URL_SAFE;
use crate::config::SecureUrl;
use crate::host::{Host, NoRandomness, query_of};

/// The scope of a refresh token.
pub(super) const OFFLINE_ACCESS: &str = "offline_access";

/// The parameters that an authorization endpoint must not have in its query. An authorization server that takes the first of two would use
/// the value of its metadata, and `request` and `request_uri` replace all parameters (RFC 9101).
const RESERVED: [&str; 12] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "resource",
    "state",
    "code_challenge",
    "code_challenge_method",
    "scope",
    "prompt",
    "response_mode",
    "request",
    "request_uri",
];

/// A request for an authorization code.
pub(in crate::client) struct AuthorizationRequest<'a> {
    pub client_id: &'a str,
    /// The URL to which the authorization server sends the browser back.
    pub redirect_uri: &'a str,
    /// The resource indicator, as the MCP server writes it.
    pub resource: &'a str,
    /// The scopes. If there are none, the authorization server chooses.
    pub scopes: &'a [String],
    pub state: &'a str,
    pub code_verifier: &'a str,
    /// Whether the operator knows that the authorization server supports PKCE, although its metadata does not say so.
    pub is_pkce_trusted: bool,
    /// Whether the authorization server must ask the person, also if the person has allowed this client before.
    pub asks_person: bool,
}

impl AuthorizationRequest<'_> {
    /// Returns the URL for the browser, which goes to this authorization endpoint of `server`.
    ///
    /// # Errors
    /// The authorization server does not support PKCE with `S256`, or the endpoint has a parameter that only the client sets.
    pub(in crate::client) fn url(&self, endpoint: &SecureUrl, server: &ServerMetadata) -> Result<String, OAuthError> {
        if !self.is_pkce_trusted && !server.supports_s256() {
            return Err(OAuthError::NoPkce);
        }
        let reserved = form_urlencoded::parse(query_of(endpoint.as_str()).as_bytes());
        if reserved.into_iter().any(|(name, _)| RESERVED.contains(&&*name)) {
            let problem = "has a parameter in its query that only this program may set";
            return Err(OAuthError::UnsafeUrl { member: "authorization_endpoint", problem });
        }
        let challenge = code_challenge(self.code_verifier);
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", self.client_id),
            ("redirect_uri", self.redirect_uri),
            ("resource", self.resource),
            ("state", self.state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ] {
            query.append_pair(name, value);
        }
        let mut scopes: Vec<&str> = self.scopes.iter().map(String::as_str).collect();
        scopes.retain(|scope| *scope != OFFLINE_ACCESS);
        // Without scopes, the authorization server chooses. `offline_access` alone would be a choice.
        let is_offline = !scopes.is_empty() && server.has_scope(OFFLINE_ACCESS);
        if is_offline {
            scopes.push(OFFLINE_ACCESS);
        }
        if is_offline || self.asks_person {
            query.append_pair("prompt", "consent");
        }
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.join(" "));
        }
        let separator = if endpoint.has_query() { '&' } else { '?' };
        Ok(format!("{}{separator}{}", endpoint.as_str(), query.finish()))
    }
}

/// Returns 32 random bytes as text: a code verifier, or a `state`.
///
/// # Errors
/// The host cannot generate random bytes.
pub(in crate::client) fn random_text(host: &dyn Host) -> Result<String, NoRandomness> {
    let mut bytes = [0_u8; 32];
    host.fill_random(&mut bytes)?;
    Ok(URL_SAFE.encode(bytes))
}

/// Returns the code challenge of a verifier, for the method `S256`.
fn code_challenge(verifier: &str) -> String {
    URL_SAFE.encode(Sha256::digest(verifier))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::client::oauth::server_metadata::Rules;

    fn server(changes: Value) -> ServerMetadata {
        let mut document = json!({
            "issuer": "https://auth.example", "token_endpoint": "https://auth.example/token",
            "authorization_endpoint": "https://auth.example/authorize", "code_challenge_methods_supported": ["plain", "S256"],
        });
        document.as_object_mut().expect("an object").extend(changes.as_object().expect("an object").clone());
        let rules = Rules { is_local: false, is_trusted: false };
        ServerMetadata::read(document.to_string().as_bytes(), "https://auth.example", rules).expect("metadata")
    }

    fn url_of(request: &AuthorizationRequest<'_>, server: &ServerMetadata) -> Result<String, OAuthError> {
        request.url(server.authorization_endpoint.as_ref().expect("an endpoint"), server)
    }

    fn request(scopes: &[String]) -> AuthorizationRequest<'_> {
        AuthorizationRequest {
            client_id: "https://desk.example/client.json",
            redirect_uri: "https://desk.example/callback",
            resource: "https://mcp.example/mcp",
            scopes,
            state: "s-1",
            code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            is_pkce_trusted: false,
            asks_person: false,
        }
    }

    #[test]
    fn an_authorization_request_has_all_parameters() {
        let url = url_of(&request(&["a".to_owned(), "b&c".to_owned()]), &server(json!({}))).expect("a URL");
        assert_eq!(
            url,
            "https://auth.example/authorize?response_type=code&client_id=https%3A%2F%2Fdesk.example%2Fclient.json\
             &redirect_uri=https%3A%2F%2Fdesk.example%2Fcallback&resource=https%3A%2F%2Fmcp.example%2Fmcp&state=s-1\
             &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&scope=a+b%26c"
        );
        let endpoint = json!({ "authorization_endpoint": "https://auth.example/authorize?tenant=1" });
        let url = url_of(&request(&[]), &server(endpoint)).expect("a URL");
        assert!(
            url.starts_with("https://auth.example/authorize?tenant=1&response_type=code&") && !url.contains("scope")
        );
    }

    /// The metadata cannot set a parameter of the request, which some authorization servers would use instead of the one of the client.
    #[test]
    fn the_query_of_an_endpoint_sets_no_parameter_of_the_request() {
        for (query, is_accepted) in [
            ("tenant=1&p=policy", true),
            ("resource=https%3A%2F%2Fhonest.example%2Fmcp", false),
            ("tenant=1&scope=admin", false),
            ("%73cope=admin", false),
            ("redirect_uri=https://evil.example/", false),
            ("client_id", false),
            ("request_uri=https://evil.example/request", false),
            ("prompt=none", false),
        ] {
            let endpoint = json!({ "authorization_endpoint": format!("https://auth.example/authorize?{query}") });
            let url = url_of(&request(&[]), &server(endpoint));
            let is_refused = matches!(url, Err(OAuthError::UnsafeUrl { member: "authorization_endpoint", .. }));
            assert_eq!((url.is_ok(), is_refused), (is_accepted, !is_accepted), "{query}");
        }
    }

    /// C69: an authorization server must support PKCE with S256, unless the operator says that it does.
    #[test]
    fn pkce_is_required() {
        for methods in [json!(null), json!([]), json!(["plain"]), json!(["s256"])] {
            let server = server(json!({ "code_challenge_methods_supported": methods }));
            assert_eq!(url_of(&request(&[]), &server), Err(OAuthError::NoPkce));
            assert!(url_of(&AuthorizationRequest { is_pkce_trusted: true, ..request(&[]) }, &server).is_ok());
        }
    }

    /// C79: `offline_access` is requested only if the authorization server has it, and then with the consent of the person.
    #[test]
    fn offline_access_is_requested_if_it_is_supported() {
        let (own, both) = (["a".to_owned()], ["a".to_owned(), OFFLINE_ACCESS.to_owned()]);
        for (scopes, supported, expected) in [
            (&own[..], json!(["a", "offline_access"]), "&prompt=consent&scope=a+offline_access"),
            (&both[..], json!(["a", "offline_access"]), "&prompt=consent&scope=a+offline_access"),
            (&both[..], json!(["a"]), "S256&scope=a"),
            (&own[..], json!(null), "S256&scope=a"),
            (&[], json!(["offline_access"]), "S256"),
        ] {
            let url = url_of(&request(scopes), &server(json!({ "scopes_supported": supported }))).expect("a URL");
            assert!(url.ends_with(expected), "{url}");
        }
    }

    use crate::testing::TestHost;

    /// The example of RFC 7636, appendix B.
    #[test]
    fn a_challenge_is_the_digest_of_its_verifier() {
        let challenge = code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        let host = TestHost::new();
        let [one, two] = [(); 2].map(|()| random_text(&host).expect("random bytes"));
        assert!(one != two && one.len() == 43 && one.is_ascii(), "{one} {two}");
    }
}
