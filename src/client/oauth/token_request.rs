//! The requests to the endpoints of an authorization server that issue and revoke tokens.
//!
//! Sources: RFC 6749 §4.1.3, §4.4.2 and §6; RFC 7636 §4.5; RFC 8707 §2.2; RFC 7009 §2.1.

use edge_json::{Document, JsonLimits};
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::documents::Requests;
use super::error::OAuthError;
use super::token_response::{TokenResponse, rejection};
use crate::auth::client_authentication::{ClientAuthentication, Form};
use crate::config::SecureUrl;
use crate::host::Fetched;

/// This program as a client of an authorization server.
#[derive(Clone, Copy)]
pub(in crate::client) struct OAuthClient<'a> {
    pub authentication: &'a ClientAuthentication,
    /// The issuer, or the URL of the token endpoint if the issuer is not known. It is the audience of assertions.
    pub audience: &'a str,
}

/// The grant that a token is requested for.
#[derive(Clone, Copy)]
pub(in crate::client) enum Grant<'a> {
    /// The token is for the program itself. Without scopes, the authorization server chooses.
    ClientCredentials { scopes: &'a [String] },
    /// A person has allowed the access.
    AuthorizationCode { code: &'a str, redirect_uri: &'a str, code_verifier: &'a str },
    /// An earlier answer had a refresh token. The scopes stay the same.
    RefreshToken(&'a str),
}

/// The parameters of a grant that are secret.
const SECRETS: [&str; 3] = ["code", "code_verifier", "refresh_token"];

impl Grant<'_> {
    /// Returns the parameters of a request, of which the first is the type of the grant.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        const TYPE: &str = "grant_type";
        match self {
            Self::ClientCredentials { scopes: [] } => vec![(TYPE, "client_credentials".to_owned())],
            Self::ClientCredentials { scopes } => {
                vec![(TYPE, "client_credentials".to_owned()), ("scope", scopes.join(" "))]
            }
            Self::AuthorizationCode { code, redirect_uri, code_verifier } => vec![
                (TYPE, "authorization_code".to_owned()),
                ("code", (*code).to_owned()),
                ("redirect_uri", (*redirect_uri).to_owned()),
                ("code_verifier", (*code_verifier).to_owned()),
            ],
            Self::RefreshToken(token) => {
                vec![(TYPE, "refresh_token".to_owned()), ("refresh_token", (*token).to_owned())]
            }
        }
    }
}

