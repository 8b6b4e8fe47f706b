//! The first request of a sign-in: it sends the browser to the authorization server.

use std::cell::Cell;
use std::time::Duration;

use futures::FutureExt;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method, Response, StatusCode};

use super::account::{Account, person_key};
use super::own_client::OwnClient;
use super::pages::{self, CONSENT, Consent, HtmlPage, PageRefusal, check_method, has_consented, with_cookies};
use super::pending::{self, PendingSignIn};
use super::sealed::SealPurpose;
use super::settings::{SignIn, SignInSettings};
use super::stored_tokens::TokenIssuer;
use super::ticket::{TICKET, Ticket};
use super::values::Values;
use crate::auth::principal::Principal;
use crate::call::context::Context;
use crate::client::mcp_client::{McpClient, Server};
use crate::client::oauth::authorization_request::AuthorizationRequest;
use crate::client::oauth::authorization_request::random_text;
use crate::client::oauth::discovery::{Discovery, Issuers};
use crate::client::oauth::documents::Documents;
use crate::client::oauth::documents::Requests;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::token_response::after;
use crate::client::upstream::ServerAccess;
use crate::client::wire::challenge::BearerChallenge;
use crate::config::SecureUrl;
use crate::host::{in_time, log, query_of};
use crate::limits::{SIGN_IN_COOKIE_BYTES, SIGN_IN_REQUESTS, SIGN_IN_SECONDS, UPSTREAM_NEGOTIATION_SECONDS};

/// The parameters of the first request.
#[derive(Default)]
struct BeginParameters {
    ticket: Option<String>,
    server: Option<String>,
    return_to: Option<String>,
    /// The digest of what the person was shown.
    consent: Option<String>,
}

impl SignIn {
    /// Answers a request to the page that begins a sign-in: a redirect to the authorization server, or a page with a sentence that says why
    /// that is not possible.
    ///
    /// `person` is who uses the browser. The program must know this from a session of its own, for example from a cookie. The caller of the
    /// tool that needs the sign-in must have the same `subject` and `issuer`. Otherwise somebody could send a link to another person, and
    /// would then have the access of that person.
    ///
    /// A link of a call has the parameter `ticket`. Other links of the program have the parameter `server` with the name of a server, and
    /// may have `return_to`, a path of this program to which the browser goes after the sign-in.
    ///
    /// If the program itself fails, for example the token store, the page has status 500, and the cause is in the log.
    pub async fn begin(&self, client: &McpClient, cx: &Context, person: &Principal) -> Response<Vec<u8>> {
        let begun = self.begun(client, cx, person).boxed_local().await;
        begun.unwrap_or_else(|refused| refused.into_page(cx.host()))
    }

    async fn begun(&self, client: &McpClient, cx: &Context, person: &Principal) -> Result<HtmlPage, PageRefusal> {
        let values = self.values(cx);
        let person = person_key(person);
        let BeginParameters { ticket, server, return_to, consent } = BeginParameters::read(&cx.url());
        let ticket = match (ticket, server) {
            (Some(sealed), _) => checked_ticket(&values, &sealed, &person)?,
            // Another site must not begin a sign-in.
            (None, Some(_)) if cx.header("Sec-Fetch-Site").as_deref() == Some("cross-site") => {
                return Err(PageRefusal::sentence(
                    "This link must be opened from the page of the program that has it.",
                ));
            }
            (None, Some(server)) => Ticket::new(&server, &person, None, Vec::new(), values.host.now_ms()),
            (None, None) => return Err(PageRefusal::sentence("This link is not complete. Call the tool again.")),
        };
        let server =
            client.server(&ticket.server).filter(|server| matches!(server.upstream.access, ServerAccess::SignIn(..)));
        let server =
            server.ok_or_else(|| PageRefusal::sentence("This program has no server of this name with a sign-in."))?;
        let is_untrusted = server.upstream.is_untrusted;
        let asks_consent = self.0.asks_consent || is_untrusted;
        let has_consented =
            if asks_consent { has_consented(cx, &self.0.url)? } else { check_method(cx).map(|()| true)? };
        let refused =
            |error: OAuthError| PageRefusal::of(&if is_untrusted { error.of_untrusted() } else { error }, &server.name);
        let sent = Cell::new(0_usize);
        let spend = || sent.replace(sent.get().saturating_add(1)) < SIGN_IN_REQUESTS;
        let plan = self.plan(&values, server, &ticket, &spend).await.map_err(refused)?;
        if asks_consent {
            let asked = plan.consent(&self.0, server);
            // A server can change what it needs between the page and its button. The person then sees the page again.
            if !has_consented || consent.as_deref() != Some(&*asked.digest()) {
                return Ok(pages::consent(&asked, query_of(&cx.url())));
            }
        }
        let return_to = return_to.filter(|path| is_own_path(path));
        let begun = self.authorization(&values, server, ticket, return_to, plan, &spend).await;
        let (pending, url) = begun.map_err(refused)?;
        let sealed = values.settings.keys.seal(SealPurpose::Pending, &pending.state, &pending, &*values.host);
        let sealed = sealed.map_err(refused)?;
        if sealed.len() > SIGN_IN_COOKIE_BYTES {
            return Err(PageRefusal::sentence("The authorization server has URLs or scopes that are too long."));
        }
        let name = pending::name(&self.0, &pending.state);
        let (Some(name), Some(page)) = (name, pages::redirect(StatusCode::FOUND, &url)) else {
            return Err(PageRefusal::sentence("The URL of the authorization server is not valid."));
        };
        Ok(with_cookies(page, pending::set(&self.0, &name, &sealed, &cx.request().cookies())))
    }

