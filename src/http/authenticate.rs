//! Authentication of the caller, and authorization by scopes.
//!
//! The checks run in this order: a token is present, it is valid, it has not expired, it is for this server, its caller is within the
//! rate limit, and it has the scopes that the request needs. The endpoint reports the first failure.
//!
//! Source: RFC 6750 §3; 2026-07-28, basic/authorization, "Token Handling" and "Error Handling".

use std::rc::Rc;

use futures::FutureExt;

use super::auth_failure::{AuthFailure, unavailable};
use super::http_error::HttpError;
use super::log_line::LogLine;
use super::proxies::passed_a_proxy;
use crate::auth::claims::has_expired;
use crate::auth::protected_resource::ServerUrl;
use crate::auth::rate_limit::{AddressLimit, RateLimiting};
use crate::auth::scopes::ScopeHierarchy;
use crate::auth::validator::DynValidator;
use crate::auth::{PresentedToken, Principal, ProtectedResource, TokenRefusal, bearer};
use crate::config::SecureUrl;
use crate::engine::choice::Choice;
use crate::engine::head::BoundedRequest;
use crate::host::{Host, Request, is_on_localhost, is_same_url, log};

/// The authentication of the callers of an endpoint.
pub(super) enum Authentication {
    /// The program has not set the authentication. Every request gets a 503.
    Undecided,
    /// Callers are not authenticated. Unless the endpoint is public, it serves only callers on the same machine.
    Open { is_public: bool },
    /// Callers need a bearer token that this validator accepts.
    Token(Box<dyn DynValidator>),
    /// The configuration has an error. Every request gets a 503.
    Misconfigured(Misconfiguration),
}

/// An error in the configuration of an endpoint.
pub(super) struct Misconfiguration {
    pub problem: String,
    /// Whether callers may see the problem. The log always has it.
    pub is_public: bool,
}

/// The access control of an endpoint: authentication, scopes and rate limit.
pub(super) struct AccessControl {
    pub authentication: Choice<Authentication>,
    pub resource: ProtectedResource,
    pub hierarchy: ScopeHierarchy,
    pub rate_limiting: Choice<RateLimiting>,
    /// Whether the environment configures the authentication of callers by tokens.
    pub environment_requires_tokens: bool,
}

impl AccessControl {
    /// Creates the access control of an endpoint that rejects every request.
    pub(super) fn closed() -> Self {
        Self {
            authentication: Choice::new(Authentication::Undecided),
            resource: ProtectedResource::default(),
            hierarchy: ScopeHierarchy::default(),
            rate_limiting: Choice::new(RateLimiting::Unset),
            environment_requires_tokens: false,
        }
    }

