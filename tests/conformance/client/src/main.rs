//! The client under test of the official conformance suite.
//!
//! The suite starts a server for each scenario, and then this program. The last argument is the URL of the server. The environment names
//! the scenario, the revision of the protocol, and the data of the scenario.

mod browser;
mod host;
mod http1;
mod scenarios;

use std::env;
use std::fmt::Display;
use std::process::ExitCode;
use std::rc::Rc;

use edge_mcp::auth::Algorithm;
use edge_mcp::client::{
    AuthorizationServer, ClientCredentials, McpClient, MemoryTokens, OwnClient, SignIn, SigningKey, TokenKeys, Upstream,
};
use edge_mcp::host::Host;
use edge_mcp::protocol::Revision;
use edge_mcp::{Context, FormAnswer, RequestInfo};
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

    let mut pool = LocalPool::new();
    let host: Rc<dyn Host> = Rc::new(LocalHost::new(pool.spawner()));
    let sign_in = sign_in(&data)?;
    // The client adds the defaults of a form to the fields of the answer.
    let mut upstream = Upstream::at(&url)?.on_elicitation(|_, _| async { Ok(FormAnswer::Accepted(json!({}))) });
    if let Some(credentials) = credentials(&scenario, &data)? {
        upstream = upstream.client_credentials(credentials);
    } else if scenario.starts_with("auth/") {
        upstream = upstream.sign_in(&sign_in);
    }
    if scenario == "auth/metadata-var2" {
        // The server names its origin as the resource.
        let origin = url.strip_suffix("/mcp").ok_or("the URL of the server does not end with /mcp")?;
        upstream = upstream.resource(origin)?;
    }
    // Some legacy servers of the suite answer the probe of a negotiation as if they were modern.
    if let Some(revision) = Revision::named(&revision).filter(|revision| *revision < Revision::V2026_07_28) {
        upstream = upstream.revision(revision);
    }
    let client =
        McpClient::builder("conformance-client", env!("CARGO_PKG_VERSION")).server("suite", upstream).build()?;

    let (head, ()) = http::Request::new(()).into_parts();
    let caller = RequestInfo::new(Rc::new(head), Some(browser::person()));
    let cx = Context::for_program(caller, host.clone());
    let program = Program { client, sign_in, host, cx };
    let outcome = pool.run_until(scenarios::run(&scenario, &program, &data));
    // The end of a session is a task that nothing waits for.
    pool.run();
    outcome
}

/// The program under test.
struct Program {
    client: McpClient,
    sign_in: SignIn,
    host: Rc<dyn Host>,
    cx: Context,
}

/// Returns the settings for the sign-in of a person.
fn sign_in(data: &Value) -> Result<SignIn, Failed> {
    let keys = TokenKeys::from_text("the key", Some("conformance-conformance-conformance"))?;
    let sign_in = SignIn::new("conformance-client", browser::SIGN_IN, keys, MemoryTokens::new())?
        .document_at("https://conformance-test.local/client-metadata.json")?;
    let text = |name: &str| data[name].as_str();
    Ok(match (text("issuer"), text("client_id"), text("client_secret")) {
        (Some(issuer), Some(id), Some(secret)) => {
            // The scenario has no scopes.
            sign_in.client(OwnClient::new(issuer, id).secret(secret).server("suite", [""; 0]))
        }
        _ => sign_in.dynamic_registration(),
    })
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
