//! What a token permits.

use edge_mcp::{
    BuildError, CacheHint, Cacheable, Completion, Endpoint, McpServer, Presented, Principal, Prompt, ProtectedResource,
    RequestInfo, Resource, ResourceContents, ResourceDescription, ResourceTemplate, TokenRefusal, Tool,
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

/// Whoever has a token has the scopes that it is made of.
async fn by_name(presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
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
        .tool(Tool::new("free", "For all.", || async { "free" }))
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
        .expect("sound");
    Endpoint::new(server)
        .auth(by_name)
        .resource(resource)
        .scope_includes("admin", ["write"])
        .scope_includes("write", ["read"])
        .without_rate_limit()
}

/// Each request that uses something, and the scopes that it needs.
fn uses() -> Vec<(&'static str, Value, &'static str)> {
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

/// Rule 104: what a caller lacks scopes for is a 403, with all that this operation needs in one challenge, in both eras;
/// scopes include others.
#[test]
fn scopes_are_needed() {
    for (method, params, needed) in uses() {
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

/// What is not there needs no scope: the answer says that it is not there.
#[test]
fn what_is_not_there_needs_no_scope() {
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

/// The first of the members that things are named by.
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

/// What a caller cannot use is not listed, unless the server lists all; what it can use is.
#[test]
fn lists_show_what_can_be_used() {
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
    // What a template lists is behind its scopes even then.
    let [tools, _, templates, prompts] = all;
    for ((method, list), expected) in LISTS.into_iter().zip([tools, vec!["kb://free", "kb://read"], templates, prompts])
    {
        let answer = modern(method, json!({})).bearer("none").ask_at(&guarded(listing_all));
        assert_eq!(names(&answer, list), expected, "{method}");
    }
    let used = modern("tools/call", json!({ "name": "read" })).bearer("none").ask_at(&guarded(listing_all));
    assert_eq!(used.status, 403, "listed, and not permitted");
}

/// Where nobody is asked who they are, nobody can show a scope.
#[test]
fn an_open_endpoint_needs_no_scope() {
    let open = || Endpoint::new(server).without_auth().without_rate_limit();
    assert_eq!(names(&modern("tools/list", json!({})).ask_at(&open()), "tools").len(), 3);
    assert_eq!(modern("tools/call", json!({ "name": "write" })).ask_at(&open()).tool_text(), ("written", false));
}

/// A batch has one status: nothing of it is done unless all of it may be, and the challenge names all that is needed.
#[test]
fn a_batch_is_done_or_not() {
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

/// What differs from caller to caller is kept for this one alone.
#[test]
fn lists_by_scope_are_private() {
    fn caching(_: &RequestInfo) -> Result<McpServer, BuildError> {
        builder().cache(CacheHint::private(Duration::from_secs(9))).build()
    }
    for (method, _) in LISTS {
        let answer = modern(method, json!({})).bearer("read").ask_at(&guarded(caching));
        assert_eq!(answer.result()["cacheScope"], "private", "{method}");
    }
    let public = CacheHint::public(Duration::from_secs(9));
    let refused = |server: Result<McpServer, BuildError>| server.err().expect("refused").to_string();
    for result in [Cacheable::Tools, Cacheable::Resources, Cacheable::Prompts, Cacheable::ReadResource] {
        assert!(refused(builder().cache_of(result, public).build()).contains("public"), "{result:?}");
    }
    for result in [Cacheable::Tools, Cacheable::Resources, Cacheable::Prompts] {
        assert!(builder().list_all().cache_of(result, public).build().is_ok(), "{result:?}");
    }
    assert!(refused(builder().list_all().cache_of(Cacheable::ReadResource, public).build()).contains("resources/read"));
    let kept = Resource::new("kb://secret", || async { "secret" }).scopes(["read"]).cache(public);
    assert!(refused(McpServer::builder("s", "1").resource(kept).build()).contains("kb://secret"));
}

/// Scopes that no token can have are refused when the server is built. Rule 105: so is `offline_access`.
#[test]
fn bad_scopes_are_refused_by_name() {
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

/// A round of a call that asks for input is authorized like the first.
#[test]
fn every_round_is_authorized() {
    let params = json!({ "name": "write", "_meta": envelope(), "requestState": "v1.x.y", "inputResponses": {} });
    assert_eq!(modern("tools/call", params).bearer("read").ask_at(&guarded(server)).status, 403);
}
