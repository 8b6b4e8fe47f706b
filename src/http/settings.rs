//! The settings of an endpoint, read from environment variables.
//!
//! A wrong value is an error, so the endpoint answers 503 and names the variable. `docs/authorization.md` has a table of all variables.

use std::rc::Rc;

use super::authenticate::{Authentication, Misconfiguration};
use super::endpoint::Endpoint;
use super::log_line::LogPolicy;
use super::origin::{AllowedOrigins, is_origin};
use crate::auth::rate_limit::RateLimiting;
use crate::auth::{AnyOf, Introspection, Jwt, ProtectedResource, StateKeys, StaticTokens};
use crate::config::{ConfigError, Variables};
use crate::host::Environment;

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
    pub fn configured(mut self, environment: &impl Environment) -> Self {
        match self.configure(environment) {
            Ok(()) => self,
            Err(error) => self.close(Misconfiguration { problem: error.to_string(), is_public: true }),
        }
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// A variable has a wrong value.
    fn configure(&mut self, environment: &impl Environment) -> Result<(), ConfigError> {
        let variables = Variables::of(environment);
        if variables.get("MCP_SERVERLESS")?.is_some_and(|value| value != "true") {
            let problem = "must be \"true\", because the server keeps no sessions: remove it";
            return Err(ConfigError::new("MCP_SERVERLESS", problem));
        }
        self.origins.configure(origins(&variables)?);
        // An error in the keys is reported when a handler asks for input, because most servers need no keys.
        self.engine.state_keys.configure(Rc::new(StateKeys::of_variables(&variables)));
        self.engine.task_objects.configure(environment.task_objects("MCP_TASKS"));
        self.engine.version = self.engine.version.take().or_else(|| environment.version());
        self.configured_resource = ProtectedResource::of_variables(&variables)?;
        let resource = std::mem::take(&mut self.access.resource).or(&self.configured_resource);
        self.set_resource(resource);
        if let Some(has_page) = variables.choice("MCP_PAGE", ["off", "on"])? {
            self.has_page.configure(has_page);
        }
        if let Some(is_all) = variables.choice("MCP_LOG", ["failures", "all"])? {
            self.log.configure(if is_all { LogPolicy::All } else { LogPolicy::Failures });
        }
        if let Some(limit) = environment.rate_limit("MCP_RATE_LIMIT") {
            self.access.rate_limiting.configure(RateLimiting::On(limit));
        }
        let authentication = authentication(&variables);
        self.access.environment_requires_tokens = matches!(authentication, Ok(Some(Authentication::Token(_))) | Err(_));
        // `configure` does not replace the authentication that the program has set. In that case, an error in these variables is ignored.
        let misconfigured = |error: ConfigError| Misconfiguration { problem: error.to_string(), is_public: true };
        if let Some(authentication) =
            authentication.unwrap_or_else(|error| Some(Authentication::Misconfigured(misconfigured(error))))
        {
            self.access.authentication.configure(authentication);
        }
        Ok(())
    }
}

/// Returns the authentication of callers, if the environment sets it. `MCP_AUTH` names the validators. If it is `none`, `MCP_ALLOW_PUBLIC`
/// decides whether all callers are served, or those on the same machine.
fn authentication(variables: &Variables<'_>) -> Result<Option<Authentication>, ConfigError> {
    let is_public = variables.choice("MCP_ALLOW_PUBLIC", ["no", "yes"])?.unwrap_or(false);
    let names = variables.list("MCP_AUTH")?;
    match &*names {
        [] => return Ok(None),
        [none] if none == "none" => return Ok(Some(Authentication::Open { is_public })),
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
    Ok(Some(Authentication::Token(Box::new(validators))))
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
