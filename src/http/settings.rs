//! The settings of an endpoint, read from environment variables.
//!
//! A wrong value is an error, so the endpoint answers 503 and names the variable. `docs/authorization.md` has a table of all variables.

use std::rc::Rc;

use super::authenticate::{Authentication, Misconfiguration};
use super::endpoint::Endpoint;
use super::log_policy::LogPolicy;
use super::origin::{AllowedOrigins, is_origin};
use crate::auth::rate_limit::RateLimiting;
use crate::auth::{AnyOf, Introspection, Jwt, ProtectedResource, StateKeys, StaticTokens};
use crate::config::{ConfigError, Variables};
use crate::host::{Environment, RateLimit, TaskObjects};

/// The settings of an endpoint.
struct Settings {
    origins: AllowedOrigins,
    state_keys: Result<StateKeys, ConfigError>,
    resource: ProtectedResource,
    /// Whether the landing page is enabled. `None` if the environment does not set it.
    has_page: Option<bool>,
    log: Option<LogPolicy>,
    rate_limit: Option<RateLimit>,
    callers: Result<Callers, ConfigError>,
    /// The objects for durable tasks, if the environment has them.
    task_objects: Option<Rc<dyn TaskObjects>>,
    version: Option<String>,
}

/// The callers that the endpoint serves.
enum Callers {
    /// The environment does not set them.
    Unset,
    /// Callers whose token one of the validators accepts.
    WithToken(AnyOf),
    /// Callers on the same machine (`MCP_AUTH=none`).
    SameMachine,
    /// All callers (`MCP_AUTH=none` and `MCP_ALLOW_PUBLIC=yes`).
    All,
}

impl Endpoint {
    /// Configures the endpoint by environment variables: authentication, the server's URL and issuers, the allowed origins, the landing
    /// page, the rate limit, the log and the keys for request states. `docs/authorization.md` has a table of the variables.
    ///
    /// If a value is wrong, every request gets a 503 that names the variable. There are two exceptions. A wrong `MCP_STATE_KEY` affects
    /// only calls that ask for input, and servers that need the key for every request: with tools that require approval, with durable tasks,
    /// or with tasks that they pass on. Errors in the variables for authentication are ignored if the program sets the authentication.
    ///
    /// Settings that the program makes by other methods, before or after this call, take precedence over the environment.
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
        match read(environment) {
            Ok(settings) => self.with(settings),
            Err(error) => self.close(Misconfiguration { problem: error.to_string(), is_public: true }),
        }
    }

    fn with(mut self, settings: Settings) -> Self {
        let Settings { origins, state_keys, resource, has_page, log, rate_limit, callers, task_objects, version } =
            settings;
        self.origins.configure(origins);
        // An error in the keys is reported when a handler asks for input, because most servers need no keys.
        self.engine.state_keys.configure(Rc::new(state_keys));
        self.engine.task_objects.configure(task_objects);
        self.engine.version = self.engine.version.or(version);
        if let Some(has_page) = has_page {
            self.has_page.configure(has_page);
        }
        if let Some(log) = log {
            self.log.configure(log);
        }
        if let Some(limit) = rate_limit {
            self.access.rate_limiting.configure(RateLimiting::On(limit));
        }
        self.access.environment_requires_tokens = matches!(callers, Ok(Callers::WithToken(_)) | Err(_));
        // `configure` does not replace the authentication that the program has set. In that case, an error in these variables is ignored.
        let authentication = match callers {
            Ok(Callers::Unset) => None,
            Ok(Callers::WithToken(validator)) => Some(Authentication::Token(Box::new(validator))),
            Ok(Callers::SameMachine) => Some(Authentication::Open { is_public: false }),
            Ok(Callers::All) => Some(Authentication::Open { is_public: true }),
            Err(error) => {
                let problem = error.to_string();
                Some(Authentication::Misconfigured(Misconfiguration { problem, is_public: true }))
            }
        };
        if let Some(authentication) = authentication {
            self.access.authentication.configure(authentication);
        }
        let own = std::mem::take(&mut self.access.resource);
        self.set_resource(own.or(&resource));
        self.configured_resource = resource;
        self
    }
}

/// Reads the settings.
///
/// # Errors
/// Fails if a variable has a wrong value.
fn read(environment: &impl Environment) -> Result<Settings, ConfigError> {
    let variables = Variables::of(environment);
    if variables.get("MCP_SERVERLESS")?.is_some_and(|value| value != "true") {
        let problem = "must be \"true\", because the server keeps no sessions: remove it";
        return Err(ConfigError::new("MCP_SERVERLESS", problem));
    }
    Ok(Settings {
        origins: origins(&variables)?,
        state_keys: StateKeys::of_variables(&variables),
        resource: ProtectedResource::of_variables(&variables)?,
        has_page: variables.choice("MCP_PAGE", ["off", "on"])?,
        log: variables
            .choice("MCP_LOG", ["failures", "all"])?
            .map(|is_all| if is_all { LogPolicy::All } else { LogPolicy::Failures }),
        rate_limit: environment.rate_limit("MCP_RATE_LIMIT"),
        callers: callers(&variables),
        task_objects: environment.task_objects("MCP_TASKS"),
        version: environment.version(),
    })
}

/// Returns the callers that the endpoint serves. `MCP_AUTH` names the validators. If it is `none`, `MCP_ALLOW_PUBLIC` decides.
fn callers(variables: &Variables<'_>) -> Result<Callers, ConfigError> {
    let is_public = variables.choice("MCP_ALLOW_PUBLIC", ["no", "yes"])?.unwrap_or(false);
    let names = variables.list("MCP_AUTH")?;
    match &*names {
        [] => return Ok(Callers::Unset),
        [none] if none == "none" && is_public => return Ok(Callers::All),
        [none] if none == "none" => return Ok(Callers::SameMachine),
        _ => {}
    }
    let mut validators = AnyOf::new();
    for name in names {
        validators = match &*name {
            "static" => validators.or(StaticTokens::of_variables(variables)?),
            "introspection" => validators.or(Introspection::of_variables(variables)?),
            "jwt" => validators.or(Jwt::of_variables(variables)?),
            _ => {
                let problem =
                    "must be \"static\", \"introspection\", \"jwt\", several of these separated by commas, or \"none\"";
                return Err(ConfigError::new("MCP_AUTH", problem));
            }
        };
    }
    Ok(Callers::WithToken(validators))
}

fn origins(variables: &Variables<'_>) -> Result<AllowedOrigins, ConfigError> {
    const NAME: &str = "MCP_ALLOWED_ORIGINS";
    variables.list(NAME)?.into_iter().try_fold(AllowedOrigins::local(), |origins, origin| {
        if is_origin(&origin) {
            Ok(origins.and(origin))
        } else {
            Err(ConfigError::new(NAME, "must list hosts (app.example.com) or origins (https://app.example.com)"))
        }
    })
}
