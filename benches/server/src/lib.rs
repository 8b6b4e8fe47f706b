//! What `scripts/bench` measures of edge-mcp.
//!
//! The tools and the resource are those of the peers in `benches/peers/`. As with the peers, everybody may call, and a success is not
//! logged. The bindings of the Worker select the rest: `TOOLS` is the number of tools, `SHARED` builds the server once and not for each
//! request, `LOG` logs all requests, and a Worker without `OPEN` checks the tokens in `MCP_STATIC_TOKENS`.

use std::error::Error;
use std::sync::{LazyLock, OnceLock};

use edge_mcp::{BuildError, Endpoint, LogPolicy, McpServer, Resource, StaticTokens, Tool};
use worker::Env;

#[path = "../../arguments.rs"]
pub mod arguments;

use arguments::{Addition, Conversion, Document, Echo, Event, Numbers, Search, Slug, Translation, Weather};

type Make = fn(&'static str, &'static str) -> Tool;

// The tools that are called are read-only: calls of others are logged.
static ELEVEN: [(&str, &str, Make); 11] = [
    ("add", "Adds two numbers.", |name, about| {
        Tool::new(name, about, async |Addition { a, b }| (a + b).to_string()).read_only()
    }),
    ("echo", "Says what it is told.", |name, about| Tool::new(name, about, async |Echo { text }| text).read_only()),
    ("get-weather", "The weather in a city, now.", |name, about| Tool::new(name, about, done::<Weather>)),
    ("search-documents", "Finds documents by the words in them, the best first.", |name, about| {
        Tool::new(name, about, done::<Search>)
    }),
    ("read-document", "The text of one document.", |name, about| Tool::new(name, about, done::<Slug>)),
    ("save-document", "Stores a document, in the place of one with the same slug.", |name, about| {
        Tool::new(name, about, done::<Document>)
    }),
    ("delete-document", "Removes a document.", |name, about| Tool::new(name, about, done::<Slug>)),
    ("convert-currency", "What an amount is in another currency.", |name, about| {
        Tool::new(name, about, done::<Conversion>)
    }),
    ("create-event", "Puts an event into the calendar.", |name, about| Tool::new(name, about, done::<Event>)),
    ("translate", "A text in another language.", |name, about| Tool::new(name, about, done::<Translation>)),
    ("average", "The mean of some numbers.", |name, about| Tool::new(name, about, done::<Numbers>)),
];

async fn done<Arguments>(_: Arguments) -> &'static str {
    "done"
}

/// The names of the tools: the eleven, and then the same again by other names. The bindings do not change while the isolate lives.
static NAMES: OnceLock<Vec<String>> = OnceLock::new();

fn names(env: &Env) -> Vec<String> {
    let tools = env.var("TOOLS").ok().and_then(|tools| tools.to_string().parse().ok()).unwrap_or(ELEVEN.len());
    let name = |(index, (name, ..)): (usize, &(&str, &str, Make))| {
        if index < ELEVEN.len() { (*name).to_owned() } else { format!("{name}-{index}") }
    };
    ELEVEN.iter().cycle().take(tools).enumerate().map(name).collect()
}

/// A megabyte of prose, with what JSON has to escape.
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

fn endpoint(env: &Env) -> Result<Endpoint, Box<dyn Error>> {
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

edge_mcp::worker::entry!(endpoint);
