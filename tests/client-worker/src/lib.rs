//! A server for tests. Its tools send requests to the servers in the variable `SERVERS`, search the documents of a tenant, check the
//! storage, or call the bindings of models.
#![forbid(unsafe_code)]

mod bindings;
mod call;
mod clients;
mod skills;
mod tenants;

use std::rc::Rc;
use std::time::Duration;

use edge_mcp::auth::StateKeys;
use edge_mcp::client::{Listing, McpClient, Peer};
use edge_mcp::rag::{MemoryStore, SqlitePassages, SqliteVectors};
use edge_mcp::storage::{Database, KvStore};
use edge_mcp::testing::vector_store_contract;
use edge_mcp::worker::{data_points, database, kv, tracing};
use edge_mcp::{BuildError, ConfigError, Context, Endpoint, HandlerError, Json, McpServer, RequestInfo, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use worker::Env;

edge_mcp::worker::entry!(endpoint);

fn endpoint(env: &Env) -> Result<Endpoint, ConfigError> {
    let (client, answering) = clients::clients(env)?;
    let keys = StateKeys::from_secret(env, "MCP_STATE_KEY")?;
    let database = database(env, "DB")?;
    let endpoint = Endpoint::new(server).telemetry(tracing());
    let endpoint = match data_points(env, "CALLS") {
        Ok(dataset) => endpoint.telemetry(dataset),
        // Only the tests of telemetry have this binding.
        Err(_) => endpoint,
    };
    Ok(endpoint
        .state(SqliteVectors::new(SqlitePassages::new(database.clone())))
        .state(database)
        .state(kv(env, "KV")?)
        .state(bindings::Models::of(env))
        .state(client)
        .state(answering)
        .state_keys(keys)
        .without_auth()
        .without_rate_limit())
}

fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    tenants::admit(request);
    let [search, related, save] = tenants::tools(request)?;
    McpServer::builder("client-worker", "1.0.0")
        .tool(search)
        .tool(related)
        .tool(save)
        .tool(Tool::new(
            "check-storage",
            "Runs the tables of tests/statements, and returns the failures.",
            check_storage,
        ))
        .tool(
            Tool::new(
                "compare-stores",
                "Runs the contract of a store of vectors over D1 and in memory.",
                compare_stores,
            )
            .deadline(Duration::from_mins(2)),
        )
        .tool(Tool::new("call-binding", "Sends a request to Workers AI or Vectorize.", bindings::call_binding))
        .tool(Tool::new("headers", "Names the headers of the caller that a handler sees.", headers))
        .tool(Tool::new("about", "Describes a server.", about))
        .tool(Tool::new("list", "Lists the names of one server, or of all servers.", list))
        .tool(Tool::new("call", "Calls a tool.", call::call))
        .tool(Tool::new("watch", "Calls a tool, and returns its progress and log messages too.", call::watch))
        .tool(Tool::new("ask", "Calls a tool that asks. This program answers.", call::ask))
        .tool(Tool::new("pass", "Calls a tool that asks. The caller of this program answers.", call::pass))
        .tool(Tool::new("read", "Reads a resource.", read))
        .tool(Tool::new("skills", "Lists the skills of a server, and reads all their files.", skills::skills))
        .tool(Tool::new("prompt", "Gets a prompt.", prompt))
        .tool(Tool::new("complete", "Completes an argument.", complete))
        .build()
}

async fn check_storage(cx: Context) -> Result<String, HandlerError> {
    let database = cx.state::<Database>()?;
    let mut failures = statements::check_database(&database).await;
    failures.extend(statements::check_passages(&database, &cx).await);
    failures.extend(statements::check_store(&*cx.state::<KvStore>()?).await);
    Ok(failures.join("\n"))
}

