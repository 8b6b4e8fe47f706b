//! A server that calls another MCP server, the tracker, with the access of its own caller. The caller signs in to the tracker in a browser.

mod durable_tokens;
mod pages;
mod session;
#[cfg(test)]
mod tests;

use edge_mcp::client::{McpClient, SignIn, SqliteTokens, TokenKeys, Upstream};
use edge_mcp::worker::database;
use edge_mcp::{
    BuildError, ConfigError, Context, Endpoint, HandlerError, McpServer, RequestInfo, StaticTokens, Tool, ToolResult,
    Variables,
};

use crate::durable_tokens::DurableTokens;
use crate::session::Session;

/// The name of the other server in this program.
const TRACKER: &str = "tracker";

/// Returns what the tracker knows about the caller. If the caller has not signed in to the tracker, it asks the caller to do so.
async fn get_account(cx: Context) -> Result<ToolResult, HandlerError> {
    let tracker = cx.state::<McpClient>()?.connect(&cx).server(TRACKER)?;
    let account = tracker.call("get-user-data", serde_json::json!({})).idempotent().ask_caller(&cx).await?;
    Ok(account.into_tool_result())
}

/// Removes the access of this program to the account of the caller.
async fn disconnect(cx: Context) -> Result<&'static str, HandlerError> {
    let (sign_in, client) = (cx.state::<SignIn>()?, cx.state::<McpClient>()?);
    sign_in.forget(&client, TRACKER, &cx, cx.caller()?).await?;
    Ok("This program has no access to your account any more.")
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let account = Tool::new("get-account", "Returns the account of the caller at the tracker.", get_account);
    let disconnect = Tool::new("disconnect", "Removes the access to the tracker.", disconnect);
    McpServer::builder("desk", env!("CARGO_PKG_VERSION"))
        .description("Shows the account of the caller at another server.")
        .tool(account.title("Your account").read_only().open_world())
        .tool(disconnect.title("Disconnect the account").destructive().idempotent().open_world())
        .build()
}

fn endpoint(env: &worker::Env) -> Result<Endpoint, ConfigError> {
    let variables = Variables::of(env);
    let origin = variables.required("DESK_URL", "the origin of this Worker")?;
    let (url, keys) = (format!("{origin}/sign-in"), TokenKeys::of(&variables)?);
    let sign_in = if variables.get("TOKEN_STORE")?.as_deref() == Some("durable-object") {
        SignIn::new("Desk", &url, keys, DurableTokens(env.durable_object("TOKENS")?))?
    } else {
        SignIn::new("Desk", &url, keys, SqliteTokens::new(database(env, "DB")?))?
    };
    let asks_consent = variables.get("ASK_CONSENT")?.as_deref() == Some("yes");
    let sign_in = if asks_consent { sign_in.ask_consent() } else { sign_in };
    let sign_in = sign_in.dynamic_registration();
    let tracker = Upstream::at(&variables.required("TRACKER_URL", "the URL of an MCP server")?)?.sign_in(&sign_in);
    let tokens = StaticTokens::from_secret(env, "MCP_STATIC_TOKENS")?;
    Ok(Endpoint::new(server)
        .state(McpClient::builder("desk", env!("CARGO_PKG_VERSION")).server(TRACKER, tracker).build()?)
        .state(sign_in)
        .state(Session { tokens, is_secure: origin.starts_with("https:") })
        .page("/sign-in", pages::begin)
        .page("/sign-in/callback", pages::finish)
        .page("/sign-in/client.json", pages::client)
        .page("/session", session::page)
        .expose_header("cookie")
        .configured(env))
}

edge_mcp::worker::entry!(endpoint);
