//! The server of docs/tutorial.md. It stores the expenses of each caller in D1, and converts amounts with exchange rates that it caches
//! in KV.

mod rates;
mod store;
#[cfg(test)]
mod tests;
mod tools;

use edge_mcp::worker::{database, kv};
use edge_mcp::{BuildError, ConfigError, Endpoint, McpServer, RequestInfo, Variables};

use crate::store::Store;

struct App {
    store: Store,
    rates_url: String,
    rates_key: String,
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    McpServer::builder("expenses", env!("CARGO_PKG_VERSION"))
        .description("The expenses of each caller.")
        .tool(tools::add_expense())
        .tool(tools::list_expenses())
        .tool(tools::clear_expenses())
        .build()
}

fn endpoint(env: &worker::Env) -> Result<Endpoint, ConfigError> {
    let variables = Variables::of(env);
    let app = App {
        store: Store { db: database(env, "DB")?, kv: kv(env, "RATES")? },
        rates_url: variables.required("RATES_URL", "the URL of the exchange rates")?,
        rates_key: variables.secret("RATES_KEY", "the key for the exchange rates")?,
    };
    Ok(Endpoint::new(server).state(app).configured(env))
}

edge_mcp::worker::entry!(endpoint);
