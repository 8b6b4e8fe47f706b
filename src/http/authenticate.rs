//! Who calls, and whether that is enough.
//!
//! A caller passes if a token is there, is valid, has not expired, is for this server, and has the scopes of what it uses: asked in
//! that order, so that the first answer is the one that helps.
//!
//! Source: RFC 6750 §3; 2026-07-28, basic/authorization, "Token Handling" and "Error Handling".

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::auth_failure::{AuthFailure, misconfigured};
use super::bounded_request::BoundedRequest;
use super::http_error::HttpError;
use super::log_line::LogLine;
use crate::auth::claims::has_ended;
use crate::auth::rate_limit::{self, RateLimiting};
use crate::auth::scopes::ScopeHierarchy;
use crate::auth::validator::Arrival;
use crate::auth::{
    BoxValidator, ConfigError, Presented, Principal, ProtectedResource, SecureUrl, TokenRefusal, TokenValidator, bearer,
};
use crate::host::{Host, Request, host_of, is_local, origin_of};
use crate::protocol::description::Text;
use crate::server::access::permits;

/// How an endpoint learns who calls.
pub(super) enum Authentication {
    /// Nobody has said: nothing is served.
    Undecided,
    /// Callers on the same machine may call; everybody, if it is public.
    Open { is_public: bool },
    /// By a bearer token.
    Token(BoxValidator),
    /// It cannot: nothing is served.
    Misconfigured(ConfigError),
}

/// How callers come in.
enum Door<'g> {
    /// As they are.
    Open,
    /// With a token that this accepts.
    Token(&'g BoxValidator),
}

/// What stands between a request and the server.
pub(super) struct AccessControl {
    pub authentication: Authentication,
    pub resource: ProtectedResource,
    pub hierarchy: ScopeHierarchy,
    pub limit: RateLimiting,
}

impl AccessControl {
    /// Nobody passes.
    pub(super) fn closed() -> Self {
        Self {
            authentication: Authentication::Undecided,
            resource: ProtectedResource::default(),
            hierarchy: ScopeHierarchy::default(),
            limit: RateLimiting::Unbound,
        }
    }

