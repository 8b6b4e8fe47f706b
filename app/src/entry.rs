//! Where a request comes in.

use std::rc::Rc;

use edge_mcp::auth::{ConfigError, StaticTokens};
use edge_mcp::http::Endpoint;
use edge_mcp::server::SessionRequired;
use worker::{Env, Request, Response, event};

use crate::d1::D1Store;
use crate::server::server;

#[event(fetch)]
async fn fetch(request: Request, env: Env, cx: worker::Context) -> worker::Result<Response> {
    let endpoint = endpoint(&env).unwrap_or_else(Endpoint::misconfigured);
    edge_mcp::worker::serve(endpoint, request, cx).await
}

fn endpoint(env: &Env) -> Result<Endpoint, ConfigError> {
    if env.var("MCP_SERVERLESS").is_ok_and(|value| value.to_string() != "true") {
        return Err(ConfigError::new(
            "MCP_SERVERLESS",
            format!("cannot be anything but \"true\": {}", SessionRequired::Stateful),
        ));
    }
    let unbound =
        |_| ConfigError::new("DB", "is not bound: [[d1_databases]] in wrangler.toml names a database of this name");
    let store = Rc::new(D1Store::new(env.d1("DB").map_err(unbound)?));
    let endpoint = Endpoint::new(move |_| server(&store));
    match env.var("MCP_AUTH").map(|value| value.to_string()).as_deref() {
        Ok("static") => Ok(endpoint.auth(StaticTokens::from_secret(env, "MCP_STATIC_TOKENS"))),
        Ok(_) => Err(ConfigError::new("MCP_AUTH", "must be \"static\"")),
        Err(_) => Err(ConfigError::new("MCP_AUTH", "is not set; it must be \"static\"")),
    }
}
