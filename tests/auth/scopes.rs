//! Scopes: the operations that a token permits, and the items that the caller can list.

use edge_mcp::auth::{PresentedToken, Principal, ProtectedResource, TokenRefusal};
use edge_mcp::cache::{CacheHint, Cacheable};
use edge_mcp::{
    BuildError, Completion, Endpoint, McpServer, Prompt, RequestInfo, Resource, ResourceContents, ResourceDescription,
    ResourceTemplate, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

use crate::issuer::RESOURCE;
use crate::support::{Answer, envelope, legacy, modern, post};

#[derive(Deserialize, JsonSchema)]
struct Tone {
    tone: Option<String>,
}

/// Accepts every token. The caller is `ada`. The token itself lists her scopes, separated by `+`.
async fn scopes_from_token(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
    Ok(Principal::new("ada").with_scopes(presented.token().split('+')))
}

fn builder() -> edge_mcp::McpServerBuilder {
    let greet = |version: &'static str| {
        Prompt::new("greet", |Tone { tone }: Tone| async move { tone.unwrap_or_default() })
            .version(version)
            .scopes(["read"])
            .complete("tone", Completion::fixed(["formal"]))
    };
    McpServer::builder("s", "1")
        .tool(Tool::new("free", "Needs no scope.", || async { "free" }))
        .tool(Tool::new("read", "Reads.", || async { "read" }).scopes(["read"]))
        .tool(Tool::new("write", "Writes.", || async { "written" }).scopes(["write", "read"]))
        .resource(Resource::new("kb://free", || async { "free" }))
        .resource(Resource::new("kb://read", || async { "read" }).scopes(["read"]))
        .resource_template(
            ResourceTemplate::new("kb://items/{id}", |_: BTreeMap<String, String>| async {
                Some(ResourceContents::text("kb://items/1", "1"))
            })
            .scopes(["read"])
            .list(|| async { vec![ResourceDescription::new("kb://items/1", "1")] })
            .complete("id", Completion::fixed(["1"])),
        )
        .prompt(Prompt::new("free", || async { "free" }))
        .prompt(greet("v1"))
        .prompt(greet("v2"))
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    builder().build()
}

fn guarded(server: fn(&RequestInfo) -> Result<McpServer, BuildError>) -> Endpoint {
    let resource = ProtectedResource::at(RESOURCE)
        .and_then(|it| it.authorization_server("https://auth.example.com"))
        .and_then(|it| it.scopes(["read", "write", "admin"]))
        .expect("valid values");
    Endpoint::new(server)
        .auth(scopes_from_token)
        .resource(resource)
        .scope_includes("admin", ["write"])
        .scope_includes("write", ["read"])
        .without_rate_limit()
}

/// Returns the method and the parameters of requests that use an item, and the scopes that each request needs.
fn requests_and_scopes() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("tools/call", json!({ "name": "free" }), ""),
        ("tools/call", json!({ "name": "read" }), "read"),
        ("tools/call", json!({ "name": "write" }), "write read"),
        ("resources/read", json!({ "uri": "kb://free" }), ""),
        ("resources/read", json!({ "uri": "kb://read" }), "read"),
        ("resources/read", json!({ "uri": "kb://items/1" }), "read"),
        ("prompts/get", json!({ "name": "free" }), ""),
        ("prompts/get", json!({ "name": "greet" }), "read"),
        ("prompts/get", json!({ "name": "greet@v1" }), "read"),
        ("prompts/get", json!({ "name": "greet", "version": "v1" }), "read"),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "greet" }, "argument": { "name": "tone", "value": "" } }),
            "read",
        ),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "greet" }, "argument": { "name": "tone", "value": "" },
                "version": "none",
            }),
            "read",
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "kb://items/{id}" }, "argument": { "name": "id", "value": "" } }),
            "read",
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "kb://items/7" }, "argument": { "name": "id", "value": "" } }),
            "read",
        ),
    ]
}

