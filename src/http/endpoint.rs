//! The configuration of an endpoint. `pipeline` answers its requests.

use std::any::{Any, type_name};
use std::error::Error;
use std::fmt::Display;
use std::future::Future;
use std::rc::Rc;

use super::authenticate::{AccessControl, Authentication, Misconfiguration};
#[cfg(feature = "page")]
use super::landing::SearchBox;
use super::log_line::LogPolicy;
use super::origin::AllowedOrigins;
use super::page::{Page, PageRequest};
use crate::auth::rate_limit::RateLimiting;
use crate::auth::{ProtectedResource, StateKeys, TokenValidator};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::request_info::RequestInfo;
use crate::call::trace::AllTelemetry;
use crate::config::ConfigError;
use crate::engine::begin::Engine;
use crate::engine::choice::Choice;
use crate::engine::limits::Limits;
use crate::host::{RateLimit, TaskObjects, Telemetry};
use crate::server::build_error::BuildError;
use crate::server::builder::McpServer;
use crate::text::Text;

/// A server at an HTTP path, with its authentication and limits.
///
/// An endpoint answers every request with 503 until its authentication is set, by [`auth`](Self::auth),
/// [`without_auth`](Self::without_auth) or [`configured`](Self::configured).
///
/// ```
/// use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo, StaticTokens, Tool};
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
///     McpServer::builder("greeter", "1.0.0").tool(greet).build()
/// }
///
/// let tokens = r#"[{"token": "s3cret", "subject": "ada", "scopes": []}]"#;
/// let endpoint = Endpoint::new(server).auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens))?);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
pub struct Endpoint {
    pub(crate) path: Text,
    pub(crate) engine: Engine,
    pub(super) access: AccessControl,
    /// The protected resource as the environment configures it.
    pub(super) configured_resource: ProtectedResource,
    pub(super) origins: Choice<AllowedOrigins>,
    pub(super) pages: Vec<Page>,
    pub(super) has_page: Choice<bool>,
    #[cfg(feature = "page")]
    pub(super) search_box: SearchBox,
    pub(super) log: Choice<LogPolicy>,
}

impl Endpoint {
    /// Creates an endpoint at `/mcp` for a server whose items depend on the request. `server` builds a server for each request. If it fails,
    /// the caller gets a 503 with a fixed text, and the cause is in the log. If the items are the same in each request, use [`of`](Self::of).
    pub fn new(server: impl Fn(&RequestInfo) -> Result<McpServer, BuildError> + 'static) -> Self {
        Self {
            path: "/mcp".into(),
            engine: Engine::new(Box::new(server)),
            access: AccessControl::closed(),
            configured_resource: ProtectedResource::default(),
            origins: Choice::new(AllowedOrigins::default()),
            pages: Vec::new(),
            has_page: Choice::new(true),
            #[cfg(feature = "page")]
            search_box: SearchBox::default(),
            log: Choice::new(LogPolicy::default()),
        }
    }

    /// Creates an endpoint at `/mcp` for a server that is built once: the ordinary way. All requests share its definitions, which saves the
    /// time to build them. A list that is the same for all callers is serialized once for each revision. Each request still has its own caller, so lists,
    /// scopes and [`visible_if`](crate::Tool::visible_if) work as on other endpoints. All requests also share the values that handlers
    /// capture. Add values that belong to one request in [`each`](Self::each).
    ///
    /// ```
    /// use edge_mcp::{BuildError, Endpoint, McpServer, Tool};
    ///
    /// fn endpoint() -> Result<Endpoint, BuildError> {
    ///     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
    ///     Ok(Endpoint::of(McpServer::builder("greeter", "1.0.0").tool(greet).build()?).without_auth())
    /// }
    /// ```
    pub fn of(server: McpServer) -> Self {
        let server = server.caching_lists();
        Self::new(move |_| Ok(server.clone()))
    }

    /// Runs `prepare` for each request, before the server function. `prepare` can add values that belong to this request. It also runs for
    /// the landing page and `/server.json`, whose requests have no caller. If it fails, the caller gets a 503 with a fixed text, and the
    /// cause is in the log.
    ///
    /// ```
    /// use edge_mcp::{Context, Endpoint, McpServer, RequestInfo, Tool};
    ///
    /// struct Tenant(String);
    ///
    /// let tenant = |cx: Context| async move { cx.extension::<Tenant>().map_or(String::new(), |tenant| tenant.0.clone()) };
    /// let tenant = Tool::new("tenant", "Names the tenant of the caller.", tenant);
    /// let server = McpServer::builder("tenants", "1.0.0").tool(tenant).build()?;
    /// let endpoint = Endpoint::of(server).each(|request: &RequestInfo| {
    ///     request.extend(Tenant(request.header("X-Tenant").unwrap_or_default()));
    ///     Ok(())
    /// });
    /// # Ok::<_, edge_mcp::BuildError>(())
    /// ```
    #[must_use]
    pub fn each(mut self, prepare: impl Fn(&RequestInfo) -> Result<(), BuildError> + 'static) -> Self {
        self.engine.each.push(Box::new(prepare));
        self
    }

