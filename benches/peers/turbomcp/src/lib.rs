//! turbomcp-wasm with the tools of the other peers, as its documentation has it: a server for each request.

use std::sync::{LazyLock, OnceLock};

use turbomcp_wasm::wasm_server::{McpServer, McpServerBuilder, ResourceResult};
use worker::{Context, Env, Request, Response, event};

#[path = "../../../arguments.rs"]
pub mod arguments;

use arguments::{Addition, Conversion, Document, Echo, Event, Numbers, Search, Slug, Translation, Weather};

type Register = fn(McpServerBuilder, &str, &str) -> McpServerBuilder;

static ELEVEN: [(&str, &str, Register); 11] = [
    ("add", "Adds two numbers.", |server, name, says| server.tool(name, says, add)),
    ("echo", "Says what it is told.", |server, name, says| server.tool(name, says, echo)),
    ("get-weather", "The weather in a city, now.", |server, name, says| server.tool(name, says, done::<Weather>)),
    ("search-documents", "Finds documents by the words in them, the best first.", |server, name, says| {
        server.tool(name, says, done::<Search>)
    }),
    ("read-document", "The text of one document.", |server, name, says| server.tool(name, says, done::<Slug>)),
    ("save-document", "Stores a document, in the place of one with the same slug.", |server, name, says| {
        server.tool(name, says, done::<Document>)
    }),
    ("delete-document", "Removes a document.", |server, name, says| server.tool(name, says, done::<Slug>)),
    ("convert-currency", "What an amount is in another currency.", |server, name, says| {
        server.tool(name, says, done::<Conversion>)
    }),
    ("create-event", "Puts an event into the calendar.", |server, name, says| server.tool(name, says, done::<Event>)),
    ("translate", "A text in another language.", |server, name, says| server.tool(name, says, done::<Translation>)),
    ("average", "The mean of some numbers.", |server, name, says| server.tool(name, says, done::<Numbers>)),
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
    let server = tools.fold(server, |server, ((_, says, register), name)| register(server, name, says)).build();
    server.handle(request).await
}
