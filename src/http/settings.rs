//! The settings of an endpoint, read from environment variables.
//!
//! A wrong value is an error, so the endpoint answers 503 and names the variable. `docs/authorization.md` has a table of all variables.

use super::log_policy::LogPolicy;
use super::origin::{AllowedOrigins, is_origin};
use crate::auth::{Algorithm, AnyOf, Introspection, Jwt, ProtectedResource, StateKeys, StaticTokens, scopes};
use crate::call::session_required::SessionRequired;
use crate::config::{self, ConfigError};
use crate::host::{Environment, RateLimit};

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
    let variables = Variables(environment);
    if variables.get("MCP_SERVERLESS")?.is_some_and(|value| value != "true") {
        let problem = format!("must be \"true\": {}", SessionRequired::Stateful);
        return Err(ConfigError::new("MCP_SERVERLESS", problem));
    }
    Ok(Settings {
        origins: variables.origins()?,
        state_keys: variables
            .get("MCP_STATE_KEY")
            .and_then(|keys| StateKeys::from_text("MCP_STATE_KEY", keys.as_deref()))
            .map_err(|error| error.about_secrets(environment)),
        resource: variables.resource()?,
        has_page: variables.choice("MCP_PAGE", ["off", "on"])?,
        log: variables
            .choice("MCP_LOG", ["failures", "all"])?
            .map(|is_all| if is_all { LogPolicy::All } else { LogPolicy::Failures }),
        rate_limit: environment.rate_limit("MCP_RATE_LIMIT"),
        callers: variables.callers(),
    })
}

/// The variables of an environment.
struct Variables<'e, E>(&'e E);