    /// Finds the authorization server of `server`, the client of this program there, and the scopes to request.
    async fn plan(
        &self,
        values: &Values,
        server: &Server,
        ticket: &Ticket,
        spend: &dyn Fn() -> bool,
    ) -> Result<AuthorizationPlan<'_>, OAuthError> {
        let SignInSettings { clients, trusted_issuers: trusted, .. } = &*self.0;
        let upstream = &server.upstream;
        let challenge = match (&ticket.resource_metadata, &*ticket.scopes) {
            (None, []) => probe(values, server, spend).await?,
            (resource_metadata, scopes) => Some(BearerChallenge::new(resource_metadata.clone(), scopes)),
        };
        let account = Account::new(values.clone(), &ticket.person, &upstream.url);
        let known = account.stored().await?.value.map(|tokens| tokens.issuer.issuer);
        let own = clients.iter().filter(|own| !upstream.is_untrusted && own.scopes_for(&server.name).is_some());
        let named: Vec<&str> = own.clone().map(|own| own.issuer.as_str()).collect();
        let issuers = match &*named {
            [] => Issuers::Any { preferred: known.as_deref(), trusted },
            named => Issuers::Named(named),
        };
        let resource_server = upstream.resource_server();
        let documents = Documents { server: &resource_server, requests: Requests { host: &values.host, spend } };
        let found = Discovery::find(documents, challenge.as_ref(), issuers).await?;
        let metadata = &found.server;
        let own = own.clone().find(|own| own.issuer == metadata.issuer);
        // The operator uses this authorization server for other servers. This one must not get their tokens.
        if own.is_none() && clients.iter().any(|own| own.issuer == metadata.issuer) {
            return Err(OAuthError::ClientOfOtherServer);
        }
        let endpoint = metadata.authorization_endpoint.clone().ok_or(OAuthError::NoAuthorizationEndpoint)?;
        let scopes = match own.and_then(|own| own.scopes_for(&server.name)) {
            Some(allowed) => allowed_scopes(&found.scopes, allowed),
            None if found.scopes.is_empty() => self.0.scopes.clone(),
            None => found.scopes.clone(),
        };
        Ok(AuthorizationPlan { found, own, endpoint, scopes })
    }

    /// Returns the state of the sign-in, and the URL of the authorization server for the browser.
    async fn authorization(
        &self,
        values: &Values,
        server: &Server,
        ticket: Ticket,
        return_to: Option<String>,
        plan: AuthorizationPlan<'_>,
        spend: &dyn Fn() -> bool,
    ) -> Result<(PendingSignIn, String), OAuthError> {
        let settings = &*self.0;
        let requests = Requests { host: &values.host, spend };
        let AuthorizationPlan { found, own, endpoint, scopes } = plan;
        let (url, metadata) = (&server.upstream.url, &found.server);
        let authentication = values.new_authentication(own, url, &found, &scopes, requests).await?;
        let random =
            || random_text(&*values.host).map_err(|error| OAuthError::StoreFailed { cause: error.to_string() });
        let (state, code_verifier) = (random()?, random()?);
        let request = AuthorizationRequest {
            client_id: authentication.client_id(),
            redirect_uri: &settings.redirect_uri(),
            resource: &found.resource,
            scopes: &scopes,
            state: &state,
            code_verifier: &code_verifier,
            is_pkce_trusted: settings.trusted_pkce.contains(&metadata.issuer),
            asks_person: server.upstream.is_untrusted,
        };
        let location = request.url(&endpoint, metadata)?;
        let pending = PendingSignIn {
            state,
            code_verifier,
            expires: after(values.host.now_ms(), SIGN_IN_SECONDS),
            person: ticket.person,
            server: ticket.server,
            url: url.as_str().to_owned(),
            is_untrusted: server.upstream.is_untrusted,
            issuer: TokenIssuer {
                issuer: metadata.issuer.clone(),
                token_endpoint: metadata.token_endpoint.as_str().to_owned(),
                revocation_endpoint: metadata.revocation_endpoint.as_ref().map(|url| url.as_str().to_owned()),
                client_id: authentication.client_id().to_owned(),
                method: authentication.method().to_owned(),
                resource: found.resource.clone(),
                server: url.as_str().to_owned(),
            },
            names_issuer: metadata.names_issuer,
            scopes,
            return_to,
        };
        Ok((pending, location))
    }
}

