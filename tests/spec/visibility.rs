//! What is shown to some callers only is not there for others.

use std::collections::BTreeMap;

use edge_mcp::auth::StaticTokens;
use edge_mcp::http::Endpoint;
use edge_mcp::server::{Completion, McpServer, Prompt, RequestInfo, Resource, ResourceTemplate, Tool};
use serde_json::{Value, json};

use crate::support::{complete, modern};

const TOKENS: &str = r#"[
    {"token": "boss", "subject": "ada", "scopes": ["admin"]},
    {"token": "clerk", "subject": "bob", "scopes": []}
]"#;

fn is_admin(request: &RequestInfo) -> bool {
    request.principal().is_some_and(|caller| caller.has_scope("admin"))
}

fn endpoint() -> Endpoint {
    Endpoint::new(|_| {
        let text = |_: BTreeMap<String, String>| async { "text" };
        McpServer::builder("s", "1")
            .tool(Tool::new("open", || async {}).description("d"))
            .tool(Tool::new("shut", || async {}).description("d").visible_if(is_admin))
            .resource(Resource::new("a://shut", || async { "text" }).visible_if(is_admin))
            .resource_template(ResourceTemplate::new("b://{x}", text).visible_if(is_admin))
            .prompt(
                Prompt::new("shut", || async { "" })
                    .argument(edge_mcp::protocol::description::PromptArgument::new("x"))
                    .complete("x", Completion::fixed(["1"]))
                    .visible_if(is_admin),
            )
            .build()
    })
    .auth(StaticTokens::from_json("T", Some(TOKENS)))
}

fn ask(token: &str, method: &str, params: Value) -> crate::support::Answer {
    modern(method, params).bearer(token).ask_at(&endpoint())
}

/// Rule 49: lists follow the authorization; what is hidden answers to the letter as what never was.
#[test]
fn what_is_hidden_is_not_there() {
    let shown = ask("boss", "tools/list", json!({}));
    assert_eq!(shown.result()["tools"].as_array().map(Vec::len), Some(2));
    let hidden = ask("clerk", "tools/list", json!({}));
    assert_eq!(hidden.result()["tools"].as_array().map(Vec::len), Some(1));

    let as_if =
        |answer: crate::support::Answer, from: &str| answer.body.expect("an answer").to_string().replace(from, "");
    let used = json!({ "name": "shut" });
    assert_eq!(ask("boss", "tools/call", used.clone()).status, 200);
    let absent = ask("clerk", "tools/call", json!({ "name": "none" }));
    assert_eq!(as_if(ask("clerk", "tools/call", used), "shut"), as_if(absent, "none"));

    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "a://shut" })),
        ("resources/read", json!({ "uri": "b://x" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "shut" })),
        ("completion/complete", complete("shut", "x", "")),
    ] {
        assert!(ask("boss", method, params.clone()).body.expect("an answer").get("result").is_some(), "{method}");
        assert_eq!(
            ask("clerk", method, params).refusal(),
            (404, -32601),
            "{method}: there is none of it for this caller"
        );
    }
}

/// Rule 18: what is declared follows too.
#[test]
fn capabilities_follow() {
    let capabilities = |token| ask(token, "server/discover", json!({})).result()["capabilities"].clone();
    assert_eq!(capabilities("boss"), json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} }));
    assert_eq!(capabilities("clerk"), json!({ "tools": {} }));
}
