//! Items that only some callers can see.

use std::collections::BTreeMap;

use edge_mcp::{Completion, Endpoint, McpServer, Prompt, RequestInfo, Resource, ResourceTemplate, StaticTokens, Tool};
use serde_json::{Value, json};

use crate::support::{complete, legacy, modern};

const TOKENS: &str = r#"[
    {"token": "boss", "subject": "ada", "scopes": ["admin"]},
    {"token": "clerk", "subject": "bob", "scopes": []}
]"#;

fn is_admin(request: &RequestInfo) -> bool {
    request.caller().is_some_and(|caller| caller.has_scope("admin"))
}

fn endpoint() -> Endpoint {
    Endpoint::new(|_| {
        let text = |_: BTreeMap<String, String>| async { "text" };
        McpServer::builder("s", "1")
            .tool(Tool::new("open", "d", || async {}))
            .tool(Tool::new("shut", "d", || async {}).visible_if(is_admin))
            .resource(Resource::new("a://shut", || async { "text" }).visible_if(is_admin))
            .resource_template(ResourceTemplate::new("b://{x}", text).visible_if(is_admin))
            .prompt(
                Prompt::new("shut", || async { "" })
                    .argument(edge_mcp::PromptArgument::new("x"))
                    .complete("x", Completion::fixed(["1"]))
                    .visible_if(is_admin),
            )
            .build()
    })
    .auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
}

fn ask(token: &str, method: &str, params: Value) -> crate::support::Answer {
    modern(method, params).bearer(token).ask_at(&endpoint())
}

/// Rule 49: a list has only the items that its caller can see. A hidden item is indistinguishable from one that does not exist.
#[test]
fn hidden_items_are_indistinguishable_from_missing_ones() {
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
            "{method}: the caller sees no item of this kind"
        );
    }
}

/// Rule 18: the declared capabilities depend on the items that the caller can see.
#[test]
fn capabilities_depend_on_the_visible_items() {
    let capabilities = |token| ask(token, "server/discover", json!({})).result()["capabilities"].clone();
    assert_eq!(capabilities("boss"), json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} }));
    assert_eq!(capabilities("clerk"), json!({ "tools": {} }));
}

/// A template that matches the URI of a hidden resource does not read it, in any spelling of the URI. The response is the same as
/// for a document that does not exist.
#[test]
fn templates_do_not_read_hidden_resources() {
    #[derive(serde::Deserialize)]
    struct Document {
        slug: String,
    }
    fn endpoint() -> Endpoint {
        let read = |Document { slug }: Document| async move { (slug != "none").then(|| format!("document {slug}")) };
        Endpoint::new(move |_| {
            McpServer::builder("s", "1")
                .resource(Resource::new("kb://documents/shut", || async { "shut" }).visible_if(is_admin))
                .resource_template(
                    ResourceTemplate::new("kb://documents/{slug}", read).complete("slug", Completion::fixed(["1"])),
                )
                .resource_template(ResourceTemplate::new("kb://staff/{slug}", read).scopes(["staff"]))
                .resource(Resource::new("kb://staff/shut", || async { "shut" }).visible_if(is_admin))
                .resource_template(ResourceTemplate::new("kb://{+slug}", read))
                .build()
        })
        .auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
    }
    let params = |method: &str, uri: String| match method {
        "resources/read" => json!({ "uri": uri }),
        _ => json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": { "name": "slug", "value": "" } }),
    };
    for (folder, spellings) in [
        ("kb://documents/", vec!["shut", "%73hut", "s%68u%74"]),
        ("kb://documents%2F", vec!["shut"]),
        ("kb://d%6Fcuments/", vec!["shut"]),
        ("kb://staff/", vec!["shut", "%73hut"]),
        ("kb://staff%2F", vec!["shut"]),
    ] {
        for spelling in spellings {
            for method in ["resources/read", "completion/complete"] {
                let ask = |slug: &str| {
                    let params = params(method, format!("{folder}{slug}"));
                    let answer = legacy(method, params).bearer("clerk").ask_at(&endpoint());
                    (answer.status, answer.body.expect("an answer").to_string().replace(slug, ""))
                };
                assert_eq!(ask(spelling), ask("none"), "{method} {folder}{spelling}");
            }
            let uri = format!("{folder}{spelling}");
            let seen = legacy("resources/read", json!({ "uri": uri })).bearer("boss").ask_at(&endpoint());
            assert_eq!(seen.result()["contents"][0]["text"], "shut", "{uri}");
        }
    }
    let other = legacy("resources/read", json!({ "uri": "kb://documents/open" })).bearer("clerk").ask_at(&endpoint());
    assert_eq!(other.result()["contents"][0]["text"], "document open");
}

