//! The endpoint that `scripts/bench` measures.
//!
//! It has the same tools and the same resource as the peers in `benches/peers/`, and like them it does not log successes. The bindings of
//! the Worker select its other properties: `TOOLS` is the number of tools. With `SHARED`, the Worker builds the server once, and not for
//! each request. With `LOG`, it logs all requests. With `OPEN`, callers need no token. Without `OPEN`, it checks the tokens in
//! `MCP_STATIC_TOKENS`.

use std::error::Error;
use std::sync::{LazyLock, OnceLock};

use edge_mcp::{BuildError, Endpoint, LogPolicy, McpServer, Resource, StaticTokens, Tool};
use worker::Env;

#[path = "../../arguments.rs"]
pub mod arguments;

use arguments::{Addition, Conversion, Document, Echo, Event, Numbers, Search, Slug, Translation, Weather};

type Make = fn(&'static str, &'static str) -> Tool;

// The bench calls `add` and `echo`. They are read-only, because the server logs calls of other tools.
static ELEVEN: [(&str, &str, Make); 11] = [
    ("add", "Adds two numbers.", |name, about| {
        Tool::new(name, about, async |Addition { a, b }| (a + b).to_string()).read_only()
    }),
    ("echo", "Returns the text.", |name, about| Tool::new(name, about, async |Echo { text }| text).read_only()),
    ("get-weather", "Returns the current weather in a city.", |name, about| Tool::new(name, about, done::<Weather>)),
    ("search-documents", "Finds documents by their words, best match first.", |name, about| {
        Tool::new(name, about, done::<Search>)
    }),
    ("read-document", "Returns the text of a document.", |name, about| Tool::new(name, about, done::<Slug>)),
    ("save-document", "Creates a document, or replaces the document with the same slug.", |name, about| {
        Tool::new(name, about, done::<Document>)
    }),
    ("delete-document", "Deletes a document.", |name, about| Tool::new(name, about, done::<Slug>)),
    ("convert-currency", "Converts an amount to another currency.", |name, about| {
        Tool::new(name, about, done::<Conversion>)
    }),
    ("create-event", "Adds an event to the calendar.", |name, about| Tool::new(name, about, done::<Event>)),
    ("translate", "Translates a text into another language.", |name, about| {
        Tool::new(name, about, done::<Translation>)
    }),
    ("average", "Returns the mean of a list of numbers.", |name, about| Tool::new(name, about, done::<Numbers>)),
];

async fn done<Arguments>(_: Arguments) -> &'static str {
    "done"
}

/// The names of the tools: the eleven names, and then the same tools again under other names. They are cached, because the bindings do
/// not change during the life of an isolate.
static NAMES: OnceLock<Vec<String>> = OnceLock::new();

fn names(env: &Env) -> Vec<String> {
    let tools = env.var("TOOLS").ok().and_then(|tools| tools.to_string().parse().ok()).unwrap_or(ELEVEN.len());
    let name = |(index, (name, ..)): (usize, &(&str, &str, Make))| {
        if index < ELEVEN.len() { (*name).to_owned() } else { format!("{name}-{index}") }
    };
    ELEVEN.iter().cycle().take(tools).enumerate().map(name).collect()
}

/// A megabyte of prose with characters that JSON escapes.
static MEGABYTE: LazyLock<String> = LazyLock::new(|| {
    let mut text = "The kettle said \"now\", and the tea was poured into four cups.\n".repeat(20_000);
    text.truncate(1_000_000);
    text
});

fn server(names: &'static [String]) -> Result<McpServer, BuildError> {
    let megabyte = Resource::new("bench://megabyte", async || MEGABYTE.as_str());
    let server = McpServer::builder("bench", "1.0.0").resource(megabyte.name("Megabyte").mime_type("text/plain"));
    let tools = ELEVEN.iter().cycle().zip(names);
    tools.fold(server, |server, ((_, description, make), name)| server.tool(make(name, description))).build()
}

/// Builds the endpoint.
///
/// # Errors
/// `MCP_STATIC_TOKENS` is missing or wrong, or the server cannot be built.
pub fn endpoint(env: &Env) -> Result<Endpoint, Box<dyn Error>> {
    let names = NAMES.get_or_init(|| names(env));
    let is_set = |binding| env.var(binding).is_ok();
    let endpoint = if is_set("SHARED") { Endpoint::of(server(names)?) } else { Endpoint::new(|_| server(names)) };
    let endpoint = if is_set("LOG") { endpoint.log(LogPolicy::All) } else { endpoint };
    let endpoint = endpoint.without_rate_limit();
    Ok(if is_set("OPEN") {
        endpoint.open_to_the_public()
    } else {
        endpoint.auth(StaticTokens::from_secret(env, "MCP_STATIC_TOKENS")?)
    })
}
