//! Every feature in one server: a file for each kind of thing that it offers.
#![forbid(unsafe_code)]

mod prompts;
mod resources;
mod tools;

use std::num::NonZeroUsize;
use std::time::Duration;

use edge_mcp::protocol::description::{Icon, Theme};
use edge_mcp::{BuildError, CacheHint, ConfigError, Endpoint, McpServer, RequestInfo};
use worker::{Env, Request, Response, event};

#[event(fetch)]
async fn fetch(request: Request, _: Env, _: worker::Context) -> worker::Result<Response> {
    let is_local = request.url()?.host_str().is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host));
    let endpoint = if is_local {
        Endpoint::new(server).without_auth()
    } else {
        Endpoint::misconfigured(ConfigError::new(
            "This example",
            "asks nobody who they are, and is served on localhost alone",
        ))
    };
    edge_mcp::worker::serve(endpoint, request).await
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let mut server = McpServer::builder("everything", env!("CARGO_PKG_VERSION"))
        .title("Everything")
        .description("Every feature in one server")
        .icon(Icon::new("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>").size("any").theme(Theme::Light))
        .website_url("https://modelcontextprotocol.io")
        .instructions("Each tool, resource and prompt shows one thing.")
        .cache(CacheHint::private(Duration::from_mins(1)));
    // Some clients read one page and no more; these lists are long enough to need two.
    if let Some(five) = NonZeroUsize::new(5) {
        server = server.page_size(five);
    }
    for tool in tools::all() {
        server = server.tool(tool);
    }
    for resource in resources::fixed() {
        server = server.resource(resource);
    }
    for template in resources::templates() {
        server = server.resource_template(template);
    }
    for prompt in prompts::all() {
        server = server.prompt(prompt);
    }
    server.build()
}
