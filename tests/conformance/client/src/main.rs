//! The client under test of the official conformance suite.
//!
//! The suite starts a server for each scenario, and then this program. The last argument is the URL of the server. The environment names
//! the scenario, the revision of the protocol, and the data of the scenario.

mod host;
mod http1;
mod scenarios;

use std::env;
use std::fmt::Display;
use std::process::ExitCode;
use std::rc::Rc;

use edge_mcp::client::{AuthorizationServer, ClientCredentials, McpClient, SigningKey, Upstream};
use edge_mcp::{Algorithm, Context, Elicited, RequestInfo, Revision};
use futures::executor::LocalPool;
use serde_json::{Value, json};

use crate::host::LocalHost;

/// The reason why a scenario failed. Every value that can be displayed converts into it.
struct Failed(String);

impl<E: Display> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(problem)) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failed> {
    let url = env::args().next_back().unwrap_or_default();
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").map_err(|_| "MCP_CONFORMANCE_SCENARIO is not set")?;
    let revision = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    let data = env::var("MCP_CONFORMANCE_CONTEXT").map_or(Ok(Value::Null), |data| serde_json::from_str(&data))?;

    // The client adds the defaults of a form to the fields of the answer.
    let mut upstream = Upstream::at(&url)?.on_elicitation(|_, _| async { Ok(Elicited::Accepted(json!({}))) });
    if let Some(credentials) = credentials(&scenario, &data)? {
        upstream = upstream.client_credentials(credentials);
    }
    // Some legacy servers of the suite answer the probe of a negotiation as if they were modern.
    if let Some(revision) = Revision::named(&revision).filter(|revision| *revision < Revision::V2026_07_28) {
        upstream = upstream.revision(revision);
    }
    let client =
        McpClient::builder("conformance-client", env!("CARGO_PKG_VERSION")).server("suite", upstream).build()?;

    let mut pool = LocalPool::new();
    let cx = Context::of_request(RequestInfo::none(), Rc::new(LocalHost::new(pool.spawner())));
    let outcome = pool.run_until(async {
        let peer = client.connect(&cx).server("suite")?;
        scenarios::run(&scenario, peer, &data).await
    });
    // The end of a session is a task that nothing waits for.
    pool.run();
    outcome
}

/// Returns the credentials that the suite provides for a scenario without a person. It does not name the issuer that they belong to.
fn credentials(scenario: &str, data: &Value) -> Result<Option<ClientCredentials>, Failed> {
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    let (server, id) = (AuthorizationServer::any(), text("client_id"));
    Ok(match scenario {
        "auth/client-credentials-basic" => Some(ClientCredentials::basic(server, id, text("client_secret"))?),
        "auth/client-credentials-jwt" => {
            let key = SigningKey::from_pem(Algorithm::Es256, text("private_key_pem"))?;
            Some(ClientCredentials::private_key_jwt(server, id, key)?)
        }
        _ => None,
    })
}
