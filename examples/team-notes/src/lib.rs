//! A server for the notes of a team. It stores notes in D1 and counts calls in KV. It looks up words in a dictionary, and asks another MCP
//! server for the weather.

mod calls;
mod dictionary;
mod notes;
#[cfg(test)]
mod tests;
mod weather;

use edge_mcp::client::Upstream;
use edge_mcp::rag::{Retriever, SearchTool, SqlitePassages};
use edge_mcp::worker::{database, kv};
use edge_mcp::{BuildError, ConfigError, Endpoint, McpServer, Prompt, RequestInfo, ResourceTemplate, Tool, Variables};

use crate::dictionary::Dictionary;

fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    let add = Tool::new("add-note", "Adds a note of the caller.", notes::add).title("Add a note");
    let find = Tool::new("find-notes", "Finds the notes that contain a text.", notes::find).title("Find notes");
    let delete = Tool::new("delete-note", "Deletes a note after the user has confirmed it.", notes::delete)
        .title("Delete a note");
    let search = SearchTool::new(Retriever::new(notes::INDEX, request.state::<SqlitePassages>()?))
        .name("search-passages")
        .description("Finds the passages of notes that answer a question.")
        .uri(|passage| Some(notes::uri(&passage.document)));
    let define = Tool::new("define-word", "Defines an English word.", dictionary::define).title("Define a word");
    let weather = Tool::new("get-weather", "Returns the weather in a city.", weather::get).title("Get the weather");
    let count = Tool::new("count-calls", "Counts the earlier calls of the caller.", calls::read).title("Count calls");
    let note = ResourceTemplate::new("notes://{id}", notes::read).name("note").mime_type("text/markdown");
    let summarize = Prompt::new("summarize-note", notes::summarize).description("Asks for a summary of a note.");
    McpServer::builder("team-notes", env!("CARGO_PKG_VERSION"))
        .description("The notes of a team.")
        .tool(add.additive().closed_world().scopes(["notes:write"]))
        .tool(find.read_only().closed_world())
        .tool(delete.destructive().closed_world().scopes(["notes:write"]))
        .tool(search.tool())
        .tool(define.read_only().open_world())
        .tool(weather.read_only().open_world())
        .tool(count.read_only().closed_world())
        .hook(calls::count)
        .resource_template(note.list(notes::list))
        .prompt(summarize)
        .build()
}

fn endpoint(env: &worker::Env) -> Result<Endpoint, ConfigError> {
    let (notes, variables) = (database(env, "DB")?, Variables::of(env));
    let weather = Upstream::at(&variables.required("WEATHER_URL", "the URL of an MCP server with the weather")?)?;
    Ok(Endpoint::new(server)
        .state(SqlitePassages::new(notes.clone()))
        .state(notes)
        .state(kv(env, "CALLS")?)
        .state(Dictionary { url: variables.required("DICTIONARY_URL", "the URL of a dictionary")? })
        .state(weather::client(weather)?)
        .configured(env))
}

edge_mcp::worker::entry!(endpoint);
