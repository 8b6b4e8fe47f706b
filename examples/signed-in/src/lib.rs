//! A server whose callers sign in. The Worker in `auth/` is the authorization server, and forwards the requests for `/mcp` to this one.

mod issuer;
#[cfg(test)]
mod tests;

use edge_mcp::auth::ExpectedClaims;
use edge_mcp::{
    BuildError, ConfigError, Context, Endpoint, HandlerError, Json, McpServer, RequestInfo, Tool, Variables,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::issuer::Issuer;

#[derive(Serialize, JsonSchema)]
struct Person {
    /// The name with which the caller signed in
    name: String,
    /// What the caller has allowed the client to do
    scopes: Vec<String>,
}

async fn who_am_i(cx: Context) -> Result<Json<Person>, HandlerError> {
    let caller = cx.caller()?;
    Ok(Json(Person { name: caller.subject.clone(), scopes: caller.scopes.clone() }))
}

async fn print_badge(cx: Context) -> Result<String, HandlerError> {
    Ok(format!("[ {} ]", cx.caller()?.subject))
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let who = Tool::new("who-am-i", "Returns the name and the scopes of the caller.", who_am_i);
    let badge = Tool::new("print-badge", "Returns a badge with the name of the caller.", print_badge);
    McpServer::builder("signed-in", env!("CARGO_PKG_VERSION"))
        .description("Shows who has signed in.")
        .tool(who.title("Who am I?").read_only().closed_world().scopes(["profile:read"]))
        .tool(badge.title("Print a badge").read_only().closed_world().scopes(["badge:print"]))
        // A client requests further scopes only for tools that it sees.
        .list_all()
        .build()
}

fn endpoint(env: &worker::Env) -> Result<Endpoint, ConfigError> {
    let issuer = Variables::of(env).required("MCP_AUTHORIZATION_SERVERS", "the origin of the Worker in auth/")?;
    let issuer = Issuer { tokens: env.service("AUTH")?, expected: ExpectedClaims::of_issuer(issuer) };
    Ok(Endpoint::new(server).auth(issuer).configured(env))
}

edge_mcp::worker::entry!(endpoint);
