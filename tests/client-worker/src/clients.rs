//! The clients of the servers in the variable `SERVERS`.

use std::collections::BTreeMap;

use edge_mcp::client::{Elicitation, McpClient, McpClientBuilder, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::worker::Service;
use edge_mcp::{ConfigError, FormAnswer};
use serde::Deserialize;
use serde_json::{Map, Value};
use worker::Env;

/// A server in the variable `SERVERS`, which is an object of servers by name.
#[derive(Deserialize)]
struct Server {
    /// The URL. Without a URL, the server is behind the service binding `PEER`.
    url: Option<String>,
    token: Option<String>,
    /// The revision, if the client does not negotiate.
    revision: Option<String>,
}

/// A client of the same servers that answers their questions.
pub(crate) struct Answering(pub(crate) McpClient);

/// Returns a client that answers no questions, and one that answers them.
pub(crate) fn clients(env: &Env) -> Result<(McpClient, Answering), ConfigError> {
    let builder = || McpClient::builder("client-worker", "1.0.0");
    let (mut plain, mut answering) = (builder(), builder());
    // The warm-up may run without variables.
    let servers = env.var("SERVERS").map_or_else(|_| "{}".to_owned(), |servers| servers.to_string());
    let servers: BTreeMap<String, Server> =
        serde_json::from_str(&servers).map_err(|error| ConfigError::new("SERVERS", error.to_string()))?;
    for (name, server) in servers {
        plain = plain.server(name.clone(), upstream(&server, env)?);
        answering = with_answers(answering, name, upstream(&server, env)?);
    }
    Ok((plain.build()?, Answering(answering.build()?)))
}

fn upstream(Server { url, token, revision }: &Server, env: &Env) -> Result<Upstream, ConfigError> {
    let mut upstream = match url {
        Some(url) => Upstream::at(url)?,
        None => Service::upstream(env, "PEER")?,
    };
    if let Some(token) = token {
        upstream = upstream.bearer(token)?;
    }
    if let Some(revision) = revision {
        upstream = upstream.revision(
            Revision::named(revision).ok_or_else(|| ConfigError::new("SERVERS", "names an unknown revision"))?,
        );
    }
    Ok(upstream)
}

fn with_answers(builder: McpClientBuilder, name: String, upstream: Upstream) -> McpClientBuilder {
    builder.server(name, upstream.on_elicitation(|form, _| async move { Ok(FormAnswer::Accepted(filled(&form))) }))
}

/// Returns the content of a form: `Lyon` in each field.
fn filled(form: &Elicitation) -> Value {
    let fields = form.schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    Value::Object(fields.map(|(name, _)| (name.clone(), "Lyon".into())).collect::<Map<_, _>>())
}
