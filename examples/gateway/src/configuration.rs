//! The servers of the gateway, from the configuration of the deployment.

use std::fmt::{self, Display};
use std::time::Duration;

use edge_mcp::ConfigError;
use edge_mcp::client::Upstream;
use edge_mcp::gateway::{Catalogue, Gateway, Mount};
use edge_mcp::host::Environment;
use edge_mcp::protocol::{LogLevel, Revision};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

const SERVERS: &str = "UPSTREAMS";
const TOKENS: &str = "UPSTREAM_TOKENS";

/// Creates the gateway in front of the servers of `UPSTREAMS`. Errors do not contain a token.
pub(crate) fn gateway(env: &impl Environment) -> Result<Gateway, ConfigError> {
    let mut tokens = members(env, TOKENS)?;
    let mut gateway = Gateway::builder("gateway", env!("CARGO_PKG_VERSION"));
    for (name, value) in members(env, SERVERS)? {
        let server = Server::read(value).map_err(|problem| about(SERVERS, &name, problem))?;
        let mut upstream = server.upstream().map_err(|problem| about(SERVERS, &name, problem))?;
        if let Some(nth) = tokens.iter().position(|(known, _)| *known == name) {
            let (_, token) = tokens.remove(nth);
            let token = token.as_str().ok_or_else(|| about(TOKENS, &name, "the token must be a text"))?;
            upstream =
                upstream.bearer(token).map_err(|error| about(TOKENS, &name, format!("the token {}", error.problem)))?;
        }
        let mount = server.mount(upstream).map_err(|problem| about(SERVERS, &name, problem))?;
        gateway = gateway.mount(name, mount);
    }
    if let Some((name, _)) = tokens.first() {
        return Err(about(TOKENS, name, "UPSTREAMS has no server with this name"));
    }
    gateway.build().map_err(|error| ConfigError::new(SERVERS, format!("is not valid: {error}")))
}

fn about(variable: &'static str, name: &str, problem: impl Display) -> ConfigError {
    ConfigError::new(variable, format!("has an error in `{name}`: {problem}"))
}

/// A server: its URL, or an object with these members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
// The members are independent settings.
#[allow(clippy::struct_excessive_bools)]
struct Server {
    url: String,
    #[serde(default)]
    trusted: bool,
    revision: Option<String>,
    timeout: Option<u64>,
    #[serde(default)]
    scopes: Vec<String>,
    tools: Option<Vec<String>>,
    #[serde(default)]
    without: Vec<String>,
    catalogue: Option<Listed>,
    #[serde(default)]
    apps: bool,
    #[serde(default)]
    as_is: bool,
    relay_logs: Option<String>,
    #[serde(default)]
    pass_sampling: bool,
}

/// The tools in `tools/list`: `"all"`, `"search"`, or their names.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`catalogue` must be \"all\", \"search\" or a list of names")]
enum Listed {
    Kind(Kind),
    Names(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    All,
    Search,
}

impl Server {
    fn read(value: Value) -> serde_json::Result<Self> {
        let value = if value.is_string() { serde_json::json!({ "url": value }) } else { value };
        serde_json::from_value(value)
    }

    fn upstream(&self) -> Result<Upstream, String> {
        let mut upstream = Upstream::at(&self.url).map_err(|error| format!("`url` {}", error.problem))?;
        if self.trusted {
            upstream = upstream.trusted();
        }
        if let Some(name) = &self.revision {
            let revision = Revision::named(name);
            upstream = upstream
                .revision(revision.ok_or("`revision` must be a revision of the protocol, such as \"2026-07-28\"")?);
        }
        if let Some(seconds) = self.timeout {
            if !(1..=120).contains(&seconds) {
                return Err("`timeout` must be a number of seconds from 1 to 120".to_owned());
            }
            upstream = upstream.timeout(Duration::from_secs(seconds));
        }
        if self.pass_sampling {
            upstream = upstream.pass_sampling();
        }
        Ok(upstream)
    }

    fn mount(self, upstream: Upstream) -> Result<Mount, String> {
        let mut mount = Mount::new(upstream).scopes(self.scopes).without(self.without);
        if let Some(names) = self.tools {
            mount = mount.tools(names);
        }
        if let Some(listed) = self.catalogue {
            mount = mount.catalogue(match listed {
                Listed::Kind(Kind::All) => Catalogue::All,
                Listed::Kind(Kind::Search) => Catalogue::Search,
                Listed::Names(names) => Catalogue::chosen(names),
            });
        }
        if let Some(name) = self.relay_logs {
            let lowest = LogLevel::named(&name);
            mount = mount.relay_logs(lowest.ok_or("`relay_logs` must be a log level, such as \"info\"")?);
        }
        if self.apps {
            mount = mount.apps();
        }
        Ok(if self.as_is { mount.as_is() } else { mount })
    }
}

/// Reads a variable that is an object. Its members keep their order, and the gateway rejects a name that is used twice.
fn members(env: &impl Environment, variable: &'static str) -> Result<Vec<(String, Value)>, ConfigError> {
    let text = env.variable(variable).filter(|text| !text.trim().is_empty());
    let Some(text) = text else { return Ok(Vec::new()) };
    let Members(members) = serde_json::from_str(&text).map_err(|error| {
        // The message of the error may contain a token.
        ConfigError::new(
            variable,
            format!("must be a JSON object of servers; see line {}, column {}", error.line(), error.column()),
        )
    })?;
    Ok(members)
}

struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
