//! A server with every feature. Each module demonstrates one kind of feature.
#![forbid(unsafe_code)]

mod account;
mod conformance;
mod contact;
mod guide;
mod input_required;
mod jobs;
mod ledger;
mod outing;
mod parcels;
mod passages;
mod prompts;
mod resources;
mod skills;
#[cfg(test)]
mod tests;
mod tools;
mod weather;

use std::num::NonZeroUsize;
use std::time::Duration;

use edge_mcp::cache::CacheHint;
use edge_mcp::content::{Icon, Theme};
use edge_mcp::protocol::LogLevel;
use edge_mcp::registry::Repository;
use edge_mcp::{BuildError, ConfigError, Endpoint, McpServer, RequestInfo, Skills};
use worker::Env;

use crate::guide::Guide;
use crate::outing::outing;

edge_mcp::worker::entry!(endpoint);
edge_mcp::worker::tasks!(endpoint);

fn endpoint(env: &Env) -> Result<Endpoint, ConfigError> {
    let page_size = env.var("PAGE_SIZE").ok().and_then(|size| size.to_string().parse().ok());
    // wrangler.toml sets MCP_AUTH to "none".
    let endpoint = Endpoint::new(server).state(Paging { page_size }).state(parcels::client()?);
    Ok(endpoint.page_search(passages::NAME).without_rate_limit().configured(env))
}

/// The pagination of lists.
struct Paging {
    /// The number of items on a page. `None` means that a list has one page.
    page_size: Option<NonZeroUsize>,
}

fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    let mut server = McpServer::builder("everything", env!("CARGO_PKG_VERSION"))
        .title("Everything")
        .description("A server with every feature")
        .icon(
            Icon::new("data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E")
                .size("any")
                .theme(Theme::Light),
        )
        .website_url("https://modelcontextprotocol.io")
        .repository(Repository::new(env!("CARGO_PKG_REPOSITORY"), "github").subfolder("examples/everything"))
        .instructions("Each tool, resource and prompt demonstrates one feature.")
        .logging(LogLevel::Info)
        .cache(CacheHint::private(Duration::from_mins(1)));
    // Some clients read only the first page, so pagination is off unless PAGE_SIZE is set.
    if let Some(items) = request.state::<Paging>()?.page_size {
        server = server.page_size(items);
    }
    let others = [weather::tool(), contact::tool(), account::tool(), parcels::tool(), passages::tool()];
    for tool in tools::all().into_iter().chain(others) {
        server = server.tool(tool);
    }
    server =
        server.agent(Guide).workflow(outing()).skills(Skills::embedded(&skills::SKILLS)).serve(ledger::extension());
    for tool in conformance::tools().into_iter().chain(input_required::tools()).chain(jobs::tools()) {
        server = server.tool(tool);
    }
    for resource in resources::fixed().into_iter().chain(conformance::resources()) {
        server = server.resource(resource);
    }
    for template in resources::templates().into_iter().chain([conformance::template()]) {
        server = server.resource_template(template);
    }
    for prompt in prompts::all().into_iter().chain(conformance::prompts()).chain([input_required::prompt()]) {
        server = server.prompt(prompt);
    }
    server.build()
}
