//! An MCP server on Cloudflare Workers that books desks in an office.

mod bookings;
mod d1;
mod prompts;
mod resources;
#[cfg(test)]
mod tests;
mod tools;

use std::rc::Rc;

use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo};

use crate::bookings::Bookings;
use crate::d1::D1Bookings;

/// The state that all handlers share. A handler gets it with `cx.state::<App>()?`.
struct App {
    bookings: Rc<dyn Bookings>,
}

/// Builds the server. The endpoint calls this function for each request.
fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    McpServer::builder(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .title("Desk bookings")
        .instructions("Books desks in the office, one day at a time. Ask the user for the day before you book.")
        .tool(tools::book_desk())
        .tool(tools::list_bookings())
        .resource_template(resources::day())
        .prompt(prompts::plan_day())
        .build()
}

/// Builds the endpoint from the bindings and variables in `wrangler.toml`. An isolate calls this function when it starts and at its first
/// request.
fn endpoint(env: &worker::Env) -> worker::Result<Endpoint> {
    let app = App { bookings: Rc::new(D1Bookings(env.d1("DB")?)) };
    Ok(Endpoint::new(server).state(app).configured(env))
}

edge_mcp::worker::entry!(endpoint);
