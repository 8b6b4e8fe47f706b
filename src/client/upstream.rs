//! Another MCP server: its address, its credential and the trust in it.

use std::fmt;
use std::future::{Future, ready};
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::oauth::documents::ResourceServer;
use super::oauth::url_rules;
use super::questions::answer::{self, Form};
use super::questions::handlers::Handlers;
use super::questions::question::{Elicitation, SamplingRequest, UrlElicitation};
use super::sign_in::person_tokens::PersonTokens;
use super::sign_in::settings::SignIn;
use super::tokens::client_credentials::ClientCredentials;
use super::tokens::credential::Credential;
use super::tokens::issued_token::IssuedToken;
use super::tokens::token_of_call::{TokenOf, TokenOfCall};
use super::tokens::token_source::TokenSource;
use super::wire::{headers, redirect};
use crate::call::context::Context;
use crate::call::elicitation::FormAnswer;
use crate::call::error::HandlerError;
use crate::call::forwarded::{self, Place};
use crate::call::roots::Root;
use crate::call::sampling::ModelAnswer;
use crate::config::{ConfigError, SecureUrl};
use crate::host::transport::{Network, Transport};
use crate::host::{FetchError, Host, Opened, Outbound, is_on_localhost};
use crate::limits::{UPSTREAM_FRESH_SECONDS, UPSTREAM_LIST_SECONDS, UPSTREAM_SECONDS};
use crate::protocol::revision::Revision;
use crate::server::extension::identifier_problem;
use crate::text::{Text, shortened};

/// The prefixes of the members of `_meta` that a program cannot pass on.
const OWN_PREFIXES: [&str; 3] = ["io.modelcontextprotocol/", "modelcontextprotocol.io/", "edge-mcp/"];

/// Creates the source of the tokens for a connection, from the server and its name.
type NewTokenSource = dyn Fn(&Upstream, &str) -> Rc<dyn TokenSource>;

/// The credential for a server. It is never the token of this program's own caller.
pub(super) enum Access {
    /// The server gets no credential.
    None,
    /// The header of each request.
    Token(HeaderValue),
    /// Tokens of the program, or those that a function of the program returns.
    Source(Box<NewTokenSource>),
    /// Tokens of persons who sign in, at the page with this URL.
    SignIn(SecureUrl, Box<NewTokenSource>),
}

/// Another MCP server that an [`McpClient`](crate::client::McpClient) calls.
///
/// ```
/// use edge_mcp::client::Upstream;
///
/// let weather = Upstream::at("https://weather.example.com/mcp")?.bearer("wx-4f1c")?;
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
// The settings are independent.
#[allow(clippy::struct_excessive_bools)]
pub struct Upstream {
    pub(super) url: SecureUrl,
    pub(super) transport: Rc<dyn Transport>,
    /// Whether the transport is the network.
    is_on_network: bool,
    /// The resource of the tokens for the server, if it is not the URL.
    resource: Option<SecureUrl>,
    pub(super) access: Access,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) forwarded_headers: Vec<HeaderName>,
    pub(super) forwarded_meta: Vec<Text>,
    pub(super) revision: Option<Revision>,
    pub(crate) is_trusted: bool,
    /// Whether a user of the program chose the URL.
    pub(crate) is_untrusted: bool,
    pub(super) timeout: Duration,
    pub(super) list_timeout: Duration,
    pub(super) list_ttl: Duration,
    /// The longest time for which a list is cached, whatever the server says.
    pub(crate) longest_ttl: Duration,
    pub(super) handlers: Handlers,
    /// Whether the model of the caller of this program may answer.
    pub(super) passes_sampling: bool,
    /// The extensions that the client declares: their identifiers and settings.
    pub(crate) extensions: Map<String, Value>,
}

impl Upstream {
    /// Creates a server at `url`: an `https:` URL, or an `http:` URL on localhost.
    ///
    /// # Errors
    /// The URL is not valid.
    pub fn at(url: &str) -> Result<Self, ConfigError> {
        Ok(Self { is_on_network: true, ..Self::via(url, Network)? })
    }

    /// Creates a server whose URL a user of the program chose, and which may be hostile: a public `https:` URL with port 443, whose host is a
    /// name.
    ///
    /// The server gets no secret of the program and no value of its caller: [`McpClientBuilder::build`](super::McpClientBuilder::build) rejects
    /// a token, a header, client credentials, and headers and members of `_meta` that are passed on, but not [`sign_in`](Self::sign_in). The
    /// error of a request does not say why the server cannot be reached, or why its authorization server cannot be used, so that a user cannot
    /// explore the network of the program. The rules cannot see that a name resolves to a private address.
    ///
    /// # Errors
    /// The URL is not public.
    pub fn untrusted(url: &str) -> Result<Self, ConfigError> {
        let mut upstream = Self::at(url)?;
        let public = url_rules::public(upstream.url.clone());
        upstream.url = public.map_err(|problem| ConfigError::new("the URL of an MCP server", problem))?;
        upstream.is_untrusted = true;
        Ok(upstream)
    }