    /// Shares `value` between all requests of the isolate. Handlers get it by its type: [`Context::state`](crate::Context::state). The
    /// server function gets it by [`RequestInfo::state`].
    ///
    /// State is for bindings and configuration. Do not put anything into it that belongs to one request, such as a stub of a Durable
    /// Object, a session of a database or the body of a response. A second value of the same type closes the endpoint: every request gets
    /// a 503, and the log names the type.
    ///
    /// ```
    /// use edge_mcp::{BuildError, Context, Endpoint, HandlerError, McpServer, RequestInfo, Tool};
    ///
    /// struct App {
    ///     greeting: String,
    /// }
    ///
    /// async fn greet(cx: Context) -> Result<String, HandlerError> {
    ///     Ok(cx.state::<App>()?.greeting.clone())
    /// }
    ///
    /// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    ///     McpServer::builder("greeter", "1.0.0").tool(Tool::new("greet", "Says hello.", greet)).build()
    /// }
    ///
    /// let endpoint = Endpoint::new(server).state(App { greeting: "Hello".into() }).without_auth();
    /// ```
    #[must_use]
    pub fn state<T: 'static>(mut self, value: T) -> Self {
        if self.engine.state.add(value) {
            return self;
        }
        let problem = format!("the state `{}` is added twice", type_name::<T>());
        self.close(Misconfiguration { problem, is_public: false })
    }

    /// Creates an endpoint that answers every request with 503 and the text of `error`. Use it if the program finds an error in a setting.
    pub fn misconfigured(error: ConfigError) -> Self {
        Self::closed_by(Misconfiguration { problem: error.to_string(), is_public: error.is_public() })
    }

    fn closed_by(error: Misconfiguration) -> Self {
        let problem = error.problem.clone();
        let server = move |_: &RequestInfo| Err(BuildError::new("server", "misconfigured", problem.as_str()));
        Self::new(server).close(error)
    }

    /// Sets the path. The default is `/mcp`.
    #[must_use]
    pub fn path(mut self, path: impl Into<Text>) -> Self {
        self.path = path.into();
        self
    }

    /// Makes the endpoint answer every request with 503.
    pub(super) fn close(mut self, error: Misconfiguration) -> Self {
        self.access.authentication.set(Authentication::Misconfigured(error));
        self
    }

    /// Requires a bearer token that `validator` accepts.
    ///
    /// An async function or closure is a validator too: see [`TokenValidator`].
    #[must_use]
    pub fn auth(self, validator: impl TokenValidator + 'static) -> Self {
        self.authenticated(Authentication::Token(Box::new(validator)))
    }

    /// Serves callers on the same machine without authentication. The URL must be on localhost, the
    /// [address](crate::host::Request::client_address) of the client must be a loopback address, and the request must not have the headers of
    /// a proxy. Other requests get a 503.
    #[must_use]
    pub fn without_auth(self) -> Self {
        self.authenticated(Authentication::Open { is_public: false })
    }

    /// Serves all callers without authentication.
    #[must_use]
    pub fn open_to_the_public(self) -> Self {
        self.authenticated(Authentication::Open { is_public: true })
    }

    /// Sets the authentication, unless an error has closed the endpoint. A closed endpoint stays closed, so that a later setting does not
    /// hide the error.
    fn authenticated(mut self, authentication: Authentication) -> Self {
        let known = &self.access.authentication;
        let is_closed = known.is_set_by_program() && matches!(**known, Authentication::Misconfigured(_));
        if !is_closed {
            self.access.authentication.set(authentication);
        }
        self
    }

    /// Sets the URL of the server, its authorization servers, and the scopes that clients should request.
    #[must_use]
    pub fn resource(mut self, resource: ProtectedResource) -> Self {
        let resource = resource.or(&self.configured_resource);
        self.set_resource(resource);
        self
    }

    /// Sets the protected resource, whose URL the engine knows too.
    pub(super) fn set_resource(&mut self, resource: ProtectedResource) {
        self.engine.url = resource.url.as_ref().map(|url| url.as_str().into());
        self.access.resource = resource;
    }

    /// Declares that `scope` includes the scopes `others`, and the scopes that these include.
    #[must_use]
    pub fn scope_includes(
        mut self,
        scope: impl Into<String>,
        others: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.access.hierarchy.add(scope.into(), others.into_iter().map(Into::into).collect());
        self
    }

    /// Limits the requests of each caller, and the unauthenticated requests of each IP address. Requests beyond the limit get a 429.
    #[must_use]
    pub fn rate_limit(mut self, limit: RateLimit) -> Self {
        self.access.rate_limiting.set(RateLimiting::On(limit));
        self
    }

    /// Disables rate limits. If the program does not call this method and does not set a rate limit, requests are not limited either. The
    /// log then has a warning.
    #[must_use]
    pub fn without_rate_limit(mut self) -> Self {
        self.access.rate_limiting.set(RateLimiting::Off);
        self
    }

    /// Sets the origins whose web pages may call the endpoint. The default is localhost. The origin of the server's
    /// [URL](Self::resource) is always allowed.
    #[must_use]
    pub fn allowed_origins(mut self, origins: AllowedOrigins) -> Self {
        self.origins.set(origins);
        self
    }

    /// Sets the keys that encrypt the state of calls that ask for input. Without keys, such a call fails, and the log has the reason.
    #[must_use]
    pub fn state_keys(mut self, keys: StateKeys) -> Self {
        self.engine.state_keys.set(Rc::new(Ok(keys)));
        self
    }

    /// Sets the objects for the durable tasks of tools. Tasks also need [keys](Self::state_keys): without them, every request to a server with
    /// such tools gets a 503.
    #[must_use]
    pub fn task_objects(mut self, objects: impl TaskObjects + 'static) -> Self {
        self.engine.task_objects.set(Some(Rc::new(objects)));
        self
    }

    /// Sets the version of the program that is deployed. A durable task that an earlier version began is stopped if a step now has another
    /// input. Without a version, each attempt of a task may be one of another version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.engine.version = Some(version.into());
        self
    }

    /// Makes the endpoint answer with JSON only. Progress and log notifications are dropped.
    #[must_use]
    pub fn json_only(mut self) -> Self {
        self.engine.json_only = true;
        self
    }

    /// Lets the program read a credential of its callers: the header `Authorization`, `Cookie` or `Proxy-Authorization`. Otherwise, these headers
    /// are absent in the server function, in handlers and hooks, on pages, and wherever else a [`RequestInfo`] or a [`Context`] is. All other
    /// headers are always there.
    ///
    /// Code that reads a token can write it to a log, return it to a model, or send it to another server, for which it was not issued. The
    /// [caller](Context::caller) has all that a validator has read from the token. A page that keeps a session needs the cookie:
    ///
    /// ```
    /// # use edge_mcp::http::PageRequest;
    /// # use edge_mcp::{Context, HandlerError};
    /// # async fn account(_: PageRequest, _: Context) -> Result<http::Response<String>, HandlerError> {
    /// #     Ok(http::Response::new(String::new()))
    /// # }
    /// use edge_mcp::{Endpoint, McpServer};
    ///
    /// let endpoint = Endpoint::new(|_| McpServer::builder("parcels", "1.0.0").build());
    /// let endpoint = endpoint.page("/account", account).expose_header("cookie");
    /// ```
    #[must_use]
    pub fn expose_header(mut self, name: &str) -> Self {
        self.engine.exposed.add(name);
        self
    }

    /// Serves a page of the program at `path`, such as `/about`. The handler is an async function of a [`PageRequest`] and a [`Context`],
    /// which has the headers, the state and the network. The default deadline of a tool and the limit on bodies apply to a page.
    ///
    /// Callers do not need a token for a page, so [`caller`](Context::caller) is always an error. If calls of the endpoint need a token, the
    /// caller of a page has no scope: a page cannot call a tool that needs one. If a web page sends the request, its origin
    /// must be the origin of this page or an [allowed](Self::allowed_origins) origin. [`each`](Self::each) does not run for pages. A page
    /// at the path of the endpoint is ignored.
    ///
    /// An error of the handler becomes a 400 ([`HandlerError::invalid`]), a 404 ([`HandlerError::not_found`]) or a 500.
    ///
    /// ```
    /// use edge_mcp::http::PageRequest;
    /// use edge_mcp::{Context, Endpoint, HandlerError, McpServer};
    ///
    /// async fn about(_: PageRequest, cx: Context) -> Result<http::Response<String>, HandlerError> {
    ///     let is_known = cx.header("Cookie").is_some_and(|cookies| cookies.split("; ").any(|cookie| cookie == "seen=yes"));
    ///     let text = if is_known { "Welcome back." } else { "Welcome." };
    ///     Ok(http::Response::builder().header("Set-Cookie", "seen=yes; Secure; HttpOnly; SameSite=Lax").body(text.into())?)
    /// }
    ///
    /// let endpoint = Endpoint::new(|_| McpServer::builder("parcels", "1.0.0").build());
    /// let endpoint = endpoint.page("/about", about).expose_header("cookie");
    /// ```
    #[must_use]
    pub fn page<F, B>(mut self, path: impl Into<Text>, handler: impl Fn(PageRequest, Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<http::Response<B>, HandlerError>> + 'static,
        B: Into<Vec<u8>>,
    {
        self.pages.push(Page::new(path.into(), handler));
        self
    }

    /// Disables the landing page at `/`. Without the feature `page`, there is no landing page.
    ///
    /// The landing page shows the metadata of the server, instructions for clients, and forms to try its tools, resources and prompts. The
    /// page calls the endpoint as any client does. If the endpoint requires a token, the visitor types it in.
    #[must_use]
    pub fn without_page(mut self) -> Self {
        self.has_page.set(false);
        self
    }

    /// Adds a search box to the landing page. The box calls the tool with this name, and shows the passages that the tool finds. If the
    /// tool is not in the list of the caller's tools, the page does not show the box.
    ///
    /// The tool takes the argument `queryText`, and returns the passages as `sources` in its structured content. `docs/page.md` describes
    /// the result.
    ///
    /// ```
    /// # use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo};
    /// # fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    /// #     McpServer::builder("knowledge-base", "1.0.0").build()
    /// # }
    /// let endpoint = Endpoint::new(server).without_auth().page_search("search-passages");
    /// ```
    #[cfg(feature = "page")]
    #[must_use]
    pub fn page_search(mut self, tool: impl Into<Text>) -> Self {
        self.search_box = SearchBox::new(tool.into());
        self
    }

    /// Sets which requests are logged. The default is [`LogPolicy::Failures`].
    #[must_use]
    pub fn log(mut self, policy: LogPolicy) -> Self {
        self.log.set(policy);
        self
    }

    /// Records each operation: a request that the server answers, and a request that its MCP client sends while it answers. Each call of this
    /// method adds one more telemetry. `worker::tracing` and `worker::data_points` are those of Cloudflare Workers.
    ///
    /// Each request then has a trace id: that of the client, or a new one. The client's mark that its trace is sampled is passed on, and
    /// does not decide what is recorded.
    #[must_use]
    pub fn telemetry(mut self, telemetry: impl Telemetry + 'static) -> Self {
        let earlier = self.engine.telemetry.take().unwrap_or_else(|| Rc::new(AllTelemetry::default()));
        self.engine.telemetry = Some(earlier.with(Rc::new(telemetry)));
        self
    }

    /// Sets the limits on sizes.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.engine.limits = Limits { in_flight: limits.in_flight.max(limits.body), ..limits };
        self
    }
}