impl<E: Environment> Variables<'_, E> {
    /// Returns the value of a variable, unless it is empty.
    ///
    /// # Errors
    /// Fails if the value is an array or a table. A configuration file can contain them, and the environment passes them as JSON.
    fn get(&self, name: &'static str) -> Result<Option<String>, ConfigError> {
        let value = self.0.variable(name).unwrap_or_default();
        let value = value.trim();
        if value.starts_with("[\"") || value.starts_with("{\"") {
            let problem =
                "must be a string, not an array or a table: separate the values of a list by spaces or commas";
            return Err(ConfigError::new(name, problem));
        }
        Ok((!value.is_empty()).then(|| value.to_owned()))
    }

    fn required(&self, name: &'static str, what: &str) -> Result<String, ConfigError> {
        self.get(name)?.ok_or_else(|| ConfigError::new(name, format!("is not set: set it to {what}")))
    }

    /// Returns the values of a variable that is a list.
    fn list(&self, name: &'static str) -> Result<Vec<String>, ConfigError> {
        Ok(config::list(&self.get(name)?.unwrap_or_default()))
    }

    /// Returns whether a variable has the second of two values. Returns `None` if it is not set.
    fn choice(&self, name: &'static str, [no, yes]: [&str; 2]) -> Result<Option<bool>, ConfigError> {
        match self.get(name)? {
            None => Ok(None),
            Some(value) if value == no || value == yes => Ok(Some(value == yes)),
            Some(_) => Err(ConfigError::new(name, format!("must be \"{yes}\" or \"{no}\""))),
        }
    }

    /// Returns the callers that the endpoint serves. `MCP_AUTH` names the validators. If it is `none`, `MCP_ALLOW_PUBLIC` decides.
    fn callers(&self) -> Result<Callers, ConfigError> {
        let is_public = self.choice("MCP_ALLOW_PUBLIC", ["no", "yes"])?.unwrap_or(false);
        let names = self.list("MCP_AUTH")?;
        match &*names {
            [] => return Ok(Callers::Unset),
            [none] if none == "none" && is_public => return Ok(Callers::All),
            [none] if none == "none" => return Ok(Callers::SameMachine),
            _ => {}
        }
        let mut validators = AnyOf::new();
        for name in names {
            validators = match &*name {
                "static" => {
                    let tokens = self.get("MCP_STATIC_TOKENS")?;
                    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", tokens.as_deref());
                    validators.or(tokens.map_err(|error| error.about_secrets(self.0))?)
                }
                "introspection" => validators.or(self.introspection()?),
                "jwt" => validators.or(self.jwt()?),
                _ => {
                    let problem = "must be \"static\", \"introspection\", \"jwt\", several of these separated by commas, or \"none\"";
                    return Err(ConfigError::new("MCP_AUTH", problem));
                }
            };
        }
        Ok(Callers::WithToken(validators))
    }

    fn introspection(&self) -> Result<Introspection, ConfigError> {
        const ENDPOINT: &str = "MCP_INTROSPECTION_ENDPOINT";
        const METHOD: &str = "MCP_INTROSPECTION_AUTH_METHOD";
        let endpoint = self.required(ENDPOINT, "the URL of the introspection endpoint of the authorization server")?;
        let mut validator = Introspection::at(ENDPOINT, &endpoint)?;
        if let Some(issuer) = self.get("MCP_ISSUER")? {
            validator = validator.issuer(issuer);
        }
        let secret = || {
            const SECRET: &str = "MCP_INTROSPECTION_CLIENT_SECRET";
            let secret = self.required(SECRET, "the client secret or bearer token of this server");
            let secret = secret.map_err(|error| error.about_secrets(self.0))?;
            if secret.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
                Ok(secret)
            } else {
                Err(ConfigError::new(SECRET, "has characters that are not printable ASCII"))
            }
        };
        let id = || {
            self.required("MCP_INTROSPECTION_CLIENT_ID", "the client id of this server at the introspection endpoint")
        };
        match self.get(METHOD)?.as_deref() {
            None | Some("basic") => Ok(validator.basic(&id()?, &secret()?)),
            Some("post") => Ok(validator.post(id()?, secret()?)),
            Some("bearer") => Ok(validator.bearer(&secret()?)),
            Some("none") => Ok(validator),
            Some(_) => Err(ConfigError::new(METHOD, "must be \"basic\", \"post\", \"bearer\" or \"none\"")),
        }
    }

    fn jwt(&self) -> Result<Jwt, ConfigError> {
        let jwks = self.required("MCP_JWKS_URL", "the URL of the issuer's keys")?;
        let issuer = self.required("MCP_ISSUER", "the exact `iss` of the tokens")?;
        let mut validator = Jwt::new(&jwks, &issuer)?;
        let names = self.list("MCP_JWT_ALGORITHMS")?;
        if !names.is_empty() {
            let mut algorithms = Vec::new();
            for name in &names {
                algorithms.push(Algorithm::named(name).ok_or_else(|| {
                    let known = Algorithm::ALL.map(Algorithm::name).join(", ");
                    ConfigError::new("MCP_JWT_ALGORITHMS", format!("must name some of {known}"))
                })?);
            }
            validator = validator.algorithms(algorithms);
        }
        let types = self.list("MCP_JWT_TYPES")?;
        Ok(if types.is_empty() { validator } else { validator.types(types) })
    }

    /// Returns the protected resource as the environment configures it.
    fn resource(&self) -> Result<ProtectedResource, ConfigError> {
        let mut resource = ProtectedResource::local();
        if let Some(url) = self.get("MCP_RESOURCE")? {
            resource.url = ProtectedResource::at(&url)?.url;
        }
        for issuer in self.list("MCP_AUTHORIZATION_SERVERS")? {
            resource = resource.authorization_server(&issuer)?;
        }
        let scopes = self.get("MCP_SCOPES")?.map(|listed| scopes::parse_list("MCP_SCOPES", &listed)).transpose()?;
        if let Some(scopes) = scopes {
            resource.scopes = scopes;
        }
        Ok(resource)
    }

    fn origins(&self) -> Result<AllowedOrigins, ConfigError> {
        const NAME: &str = "MCP_ALLOWED_ORIGINS";
        self.list(NAME)?.into_iter().try_fold(AllowedOrigins::local(), |origins, origin| {
            if is_origin(&origin) {
                Ok(origins.and(origin))
            } else {
                Err(ConfigError::new(NAME, "must list hosts (app.example.com) or origins (https://app.example.com)"))
            }
        })
    }
}