/// Rule 104: without the needed scopes, a caller gets a 403 in both eras. One challenge names all scopes that the operation needs. A scope
/// can include other scopes.
#[test]
fn missing_scopes_are_403() {
    for (method, params, needed) in requests_and_scopes() {
        for ask in [modern(method, params.clone()), legacy(method, params.clone())] {
            for (token, passes) in [
                ("none", needed.is_empty()),
                ("read", matches!(needed, "" | "read")),
                ("write", true),
                ("admin", true),
                ("Write", needed.is_empty()),
                ("writer", needed.is_empty()),
            ] {
                let answer = ask.clone().bearer(token).ask_at(&guarded(server));
                if passes {
                    assert_eq!(answer.status, 200, "{token} {method} {params}");
                    continue;
                }
                assert_eq!(answer.refusal(), (403, -32600), "{token} {method} {params}");
                assert_eq!(answer.body.as_ref().map(|body| &body["id"]), Some(&json!(1)));
                let expected = format!(
                    "Bearer error=\"insufficient_scope\", error_description=\"{}\", scope=\"{needed}\", \
                     resource_metadata=\"https://kb.example.com/.well-known/oauth-protected-resource/mcp\"",
                    answer.message()
                );
                assert_eq!(answer.header("www-authenticate"), Some(&*expected));
                assert!(answer.message().contains(needed), "{}", answer.message());
            }
        }
    }
}

/// A request for an item that does not exist needs no scope. The endpoint answers 200 with a JSON-RPC error.
#[test]
fn an_unknown_item_needs_no_scope() {
    for (method, params) in [
        ("tools/call", json!({ "name": "other" })),
        ("tools/call", json!({})),
        ("resources/read", json!({ "uri": "kb://other" })),
        ("prompts/get", json!({ "name": "other" })),
        ("completion/complete", json!({ "ref": { "type": "ref/x" }, "argument": { "name": "tone", "value": "" } })),
    ] {
        let answer = legacy(method, params).bearer("none").ask_at(&guarded(server));
        assert_eq!(answer.status, 200);
        assert!([-32602, -32002].contains(&answer.error()["code"].as_i64().expect("a code")), "{answer:?}");
    }
}

/// Returns the URI, the URI template or the name of each item in a list.
fn names(answer: &Answer, list: &str) -> Vec<String> {
    let items = answer.result()[list].as_array().expect("a list");
    let name =
        |item: &Value| ["uri", "uriTemplate", "name"].iter().find_map(|key| item[key].as_str().map(str::to_owned));
    items.iter().filter_map(name).collect()
}

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
    ("prompts/list", "prompts"),
];

/// Lists show exactly the items that the caller may use. With `list_all`, they show all items.
#[test]
fn lists_show_the_items_that_the_caller_may_use() {
    fn listing_all(_: &RequestInfo) -> Result<McpServer, BuildError> {
        builder().list_all().build()
    }
    let all = [
        vec!["free", "read", "write"],
        vec!["kb://free", "kb://read", "kb://items/1"],
        vec!["kb://items/{id}"],
        vec!["free", "greet"],
    ];
    for (token, expected) in [
        ("none", [vec!["free"], vec!["kb://free"], vec![], vec!["free"]]),
        ("read", [vec!["free", "read"], all[1].clone(), all[2].clone(), all[3].clone()]),
        ("admin", all.clone()),
    ] {
        for ((method, list), expected) in LISTS.into_iter().zip(expected) {
            let answer = modern(method, json!({})).bearer(token).ask_at(&guarded(server));
            assert_eq!(names(&answer, list), expected, "{token} {method}");
        }
    }
    // Even with `list_all`, the resources from a template's `list` need the scopes of the template.
    let [tools, _, templates, prompts] = all;
    for ((method, list), expected) in LISTS.into_iter().zip([tools, vec!["kb://free", "kb://read"], templates, prompts])
    {
        let answer = modern(method, json!({})).bearer("none").ask_at(&guarded(listing_all));
        assert_eq!(names(&answer, list), expected, "{method}");
    }
    let used = modern("tools/call", json!({ "name": "read" })).bearer("none").ask_at(&guarded(listing_all));
    assert_eq!(used.status, 403, "the tool is listed, but the caller may not use it");
}

