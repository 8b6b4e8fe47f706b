//! Resources and resource templates: their lists and their contents.

use std::collections::BTreeMap;
use std::time::Duration;

use edge_mcp::auth::{PresentedToken, Principal, TokenRefusal};
use edge_mcp::cache::CacheHint;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Completion, Endpoint, McpServer, Resource, ResourceTemplate};
use serde_json::{Value, json};

use crate::support::{Answer, SECRET, endpoint, legacy, modern};

fn read(uri: &str) -> Answer {
    modern("resources/read", json!({ "uri": uri })).ask()
}

/// Rule 65: `resources/list` describes each resource, including those that a template lists.
#[test]
fn resources_list_describes_each_resource() {
    let answer = modern("resources/list", json!({})).ask();
    let resources = answer.result()["resources"].as_array().expect("resources");
    assert_eq!(resources[0], json!({ "uri": "test://text", "name": "text", "mimeType": "text/plain", "size": 5 }));
    assert_eq!(resources[1], json!({ "uri": "test://bytes", "name": "test://bytes", "mimeType": "image/png" }));
    assert_eq!(resources.last(), Some(&json!({ "uri": "test://items/1", "name": "item 1" })));
    let answer = modern("resources/templates/list", json!({})).ask();
    assert_eq!(
        answer.result()["resourceTemplates"],
        json!([{
            "uriTemplate": "test://items/{id}",
            "name": "item",
            "annotations": { "priority": 1.0, "lastModified": "2026-07-28T00:00:00Z" },
        }])
    );
}

/// Rules 65 and 67: contents are text or base64, with their URI and media type. A resource can have several contents.
#[test]
fn contents_are_text_or_base64() {
    for (uri, contents) in [
        ("test://text", json!([{ "uri": "test://text", "mimeType": "text/plain", "text": "plain" }])),
        ("test://bytes", json!([{ "uri": "test://bytes", "mimeType": "image/png", "blob": "AP8=" }])),
        (
            "test://several",
            json!([{ "uri": "test://several/1", "text": "1" }, { "uri": "test://several/2", "text": "2" }]),
        ),
        ("test://items/a%20b", json!([{ "uri": "test://items/a b", "mimeType": "text/x-item", "text": "a b" }])),
    ] {
        assert_eq!(read(uri).result()["contents"], contents);
        assert_eq!(legacy("resources/read", json!({ "uri": uri })).ask().result()["contents"], contents);
    }
}

/// Rule 66: a missing resource is error -32002 in older revisions and -32602 in 2026-07-28. Both errors have the URI.
#[test]
fn a_missing_resource_is_an_error() {
    for uri in [
        "test://no-such",
        "test://gone",
        "test://items/0",
        "test://items/",
        "test://items/..",
        "test://items/%2e%2e",
        "test://items/a%00",
        "test://items/%zz",
        "TEST://text",
        "",
        "no uri at all",
    ] {
        let old = legacy("resources/read", json!({ "uri": uri })).ask();
        for (answer, code) in [(read_possibly_empty(uri), -32602), (old, -32002)] {
            assert_eq!(answer.refusal(), (200, code), "{uri}");
            assert_eq!(answer.error()["data"], json!({ "uri": uri }));
        }
    }
}

/// Reads `uri`, which may be empty. An empty header is indistinguishable from a missing one, so an empty URI is sent as base64.
fn read_possibly_empty(uri: &str) -> Answer {
    let ask = modern("resources/read", json!({ "uri": uri }));
    if uri.is_empty() { ask.replace("Mcp-Name", "=?base64??=").ask() } else { ask.ask() }
}

/// Rule 66: a failure is an internal error, and so are empty contents. The cause is only in the log.
#[test]
fn the_cause_of_a_failed_resource_is_only_in_the_log() {
    for (uri, cause) in [("test://broken", SECRET), ("test://empty", "no contents")] {
        let host = TestHost::new();
        let answer = modern("resources/read", json!({ "uri": uri })).ask_on(&endpoint(), &host);
        assert_eq!(answer.refusal(), (200, -32603), "{uri}");
        assert!(!format!("{answer:?}").contains(cause), "{answer:?}");
        assert!(host.log_text().contains(cause), "{}", host.log_text());
    }
}

#[test]
fn a_uri_of_a_wrong_type_is_rejected() {
    for params in [json!({}), json!({ "uri": 7 }), json!({ "uri": null }), json!({ "uri": ["test://text"] })] {
        let answer = legacy("resources/read", params.clone()).ask();
        assert_eq!(answer.refusal(), (200, -32602), "{params}");
        assert!(answer.message().contains("params.uri"), "{}", answer.message());
    }
    assert!(
        read("test://text").result()["contents"]
            .as_array()
            .is_some_and(|contents| contents.iter().all(Value::is_object))
    );
}

/// Accepts every token. The token itself is the list of the caller's scopes, separated by `+`.
async fn scopes_from_token(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
    Ok(Principal::new("ada").with_scopes(presented.token().split('+')))
}

fn hint(seconds: u64) -> CacheHint {
    CacheHint::private(Duration::from_secs(seconds))
}

