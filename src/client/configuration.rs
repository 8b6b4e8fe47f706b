//! The servers of a client, from the configuration of a deployment: the variable `UPSTREAMS` and the secret `UPSTREAM_TOKENS`.

use std::time::Duration;

use edge_json::{Document, JsonError, JsonLimits, Kind, Value};

use super::mcp_client::{McpClientBuilder, is_name};
use super::upstream::Upstream;
use crate::config::ConfigError;
use crate::host::Environment;
use crate::protocol::revision::Revision;
use crate::text::shortened;

const SERVERS: &str = "UPSTREAMS";
const TOKENS: &str = "UPSTREAM_TOKENS";
/// The longest time limit of a request that can be configured, in seconds.
const LONGEST: u64 = 120;

/// The members that describe a process.
const PROCESS: [&str; 5] = ["command", "args", "cwd", "env", "stderr"];
/// The values of `type` that mean streamable HTTP.
const STREAMABLE_HTTP: [&str; 4] = ["http", "streamable-http", "streamableHttp", "streamable_http"];

impl McpClientBuilder {
    /// Adds the servers of the variable `UPSTREAMS`, with the access tokens of the secret `UPSTREAM_TOKENS`. Both are JSON objects whose
    /// keys are the names of the servers. Without `UPSTREAMS`, the method adds no server.
    ///
    /// The value of a server is its URL, or an object with these members:
    ///
    /// | member | value |
    /// |---|---|
    /// | `url` | the URL of the endpoint: `https:`, or `http:` on localhost |
    /// | `trusted` | `true`: see [`Upstream::trusted`] |
    /// | `revision` | the protocol revision of the server, such as `2026-07-28`. The client then does not negotiate |
    /// | `timeout` | the time limit of a request in seconds, from 1 to 120 |
    /// | `type` | `http`, the default. The configuration files of other clients contain it |
    ///
    /// # Errors
    /// The error names the variable, the server and the member: for example a server that is a process (stdio) or uses HTTP+SSE, a name
    /// that is used twice, or a token for a server that does not exist. It contains no token.
    ///
    /// ```
    /// use edge_mcp::client::McpClient;
    /// use edge_mcp::testing::variables;
    ///
    /// let environment = variables(&[
    ///     ("UPSTREAMS", r#"{"parcels": "https://parcels.example.com/mcp", "weather": {"url": "https://weather.example.com/mcp", "trusted": true}}"#),
    ///     ("UPSTREAM_TOKENS", r#"{"parcels": "s3cret"}"#),
    /// ]);
    /// let client = McpClient::builder("desk", "1.0.0").configured(&environment)?.build()?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn configured(mut self, environment: &impl Environment) -> Result<Self, ConfigError> {
        let set = |name| environment.variable(name).filter(|text| !text.trim().is_empty());
        for (name, upstream) in servers(set(SERVERS), set(TOKENS))? {
            self = self.server(name, upstream);
        }
        Ok(self)
    }
}

fn servers(servers: Option<String>, tokens: Option<String>) -> Result<Vec<(String, Upstream)>, ConfigError> {
    let (servers, tokens) = (servers.unwrap_or_else(|| "{}".into()), tokens.unwrap_or_else(|| "{}".into()));
    let (servers, tokens) = (object(SERVERS, &servers)?, object(TOKENS, &tokens)?);
    let mut tokens = entries(TOKENS, &tokens)?;
    let mut read = Vec::new();
    for (name, value) in entries(SERVERS, &servers)? {
        let mut upstream = server(value).map_err(|problem| about(SERVERS, &name, &problem))?;
        if let Some(nth) = tokens.iter().position(|(of, _)| *of == name) {
            let token = token(tokens.swap_remove(nth).1).map_err(|problem| about(TOKENS, &name, problem))?;
            upstream = upstream.bearer(&token).map_err(|error| about(TOKENS, &name, &error.problem))?;
        }
        read.push((name, upstream));
    }
    match tokens.first() {
        Some((name, _)) => Err(about(TOKENS, name, "is not the name of a server in UPSTREAMS")),
        None => Ok(read),
    }
}

fn about(variable: &'static str, name: &str, problem: &str) -> ConfigError {
    ConfigError::new(variable, format!("has an error in `{}`: it {problem}", shortened(name)))
}

