//! Tool arguments that a client must repeat in headers.

use edge_mcp::{Endpoint, McpServer, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Answer, legacy, modern, post};

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Query {
    #[schemars(extend("x-mcp-header" = "Region"))]
    #[serde(default)]
    region: String,
    #[schemars(extend("x-mcp-header" = "Shard"))]
    #[serde(default)]
    shard: i64,
    #[schemars(extend("x-mcp-header" = "Dry-Run"))]
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    inner: Inner,
}

#[derive(Default, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Inner {
    #[schemars(extend("x-mcp-header" = "Deep"))]
    #[serde(default)]
    deep: String,
}

fn endpoint() -> Endpoint {
    Endpoint::new(|_| {
        let tool = Tool::new("query", "Runs.", |_: Query| async { "ran" });
        McpServer::builder("s", "1").tool(tool).build()
    })
    .without_auth()
}

fn call(arguments: &Value, headers: &[(&str, &str)]) -> Answer {
    let ask = modern("tools/call", json!({ "name": "query", "arguments": arguments }));
    headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value)).ask_at(&endpoint())
}

/// Rules 35 and 36: each marked argument needs a header with an equal value. Integers are compared as numbers, and booleans as
/// the words `true` and `false`.
#[test]
fn headers_must_match_marked_arguments() {
    for (arguments, headers, agrees) in [
        (json!({ "region": "eu" }), vec![("Mcp-Param-Region", "eu")], true),
        (json!({ "region": "eu" }), vec![("mcp-param-region", " eu\t")], true),
        (json!({ "region": "日本" }), vec![("Mcp-Param-Region", "=?base64?5pel5pys?=")], true),
        (json!({ "region": "" }), vec![("Mcp-Param-Region", "=?base64??=")], true),
        (json!({ "region": "eu" }), vec![], false),
        (json!({ "region": "eu" }), vec![("Mcp-Param-Region", "EU")], false),
        (json!({ "region": "eu" }), vec![("Mcp-Param-Region", "=?base64?ZXU?=")], false),
        (json!({ "region": "eu" }), vec![("Mcp-Param-Region", "=?base64?ZX*=?=")], false),
        (json!({ "region": "eu" }), vec![("Mcp-Param-Region", "ZXU=?=")], false),
        (json!({ "shard": 42 }), vec![("Mcp-Param-Shard", "42")], true),
        (json!({ "shard": 42 }), vec![("Mcp-Param-Shard", "42.0")], true),
        (json!({ "shard": 42.0 }), vec![("Mcp-Param-Shard", "42")], true),
        (json!({ "shard": 42 }), vec![("Mcp-Param-Shard", "042")], false),
        (json!({ "shard": 42 }), vec![("Mcp-Param-Shard", "0x2a")], false),
        (json!({ "shard": 42 }), vec![("Mcp-Param-Shard", "43")], false),
        (json!({ "shard": 9_007_199_254_740_993_u64 }), vec![("Mcp-Param-Shard", "9007199254740992")], false),
        (json!({ "dry_run": true }), vec![("Mcp-Param-Dry-Run", "true")], true),
        (json!({ "dry_run": true }), vec![("Mcp-Param-Dry-Run", "True")], false),
        (json!({ "dry_run": true }), vec![("Mcp-Param-Dry-Run", "1")], false),
        (json!({ "inner": { "deep": "x" } }), vec![("Mcp-Param-Deep", "x")], true),
        (json!({ "inner": { "deep": "x" } }), vec![], false),
        (json!({}), vec![], true),
        (json!({}), vec![("Mcp-Param-Unknown", "x")], true),
        (json!({}), vec![("Mcp-Param-Region", "eu")], false),
        (json!({}), vec![("Mcp-Param-Region", "")], false),
        (json!({ "region": null }), vec![("Mcp-Param-Region", "eu")], false),
        (json!({ "inner": {} }), vec![("Mcp-Param-Deep", "x")], false),
    ] {
        let answer = call(&arguments, &headers);
        if agrees {
            assert_eq!(answer.tool_text(), ("ran", false), "{arguments} {headers:?}");
        } else {
            assert_eq!(answer.refusal(), (400, -32020), "{arguments} {headers:?}");
        }
    }
    let null = call(&json!({ "region": null }), &[]);
    assert!(null.tool_text().1, "null needs no header, but the schema rejects it");
    let old = || legacy("tools/call", json!({ "name": "query", "arguments": { "region": "eu" } }));
    assert_eq!(old().ask_at(&endpoint()).tool_text(), ("ran", false), "older revisions do not require these headers");
    let listed = modern("tools/list", json!({})).ask_at(&endpoint());
    assert_eq!(listed.result()["tools"][0]["inputSchema"]["properties"]["region"]["x-mcp-header"], "Region");
}