    /// Creates a server that is reached by `transport`. `url` is the URL of the requests.
    ///
    /// # Errors
    /// The URL is not valid.
    pub fn via(url: &str, transport: impl Transport + 'static) -> Result<Self, ConfigError> {
        Ok(Self {
            url: SecureUrl::parse(url).map_err(|problem| ConfigError::new("the URL of an MCP server", problem))?,
            transport: Rc::new(transport),
            is_on_network: false,
            resource: None,
            access: Access::None,
            headers: Vec::new(),
            forwarded_headers: Vec::new(),
            forwarded_meta: Vec::new(),
            revision: None,
            is_trusted: false,
            is_untrusted: false,
            timeout: Duration::from_secs(UPSTREAM_SECONDS),
            list_timeout: Duration::from_secs(UPSTREAM_LIST_SECONDS),
            list_ttl: Duration::ZERO,
            longest_ttl: Duration::from_secs(UPSTREAM_FRESH_SECONDS),
            handlers: Handlers::default(),
            passes_sampling: false,
            extensions: Map::new(),
        })
    }

    /// Sends this token with each request.
    ///
    /// # Errors
    /// The token is empty, or it has characters other than visible ASCII.
    pub fn bearer(self, token: &str) -> Result<Self, ConfigError> {
        let problem = "has characters that are not visible ASCII, or is empty";
        let token = headers::bearer(token).ok_or_else(|| ConfigError::new("the token for an MCP server", problem))?;
        Ok(Self { access: Access::Token(token), ..self })
    }

