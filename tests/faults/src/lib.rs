//! A server for tests. Its tools crash the module in different ways, wait, allocate memory, report the used memory, match texts with
//! patterns, and run as durable tasks.
#![forbid(unsafe_code)]

mod breaks;
mod costly;
mod jobs;
mod memory;
mod patterns;

use std::time::Duration;

use breaks::Break;
use edge_mcp::McpServerBuilder;
use edge_mcp::{BuildError, Context, Endpoint, McpServer, Prompt, RequestInfo, Resource, Tool};
use jobs::Build;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use worker::{Delay, Env};

edge_mcp::worker::entry!(endpoint);
edge_mcp::worker::tasks!(endpoint);

fn endpoint(env: &Env) -> Endpoint {
    let is_fragile = env.var("FRAGILE").is_ok();
    let server = move |request: &RequestInfo| {
        if is_fragile && request.header("user-agent").is_none() {
            Break::Panic.happen();
        }
        server(request)
    };
    let build = Build(env.var("BUILD").map_or_else(|_| String::new(), |build| build.to_string()));
    Endpoint::new(server).state(build).without_auth().without_rate_limit().configured(env)
}

/// Builds the server. The header `Break` makes this function crash in the given way.
fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    if let Some(how) = request.header("break").as_deref().and_then(Break::named) {
        how.happen();
    }
    let builder = McpServer::builder("faults", "1.0.0");
    costly::tools()
        .into_iter()
        .chain(jobs::tools())
        .fold(builder, McpServerBuilder::tool)
        .tool(Tool::new("memory", "Reports the used memory.", memory::memory))
        .tool(Tool::new("match_patterns", "Matches texts with patterns.", patterns::match_patterns))
        .tool(holding("hold", HOLD))
        .tool(holding("linger", LINGER))
        .tool(Tool::new("echo", "Returns its argument.", echo))
        .tool(Tool::new("wait", "Waits.", wait))
        .tool(Tool::new("large", "Returns a large text.", large))
        .tool(Tool::new("tell", "Reports progress, and waits.", tell))
        .tool(Tool::new("break", "Crashes at once.", break_now))
        .tool(Tool::new("break_later", "Waits, and crashes.", break_later))
        .tool(Tool::new("break_telling", "Reports progress, waits, and crashes.", break_telling))
        .resource(Resource::new("faults://break", || async { broken("panic") }))
        .prompt(Prompt::new("break", || async { broken("panic") }))
        .build()
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    text: String,
}

async fn echo(Message { text }: Message) -> String {
    text
}

#[derive(Deserialize, JsonSchema)]
struct Time {
    ms: u64,
}

async fn wait(Time { ms }: Time) -> String {
    Delay::from(Duration::from_millis(ms)).await;
    format!("waited {ms}")
}

/// The deadline of `hold`.
const HOLD: Duration = Duration::from_secs(3);
/// The deadline of `linger`, which is longer than any test waits.
const LINGER: Duration = Duration::from_mins(1);

fn holding(name: &'static str, deadline: Duration) -> Tool {
    Tool::with_schema(name, "Never ends.", &json!({ "type": "object" }), None, hold).deadline(deadline)
}

/// Reports progress, if the client requests it, and waits until its deadline. It does not keep its arguments.
async fn hold(_: IgnoredAny, cx: Context) -> String {
    cx.progress(1.0, None, "began");
    std::future::pending().await
}

async fn tell(Time { ms }: Time, cx: Context) -> String {
    cx.progress(1.0, None, "began");
    Delay::from(Duration::from_millis(ms)).await;
    format!("told and waited {ms}")
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    bytes: usize,
}

async fn large(Size { bytes }: Size) -> String {
    "x".repeat(bytes)
}

#[derive(Deserialize, JsonSchema)]
struct How {
    how: String,
}

async fn break_now(How { how }: How) -> String {
    broken(&how)
}

async fn break_later(How { how }: How) -> String {
    Delay::from(Duration::from_millis(50)).await;
    broken(&how)
}

async fn break_telling(How { how }: How, cx: Context) -> String {
    cx.progress(1.0, None, "began");
    Delay::from(Duration::from_millis(50)).await;
    broken(&how)
}

fn broken(how: &str) -> String {
    if let Some(how) = Break::named(how) {
        how.happen();
    }
    "is whole".to_owned()
}