/// A proxy may believe the headers, whatever the revision of the body is. So the headers that are present must agree in older revisions too,
/// and in each message of a batch.
#[test]
fn headers_that_are_present_must_match_in_every_revision() {
    let message = |name: &str, region: Value| {
        let params = json!({ "name": name, "arguments": { "region": region } });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
    };
    let eu = || message("query", json!("eu"));
    for (headers, body, agrees) in [
        (vec![], eu(), true),
        (vec![("Mcp-Method", "tools/call"), ("Mcp-Name", "query"), ("Mcp-Param-Region", "eu")], eu(), true),
        (vec![("Mcp-Name", "=?base64?cXVlcnk=?=")], eu(), true),
        (vec![("Mcp-Method", "ping")], eu(), false),
        (vec![("Mcp-Name", "other")], eu(), false),
        (vec![("Mcp-Param-Region", "us")], eu(), false),
        (vec![("Mcp-Param-Region", "eu")], message("query", Value::Null), false),
        (vec![("Mcp-Param-Unknown", "eu")], json!([eu()]), true),
        (vec![("Mcp-Param-Region", "eu")], json!([eu(), eu()]), true),
        (vec![("Mcp-Param-Region", "eu")], json!([eu(), message("query", json!("us"))]), false),
        (vec![("Mcp-Method", "tools/call")], json!([eu()]), false),
        (vec![("Mcp-Name", "query")], json!([eu()]), false),
    ] {
        let ask = headers.iter().fold(post(body.to_string()), |ask, (name, value)| ask.header(name, value));
        let answer = ask.ask_at(&endpoint());
        if agrees {
            assert_eq!(answer.status, 200, "{headers:?} {body}");
        } else {
            assert_eq!(answer.refusal(), (400, -32020), "{headers:?} {body}");
        }
    }
}

/// A CORS preflight allows the headers of marked arguments.
#[test]
fn preflights_allow_headers_of_arguments() {
    let ask = post("").verb("OPTIONS").header("Origin", "http://localhost:1");
    let answer =
        ask.header("Access-Control-Request-Headers", "content-type, mcp-param-region, x-other").ask_at(&endpoint());
    let allowed = answer.header("access-control-allow-headers").expect("the header").to_owned();
    assert!(allowed.contains("mcp-param-region") && !allowed.contains("x-other"), "{allowed}");
}

/// Rule 37: a tool with an invalid `x-mcp-header` mark is rejected.
#[test]
fn invalid_header_marks_are_rejected() {
    macro_rules! build_error {
        ($($field:tt)*) => {{
            #[derive(Deserialize, JsonSchema)]
            #[allow(dead_code)]
            struct Marked { $($field)* }
            let tool = Tool::new("t", "d", |_: Marked| async {});
            McpServer::builder("s", "1").tool(tool).build().err().map(|error| error.to_string()).unwrap_or_default()
        }};
    }
    for problem in [
        build_error!(#[schemars(extend("x-mcp-header" = ""))] a: String),
        build_error!(#[schemars(extend("x-mcp-header" = "a b"))] a: String),
        build_error!(#[schemars(extend("x-mcp-header" = "a:"))] a: String),
        build_error!(#[schemars(extend("x-mcp-header" = 7))] a: String),
        build_error!(#[schemars(extend("x-mcp-header" = "A"))] a: f64),
        build_error!(#[schemars(extend("x-mcp-header" = "A"))] a: Vec<String>),
        build_error!(#[schemars(extend("x-mcp-header" = "A"))] a: Option<String>),
        build_error!(#[schemars(extend("x-mcp-header" = "A"))] a: String, #[schemars(extend("x-mcp-header" = "a"))] b: String),
        build_error!(a: Vec<Inner>),
    ] {
        assert!(problem.contains("x-mcp-header"), "{problem:?}");
    }
}