    /// Returns the URL of this server for a request to `request_url`.
    pub(super) fn server_url<'a>(&'a self, request_url: &'a str, path: &'a str) -> ServerUrl<'a> {
        ServerUrl::new(&self.resource, request_url, path)
    }

    /// Returns whether `origin` is the origin of this server.
    pub(super) fn is_own_origin(&self, origin: &str) -> bool {
        self.resource.url.as_ref().is_some_and(|url| url.origin().eq_ignore_ascii_case(origin))
    }

    /// Returns the validator of tokens, or `None` if callers do not need a token.
    ///
    /// # Errors
    /// 503 if the endpoint is misconfigured, or does not serve this caller without authentication.
    #[inline(never)]
    fn validator(
        &self,
        head: &dyn Request,
        url: &str,
        server_url: &ServerUrl<'_>,
        host: &Rc<dyn Host>,
    ) -> Result<Option<&dyn DynValidator>, Box<HttpError>> {
        let problem = match &*self.authentication {
            Authentication::Token(validator) => {
                let needs_url = || validator.needs_resource() || !self.resource.authorization_servers.is_empty();
                if !needs_url() || server_url.get().is_some() {
                    return Ok(Some(&**validator));
                }
                "MCP_RESOURCE is not set: set it to the URL of this server, such as https://kb.example.com/mcp"
            }
            Authentication::Open { is_public } => {
                if self.environment_requires_tokens {
                    log::warning_once(
                        host,
                        "authentication",
                        "MCP_AUTH is ignored: the program calls `without_auth` or `open_to_the_public`",
                    );
                }
                if *is_public || is_from_this_machine(head, url) {
                    return Ok(None);
                }
                "the endpoint has no authentication (MCP_AUTH is \"none\", or `without_auth`), so it serves only callers on the same \
                 machine, at a localhost URL, without a proxy; to serve all callers, set MCP_ALLOW_PUBLIC to \"yes\" or call \
                 `open_to_the_public`"
            }
            Authentication::Undecided => {
                "the endpoint has no authentication: set MCP_AUTH to \"static\", \"introspection\", \"jwt\", several of these separated by \
                 commas, or \"none\", and call `configured`; or call `auth` or `without_auth`"
            }
            Authentication::Misconfigured(Misconfiguration { problem, is_public }) => {
                return Err(unavailable(host, problem, *is_public));
            }
        };
        Err(unavailable(host, problem, true))
    }

    /// Admits a request for a document or a page that needs no token, and counts the request by its address. Returns whether calls of the
    /// endpoint need a token.
    ///
    /// # Errors
    /// 503 if the endpoint is misconfigured or does not serve this caller, and 429 if the caller exceeds the rate limit.
    pub(super) async fn admit_anyone(
        &self,
        head: &dyn Request,
        url: &str,
        path: &str,
        host: &Rc<dyn Host>,
    ) -> Result<bool, Box<HttpError>> {
        let server_url = self.server_url(url, path);
        let needs_token = self.validator(head, url, &server_url, host)?.is_some();
        let is_within_limit = AddressLimit::new(&self.rate_limiting, head, host).allows().await;
        if is_within_limit { Ok(needs_token) } else { Err(self.too_many_requests()) }
    }

    /// Returns the caller, or `None` on an endpoint without authentication.
    pub(super) async fn authenticate(
        &self,
        head: &BoundedRequest,
        url: &str,
        path: &str,
        host: &Rc<dyn Host>,
        line: &mut LogLine,
    ) -> Result<Option<Principal>, Box<HttpError>> {
        let server_url = self.server_url(url, path);
        let address_limit = AddressLimit::new(&self.rate_limiting, head, host);
        let Some(validator) = self.validator(head, url, &server_url, host)? else {
            return if address_limit.allows().await { Ok(None) } else { Err(self.too_many_requests()) };
        };
        let authorization = head.standard_header("authorization")?;
        // The engine optimizes whole functions. An endpoint without authentication never runs this branch, so its future is boxed.
        let checked = match token(authorization.as_deref(), url) {
            Ok(token) => {
                let presented =
                    PresentedToken { token: &token, host, server_url: &server_url, address_limit: &address_limit };
                check(validator, presented).boxed_local().await.map_err(AuthFailure::Refused)
            }
            Err(failure) => Err(failure),
        };
        match checked {
            Ok(mut principal) => {
                self.hierarchy.expand(&mut principal.scopes);
                let is_within_limit = self.rate_limiting.allows(&principal, host).boxed_local().await;
                if is_within_limit { Ok(Some(principal)) } else { Err(self.too_many_requests()) }
            }
            Err(failure) => {
                line.refused(&failure);
                Err(self.refused(failure, &server_url, &address_limit).boxed_local().await)
            }
        }
    }

    /// Counts the requests of a batch. [`authenticate`](Self::authenticate) has already counted the first one.
    ///
    /// # Errors
    /// 429 if they exceed the limit of the caller. No request of the batch is then answered.
    pub(super) async fn count_batch(
        &self,
        principal: Option<&Principal>,
        head: &BoundedRequest,
        requests: usize,
        host: &Rc<dyn Host>,
    ) -> Result<(), Box<HttpError>> {
        for _ in 1..requests {
            let is_within_limit = match principal {
                Some(principal) => self.rate_limiting.allows(principal, host).await,
                None => AddressLimit::new(&self.rate_limiting, head, host).allows().await,
            };
            if !is_within_limit {
                return Err(self.too_many_requests());
            }
        }
        Ok(())
    }

    /// Returns the error for a caller without a valid token, and counts the request by its address.
    async fn refused(
        &self,
        failure: AuthFailure,
        server_url: &ServerUrl<'_>,
        address_limit: &AddressLimit<'_>,
    ) -> Box<HttpError> {
        // The caller does not cause an outage, so the request does not count.
        let counts = !matches!(failure, AuthFailure::Refused(TokenRefusal::Unavailable(_)));
        if counts && !address_limit.allows().await {
            return self.too_many_requests();
        }
        failure.into_http_error(&self.resource, server_url.get(), self.rate_limiting.period())
    }

    #[cold]
    #[inline(never)]
    fn too_many_requests(&self) -> Box<HttpError> {
        let failure = AuthFailure::Refused(TokenRefusal::TooManyRequests);
        failure.into_http_error(&self.resource, None, self.rate_limiting.period())
    }

    /// Returns the error for a caller that the endpoint rejects.
    pub(super) fn failed(&self, failure: AuthFailure, request_url: &str, path: &str) -> Box<HttpError> {
        let url = self.server_url(request_url, path);
        failure.into_http_error(&self.resource, url.get(), self.rate_limiting.period())
    }
}

/// Returns whether the URL is on localhost, and the request came directly from a loopback address. Any client can send `Host: localhost`,
/// so the address counts too. A request that a proxy passed on has the address of the proxy.
fn is_from_this_machine(head: &dyn Request, url: &str) -> bool {
    is_on_localhost(url)
        && head.client_address().is_some_and(|address| address.to_canonical().is_loopback())
        && !passed_a_proxy(head)
}

/// Returns the token in the `Authorization` header.
#[inline(never)]
fn token(authorization: Option<&str>, url: &str) -> Result<String, AuthFailure> {
    if bearer::is_in_query(url) {
        return Err(AuthFailure::TokenInQuery);
    }
    match bearer::token(authorization) {
        Ok(Some(token)) => Ok(token.to_owned()),
        Ok(None) => Err(AuthFailure::NoToken),
        Err(bearer::Malformed) => Err(AuthFailure::Malformed),
    }
}

/// Returns the principal of a token. The endpoint checks expiry and audience again, because a user's validator may not check them.
async fn check(validator: &dyn DynValidator, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
    let principal = validator.validate_boxed(presented).await?;
    if principal.expires.is_some_and(|expires| has_expired(expires, presented.now())) {
        return Err(TokenRefusal::Expired);
    }
    let is_for_us = |url: &SecureUrl| principal.audience.iter().any(|audience| is_same_url(url.as_str(), audience));
    if !principal.audience.is_empty() && !presented.resource().is_some_and(is_for_us) {
        return Err(TokenRefusal::WrongAudience);
    }
    Ok(principal)
}