/// An endpoint without authentication does not check scopes.
#[test]
fn without_authentication_scopes_are_not_checked() {
    let open = || Endpoint::new(server).without_auth().without_rate_limit();
    assert_eq!(names(&modern("tools/list", json!({})).ask_at(&open()), "tools").len(), 3);
    assert_eq!(modern("tools/call", json!({ "name": "write" })).ask_at(&open()).tool_text(), ("written", false));
}

/// A batch has one HTTP status, so it runs only if the caller may make all its requests. The challenge names all needed scopes.
#[test]
fn a_batch_runs_only_if_all_its_requests_are_permitted() {
    let call =
        |id: u8, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    let batch = |names: &[&str]| {
        let calls: Vec<_> = names.iter().zip(1..).map(|(name, id)| call(id, name)).collect();
        post(json!(calls).to_string()).header("MCP-Protocol-Version", "2025-03-26")
    };
    let answer = batch(&["read", "write"]).bearer("read").ask_at(&guarded(server));
    assert_eq!(answer.status, 403);
    assert!(answer.header("www-authenticate").is_some_and(|value| value.contains("scope=\"read write\"")));
    assert_eq!(batch(&["read", "write"]).bearer("admin").ask_at(&guarded(server)).status, 200);
    assert_eq!(batch(&["free", "read"]).bearer("read").ask_at(&guarded(server)).status, 200);
}

/// Results that depend on scopes may be cached only for one caller. The server cannot be built with a public cache hint for them.
#[test]
fn results_that_depend_on_scopes_are_private() {
    fn caching(_: &RequestInfo) -> Result<McpServer, BuildError> {
        builder().cache(CacheHint::private(Duration::from_secs(9))).build()
    }
    for (method, _) in LISTS {
        let answer = modern(method, json!({})).bearer("read").ask_at(&guarded(caching));
        assert_eq!(answer.result()["cacheScope"], "private", "{method}");
    }
    let public = CacheHint::public(Duration::from_secs(9));
    let error = |server: Result<McpServer, BuildError>| server.err().expect("an error").to_string();
    for result in [Cacheable::Tools, Cacheable::Resources, Cacheable::Prompts, Cacheable::ReadResource] {
        assert!(error(builder().cache_of(result, public).build()).contains("public"), "{result:?}");
    }
    for result in [Cacheable::Tools, Cacheable::Resources, Cacheable::Prompts] {
        assert!(builder().list_all().cache_of(result, public).build().is_ok(), "{result:?}");
    }
    assert!(error(builder().list_all().cache_of(Cacheable::ReadResource, public).build()).contains("resources/read"));
    let cached = Resource::new("kb://secret", || async { "secret" }).scopes(["read"]).cache(public);
    assert!(error(McpServer::builder("s", "1").resource(cached).build()).contains("kb://secret"));
}

/// The builder rejects scopes that a token cannot have, and its error names the item. Rule 105: it also rejects `offline_access`.
#[test]
fn invalid_scopes_are_rejected_when_the_server_is_built() {
    let tool = |scope: &'static str| Tool::new("t", "T.", || async {}).scopes([scope]);
    for scope in ["", "a b", "a\"b", "a\\b", "a\r\nb", "\u{e9}", "offline_access"] {
        let server = McpServer::builder("s", "1").tool(tool(scope)).build();
        assert!(server.err().is_some_and(|error| error.to_string().contains("\"t\"")), "{scope:?}");
    }
    let versions = |second: &'static str| {
        let prompt = |scope: &'static str, version: &'static str| {
            Prompt::new("p", || async { "" }).version(version).scopes([scope])
        };
        McpServer::builder("s", "1").prompt(prompt("a", "v1")).prompt(prompt(second, "v2")).build()
    };
    assert!(versions("a").is_ok());
    assert!(versions("b").err().is_some_and(|error| error.to_string().contains("the same scopes")));
}

/// The scopes are checked in every round of a call that asks for input.
#[test]
fn every_round_is_authorized() {
    let params = json!({ "name": "write", "_meta": envelope(), "requestState": "v1.x.y", "inputResponses": {} });
    assert_eq!(modern("tools/call", params).bearer("read").ask_at(&guarded(server)).status, 403);
}