    /// Sends the token that `token_of` returns for the context of the call. For `None`, the client sends no token. A connection calls
    /// `token_of` once.
    ///
    /// The token must have been issued for this server: the specification forbids passing on the token of your own caller.
    #[must_use]
    pub fn bearer_with<F>(mut self, token_of: impl Fn(Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<Option<String>, HandlerError>> + 'static,
    {
        let token_of: Rc<TokenOf> = Rc::new(move |cx| token_of(cx).boxed_local());
        self.access = Access::Source(Box::new(move |_, _| Rc::new(TokenOfCall::new(token_of.clone()))));
        self
    }

    /// Sends a token that the authorization server issues to this program itself.
    #[must_use]
    pub fn client_credentials(mut self, client: ClientCredentials) -> Self {
        let client = Rc::new(client);
        let new = move |upstream: &Self, _: &str| -> Rc<dyn TokenSource> {
            Rc::new(IssuedToken::new(client.clone(), upstream.resource_server()))
        };
        self.access = Access::Source(Box::new(new));
        self
    }

    /// Sends the tokens of the caller of the handler, who signs in to this server in a browser.
    #[must_use]
    pub fn sign_in(mut self, sign_in: &SignIn) -> Self {
        let (page, sign_in) = (sign_in.url().clone(), sign_in.clone());
        let new = move |upstream: &Self, name: &str| -> Rc<dyn TokenSource> {
            Rc::new(PersonTokens::new(sign_in.clone(), name, upstream.is_untrusted))
        };
        self.access = Access::SignIn(page, Box::new(new));
        self
    }

    /// Sets the resource of the tokens for this server, if it is another one than the URL of the server. An authorization server issues a token
    /// for a resource.
    ///
    /// Use it if the metadata of the server names a resource that contains the server, such as its origin, because its tokens are then valid
    /// for all servers there. Use it also if the authorization server knows the server by another URL, for example because a service binding
    /// reaches it.
    ///
    /// # Errors
    /// `url` is neither an `https:` URL nor on localhost.
    pub fn resource(mut self, url: &str) -> Result<Self, ConfigError> {
        let url = SecureUrl::parse(url);
        self.resource = Some(url.map_err(|problem| ConfigError::new("the resource of an MCP server", problem))?);
        Ok(self)
    }

    /// Adds a header to each request.
    ///
    /// # Errors
    /// The client or the runtime sets this header, its name is not valid, or the value is not visible ASCII.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, ConfigError> {
        self.headers.push(headers::own_header(name, value)?);
        Ok(self)
    }

    /// Passes a header of the caller's request on to the server, such as `x-tenant`. No other header of the caller reaches a server. A value
    /// of more than 1 KiB, or that is not visible ASCII, is not passed on. An answer to a question, such as an approval, counts only for a
    /// request with the same value.
    ///
    /// # Errors
    /// The client or the runtime sets this header, or the program passes on too many.
    pub fn forward_header(mut self, name: &str) -> Result<Self, ConfigError> {
        let name = headers::own_name(name)?;
        forwarded::record(Place::Header, name.as_str())?;
        self.forwarded_headers.push(name);
        Ok(self)
    }

    /// Passes a member of the `_meta` of the caller's request on to the server, such as `example.com/tenant`, or the `baggage` of its trace. A
    /// value of more than 1 KiB is not passed on. An answer to a question, such as an approval, counts only for a request with the same value.
    ///
    /// # Errors
    /// The name has no prefix, the prefix is that of the protocol or of this library, or the program passes on too many.
    pub fn forward_meta(mut self, name: impl Into<Text>) -> Result<Self, ConfigError> {
        let name = name.into();
        let is_own = OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if is_own || !(name.contains('/') || name == "baggage") {
            let problem = "must be `baggage`, or have a prefix of your own, such as `example.com/tenant`";
            return Err(ConfigError::new("a member of `_meta` to pass on", problem));
        }
        // The baggage of a trace differs between the rounds of a call.
        if name != "baggage" {
            forwarded::record(Place::Meta, &name)?;
        }
        self.forwarded_meta.push(name);
        Ok(self)
    }

    /// Declares to this server that the program supports the extension `id`. `settings` is an object.
    ///
    /// A modern server gets the declaration with each request, and a legacy server in `initialize`. By itself, the
    /// client declares only tasks, to modern servers.
    ///
    /// # Errors
    /// The identifier has no prefix, or the settings are not an object.
    ///
    /// ```
    /// use edge_mcp::client::Upstream;
    /// use serde_json::json;
    ///
    /// let books = Upstream::at("https://books.example.com/mcp")?.extension("com.example/ledger", json!({}))?;
    /// # Ok::<_, edge_mcp::ConfigError>(())
    /// ```
    pub fn extension(mut self, id: impl Into<String>, settings: Value) -> Result<Self, ConfigError> {
        let id = id.into();
        if let Some(problem) = identifier_problem(&id, &settings) {
            let problem = format!("{problem} (got `{}`)", shortened(&id));
            return Err(ConfigError::new("an extension for an MCP server", problem));
        }
        self.extensions.insert(id, settings);
        Ok(self)
    }

    /// Sets the revision of the server. The client then does not negotiate, even if an answer contradicts the revision. A legacy server can
    /// still choose another legacy revision in its answer to `initialize`.
    #[must_use]
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Trusts the annotations of the server's tools. The client may then repeat a failed call of a read-only or idempotent tool, and
    /// [`McpClient::read_only_tools`](super::McpClient::read_only_tools) contains the read-only tools.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        self.is_trusted = true;
        self
    }

    /// Sets the time limit of a request: 25 s by default.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Sets the time limit of a request for a page of a list: 10 s by default.
    #[must_use]
    pub fn list_timeout(mut self, time: Duration) -> Self {
        self.list_timeout = time;
        self
    }

    /// Sets the time for which the client caches the lists of a legacy server. Such a server sends no cache hints, so by default the client
    /// does not cache its lists.
    #[must_use]
    pub fn list_ttl(mut self, time: Duration) -> Self {
        self.list_ttl = time;
        self
    }
}