/// Returns an endpoint with resources that need the scope `admin`, and templates that match the same URIs and need only `read`.
fn guarded() -> Endpoint {
    let secret = |uri: &'static str| Resource::new(uri, || async { "static" }).scopes(["admin"]).cache(hint(1));
    let read = |variables: BTreeMap<String, String>| async move { format!("{variables:?}") };
    let server = move |_: &_| {
        McpServer::builder("s", "1")
            .resource(secret("kb://documents/payroll"))
            .resource(secret("kb://documents/\u{e9}t%c3%a9 1"))
            .resource(secret("kb://files/a/b"))
            .resource_template(ResourceTemplate::new("kb://private/{slug}", read).scopes(["admin"]))
            .resource_template(
                ResourceTemplate::new("kb://documents/{slug}", read)
                    .scopes(["read"])
                    .cache(hint(2))
                    .complete("slug", Completion::fixed(["payroll"])),
            )
            .resource_template(ResourceTemplate::new("kb://files/{+path}", read).scopes(["read"]))
            .resource_template(ResourceTemplate::new("kb://{shelf}/{book}", read).scopes(["read"]))
            .resource_template(ResourceTemplate::new("kb://{+any}", read).scopes(["read"]))
            .build()
    };
    testing::endpoint(server).auth(scopes_from_token)
}

/// Spellings of the URIs that need `admin`. A template that needs only `read` matches each of them.
const ALIASES: [&str; 10] = [
    "kb://documents/payroll",
    "kb://documents/%70ayroll",
    "kb://documents/%70%61%79%72%6f%6C%6C",
    "kb://d%6Fcuments/payroll",
    "kb://documents%2Fpayroll",
    "kb://documents%2fpayrol%6C",
    "kb://documents/%C3%A9t%c3%a9%201",
    "kb://files/a/b",
    "kb://files/a%2Fb",
    "kb://f%69les/a%2Fb",
];

/// Rule 67: another spelling of the URI of a resource reads that resource, with its scopes and its cache hint.
#[test]
fn every_spelling_of_a_uri_reads_the_same_resource() {
    for uri in ALIASES {
        let ask = || modern("resources/read", json!({ "uri": uri }));
        let rejected = ask().bearer("read").ask_at(&guarded());
        assert_eq!(rejected.refusal(), (403, -32600), "{uri}");
        assert!(rejected.header("www-authenticate").is_some_and(|it| it.contains("scope=\"admin\"")), "{uri}");
        let answer = ask().bearer("admin").ask_at(&guarded());
        assert_eq!(answer.result()["contents"][0]["text"], "static", "{uri}");
        assert_eq!(answer.result()["ttlMs"], 1000, "{uri}");
        let old = legacy("resources/read", json!({ "uri": uri })).bearer("read").ask_at(&guarded());
        assert_eq!(old.status, 403, "{uri}");
    }
}

/// An earlier template takes precedence over a later one in every spelling of a URI.
#[test]
fn earlier_templates_take_precedence_in_every_spelling() {
    for uri in ["kb://private/a", "kb://pr%69vate/a", "kb://private%2Fa", "kb://priv%61te%2f%61"] {
        let ask = |token| modern("resources/read", json!({ "uri": uri })).bearer(token).ask_at(&guarded());
        assert_eq!(ask("read").refusal(), (403, -32600), "{uri}");
        assert_eq!(ask("admin").result()["contents"][0]["text"], r#"{"slug": "a"}"#, "{uri}");
    }
}

/// URIs that differ after normalization are different resources: in reserved characters, letter case, or escaped escapes.
#[test]
fn different_normalized_uris_are_different_resources() {
    for (uri, read) in [
        ("kb://documents/%2570ayroll", r#"{"slug": "%70ayroll"}"#),
        ("kb://documents/Payroll", r#"{"slug": "Payroll"}"#),
        ("kb://documents/pay%2Froll", r#"{"slug": "pay/roll"}"#),
        ("kb://documents/payroll%20", r#"{"slug": "payroll "}"#),
        ("kb://files%2Fa/b", r#"{"book": "b", "shelf": "files/a"}"#),
        ("kb://files/a/b/", r#"{"path": "a/b/"}"#),
        ("kb://DOCUMENTS/payroll", r#"{"book": "payroll", "shelf": "DOCUMENTS"}"#),
    ] {
        let answer = modern("resources/read", json!({ "uri": uri })).bearer("read").ask_at(&guarded());
        assert_eq!(answer.result()["contents"][0], json!({ "uri": uri, "text": read }));
    }
    assert_eq!(
        legacy("resources/read", json!({ "uri": "KB://documents/payroll" }))
            .bearer("admin")
            .ask_at(&guarded())
            .refusal(),
        (200, -32002)
    );
}

/// Completion for the URI of a resource requires the scopes of that resource in every spelling of the URI. It then fails, because a
/// resource has no variables.
#[test]
fn completion_requires_the_scopes_of_the_resource() {
    for uri in ALIASES.iter().filter(|uri| uri.contains("payrol")) {
        let argument = json!({ "name": "slug", "value": "" });
        let params = json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": argument });
        let ask = |token| modern("completion/complete", params.clone()).bearer(token).ask_at(&guarded());
        assert_eq!(ask("read").refusal(), (403, -32600), "{uri}");
        assert_eq!(ask("admin").refusal(), (200, -32602), "{uri}");
    }
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "kb://documents/other" }, "argument": { "name": "slug", "value": "" },
    });
    let answer = modern("completion/complete", params).bearer("read").ask_at(&guarded());
    assert_eq!(answer.result()["completion"]["values"], json!(["payroll"]));
}

/// Rule 32: `Mcp-Name` must be the URI in the spelling of the body. Another spelling is a mismatch.
#[test]
fn the_name_header_has_the_spelling_of_the_body() {
    let ask = || modern("resources/read", json!({ "uri": "kb://documents/%70ayroll" })).bearer("admin");
    assert_eq!(ask().ask_at(&guarded()).status, 200);
    let other = ask().replace("Mcp-Name", "kb://documents/payroll").ask_at(&guarded());
    assert_eq!(other.refusal(), (400, -32020));
}
