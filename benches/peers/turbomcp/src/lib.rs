//! turbomcp-wasm with the tools of the other peers. As in its documentation, each request gets a new server.

use std::sync::{LazyLock, OnceLock};

use turbomcp_wasm::wasm_server::{McpServer, McpServerBuilder, ResourceResult};
use worker::{Context, Env, Request, Response, event};

#[path = "../../../arguments.rs"]
pub mod arguments;

use arguments::{Addition, Conversion, Document, Echo, Event, Numbers, Search, Slug, Translation, Weather};

type Register = fn(McpServerBuilder, &str, &str) -> McpServerBuilder;

static ELEVEN: [(&str, &str, Register); 11] = [
    ("add", "Adds two numbers.", |server, name, about| server.tool(name, about, add)),
    ("echo", "Returns the text.", |server, name, about| server.tool(name, about, echo)),
    ("get-weather", "Returns the current weather in a city.", |server, name, about| {
        server.tool(name, about, done::<Weather>)
    }),
    ("search-documents", "Finds documents by their words, best match first.", |server, name, about| {
        server.tool(name, about, done::<Search>)
    }),
    ("read-document", "Returns the text of a document.", |server, name, about| server.tool(name, about, done::<Slug>)),
    ("save-document", "Creates a document, or replaces the document with the same slug.", |server, name, about| {
        server.tool(name, about, done::<Document>)
    }),
    ("delete-document", "Deletes a document.", |server, name, about| server.tool(name, about, done::<Slug>)),
    ("convert-currency", "Converts an amount to another currency.", |server, name, about| {
        server.tool(name, about, done::<Conversion>)
    }),
    ("create-event", "Adds an event to the calendar.", |server, name, about| server.tool(name, about, done::<Event>)),
    ("translate", "Translates a text into another language.", |server, name, about| {
        server.tool(name, about, done::<Translation>)
    }),
    ("average", "Returns the mean of a list of numbers.", |server, name, about| {
        server.tool(name, about, done::<Numbers>)
    }),
];

async fn add(Addition { a, b }: Addition) -> String {
    (a + b).to_string()
}

async fn echo(Echo { text }: Echo) -> String {
    text
}

async fn done<Arguments>(_: Arguments) -> &'static str {
    "done"
}

static MEGABYTE: LazyLock<String> = LazyLock::new(|| {
    let mut text = "The kettle said \"now\", and the tea was poured into four cups.\n".repeat(20_000);
    text.truncate(1_000_000);
    text
});

async fn megabyte(uri: String) -> ResourceResult {
    ResourceResult::text(uri, MEGABYTE.as_str())
}

static NAMES: OnceLock<Vec<String>> = OnceLock::new();

fn names(env: &Env) -> Vec<String> {
    let tools = env.var("TOOLS").ok().and_then(|tools| tools.to_string().parse().ok()).unwrap_or(ELEVEN.len());
    let name = |(index, (name, ..)): (usize, &(&str, &str, Register))| {
        if index < ELEVEN.len() { (*name).to_owned() } else { format!("{name}-{index}") }
    };
    ELEVEN.iter().cycle().take(tools).enumerate().map(name).collect()
}

#[event(fetch)]
async fn fetch(request: Request, env: Env, _: Context) -> worker::Result<Response> {
    let server = McpServer::builder("bench", "1.0.0").resource("bench://megabyte", "Megabyte", "Prose", megabyte);
    let tools = ELEVEN.iter().cycle().zip(NAMES.get_or_init(|| names(&env)));
    let server = tools.fold(server, |server, ((_, about, register), name)| register(server, name, about)).build();
    server.handle(request).await
}