impl OAuthClient<'_> {
    /// Requests a token for `resource`.
    ///
    /// # Errors
    /// The authorization server issues none.
    pub(in crate::client) fn token<'r>(
        &'r self,
        endpoint: &'r SecureUrl,
        grant: Grant<'r>,
        resource: &'r str,
        requests: Requests<'r>,
    ) -> LocalBoxFuture<'r, Result<TokenResponse, OAuthError>> {
        let token = async move {
            let mut parameters = grant.parameters();
            parameters.insert(1, ("resource", resource.to_owned()));
            let mut form = Form::new(String::new());
            form.extend_pairs(&parameters);
            let answer = self.post(endpoint, form, requests).await?;
            let secrets = parameters.iter().filter(|(name, _)| SECRETS.contains(name)).map(|(_, value)| value.as_str());
            let secrets: Vec<&str> = secrets.chain([self.authentication.secret()]).collect();
            let mut response = TokenResponse::read(&answer).map_err(|error| error.without(&secrets))?;
            // An authorization server that does not rotate refresh tokens leaves the token out.
            if let Grant::RefreshToken(token) = grant {
                response.refresh_token.get_or_insert_with(|| token.to_owned());
            }
            Ok(response)
        };
        token.boxed_local()
    }

    /// Revokes a token, whose kind is `refresh_token` or `access_token`. With a refresh token, the access tokens of its grant end too.
    ///
    /// # Errors
    /// The authorization server does not confirm it.
    pub(in crate::client) async fn revoke(
        &self,
        endpoint: &SecureUrl,
        kind: &str,
        token: &str,
        requests: Requests<'_>,
    ) -> Result<(), OAuthError> {
        let mut form = Form::new(String::new());
        form.append_pair("token", token).append_pair("token_type_hint", kind);
        let answer = self.post(endpoint, form, requests).await?;
        if answer.status == 200 {
            return Ok(());
        }
        let document = Document::parse(&answer.body, JsonLimits::default()).ok();
        let (reason, description) = rejection(answer.status, document.as_ref().map(Document::root));
        Err(OAuthError::Rejected { reason, description }.without(&[token, self.authentication.secret()]))
    }

    async fn post(&self, endpoint: &SecureUrl, form: Form, requests: Requests<'_>) -> Result<Fetched, OAuthError> {
        let request = self.authentication.post(endpoint, form, self.audience, &**requests.host).await;
        requests.send(request.map_err(|cause| OAuthError::CannotAuthenticate { cause })?).await
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use serde_json::json;

    use super::*;
    use crate::host::Host;
    use crate::testing::{TestHost, run};

    const TOKEN: &str = "https://auth.example/token";
    const REVOKE: &str = "https://auth.example/revoke";

    fn url(text: &str) -> SecureUrl {
        SecureUrl::parse(text).expect("a URL")
    }

    /// Requests a token from a token endpoint with this answer. Returns its refresh token and the form.
    fn token(grant: Grant<'_>, answer: &serde_json::Value) -> (Option<String>, String) {
        let host = TestHost::new().respond("POST", TOKEN, 200, answer.to_string());
        let authentication = ClientAuthentication::None(Some("desk".into()));
        let client = OAuthClient { authentication: &authentication, audience: "https://auth.example" };
        let shared: Rc<dyn Host> = Rc::new(host.clone());
        let requests = Requests { host: &shared, spend: &|| true };
        let (endpoint, resource) = (url(TOKEN), "https://mcp.example/mcp");
        let response = run(host.run(client.token(&endpoint, grant, resource, requests)));
        let response = response.expect("the request ends").expect("a token");
        assert_eq!(response.header, "Bearer t-1");
        let form = host.requests().pop().expect("a request").into_body();
        (response.refresh_token, form)
    }

    /// C76: a public client sends its id. The code is exchanged with the verifier and the resource.
    #[test]
    fn a_code_is_exchanged() {
        let answer = json!({ "access_token": "t-1", "token_type": "Bearer", "refresh_token": "r-1" });
        let grant = Grant::AuthorizationCode {
            code: "c&1",
            redirect_uri: "https://desk.example/callback",
            code_verifier: "verifier",
        };
        let (refresh_token, form) = token(grant, &answer);
        assert_eq!(refresh_token.as_deref(), Some("r-1"));
        assert_eq!(
            form,
            "grant_type=authorization_code&resource=https%3A%2F%2Fmcp.example%2Fmcp&code=c%261\
             &redirect_uri=https%3A%2F%2Fdesk.example%2Fcallback&code_verifier=verifier&client_id=desk"
        );
    }

    /// C80: a refresh has the resource and no scope. Without a new refresh token, the old one stays valid.
    #[test]
    fn a_refresh_keeps_the_refresh_token() {
        for (returned, kept) in [(json!(null), "r-1"), (json!("r-2"), "r-2")] {
            let answer = json!({ "access_token": "t-1", "token_type": "bearer", "refresh_token": returned });
            let (refresh_token, form) = token(Grant::RefreshToken("r-1"), &answer);
            assert_eq!(refresh_token.as_deref(), Some(kept));
            let expected =
                "grant_type=refresh_token&resource=https%3A%2F%2Fmcp.example%2Fmcp&refresh_token=r-1&client_id=desk";
            assert_eq!(form, expected);
        }
    }

    /// C84: a refresh token is revoked with the authentication of the client.
    #[test]
    fn a_refresh_token_is_revoked() {
        for (status, is_revoked) in [(200, true), (503, false)] {
            let host = TestHost::new().respond("POST", REVOKE, status, "");
            let authentication = ClientAuthentication::Post("desk".into(), "secret".into());
            let client = OAuthClient { authentication: &authentication, audience: "https://auth.example" };
            let shared: Rc<dyn Host> = Rc::new(host.clone());
            let requests = Requests { host: &shared, spend: &|| true };
            let endpoint = url(REVOKE);
            let outcome =
                run(host.run(client.revoke(&endpoint, "refresh_token", "r-1", requests))).expect("the request ends");
            assert_eq!(outcome.is_ok(), is_revoked);
            let form = "token=r-1&token_type_hint=refresh_token&client_id=desk&client_secret=secret";
            assert_eq!(host.requests().pop().expect("a request").body(), form);
        }
    }
}
