//! Cache hints: for how long clients may cache a result, and for which callers.

use std::collections::BTreeMap;
use std::time::Duration;

use edge_mcp::cache::{CacheHint, Cacheable};
use edge_mcp::{Context, Endpoint, McpServer, McpServerBuilder, Prompt, Resource, ResourceTemplate, Tool};
use serde_json::json;

use crate::support::{legacy, modern};

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

fn full_server() -> McpServerBuilder {
    let private = |cx: Context| async move { cx.caller().is_ok().to_string() };
    McpServer::builder("s", "1")
        .tool(Tool::new("t", "d", || async {}))
        .prompt(Prompt::new("p", || async { "" }))
        .resource(Resource::new("a://plain", || async { "text" }))
        .resource(Resource::new("a://own", || async { "text" }).cache(CacheHint::public(HOUR)))
        .resource(Resource::new("a://private", private))
        .resource_template(
            ResourceTemplate::new("b://{x}", |_: BTreeMap<String, String>| async { "text" }).cache(CacheHint::NONE),
        )
}

/// Rules 47 and 48: the hint of a resource takes precedence over the hint of its kind of result. The hint of the server is the default.
#[test]
fn the_most_specific_cache_hint_is_sent() {
    let endpoint = Endpoint::new(|_| {
        let lists = CacheHint::private(HOUR);
        full_server().cache(CacheHint::public(MINUTE)).cache_of(Cacheable::Tools, lists).build()
    })
    .without_auth();
    for (method, uri, ttl, scope) in [
        ("server/discover", "", 60_000, "public"),
        ("tools/list", "", 3_600_000, "private"),
        ("prompts/list", "", 60_000, "public"),
        ("resources/list", "", 60_000, "public"),
        ("resources/templates/list", "", 60_000, "public"),
        ("resources/read", "a://plain", 60_000, "public"),
        ("resources/read", "a://own", 3_600_000, "public"),
        ("resources/read", "a://private", 60_000, "private"),
        ("resources/read", "b://x", 0, "private"),
    ] {
        let params = if uri.is_empty() { json!({}) } else { json!({ "uri": uri }) };
        let answer = modern(method, params.clone()).ask_at(&endpoint);
        let result = answer.result();
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(ttl), &json!(scope)), "{method} {uri}");
        if method != "server/discover" {
            assert!(legacy(method, params).ask_at(&endpoint).result().get("ttlMs").is_none(), "{method}");
        }
    }
}

/// Rule 48: a result is private if the server function reads a header, even if the cache hint is public.
#[test]
fn a_result_that_depends_on_a_header_is_private() {
    let endpoint = Endpoint::new(|request| {
        let server = full_server().cache(CacheHint::public(MINUTE));
        if request.header("X-Tenant").is_some() { server.title("Tenant's").build() } else { server.build() }
    });
    let answer = modern("tools/list", json!({})).ask_at(&endpoint.without_auth());
    assert_eq!(answer.result()["cacheScope"], "private");
}

/// Rule 48: a server is rejected if a public cache hint applies to a list with items that some callers cannot see.
#[test]
fn public_hints_for_hidden_items_are_rejected() {
    let hidden = || Tool::new("hidden", "d", || async {}).visible_if(|_| false);
    let secret = || Resource::new("a://secret", || async { "" }).visible_if(|_| false);
    let public = || CacheHint::public(MINUTE);
    for (server, says) in [
        (full_server().tool(hidden()).cache(public()), "server/discover"),
        (full_server().tool(hidden()).cache_of(Cacheable::Tools, public()), "tools/list"),
        (full_server().resource(secret()).cache_of(Cacheable::Resources, public()), "resources/list"),
        (full_server().resource(secret()).cache_of(Cacheable::ReadResource, public()), "resources/read"),
        (
            full_server()
                .prompt(Prompt::new("q", || async { "" }).visible_if(|_| true))
                .cache_of(Cacheable::Prompts, public()),
            "prompts/list",
        ),
        (full_server().resource(secret().cache(public())), "a://secret"),
    ] {
        let problem = server.build().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(problem.contains(says) && problem.contains("public"), "{problem}");
    }
    assert!(full_server().tool(hidden()).cache_of(Cacheable::Prompts, public()).build().is_ok(), "no prompt is hidden");
    assert!(full_server().tool(hidden()).cache(CacheHint::private(HOUR)).build().is_ok());
}