    /// The URL of this server, as its clients know it: the configured one, or, on localhost, that of the request. What a request
    /// says of its host is otherwise the caller's to choose.
    pub(super) fn resource_url(&self, request: &str, path: &str) -> Option<Cow<'_, SecureUrl>> {
        self.resource.url.as_ref().map(Cow::Borrowed).or_else(|| {
            let origin = origin_of(request).filter(|origin| is_on_localhost(origin))?;
            SecureUrl::parse(&format!("{origin}{path}")).ok().map(Cow::Owned)
        })
    }

    /// Whether `origin` is that of this server itself.
    pub(super) fn is_own_origin(&self, origin: &str) -> bool {
        self.resource.url.as_ref().is_some_and(|url| url.origin().eq_ignore_ascii_case(origin))
    }

    /// How callers of this URL come in, if it is settled that any do.
    fn door(&self, head: &dyn Request, url: &str, path: &str, host: &Rc<dyn Host>) -> Result<Door<'_>, Box<HttpError>> {
        let validator = match &self.authentication {
            Authentication::Misconfigured(error) => return Err(misconfigured(host, &error.to_string())),
            Authentication::Undecided => {
                const PROBLEM: &str = "the endpoint has no authentication: give it a validator with `auth`, or open it with \
                                       `without_auth`";
                return Err(misconfigured(host, PROBLEM));
            }
            Authentication::Open { is_public } => {
                if !is_public && !is_from_this_machine(head, url) {
                    const PROBLEM: &str = "the endpoint has no authentication (MCP_AUTH is \"none\", or `without_auth`), so it \
                                           serves only callers on the same machine, at a localhost URL; to serve everybody, \
                                           set MCP_ALLOW_PUBLIC to \"yes\" or call `open_to_the_public`";
                    return Err(misconfigured(host, PROBLEM));
                }
                return Ok(Door::Open);
            }
            Authentication::Token(validator) => validator,
        };
        let needs_url = || validator.needs_resource() || !self.resource.authorization_servers.is_empty();
        if needs_url() && self.resource_url(url, path).is_none() {
            const PROBLEM: &str =
                "MCP_RESOURCE is not set: it is the URL of this server, such as https://kb.example.com/mcp";
            return Err(misconfigured(host, PROBLEM));
        }
        Ok(Door::Token(validator))
    }

    /// Lets a caller pass to what is for all, once its address is counted. Whether it would have to say who it is for the rest.
    pub(super) async fn admit_anyone(
        &self,
        head: &dyn Request,
        url: &str,
        path: &str,
        host: &Rc<dyn Host>,
    ) -> Result<bool, Box<HttpError>> {
        let is_guarded = matches!(self.door(head, url, path, host)?, Door::Token(_));
        let is_within = self.limit.admits(|| rate_limit::key_of_address(head), host).await;
        if is_within { Ok(is_guarded) } else { Err(self.too_many()) }
    }

    /// Who calls, or `None` where everybody may.
    pub(super) async fn authenticate(
        &self,
        head: &BoundedRequest,
        url: &str,
        path: &str,
        host: &Rc<dyn Host>,
        line: &mut LogLine,
    ) -> Result<Option<Principal>, Box<HttpError>> {
        let arrival =
            Arrived { access: self, head, url, path, host, is_within: Cell::new(None), resource: OnceCell::new() };
        let validator = match self.door(head, url, path, host)? {
            Door::Open if arrival.count_address().await => return Ok(None),
            Door::Open => return Err(self.too_many()),
            Door::Token(validator) => validator,
        };
        let authorization = head.standard_header("authorization")?;
        let judged = match token(authorization.as_deref(), url) {
            Ok(token) => {
                let presented = Presented { token: &token, host, arrival: &arrival };
                judge(validator, presented).await.map_err(AuthFailure::Refused)
            }
            Err(failure) => Err(failure),
        };
        match judged {
            Ok(mut principal) => {
                self.hierarchy.expand(&mut principal.scopes);
                if self.limit.admits(|| rate_limit::key_of_principal(&principal), host).await {
                    Ok(Some(principal))
                } else {
                    Err(self.too_many())
                }
            }
            Err(failure) => {
                line.refused(&failure);
                // An outage is not the caller's doing.
                let counts = !matches!(failure, AuthFailure::Refused(TokenRefusal::Unavailable(_)));
                if counts && !arrival.count_address().await {
                    return Err(self.too_many());
                }
                Err(failure.refusal(&self.resource, arrival.resource(), self.limit.period()))
            }
        }
    }

    fn too_many(&self) -> Box<HttpError> {
        AuthFailure::Refused(TokenRefusal::TooManyRequests).refusal(&self.resource, None, self.limit.period())
    }

    /// Whether `caller` has what a request needs: all the scopes of that one operation are named at once.
    pub(super) fn authorize(
        &self,
        caller: Option<&Principal>,
        needed: &[Text],
        request: &str,
        path: &str,
    ) -> Result<(), Box<HttpError>> {
        if permits(caller, needed) {
            return Ok(());
        }
        let url = self.resource_url(request, path);
        let failure = AuthFailure::InsufficientScope(needed.join(" "));
        Err(failure.refusal(&self.resource, url.as_deref(), self.limit.period()))
    }
}

/// Whether the URL is on localhost and the request came from a loopback address. Any client can send `Host: localhost`, so the address
/// is checked too, where the host knows it.
fn is_from_this_machine(head: &dyn Request, url: &str) -> bool {
    let is_loopback = || head.client_address().is_none_or(|address| address.to_canonical().is_loopback());
    origin_of(url).is_some_and(is_on_localhost) && is_loopback()
}

fn is_on_localhost(origin: &str) -> bool {
    host_of(origin).is_some_and(is_local)
}

/// The token that a request carries in its header, and nowhere else.
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

/// Whom a token speaks for. What must hold of every token holds whatever the validator says.
async fn judge(validator: &BoxValidator, presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
    let principal = validator.validate(presented).await?;
    if principal.expires.is_some_and(|expires| has_ended(expires, presented.now())) {
        return Err(TokenRefusal::Expired);
    }
    let is_for_us = |url: &SecureUrl| principal.audience.iter().any(|one| url.is_same_as(one));
    if !principal.audience.is_empty() && !presented.resource().is_some_and(is_for_us) {
        return Err(TokenRefusal::WrongAudience);
    }
    Ok(principal)
}

/// A request at the gate.
struct Arrived<'a> {
    access: &'a AccessControl,
    head: &'a dyn Request,
    url: &'a str,
    path: &'a str,
    host: &'a Rc<dyn Host>,
    is_within: Cell<Option<bool>>,
    resource: OnceCell<Option<Cow<'a, SecureUrl>>>,
}

impl Arrival for Arrived<'_> {
    fn resource(&self) -> Option<&SecureUrl> {
        self.resource.get_or_init(|| self.access.resource_url(self.url, self.path)).as_deref()
    }

    fn count_address(&self) -> LocalBoxFuture<'_, bool> {
        async {
            if let Some(is_within) = self.is_within.get() {
                return is_within;
            }
            let is_within = self.access.limit.admits(|| rate_limit::key_of_address(self.head), self.host).await;
            self.is_within.set(Some(is_within));
            is_within
        }
        .boxed_local()
    }
}