/// Converts the result of a function that configures an endpoint. An error closes the endpoint: it answers every request with 503, and
/// the log has the error. The answer shows a [`ConfigError`] or a [`BuildError`], also in a `Box<dyn Error>`: they name a setting or a definition, and
/// contain no secrets. The text of another error is only in the log.
///
/// ```
/// use edge_mcp::{BuildError, ConfigError, Endpoint, McpServer, RequestInfo, StaticTokens};
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("empty", "1.0.0").build()
/// }
///
/// fn endpoint(tokens: Option<&str>) -> Result<Endpoint, ConfigError> {
///     Ok(Endpoint::new(server).auth(StaticTokens::from_json("MCP_STATIC_TOKENS", tokens)?))
/// }
///
/// let closed = Endpoint::from(endpoint(None));
/// ```
impl<E: Display + 'static> From<Result<Self, E>> for Endpoint {
    fn from(configured: Result<Self, E>) -> Self {
        configured.unwrap_or_else(|error| {
            let is_public = is_public(&error);
            Self::closed_by(Misconfiguration { problem: error.to_string(), is_public })
        })
    }
}

/// Returns whether callers may see an error of an endpoint function. It is generic, so that the compiler decides it for each type of error.
fn is_public<E: 'static>(error: &E) -> bool {
    let error: &dyn Any = error;
    if let Some(error) = error.downcast_ref::<Box<dyn Error>>() {
        return error.downcast_ref().is_some_and(ConfigError::is_public) || error.is::<BuildError>();
    }
    error.downcast_ref().is_some_and(ConfigError::is_public) || error.is::<BuildError>()
}
