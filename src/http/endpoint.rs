//! The configuration of an endpoint. `pipeline` answers its requests.

use std::any::Any;
use std::fmt::Display;
use std::rc::Rc;

use super::authenticate::{AccessControl, Authentication, Misconfiguration};
use super::limits::Limits;
use super::origin::AllowedOrigins;
use super::settings::{self, Callers, Settings};
use crate::auth::rate_limit::RateLimiting;
use crate::auth::{ConfigError, ProtectedResource, StateKeys, TokenValidator};
use crate::call::request_info::RequestInfo;
use crate::host::{Environment, RateLimit};
use crate::protocol::description::Text;
use crate::server::build_error::BuildError;
use crate::server::builder::McpServer;

type ServerFunction = Box<dyn Fn(&RequestInfo) -> Result<McpServer, BuildError>>;

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
    pub(super) path: Text,
    pub(super) server: ServerFunction,
    pub(super) access: AccessControl,
    pub(super) origins: AllowedOrigins,
    pub(super) limits: Limits,
    pub(super) json_only: bool,
    pub(super) has_page: bool,
    /// Whether each request writes a log line.
    pub(super) logs_requests: bool,
    pub(super) state_keys: Rc<Result<StateKeys, ConfigError>>,
}

impl Endpoint {
    /// Creates an endpoint at `/mcp`. `server` builds a server for each request. If it fails, the caller gets a 503 with a fixed text, and
    /// the cause is in the log.
    pub fn new(server: impl Fn(&RequestInfo) -> Result<McpServer, BuildError> + 'static) -> Self {
        Self {
            path: "/mcp".into(),
            server: Box::new(server),
            access: AccessControl::closed(),
            origins: AllowedOrigins::default(),
            limits: Limits::default(),
            json_only: false,
            has_page: true,
            logs_requests: true,
            state_keys: Rc::new(StateKeys::from_text("MCP_STATE_KEY", None)),
        }
    }

    /// Creates an endpoint that answers every request with 503 and the text of `error`, for a setting in which the program itself finds an
    /// error.
    pub fn misconfigured(error: ConfigError) -> Self {
        Self::closed_by(Misconfiguration { problem: error.to_string(), is_public: true })
    }

    fn closed_by(error: Misconfiguration) -> Self {
        let problem = error.problem.clone();
        let server = move |_: &RequestInfo| Err(BuildError::new("server", "misconfigured", problem.as_str()));
        let authentication = Authentication::Misconfigured(error);
        Self { access: AccessControl { authentication, ..AccessControl::closed() }, ..Self::new(server) }
    }

    /// Sets the path. The default is `/mcp`.
    #[must_use]
    pub fn path(mut self, path: impl Into<Text>) -> Self {
        self.path = path.into();
        self
    }

    /// Configures the endpoint by environment variables: authentication, the server's URL and issuers, the allowed origins, the rate limit
    /// and the keys for request states. `docs/authorization.md` has a table of the variables. A wrong value is a 503 that names the
    /// variable. If `MCP_AUTH` is not set, the endpoint keeps the validator that the program has set.
    ///
    /// ```
    /// # use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo};
    /// # fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    /// #     McpServer::builder("empty", "1.0.0").build()
    /// # }
    /// let variable = |name: &str| std::env::var(name).ok();
    /// let endpoint = Endpoint::new(server).configured(&variable);
    /// ```
    #[must_use]
    pub fn configured(self, environment: &impl Environment) -> Self {
        let has_auth = !matches!(self.access.authentication, Authentication::Undecided);
        match settings::read(environment, self.access.resource.clone(), has_auth) {
            Ok(settings) => self.with(settings),
            Err(error) => Self::misconfigured(error),
        }
    }

    fn with(self, settings: Settings) -> Self {
        let Settings { origins, state_keys, resource, has_page, rate_limit, callers } = settings;
        let mut endpoint = self.allowed_origins(origins).resource(resource);
        // An error in the keys is reported when a handler asks for input, because most servers need no keys.
        endpoint.state_keys = Rc::new(state_keys);
        endpoint.has_page = has_page.unwrap_or(endpoint.has_page);
        if let Some(limit) = rate_limit {
            endpoint = endpoint.rate_limit(limit);
        }
        match callers {
            Callers::Unset => endpoint,
            Callers::WithToken(validator) => endpoint.auth(validator),
            Callers::SameMachine => endpoint.without_auth(),
            Callers::Everybody => endpoint.open_to_the_public(),
        }
    }