/// A URI that matches a hidden template is not served by a later template, in any spelling. Resources and earlier templates still serve
/// their URIs.
#[test]
fn templates_do_not_read_uris_of_hidden_templates() {
    #[derive(serde::Deserialize)]
    struct Document {
        slug: String,
    }
    fn endpoint() -> Endpoint {
        let by = |name: &'static str| {
            move |Document { slug }: Document| async move { (slug != "none").then(|| format!("{name} {slug}")) }
        };
        Endpoint::new(move |_| {
            McpServer::builder("s", "1")
                .resource(Resource::new("kb://staff/hours", || async { "hours" }))
                .resource_template(ResourceTemplate::new("kb://staff/open-{slug}", by("open")))
                .resource_template(ResourceTemplate::new("kb://staff/{slug}", by("staff")).visible_if(is_admin))
                .resource_template(ResourceTemplate::new("kb://{+slug}", by("all")))
                .resource_template(ResourceTemplate::new("paid://{slug}", by("paid")).visible_if(is_admin))
                .resource_template(ResourceTemplate::new("paid://{+slug}", by("later")).scopes(["paid"]))
                .resource_template(ResourceTemplate::new("shut://{slug}", by("shut")).visible_if(is_admin))
                .build()
        })
        .auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
    }
    let read =
        |token: &str, uri: &str| legacy("resources/read", json!({ "uri": uri })).bearer(token).ask_at(&endpoint());
    let complete = |uri: &str| {
        let argument = json!({ "name": "slug", "value": "" });
        let params = json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": argument });
        legacy("completion/complete", params).bearer("clerk").ask_at(&endpoint())
    };
    for (uri, text) in [
        ("kb://staff/pay", "staff pay"),
        ("kb://staff/p%61y", "staff pay"),
        ("kb://st%61ff/pay", "staff pay"),
        ("kb://staff%2Fpay", "staff pay"),
        ("paid://x", "paid x"),
        ("shut://x", "shut x"),
    ] {
        assert_eq!(read("boss", uri).result()["contents"][0]["text"], text, "{uri}");
        let (hidden, missing) = (
            read("clerk", uri),
            read("clerk", &uri.replace("pay", "none").replace("p%61y", "none").replace("//x", "//none")),
        );
        let of = |answer: &crate::support::Answer| {
            (answer.status, answer.body.clone().map(|body| body["error"]["code"].clone()))
        };
        assert_eq!(of(&hidden), of(&missing), "{uri}: {hidden:?}");
        assert!(hidden.body.as_ref().is_some_and(|body| body["error"].is_object()), "{uri}: {hidden:?}");
    }
    for (uri, text) in [("kb://staff/hours", "hours"), ("kb://staff/open-1", "open 1"), ("kb://other", "all other")] {
        assert_eq!(read("clerk", uri).result()["contents"][0]["text"], text, "{uri}");
    }
    let (hidden, missing) = (complete("shut://x"), complete("none://x"));
    assert_eq!(
        (hidden.status, hidden.message().replace("shut", "none")),
        (missing.status, missing.message().to_owned())
    );
}

/// A source does not serve the URI of a hidden resource or of a hidden template, or the name of a hidden prompt. Hidden items of a source are
/// not served either.
#[test]
fn sources_do_not_serve_hidden_items() {
    use edge_mcp::Context;
    use edge_mcp::source::{ListKind, Source, SourceItems};
    use futures::future::LocalBoxFuture;

    struct Everything;

    impl Source for Everything {
        fn resource(&self, uri: &str) -> Option<Resource> {
            let is_shut = uri == "c://shut";
            Some(Resource::new(uri.to_owned(), || async { "source" }).visible_if(move |_| !is_shut))
        }

        fn prompt(&self, name: &str) -> Option<Prompt> {
            Some(Prompt::new(name.to_owned(), || async { "source" }))
        }

        fn find(&self, _: ListKind, _: &Context) -> LocalBoxFuture<'static, SourceItems> {
            Box::pin(async { SourceItems::default() })
        }
    }

    let endpoint = Endpoint::new(|_| {
        let text = |_: BTreeMap<String, String>| async { "own" };
        McpServer::builder("s", "1")
            .resource(Resource::new("a://shut", || async { "own" }).visible_if(is_admin))
            .resource_template(ResourceTemplate::new("b://{x}", text).visible_if(is_admin))
            .prompt(Prompt::new("shut", || async { "own" }).visible_if(is_admin))
            .source(Everything)
            .build()
    })
    .auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"));
    let read = |token: &str, uri: &str| legacy("resources/read", json!({ "uri": uri })).bearer(token).ask_at(&endpoint);
    for uri in ["a://shut", "a://%73hut", "b://1"] {
        assert_eq!(read("boss", uri).result()["contents"][0]["text"], "own", "{uri}");
        assert_eq!(read("clerk", uri).refusal(), (200, -32002), "{uri}");
    }
    assert_eq!(read("clerk", "c://open").result()["contents"][0]["text"], "source");
    assert_eq!(read("boss", "c://shut").refusal(), (200, -32002));
    let get = |token: &str, name: &str| legacy("prompts/get", json!({ "name": name })).bearer(token).ask_at(&endpoint);
    assert_eq!(get("boss", "shut").result()["messages"][0]["content"]["text"], "own");
    assert_eq!(get("clerk", "shut").refusal(), (200, -32602));
    assert_eq!(get("clerk", "open").result()["messages"][0]["content"]["text"], "source");
}