/// A sign-in that a person can begin.
struct AuthorizationPlan<'a> {
    found: Discovery,
    /// The client of the operator, if there is one for this server.
    own: Option<&'a OwnClient>,
    /// The URL at which the person signs in.
    endpoint: SecureUrl,
    /// The scopes to request.
    scopes: Vec<String>,
}

impl AuthorizationPlan<'_> {
    /// Returns what the person is asked to allow.
    fn consent<'a>(&'a self, settings: &'a SignInSettings, server: &'a Server) -> Consent<'a> {
        let metadata = &self.found.server;
        Consent {
            program: &settings.name,
            server: (&server.name, server.upstream.url.without_query()),
            endpoint: &self.endpoint,
            token_endpoint: &metadata.token_endpoint,
            issuer: &metadata.issuer,
            resource: &self.found.resource,
            scopes: &self.scopes,
        }
    }
}

/// Returns the scopes that a server names and the operator allows or, if there are none, all scopes that the operator allows.
fn allowed_scopes(named: &[String], allowed: &[String]) -> Vec<String> {
    let scopes: Vec<String> = named.iter().filter(|scope| allowed.contains(scope)).cloned().collect();
    if scopes.is_empty() { allowed.to_vec() } else { scopes }
}

/// Sends a request without a token to a server, and returns the challenge of its answer.
async fn probe(
    values: &Values,
    server: &Server,
    spend: &dyn Fn() -> bool,
) -> Result<Option<BearerChallenge>, OAuthError> {
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    if !spend() {
        return Err(OAuthError::BudgetExhausted);
    }
    let mut request = server.upstream.url.request(Method::POST, PING.to_owned());
    for (name, value) in [(CONTENT_TYPE, "application/json"), (ACCEPT, "application/json, text/event-stream")] {
        request.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let opening = server.upstream.open(request.into(), &values.host, |_| spend());
    let time = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
    let opened = in_time(opening, values.host.sleep(time)).await;
    let opened = opened.map_err(|error| OAuthError::Unreachable { server: "it", cause: error.to_string() })?;
    Ok(if opened.status == 401 { BearerChallenge::of(&opened.headers) } else { None })
}

/// Returns the content of a ticket that is valid for `person`.
fn checked_ticket(values: &Values, sealed: &str, person: &str) -> Result<Ticket, PageRefusal> {
    let ticket = values.read_ticket(sealed);
    let ticket = ticket.ok_or_else(|| PageRefusal::sentence("This link is not valid. Call the tool again."))?;
    if values.host.now_ms() >= ticket.expires {
        return Err(PageRefusal::sentence("This link has expired. Call the tool again."));
    }
    if ticket.person != person {
        log::failure(&values.host, "sign-in", "a link was opened by another person than the one it was made for");
        return Err(PageRefusal::sentence(
            "This link was made for another person. Sign in to this program as that person.",
        ));
    }
    Ok(ticket)
}

impl BeginParameters {
    fn read(url: &str) -> Self {
        let mut parameters = Self::default();
        for (name, value) in form_urlencoded::parse(query_of(url).as_bytes()) {
            match &*name {
                TICKET => parameters.ticket = Some(value.into_owned()),
                "server" => parameters.server = Some(value.into_owned()),
                "return_to" => parameters.return_to = Some(value.into_owned()),
                CONSENT => parameters.consent = Some(value.into_owned()),
                _ => {}
            }
        }
        parameters
    }
}

/// Returns whether a text is a path of this program. Browsers read `//` and `/\` as the beginning of another host, and ignore control
/// characters.
fn is_own_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.starts_with("//")
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}
