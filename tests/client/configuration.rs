//! The servers of a client from environment variables.

use edge_mcp::client::{McpClient, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost, variables};
use edge_mcp::{ConfigError, Endpoint, McpServer};
use serde_json::json;

use crate::calls::context;

fn configured(upstreams: &str, tokens: &str) -> Result<McpClient, ConfigError> {
    let environment = variables(&[("UPSTREAMS", upstreams), ("UPSTREAM_TOKENS", tokens)]);
    Ok(McpClient::builder("desk", "1.0.0").configured(&environment)?.build().expect("a client"))
}

#[test]
fn servers_are_read_from_the_environment() {
    let upstreams = r#"{
        "parcels": "https://parcels.example/mcp",
        "weather": {"url": "http://localhost:8788/mcp", "trusted": true, "revision": "2026-07-28", "timeout": 5, "type": "http"}
    }"#;
    let client = configured(upstreams, r#"{"weather": "w-1"}"#).expect("a client");
    assert_eq!(client.servers().collect::<Vec<_>>(), ["parcels", "weather"]);
    let answer = json!({ "jsonrpc": "2.0", "id": "r1", "result": { "content": [], "resultType": "complete" } });
    let host = TestHost::new().respond("POST", "http://localhost:8788/mcp", 200, answer.to_string());
    let call = client.connect(&context(&host)).server("weather").expect("a server").call("now", json!({}));
    testing::run(host.run(async move { call.await })).expect("the call ends").expect("a result");
    let [request] = &host.requests()[..] else { panic!("one request, because the revision is known") };
    assert_eq!(request.headers()["authorization"], "Bearer w-1");
    assert_eq!(request.headers()["mcp-protocol-version"], Revision::V2026_07_28.name());
    for nothing in ["", " \n", "{}"] {
        assert_eq!(configured(nothing, nothing).expect("a client").servers().count(), 0);
    }
}

