//! Bookings of desks, as an MCP server on Cloudflare Workers.

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

/// What the handlers need. A handler gets it by `cx.state::<App>()?`.
struct App {
    bookings: Rc<dyn Bookings>,
}

/// Builds the server. It is called for each request.
fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    McpServer::builder(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .title("Desk bookings")
        .instructions("Books desks in the office, by the day. Ask which day is meant before you book.")
        .tool(tools::book_desk())
        .tool(tools::list_bookings())
        .resource_template(resources::day())
        .prompt(prompts::plan_day())
        .build()
}

/// Builds the endpoint from the bindings and variables in `wrangler.toml`. It is called when the Worker starts.
fn endpoint(env: &worker::Env) -> worker::Result<Endpoint> {
    let app = App { bookings: Rc::new(D1Bookings(env.d1("DB")?)) };
    Ok(Endpoint::new(server).state(app).configured(env))
}

edge_mcp::worker::entry!(endpoint);
