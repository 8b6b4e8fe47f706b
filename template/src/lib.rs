//! An MCP server on Cloudflare Workers that books desks in an office.

mod app;
mod bookings;
mod prompts;
mod resources;
#[cfg(test)]
mod tests;
mod tools;

use edge_mcp::{BuildError, ConfigError, Endpoint, McpServer, RequestInfo};

/// Builds the server. The endpoint calls this function for each request.
fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    McpServer::builder(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .title("Desk bookings")
        .description("Books desks in an office for single days.")
        .instructions("Books desks in the office, one day at a time. Ask the user for the day before you book.")
        .tool(tools::book_desk())
        .tool(tools::list_bookings())
        .app(app::desks())
        .resource_template(resources::day())
        .prompt(prompts::plan_day())
        .build()
}

/// Builds the endpoint from the bindings and variables in `wrangler.toml`. An isolate calls this function when it starts and at its first
/// request.
fn endpoint(env: &worker::Env) -> Result<Endpoint, ConfigError> {
    let database = edge_mcp::worker::database(env, "DB")?;
    // All handlers share the state. A handler gets the database with `cx.state::<Database>()?`.
    Ok(Endpoint::new(server).state(database).configured(env))
}

edge_mcp::worker::entry!(endpoint);