    /// Requires a bearer token that `validator` accepts.
    ///
    /// An async function or closure is a validator too: see [`TokenValidator`].
    #[must_use]
    pub fn auth(self, validator: impl TokenValidator + 'static) -> Self {
        self.authenticated(Authentication::Token(Box::new(validator)))
    }

    /// Serves callers on the same machine without authentication: the URL must be on localhost, and the client's
    /// [address](crate::host::Request::client_address), if the host knows it, must be a loopback address. Other requests get a 503.
    #[must_use]
    pub fn without_auth(self) -> Self {
        self.authenticated(Authentication::Open { is_public: false })
    }

    /// Serves everybody without authentication.
    #[must_use]
    pub fn open_to_the_public(self) -> Self {
        self.authenticated(Authentication::Open { is_public: true })
    }

    /// Sets the authentication, unless the endpoint is misconfigured: a later setting does not hide the error.
    fn authenticated(mut self, authentication: Authentication) -> Self {
        if !matches!(self.access.authentication, Authentication::Misconfigured(_)) {
            self.access.authentication = authentication;
        }
        self
    }

    /// Sets the server's URL, the issuers of its tokens, and the scopes that they can have.
    #[must_use]
    pub fn resource(mut self, resource: ProtectedResource) -> Self {
        self.access.resource = resource;
        self
    }

    /// Declares that `scope` includes the scopes `others`, and all that those include.
    #[must_use]
    pub fn scope_includes(
        mut self,
        scope: impl Into<String>,
        others: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.access.hierarchy.add(scope.into(), others.into_iter().map(Into::into).collect());
        self
    }

    /// Limits the requests of each caller, and the requests of each IP address that are not authenticated. Beyond the limit, the answer is
    /// 429.
    #[must_use]
    pub fn rate_limit(mut self, limit: RateLimit) -> Self {
        self.access.rate_limiting = RateLimiting::On(limit);
        self
    }

    /// Turns rate limits off. Without a rate limit and without this method, requests are not limited either, and a warning is logged.
    #[must_use]
    pub fn without_rate_limit(mut self) -> Self {
        self.access.rate_limiting = RateLimiting::Off;
        self
    }

    /// Sets the origins whose pages may call. The default is pages on localhost. Pages of the server's own [URL](Self::resource) may always
    /// call.
    #[must_use]
    pub fn allowed_origins(mut self, origins: AllowedOrigins) -> Self {
        self.origins = origins;
        self
    }

    /// Sets the keys that encrypt the state of calls which ask for input. Without them, such a call fails, and the log says why.
    #[must_use]
    pub fn state_keys(mut self, keys: StateKeys) -> Self {
        self.state_keys = Rc::new(Ok(keys));
        self
    }

    /// Answers with JSON only. Progress and log notifications are dropped.
    #[must_use]
    pub fn json_only(mut self) -> Self {
        self.json_only = true;
        self
    }

    /// Turns off the landing page at `/`.
    ///
    /// A browser that opens `/` gets the landing page. It describes the server, explains how to connect a client, lists what the server
    /// offers, and has forms to try it. The page calls the endpoint as any client does, with a token that the visitor types in if one is
    /// needed.
    #[must_use]
    pub fn without_page(mut self) -> Self {
        self.has_page = false;
        self
    }

    /// Sets the limits on sizes.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Limits { in_flight: limits.in_flight.max(limits.body), ..limits };
        self
    }
}

/// Converts the result of a function that configures an endpoint. An error closes the endpoint: it answers every request with 503, and
/// its log has the error. A [`ConfigError`] is shown to callers too, because it contains no secrets.
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
            let is_public = (&error as &dyn Any).is::<ConfigError>();
            Self::closed_by(Misconfiguration { problem: error.to_string(), is_public })
        })
    }
}