/// C1: the error names the variable, the server and the member.
#[test]
fn each_mistake_is_named() {
    let process = "a Worker cannot start a process (stdio). Use the URL of a server";
    let name = "is not a name: a name begins with a letter and has at most 24 letters, digits and hyphens";
    let object = "must be a JSON object whose keys are the names of servers";
    for (upstreams, expected) in [
        ("{\n\n x", "must be a JSON object; see line 3".to_owned()),
        ("[]", object.into()),
        ("\"https://a.example/mcp\"", object.into()),
        (r#"{"a": "https://a.example", "a": "https://b.example"}"#, "has the key `a` twice in an object".into()),
        (r#"{"a": "https://a.example", "A": "https://b.example"}"#, "has an error in `A`: it is a name that is used twice. Case does not matter".into()),
        (r#"{"a_b": "https://a.example"}"#, format!("has an error in `a_b`: it {name}")),
        (r#"{"": "https://a.example"}"#, format!("has an error in ``: it {name}")),
        (r#"{"a": 1}"#, "has an error in `a`: it must be a URL or an object with `url`".into()),
        (r#"{"a": {}}"#, "has an error in `a`: it has no `url`".into()),
        (r#"{"a": {"url": 1}}"#, "has an error in `a`: it has a `url` that is not a text".into()),
        (
            r#"{"a": "http://a.example/mcp"}"#,
            "has an error in `a`: it has a URL that is not valid: it must be an https: URL, unless it is on localhost".into(),
        ),
        (r#"{"a": {"command": "npx", "args": []}}"#, format!("has an error in `a`: it has `command`: {process}")),
        (r#"{"a": {"url": "https://a.example", "env": {}}}"#, format!("has an error in `a`: it has `env`: {process}")),
        (r#"{"a": {"type": "stdio"}}"#, format!("has an error in `a`: it has `type` \"stdio\": {}", process.replace(" (stdio)", ""))),
        (
            r#"{"a": {"url": "https://a.example/sse", "transport": "sse"}}"#,
            "has an error in `a`: it has `transport` \"sse\": the deprecated HTTP+SSE transport is not supported. Use the URL of the server \
             for streamable HTTP, which often ends in /mcp"
                .into(),
        ),
        (r#"{"a": {"type": "websocket"}}"#, "has an error in `a`: it has a `type` that is not \"http\"".into()),
        (
            r#"{"a": {"headers": {"Authorization": "Bearer SECRET-4711"}}}"#,
            "has an error in `a`: it has `headers`: headers cannot be configured. Set an access token in UPSTREAM_TOKENS".into(),
        ),
        (
            r#"{"a": {"url": "https://a.example", "trusted": "yes"}}"#,
            "has an error in `a`: it has a `trusted` that is not true or false".into(),
        ),
        (
            r#"{"a": {"url": "https://a.example", "revision": "2099-01-01"}}"#,
            "has an error in `a`: it has a `revision` that is not a revision of the protocol, such as 2026-07-28".into(),
        ),
        (
            r#"{"a": {"url": "https://a.example", "timeout": 121}}"#,
            "has an error in `a`: it has a `timeout` that is not a number of seconds from 1 to 120".into(),
        ),
        (
            r#"{"a": {"url": "https://a.example", "timeout": "5"}}"#,
            "has an error in `a`: it has a `timeout` that is not a number of seconds from 1 to 120".into(),
        ),
        (
            r#"{"a": {"URL": "https://a.example"}}"#,
            "has an error in `a`: it has the unknown member `URL`. The members are url, trusted, revision, timeout and type".into(),
        ),
    ] {
        let error = configured(upstreams, "").map(drop).expect_err(upstreams);
        assert_eq!((&*error.variable, error.problem), ("UPSTREAMS", expected), "{upstreams}");
    }
    for (tokens, expected) in [
        ("{\"a\": \"SECRET-4711\"", "must be a JSON object; see line 1"),
        ("[\"SECRET-4711\"]", object),
        (r#"{"a": ["SECRET-4711"]}"#, "has an error in `a`: it is not a text: the value must be the access token"),
        (r#"{"a": "SECRET-4711\n"}"#, "has an error in `a`: it has characters that are not visible ASCII, or is empty"),
        (r#"{"a": ""}"#, "has an error in `a`: it has characters that are not visible ASCII, or is empty"),
        (r#"{"b": "SECRET-4711"}"#, "has an error in `b`: it is not the name of a server in UPSTREAMS"),
        (r#"{"A": "SECRET-4711"}"#, "has an error in `A`: it is not the name of a server in UPSTREAMS"),
    ] {
        let error = configured(r#"{"a": "https://a.example/mcp"}"#, tokens).map(drop).expect_err(tokens);
        assert_eq!((&*error.variable, &*error.problem), ("UPSTREAM_TOKENS", expected), "{tokens}");
    }
}

/// A wrong value closes the endpoint. The answer names the variable.
#[test]
fn a_mistake_is_a_503() {
    let client = configured(r#"{"a": {"command": "npx"}}"#, "");
    let endpoint = Endpoint::from(client.map(|client| {
        testing::endpoint(move |_| McpServer::builder("desk", "1.0.0").source(client.read_only_tools()).build())
    }));
    let answer = testing::run(testing::call(&endpoint, "a_b", json!({})));
    assert_eq!(answer.status(), 503);
    let body = String::from_utf8_lossy(answer.body()).into_owned();
    assert!(body.contains("UPSTREAMS has an error in `a`: it has `command`"), "{body}");
}

/// C1, C21: building a client names an invalid name, a name that is used twice, and a header that a program cannot set.
#[test]
fn invalid_clients_are_rejected() {
    let upstream = || Upstream::at("https://a.example/mcp").expect("a URL");
    for (names, expected) in [
        (vec!["a", "A"], "is used twice"),
        (vec!["a_b"], "must begin with a letter"),
        (vec!["9a"], "must begin with a letter"),
        (vec![""], "must begin with a letter"),
        (vec!["abcdefghijklmnopqrstuvwxy"], "must begin with a letter"),
    ] {
        let builder = McpClient::builder("desk", "1.0.0");
        let builder = names.iter().fold(builder, |builder, &name| builder.server(name, upstream()));
        let error = builder.build().map(drop).expect_err(expected).to_string();
        assert!(error.contains(expected) && error.contains(names.last().expect("a name")), "{error}");
    }
    for name in ["Authorization", "Cookie", "Mcp-Session-Id", "Content-Type", "Proxy-Authorization", "a b", ""] {
        assert!(upstream().header(name, "x").is_err(), "{name}");
    }
    for value in ["", " x", "a\nb", "café"] {
        assert!(upstream().header("X-Key", value).is_err(), "{value:?}");
    }
    let error = upstream().header("a b", "x").map(drop).expect_err("a space").to_string();
    assert_eq!(error, "the header of an MCP server cannot have the name `a b`: it is not valid, or the client sets it");
}

/// C21: the name of a header can come from a configuration that is read at run time.
#[test]
fn the_name_of_a_header_can_be_known_at_run_time() {
    let upstream = || Upstream::at("https://a.example/mcp").expect("a URL");
    for name in ["tenant", "api-key"].map(|name| format!("X-{name}")) {
        assert!(upstream().header(&name, "x").is_ok() && upstream().forward_header(&name).is_ok(), "{name}");
    }
}

/// C2: a client, a connection, and the end of a connection that was not used send nothing.
#[test]
fn a_connection_sends_nothing() {
    let host = TestHost::new();
    let client = configured(r#"{"a": "https://a.example/mcp"}"#, "").expect("a client");
    let server = client.connect(&context(&host)).server("a").expect("a server");
    drop(server.call("x", json!({})));
    drop(server);
    assert!(host.requests().is_empty());
}