fn object<'a>(variable: &'static str, text: &'a str) -> Result<Document<'a>, ConfigError> {
    // The text may contain secrets, so the message has only the position of the error.
    let document = Document::parse(text.as_bytes(), JsonLimits::default()).map_err(|error| match error {
        JsonError::Syntax { at } => {
            let line = text.get(..at).unwrap_or_default().matches('\n').count().saturating_add(1);
            ConfigError::new(variable, format!("must be a JSON object; see line {line}"))
        }
        JsonError::DuplicateKey { key } => {
            ConfigError::new(variable, format!("has the key `{key}` twice in an object"))
        }
        _ => ConfigError::new(variable, "must be a JSON object"),
    })?;
    if document.root().kind() != Kind::Object {
        return Err(ConfigError::new(variable, "must be a JSON object whose keys are the names of servers"));
    }
    Ok(document)
}

/// Returns the members of an object whose keys are names of servers.
fn entries<'a>(variable: &'static str, document: &'a Document<'a>) -> Result<Vec<(String, Value<'a>)>, ConfigError> {
    let mut entries: Vec<(String, Value<'a>)> = Vec::new();
    for (name, value) in document.root().members() {
        if !is_name(&name) {
            let problem = "is not a name: a name begins with a letter and has at most 24 letters, digits and hyphens";
            return Err(about(variable, &name, problem));
        }
        if entries.iter().any(|(other, _)| other.eq_ignore_ascii_case(&name)) {
            return Err(about(variable, &name, "is a name that is used twice. Case does not matter"));
        }
        entries.push((name.into_owned(), value));
    }
    Ok(entries)
}

fn server(value: Value<'_>) -> Result<Upstream, String> {
    if let Some(url) = value.as_str() {
        return at(&url);
    }
    if value.kind() != Kind::Object {
        return Err("must be a URL or an object with `url`".into());
    }
    for (name, value) in value.members() {
        check_member(&name, value)?;
    }
    let mut upstream = at(&value.string("url").ok_or("has no `url`")?)?;
    if value.get("trusted").is_some_and(|trusted| trusted.text() == "true") {
        upstream = upstream.trusted();
    }
    if let Some(revision) = value.string("revision").and_then(|name| Revision::named(&name)) {
        upstream = upstream.revision(revision);
    }
    if let Some(seconds) = value.get("timeout").and_then(seconds) {
        upstream = upstream.timeout(seconds);
    }
    Ok(upstream)
}

fn check_member(name: &str, value: Value<'_>) -> Result<(), String> {
    let text = value.as_str();
    let (is_valid, expected) = match name {
        "url" => (text.is_some(), "a text"),
        "trusted" => (value.kind() == Kind::Boolean, "true or false"),
        "revision" => (
            text.is_some_and(|name| Revision::named(&name).is_some()),
            "a revision of the protocol, such as 2026-07-28",
        ),
        "timeout" => (seconds(value).is_some(), "a number of seconds from 1 to 120"),
        "type" | "transport" => match text.as_deref() {
            Some("sse") => {
                return Err(format!(
                    "has `{name}` \"sse\": the deprecated HTTP+SSE transport is not supported. Use the URL of the \
                                               server for streamable HTTP, which often ends in /mcp"
                ));
            }
            Some("stdio") => {
                return Err(format!(
                    "has `{name}` \"stdio\": a Worker cannot start a process. Use the URL of a server"
                ));
            }
            kind => (kind.is_some_and(|kind| STREAMABLE_HTTP.contains(&kind)), "\"http\""),
        },
        "headers" | "requestInit" | "eventSourceInit" => {
            return Err(format!("has `{name}`: headers cannot be configured. Set an access token in UPSTREAM_TOKENS"));
        }
        name if PROCESS.contains(&name) => {
            return Err(format!("has `{name}`: a Worker cannot start a process (stdio). Use the URL of a server"));
        }
        name => {
            let name = shortened(name);
            return Err(format!(
                "has the unknown member `{name}`. The members are url, trusted, revision, timeout and type"
            ));
        }
    };
    if is_valid { Ok(()) } else { Err(format!("has a `{name}` that is not {expected}")) }
}

fn at(url: &str) -> Result<Upstream, String> {
    Upstream::at(url).map_err(|error| format!("has a URL that is not valid: it {}", error.problem))
}

fn seconds(value: Value<'_>) -> Option<Duration> {
    let seconds = value.text().parse().ok().filter(|seconds| (1..=LONGEST).contains(seconds))?;
    Some(Duration::from_secs(seconds))
}

fn token(value: Value<'_>) -> Result<String, &'static str> {
    value.as_str().map(Into::into).ok_or("is not a text: the value must be the access token")
}
