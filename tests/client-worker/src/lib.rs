//! A server for tests. Its tools send requests to the servers in the variable `SERVERS`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use edge_mcp::client::{Listing, McpClient, Upstream};
use edge_mcp::worker::Service;
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, Json, McpServer, RequestInfo, Revision, Tool, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use worker::Env;

edge_mcp::worker::entry!(endpoint);

fn endpoint(env: &Env) -> Result<Endpoint, Box<dyn Error>> {
    Ok(Endpoint::new(server).state(client(env)?).without_auth().without_rate_limit())
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    McpServer::builder("client-worker", "1.0.0")
        .tool(Tool::new("list", "Lists the names of one server, or of all servers.", list))
        .tool(Tool::new("call", "Calls a tool.", call))
        .tool(Tool::new("read", "Reads a resource.", read))
        .tool(Tool::new("prompt", "Gets a prompt.", prompt))
        .build()
}

/// A server in the variable `SERVERS`, which is an object of servers by name.
#[derive(Deserialize)]
struct Server {
    /// The URL. Without a URL, the server is behind the service binding `PEER`.
    url: Option<String>,
    token: Option<String>,
    /// The revision, if the client does not negotiate.
    revision: Option<String>,
}

fn client(env: &Env) -> Result<McpClient, Box<dyn Error>> {
    let mut builder = McpClient::builder("client-worker", "1.0.0");
    // The warm-up may run without variables.
    let servers = env.var("SERVERS").map_or_else(|_| "{}".to_owned(), |servers| servers.to_string());
    let servers: BTreeMap<String, Server> = serde_json::from_str(&servers)?;
    for (name, Server { url, token, revision }) in servers {
        let mut upstream = match url {
            Some(url) => Upstream::at(&url)?,
            None => Service::upstream(env, "PEER")?,
        };
        if let Some(token) = token {
            upstream = upstream.bearer(&token)?;
        }
        if let Some(revision) = revision {
            upstream = upstream.revision(Revision::named(&revision).ok_or("unknown revision")?);
        }
        builder = builder.server(name, upstream);
    }
    Ok(builder.build()?)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

#[derive(Deserialize, JsonSchema)]
struct ListArguments {
    server: Option<String>,
    kind: Kind,
}

#[derive(Serialize, JsonSchema)]
struct Names {
    names: Vec<String>,
    /// The errors of the servers that are missing.
    missing: Vec<String>,
    left_out: Vec<String>,
    is_cut: bool,
}

impl From<Listing> for Names {
    fn from(listing: Listing) -> Self {
        Self {
            names: listing.items.iter().map(|item| item.name().to_owned()).collect(),
            missing: listing.missing.iter().map(ToString::to_string).collect(),
            left_out: listing.left_out,
            is_cut: listing.is_cut,
        }
    }
}

async fn list(ListArguments { server, kind }: ListArguments, cx: Context) -> Result<Json<Names>, HandlerError> {
    let connection = cx.state::<McpClient>()?.connect(&cx);
    let listing = if let Some(server) = server {
        let peer = connection.server(&server)?;
        match kind {
            Kind::Tools => peer.list_tools().await?,
            Kind::Resources => peer.list_resources().await?,
            Kind::Templates => peer.list_resource_templates().await?,
            Kind::Prompts => peer.list_prompts().await?,
        }
    } else {
        match kind {
            Kind::Tools => connection.list_tools().await,
            Kind::Resources => connection.list_resources().await,
            Kind::Templates => connection.list_resource_templates().await,
            Kind::Prompts => connection.list_prompts().await,
        }
    };
    Ok(Json(listing.into()))
}

#[derive(Deserialize, JsonSchema)]
struct CallArguments {
    server: String,
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    /// The time limit, in milliseconds.
    timeout: Option<u64>,
    /// The number of calls, which share one connection.
    times: Option<u8>,
}

async fn call(
    CallArguments { server, name, arguments, timeout, times }: CallArguments,
    cx: Context,
) -> Result<ToolResult, HandlerError> {
    let peer = cx.state::<McpClient>()?.connect(&cx).server(&server)?;
    let mut last = None;
    for _ in 0..times.unwrap_or(1) {
        let mut call = peer.call(&name, &arguments);
        if let Some(timeout) = timeout {
            call = call.timeout(Duration::from_millis(timeout));
        }
        last = Some(call.await?);
    }
    last.map(|result| result.into_tool_result()).ok_or_else(|| HandlerError::new("`times` must be at least 1."))
}

#[derive(Deserialize, JsonSchema)]
struct ReadArguments {
    server: String,
    uri: String,
}

async fn read(ReadArguments { server, uri }: ReadArguments, cx: Context) -> Result<String, HandlerError> {
    let peer = cx.state::<McpClient>()?.connect(&cx).server(&server)?;
    Ok(peer.read_resource(&uri).await?.get().to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct PromptArguments {
    server: String,
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

async fn prompt(
    PromptArguments { server, name, arguments }: PromptArguments,
    cx: Context,
) -> Result<String, HandlerError> {
    let peer = cx.state::<McpClient>()?.connect(&cx).server(&server)?;
    Ok(peer.get_prompt(&name, &arguments).await?.get().to_owned())
}
