//! The settings of an endpoint, read from environment variables.
//!
//! A wrong value is an error, so the endpoint answers 503 and names the variable. `docs/authorization.md` has a table of all variables.

use std::rc::Rc;

use super::log_policy::LogPolicy;
use super::origin::{AllowedOrigins, is_origin};
use crate::auth::{AnyOf, Introspection, Jwt, ProtectedResource, StateKeys, StaticTokens};
use crate::call::session_required::SessionRequired;
use crate::config::{ConfigError, Variables};
use crate::host::{Environment, RateLimit, TaskObjects};

/// The settings of an endpoint.
pub(super) struct Settings {
    pub origins: AllowedOrigins,
    pub state_keys: Result<StateKeys, ConfigError>,
    pub resource: ProtectedResource,
    /// Whether the landing page is enabled. `None` if the environment does not set it.
    pub has_page: Option<bool>,
    pub log: Option<LogPolicy>,
    pub rate_limit: Option<RateLimit>,
    pub callers: Result<Callers, ConfigError>,
    /// The objects for durable tasks, if the environment has them.
    pub task_objects: Option<Rc<dyn TaskObjects>>,
    pub version: Option<String>,
}

/// The callers that the endpoint serves.
pub(super) enum Callers {
    /// The environment does not set them.
    Unset,
    /// Callers whose token one of the validators accepts.
    WithToken(AnyOf),
    /// Callers on the same machine (`MCP_AUTH=none`).
    SameMachine,
    /// All callers (`MCP_AUTH=none` and `MCP_ALLOW_PUBLIC=yes`).
    All,
}

/// Reads the settings.
///
/// # Errors
/// Fails if a variable has a wrong value.
pub(super) fn read(environment: &impl Environment) -> Result<Settings, ConfigError> {
    let variables = Variables::of(environment);
    if variables.get("MCP_SERVERLESS")?.is_some_and(|value| value != "true") {
        let problem = format!("must be \"true\": {}", SessionRequired::Stateful);
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
