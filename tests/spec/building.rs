//! Building a server: rejected definitions, and the response of a server that cannot be built.

use edge_mcp::content::Icon;
use edge_mcp::testing::TestHost;
use edge_mcp::{
    BuildError, Completion, Endpoint, McpServer, McpServerBuilder, Prompt, PromptArgument, Resource, ResourceTemplate,
    Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{legacy, modern};

#[derive(Deserialize, JsonSchema)]
struct Named {
    #[schemars(regex(pattern = "^(?=a)"))]
    #[allow(dead_code)]
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Listed {
    #[allow(dead_code)]
    names: Vec<String>,
}

fn tool(name: &str) -> Tool {
    Tool::new(name.to_owned(), "Does something.", || async {})
}

fn resource(uri: &'static str) -> Resource {
    Resource::new(uri, || async { "text" })
}

fn template(uri_template: &'static str) -> ResourceTemplate {
    ResourceTemplate::new(uri_template, |_: std::collections::BTreeMap<String, String>| async { "text" })
}

fn prompt(name: &'static str) -> Prompt {
    Prompt::new(name, || async { "" })
}

fn problem(build: impl Fn(McpServerBuilder) -> McpServerBuilder) -> String {
    let error = build(McpServer::builder("s", "1")).build().err();
    error.map(|error: BuildError| error.to_string()).unwrap_or_default()
}

/// Rules 53 and 57: an invalid definition is rejected. The error has its kind and name.
#[test]
fn invalid_definitions_are_rejected_by_name() {
    let long = "n".repeat(65);
    let cases = [
        (problem(|s| s.tool(tool(""))), vec!["tool", "\"\"", "1 to 64"]),
        (problem(|s| s.tool(tool(&long))), vec!["tool", "1 to 64"]),
        (problem(|s| s.tool(tool("a b"))), vec!["tool", "a b", "1 to 64"]),
        (problem(|s| s.tool(tool("a/b"))), vec!["tool", "a/b"]),
        (problem(|s| s.tool(tool("é"))), vec!["tool", "é"]),
        (problem(|s| s.tool(tool("twin")).tool(tool("twin"))), vec!["tool", "twin", "twice"]),
        (problem(|s| s.tool(Tool::new("mute", "", || async {}))), vec!["tool", "mute", "description"]),
        (problem(|s| s.tool(Tool::new("blank", " \n", || async {}))), vec!["tool", "blank", "description"]),
        (
            problem(|s| s.tool(Tool::new("list", "d", |_: Vec<u8>| async {}))),
            vec!["tool", "list", "input schema", "object"],
        ),
        (
            problem(|s| s.tool(Tool::new("regex", "d", |_: Named| async {}))),
            vec!["tool", "regex", "the pattern `^(?=a)`", "uses lookahead", "/properties/name/pattern"],
        ),
        (problem(|s| s.resource(resource("no-scheme"))), vec!["resource", "no-scheme", "scheme"]),
        (problem(|s| s.resource(resource("a://b").name(""))), vec!["resource", "a://b", "name"]),
        (problem(|s| s.resource(resource("a://b")).resource(resource("a://b"))), vec!["resource", "a://b", "twice"]),
        (
            problem(|s| s.resource(resource("a://b/c")).resource(resource("a://%62/c"))),
            vec!["resource", "a://%62/c", "twice"],
        ),
        (
            problem(|s| s.resource(resource("a://\u{e9}")).resource(resource("a://%c3%A9"))),
            vec!["resource", "a://%c3%A9", "twice"],
        ),
        (problem(|s| s.resource_template(template("a://{x"))), vec!["resource template", "a://{x", "brace"]),
        (problem(|s| s.resource_template(template("a://{x}").name(" "))), vec!["resource template", "name"]),
        (
            problem(|s| s.resource_template(template("a://{x}")).resource_template(template("a://{x}"))),
            vec!["resource template", "a://{x}", "twice"],
        ),
        (problem(|s| s.icon(Icon::new("i.png"))), vec!["server", "icon"]),
        (problem(|s| s.tool(tool("t").icon(Icon::new("data:image/svg+xml,<svg/>")))), vec!["tool", "t", "icon"]),
        (problem(|s| s.resource(resource("a://b").icon(Icon::new("javascript:x")))), vec!["resource", "a://b", "icon"]),
        (problem(|s| s.prompt(prompt(""))), vec!["prompt", "1 to 64"]),
        (problem(|s| s.prompt(prompt("a@b"))), vec!["prompt", "a@b", "1 to 64"]),
        (problem(|s| s.prompt(prompt("p").version("v 1"))), vec!["prompt", "p", "version", "1 to 64"]),
        (problem(|s| s.prompt(prompt("p").description(" "))), vec!["prompt", "p", "description"]),
        (problem(|s| s.prompt(prompt("p")).prompt(prompt("p"))), vec!["prompt", "p", "twice", "version"]),
        (
            problem(|s| s.prompt(prompt("p").version("v1")).prompt(prompt("p").version("v1"))),
            vec!["prompt", "p", "twice"],
        ),
        (
            problem(|s| s.prompt(prompt("p").argument(PromptArgument::new("x")).argument(PromptArgument::new("x")))),
            vec!["prompt", "p", "`x`", "twice"],
        ),
        (
            problem(|s| s.prompt(prompt("p").complete("x", Completion::fixed(["1"])))),
            vec!["prompt", "p", "completes `x`"],
        ),
        (
            problem(|s| s.prompt(Prompt::new("list", |_: Listed| async { "" }))),
            vec!["prompt", "list", "`names`", "cannot be read from a string"],
        ),
        (
            problem(|s| {
                let twice = prompt("p").argument(PromptArgument::new("x")).complete("x", Completion::fixed(["1"]));
                s.prompt(twice.complete("x", Completion::fixed(["2"])))
            }),
            vec!["prompt", "p", "completes `x` twice"],
        ),
        (
            problem(|s| s.prompt(Prompt::new("regex", |_: Named| async { "" }))),
            vec!["prompt", "regex", "arguments", "uses lookahead"],
        ),
        (
            problem(|s| s.resource_template(template("a://{x}").complete("y", Completion::fixed(["1"])))),
            vec!["resource template", "a://{x}", "completes `y`"],
        ),
        (
            McpServer::builder("", "1").build().err().map(|error| error.to_string()).unwrap_or_default(),
            vec!["server", "name"],
        ),
        (
            McpServer::builder("s", " ").build().err().map(|error| error.to_string()).unwrap_or_default(),
            vec!["server", "version"],
        ),
    ];
    for (problem, expected) in cases {
        assert!(expected.iter().all(|part| problem.contains(part)), "{problem:?} lacks one of {expected:?}");
    }
    assert_eq!(
        problem(|s| s.prompt(prompt("p").version("v1")).prompt(prompt("p"))),
        "",
        "two prompts of one name can have different versions"
    );
    assert_eq!(problem(|s| s.tool(tool(&"n".repeat(64))).tool(tool("A.z_0-9"))), "", "these names are valid");
}

/// If the server cannot be built, the response is 503 with a fixed text. The cause is only in the log.
#[test]
fn a_server_that_cannot_be_built_responds_503() {
    let endpoint =
        Endpoint::new(|_| McpServer::builder("s", "1").tool(tool("a b")).build()).without_auth().without_rate_limit();
    let host = TestHost::new();
    let answer = modern("tools/list", json!({})).ask_on(&endpoint, &host);
    assert_eq!(answer.refusal(), (503, -32603));
    assert!(!answer.message().contains("a b"), "{}", answer.message());
    assert!(host.log_text().contains("a b"), "{}", host.log_text());
    assert_eq!(host.log_levels(), [edge_mcp::host::Level::Error; 2], "the cause and the failed request");
}

/// Rules 18 and 52: a server without items of a kind does not declare that kind, and its methods are unknown.
#[test]
fn an_empty_server_declares_no_capabilities() {
    let endpoint = Endpoint::new(|_| McpServer::builder("s", "1").build()).without_auth().without_rate_limit();
    let answer = modern("server/discover", json!({})).ask_at(&endpoint);
    assert_eq!(answer.result()["capabilities"], json!({}));
    for method in [
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    ] {
        let answer = modern(method, json!({ "name": "x", "uri": "x" })).replace("Mcp-Name", "x").ask_at(&endpoint);
        assert_eq!(answer.refusal(), (404, -32601), "{method}");
    }
}

/// A warning of the server function is logged once, not with each request.
#[test]
fn a_warning_of_the_server_function_is_logged_once() {
    let endpoint = Endpoint::new(|_| McpServer::builder("s", "1").warn("ask_oracle is not served").build());
    let (endpoint, host) = (endpoint.without_auth().without_rate_limit(), TestHost::new());
    for _ in 0..2 {
        legacy("ping", json!({})).ask_on(&endpoint, &host);
    }
    let warnings: Vec<_> = host.log().into_iter().filter(|line| line["event"] == "definition").collect();
    assert_eq!(warnings, [json!({ "event": "definition", "problem": "ask_oracle is not served" })]);
}

/// Tools that were valid in an earlier build are not checked again. Tools that differ from them are checked.
#[test]
fn changed_tools_are_checked_again() {
    let valid = || McpServer::builder("s", "1").tool(tool("one")).tool(tool("two"));
    let with = |second: Tool| McpServer::builder("s", "1").tool(tool("one")).tool(second);
    let unenforceable = |Named { name }: Named| async move { name };
    let schema = json!({ "type": "object", "pattern": "(?=a)" });
    for (wrong, expected) in [
        (with(tool("t o")), "1 to 64"),
        (with(tool("one")), "twice"),
        (valid().tool(tool("one")), "twice"),
        (with(Tool::new("two", " ", || async {})), "description"),
        (with(tool("two").scopes(["a b"])), "scope"),
        (with(tool("two").icon(Icon::new("ftp://a"))), "icon"),
        (with(Tool::new("two", "Does something.", unenforceable)), "schema"),
        (with(Tool::with_schema("two", "Does something.", &schema, None, || async {})), "schema"),
    ] {
        for _ in 0..2 {
            assert!(valid().build().is_ok());
        }
        let error = wrong.build().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(expected), "{expected}: {error:?}");
    }
    assert!(McpServer::builder("s", "1").tool(tool("one")).build().is_ok());
    assert!(McpServer::builder("s", "1").tool(tool("two")).tool(tool("one")).build().is_ok());
}