/// The functions that answer the questions of the server.
impl Upstream {
    /// Answers the forms of the server (elicitation) with a function of the program.
    ///
    /// [`FormAnswer::Accepted`] contains the content of the form: an object with its fields. The client adds the defaults of the form for
    /// absent fields, and checks the content against the form. If the function fails, the call fails.
    ///
    /// To ask the caller of this program, use [`Call::ask_caller`](super::Call::ask_caller) instead. The function itself must not ask the caller:
    /// in the next round, the client would send the call to a legacy server a second time.
    ///
    /// ```
    /// use edge_mcp::client::Upstream;
    /// use edge_mcp::FormAnswer;
    /// use serde_json::json;
    ///
    /// let depot = Upstream::at("https://depot.example.com/mcp")?
    ///     .on_elicitation(|form, _| async move {
    ///         Ok(if form.message == "Which city?" { FormAnswer::Accepted(json!({ "city": "Lyon" })) } else { FormAnswer::Declined })
    ///     });
    /// # Ok::<_, edge_mcp::ConfigError>(())
    /// ```
    #[must_use]
    pub fn on_elicitation<F>(mut self, answer: impl Fn(Elicitation, Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<FormAnswer<Value>, HandlerError>> + 'static,
    {
        let answer = Rc::new(answer);
        self.handlers.form = Some(Rc::new(move |question, cx| {
            let (answer, question) = (answer.clone(), Elicitation::read(question)?);
            let form = Form::of(question.schema.clone(), &cx.request().foreign_steps().compilation)?;
            let answered = async move {
                let outcome = answer(question, cx.clone()).await;
                answer::to_form(outcome, &form, &cx.request().foreign_steps().checks)
            };
            Ok(answered.boxed_local())
        }));
        self
    }

    /// Answers the requests of the server to open a URL with a function of the program. The client does not fetch the URL.
    #[must_use]
    pub fn on_url_elicitation<F>(mut self, answer: impl Fn(UrlElicitation, Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<FormAnswer<()>, HandlerError>> + 'static,
    {
        let answer = Rc::new(answer);
        self.handlers.url = Some(Rc::new(move |question, cx| {
            let (answer, request) = (answer.clone(), UrlElicitation::read(question)?);
            Ok(async move { answer::to_url(answer(request, cx).await) }.boxed_local())
        }));
        self
    }

    /// Answers the requests of the server for text from a model (sampling) with a function of the program.
    ///
    /// Revision 2026-07-28 of the protocol deprecates sampling. A revision from 2027-07-28 on can remove it.
    #[must_use]
    pub fn on_sampling<F>(mut self, answer: impl Fn(SamplingRequest, Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<ModelAnswer, HandlerError>> + 'static,
    {
        let answer = Rc::new(answer);
        self.handlers.sampling = Some(Rc::new(move |question, cx| {
            let (answer, request) = (answer.clone(), SamplingRequest::read(question)?);
            Ok(async move { answer::to_sampling(answer(request, cx).await) }.boxed_local())
        }));
        self
    }

    /// Passes the requests of the server for text from a model (sampling) to the caller of this program, if the call
    /// [asks the caller](super::Call::ask_caller). The caller's model then writes the text, and the caller pays for it.
    ///
    /// Revision 2026-07-28 of the protocol deprecates sampling. A revision from 2027-07-28 on can remove it.
    #[must_use]
    pub fn pass_sampling(mut self) -> Self {
        self.passes_sampling = true;
        self
    }

    /// Answers the requests of the server for the roots with these folders.
    ///
    /// Revision 2026-07-28 of the protocol deprecates roots. A revision from 2027-07-28 on can remove them.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        let roots: Vec<Root> = roots.into_iter().collect();
        self.handlers.roots = Some(Rc::new(move |_, _| Ok(ready(Ok(answer::to_roots(&roots))).boxed_local())));
        self
    }
}

impl Upstream {
    /// Returns whether requests contain a secret of the program or a value of its caller, which a server that a user chose must not get.
    pub(super) fn sends_secrets(&self) -> bool {
        !self.headers.is_empty()
            || !self.forwarded_headers.is_empty()
            || !self.forwarded_meta.is_empty()
            || matches!(self.access, Access::Token(_) | Access::Source(_))
    }

    /// Returns the server as the one for which tokens are requested.
    pub(super) fn resource_server(&self) -> ResourceServer {
        ResourceServer {
            url: self.url.clone(),
            resource: self.resource.clone(),
            transport: self.transport.clone(),
            is_local: self.is_on_network && is_on_localhost(self.url.as_str()),
        }
    }

    /// Returns the URL of the page at which persons sign in to the server.
    pub(super) fn sign_in_page(&self) -> Option<&str> {
        let Access::SignIn(page, _) = &self.access else { return None };
        Some(page.as_str())
    }

    /// Sends a request. If the server redirects it to another path of its origin, and `may_follow` returns true for the new URL, sends it there.
    ///
    /// # Errors
    /// [`FetchError`], as [`Transport::open`].
    pub(super) async fn open(
        &self,
        request: Outbound,
        host: &Rc<dyn Host>,
        may_follow: impl FnOnce(&str) -> bool,
    ) -> Result<Opened, FetchError> {
        let opened = self.transport.open(request.clone(), host).await?;
        let Some(url) = redirect::target(&opened, &request.url).filter(|url| may_follow(url)) else {
            return Ok(opened);
        };
        drop(opened);
        self.transport.open(Outbound { url, ..request }, host).await
    }

    /// Creates the credential for a connection to the server, which has this name.
    pub(super) fn credential(&self, name: &str) -> Credential {
        match &self.access {
            Access::None => Credential::None,
            Access::Token(header) => Credential::Fixed(header.clone()),
            Access::Source(source) | Access::SignIn(_, source) => Credential::Source(source(self, name)),
        }
    }
}

impl fmt::Debug for Upstream {
    /// Writes the URL, but no token, no header and no query, because a header or a query may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("url", &self.url.without_query()).finish_non_exhaustive()
    }
}