/// Names those of four headers of the caller that a handler sees.
async fn headers(cx: Context) -> String {
    let is_there = |name: &&str| cx.header(name).or(cx.request().header(name)).is_some();
    let names = ["authorization", "cookie", "proxy-authorization", "tenant"].into_iter().filter(is_there);
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the answers of the store in D1 that differ from those of the store in memory.
async fn compare_stores(cx: Context) -> Result<String, HandlerError> {
    let in_d1 = vector_store_contract(&cx.state::<SqliteVectors>()?).await.map_err(HandlerError::new)?;
    let in_memory = vector_store_contract(&Rc::new(MemoryStore::new())).await.map_err(HandlerError::new)?;
    let pairs = in_d1.iter().zip(&in_memory).filter(|(one, other)| one != other);
    let differences = pairs.map(|(one, other)| format!("D1: {one}; in memory: {other}"));
    let lengths = (in_d1.len() != in_memory.len()).then(|| format!("{} and {} answers", in_d1.len(), in_memory.len()));
    Ok(differences.chain(lengths).collect::<Vec<_>>().join("\n"))
}

fn peer(server: &str, cx: &Context) -> Result<Peer, HandlerError> {
    Ok(cx.state::<McpClient>()?.connect(cx).server(server)?)
}

#[derive(Deserialize, JsonSchema)]
struct AboutArguments {
    server: String,
}

#[derive(Serialize, JsonSchema)]
struct AboutResult {
    name: String,
    revision: String,
    has_completions: bool,
    has_logging: bool,
}

async fn about(AboutArguments { server }: AboutArguments, cx: Context) -> Result<Json<AboutResult>, HandlerError> {
    let about = peer(&server, &cx)?.about().await?;
    Ok(Json(AboutResult {
        name: about.name().to_owned(),
        revision: about.revision().to_string(),
        has_completions: about.has_capability("completions"),
        has_logging: about.has_capability("logging"),
    }))
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
struct ListResult {
    items: Vec<String>,
    /// The errors of the servers that are missing.
    missing: Vec<String>,
    left_out: Vec<String>,
    is_truncated: bool,
}

impl From<Listing> for ListResult {
    fn from(listing: Listing) -> Self {
        Self {
            items: listing.items.iter().map(|item| item.name().to_owned()).collect(),
            missing: listing.missing.iter().map(ToString::to_string).collect(),
            left_out: listing.left_out,
            is_truncated: listing.is_truncated,
        }
    }
}

async fn list(ListArguments { server, kind }: ListArguments, cx: Context) -> Result<Json<ListResult>, HandlerError> {
    let listing = if let Some(server) = server {
        let peer = peer(&server, &cx)?;
        match kind {
            Kind::Tools => peer.list_tools().await?,
            Kind::Resources => peer.list_resources().await?,
            Kind::Templates => peer.list_resource_templates().await?,
            Kind::Prompts => peer.list_prompts().await?,
        }
    } else {
        let connection = cx.state::<McpClient>()?.connect(&cx);
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
struct ReadArguments {
    server: String,
    uri: String,
}

async fn read(ReadArguments { server, uri }: ReadArguments, cx: Context) -> Result<String, HandlerError> {
    Ok(peer(&server, &cx)?.read_resource(&uri).await?.raw().to_owned())
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
    Ok(peer(&server, &cx)?.get_prompt(&name, &arguments).await?.raw().to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct CompleteArguments {
    server: String,
    /// The name of a prompt, or a URI template.
    of: String,
    argument: String,
    typed: String,
}

#[derive(Serialize, JsonSchema)]
struct CompleteResult {
    values: Vec<String>,
}

async fn complete(
    CompleteArguments { server, of, argument, typed }: CompleteArguments,
    cx: Context,
) -> Result<Json<CompleteResult>, HandlerError> {
    let peer = peer(&server, &cx)?;
    let request = if of.contains("://") {
        peer.complete_template(&of, &argument, &typed)
    } else {
        peer.complete_prompt(&of, &argument, &typed)
    };
    Ok(Json(CompleteResult { values: request.await?.values }))
}
