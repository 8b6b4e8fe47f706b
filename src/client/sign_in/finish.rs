//! The second request of a sign-in: the authorization server sends the browser back, with a code.

use std::time::Duration;

use futures::FutureExt;
use http::{HeaderValue, Response, StatusCode};

use super::account::{Account, person_key};
use super::pages::{self, Page, Refused, with_cookies};
use super::pending::{self, Pending};
use super::sealed::Purpose;
use super::settings::SignIn;
use super::stored_tokens::StoredTokens;
use super::values::Values;
use super::visit::check_method;
use crate::auth::principal::Principal;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::client::mcp_client::McpClient;
use crate::client::oauth::callback::{CallbackError, Expected, authorization_code};
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::requests::Requests;
use crate::client::oauth::token_request::{Grant, OAuthClient};
use crate::config::SecureUrl;
use crate::host::{log, query_of};
use crate::limits::SIGN_IN_SECONDS;

impl SignIn {
    /// Answers a request to the page to which an authorization server sends the browser back. It exchanges the code for tokens, and saves
    /// them in the token store. The answer is a page with one sentence, or a redirect to the `return_to` of [`begin`](Self::begin).
    ///
    /// `person` is who uses the browser, as for [`begin`](Self::begin). Nothing is saved for another person than the one who began.
    /// If the program itself fails, for example the token store, the page has status 500, and the cause is in the log.
    pub async fn finish(&self, cx: &Context, person: &Principal) -> Response<Vec<u8>> {
        let url = cx.url();
        let query = query_of(&url);
        let state = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "state");
        let state = state.map(|(_, state)| state).unwrap_or_default();
        let cookie = pending::name(&self.0, &state);
        let finished = self.finished(cx, person, query, &state, cookie.as_deref()).boxed_local().await;
        let page = finished.unwrap_or_else(|refused| refused.into_page(cx.host()));
        // The state is used once, also if the sign-in fails. A request with another method than GET does not use it.
        let cookie = cookie.filter(|_| page.status() != StatusCode::METHOD_NOT_ALLOWED);
        let used: Option<HeaderValue> = cookie.and_then(|name| pending::delete(&self.0, &name));
        with_cookies(page, used)
    }

    async fn finished(
        &self,
        cx: &Context,
        person: &Principal,
        query: &str,
        state: &str,
        cookie: Option<&str>,
    ) -> Result<Page, Refused> {
        check_method(cx)?;
        let values = self.values(cx);
        let pending = self.pending(state, cookie, &cx.request().cookies())?;
        if values.host.now_ms() >= pending.expires {
            return Err(Refused::sentence("You did not sign in within 10 minutes. Begin again."));
        }
        if pending.person != person_key(person) {
            log::failure(cx.host(), "sign-in", "a sign-in was finished by another person than the one who began it");
            return Err(Refused::sentence("Another person began this sign-in. Nothing was saved."));
        }
        let expected =
            Expected { state: &pending.state, issuer: &pending.issuer.issuer, names_issuer: pending.names_issuer };
        let code = match authorization_code(query, &expected) {
            Ok(code) => code,
            Err(error) => {
                if matches!(error, CallbackError::InvalidScope | CallbackError::WrongClient) {
                    let rejected = values.client_is_rejected(&pending.issuer).await;
                    rejected.map_err(|error| Refused::of(&error, &pending.server))?;
                }
                return Err(refused(error));
            }
        };
        let Pending { server, return_to, is_untrusted, .. } = pending.clone();
        if let Err(error) = self.exchange(&values, pending, &code).await {
            return Err(Refused::of(&if is_untrusted { error.of_untrusted() } else { error }, &server));
        }
        let done = format!("You are signed in to the server {server}. You can close this page.");
        let redirect = return_to.and_then(|path| pages::redirect(StatusCode::SEE_OTHER, &path));
        Ok(redirect.unwrap_or_else(|| pages::sentence(StatusCode::OK, &done)))
    }

    /// Reads the state of the sign-in from its cookie.
    fn pending(&self, state: &str, name: Option<&str>, header: &str) -> Result<Pending, Refused> {
        let unknown = || refused(CallbackError::WrongState);
        let mut cookies = pending::cookies(&self.0, header).into_iter().filter(|(known, _)| Some(*known) == name);
        let ((_, sealed), None) = (cookies.next().ok_or_else(unknown)?, cookies.next()) else { return Err(unknown()) };
        self.0.keys.open(Purpose::Pending, state, sealed).ok_or_else(unknown)
    }

    /// Exchanges the code for tokens, and saves them.
    async fn exchange(&self, values: &Values, pending: Pending, code: &str) -> Result<(), OAuthError> {
        // A browser could send the cookie again, so the store remembers each state for as long as its cookie is valid.
        let mark = Purpose::Finished.key(&[&pending.state]);
        let keep = Duration::from_secs(SIGN_IN_SECONDS);
        if values.replace(Purpose::Finished, &mark, None, &(), keep).await?.is_none() {
            return Err(OAuthError::AlreadyFinished);
        }
        let issuer = &pending.issuer;
        let authentication = values.known_authentication(issuer).await?.ok_or(OAuthError::NoClientId)?;
        let client = OAuthClient { authentication: &authentication, audience: &issuer.issuer };
        let grant = Grant::AuthorizationCode {
            code,
            redirect_uri: &self.0.redirect_uri(),
            code_verifier: &pending.code_verifier,
        };
        let requests = Requests { host: &*values.host, spend: &|| true };
        let token = client.token(&issuer.token_endpoint()?, grant, &issuer.resource, requests).await;
        if token.as_ref().is_err_and(OAuthError::is_unknown_client) {
            // The next sign-in registers this program again.
            values.forget_client(issuer).await?;
        }
        let url = SecureUrl::parse(&pending.url);
        let url = url.map_err(|problem| OAuthError::UnsafeUrl { member: "url", problem })?;
        let account = Account::new(values.clone(), &pending.person, &url);
        let tokens = StoredTokens::issued(issuer.clone(), pending.scopes, token?, values.host.now_ms());
        account.save(tokens).await?;
        values.client_has_tokens(issuer).await
    }

    /// Removes the tokens of `person` for the server `name`, and revokes them at the authorization server.
    ///
    /// # Errors
    /// The client has no such server, or the token store fails.
    pub async fn forget(
        &self,
        client: &McpClient,
        name: &str,
        cx: &Context,
        person: &Principal,
    ) -> Result<(), HandlerError> {
        let server =
            client.server(name).ok_or_else(|| HandlerError::not_found("This program has no server of this name."))?;
        let values = self.values(cx);
        let account = Account::new(values, &person_key(person), &server.upstream.url);
        let forgotten = account.forget().boxed_local().await;
        forgotten
            .map_err(|error| HandlerError::new("The access was not removed. Try again later.").because(error.cause()))
    }
}

fn refused(error: CallbackError) -> Refused {
    Refused::sentence(&error.to_string())
}
