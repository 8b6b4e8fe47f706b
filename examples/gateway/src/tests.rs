//! Native tests of the configuration. `tests/e2e/gateway.test.mjs` runs the Worker in front of other servers.
// Tests may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::indexing_slicing)]

use edge_mcp::check::SizeLimits;
use edge_mcp::testing::{self, Client, TestHost, variables};
use edge_mcp::{ConfigError, Endpoint};
use serde_json::json;

use crate::endpoint;

fn configured(upstreams: &str, tokens: &str) -> Result<Endpoint, ConfigError> {
    endpoint(&variables(&[
        ("UPSTREAMS", upstreams),
        ("UPSTREAM_TOKENS", tokens),
        ("MCP_AUTH", "none"),
        ("MCP_STATE_KEY", testing::STATE_KEY),
    ]))
}

/// Directories and clients accept the tools of the gateway itself.
#[test]
fn it_can_be_published() {
    let upstreams = r#"{"weather": {"url": "https://weather.example/mcp", "catalogue": "search"}}"#;
    let endpoint = configured(upstreams, "").expect("an endpoint").open_to_the_public();
    let check = endpoint.check(SizeLimits::default()).expect("a server");
    assert!(check.problems.is_empty() && check.tools.len() == 3, "{check}");
}

/// A call goes to its server, with the token of this server.
#[test]
fn each_server_gets_its_own_token() {
    let upstreams = r#"{"weather": "https://weather.example/mcp", "parcels": {"url": "https://parcels.example/mcp"}}"#;
    let endpoint = configured(upstreams, r#"{"parcels": "p-1", "weather": "w-1"}"#).expect("an endpoint");
    let host = TestHost::new().respond("POST", "https://weather.example/mcp", 503, "");
    let called = testing::run(Client::new(&endpoint).host(&host).call("weather_now", json!({})));
    assert!(called.is_error());
    let requests = host.requests();
    let mut sent = requests.iter().map(|sent| (sent.uri().host(), sent.headers()["authorization"].as_bytes()));
    assert!(!requests.is_empty() && sent.all(|sent| sent == (Some("weather.example"), b"Bearer w-1".as_slice())));
}

#[test]
fn every_member_of_a_server_is_read() {
    let all = json!({ "kb": {
        "url": "http://localhost:8788/mcp", "trusted": true, "revision": "2026-07-28", "timeout": 5, "scopes": ["kb:read"], "tools": ["search-documents"], "without": ["save-document"],
        "catalogue": "search", "apps": true, "as_is": true, "relay_logs": "info", "pass_sampling": true,
    } });
    configured(&all.to_string(), "").expect("an endpoint");
    for catalogue in [json!("all"), json!(["kb_search-documents"])] {
        let one = json!({ "kb": { "url": "http://localhost:8788/mcp", "catalogue": catalogue } });
        configured(&one.to_string(), "").expect("an endpoint");
    }
    configured("", " ").expect("an endpoint without servers");
}

/// The error names the variable and the server, and contains no token.
#[test]
fn each_mistake_is_named() {
    let catalogue = r#"`catalogue` must be "all", "search" or a list of names"#;
    for (upstreams, expected) in [
        ("{\n x", "must be a JSON object of servers; see line 2, column 2".to_owned()),
        ("[]", "must be a JSON object of servers; see line 1, column 0".into()),
        (r#"{"a": 1}"#, "has an error in `a`: invalid type: integer `1`, expected struct Server".into()),
        (r#"{"a": {}}"#, "has an error in `a`: missing field `url`".into()),
        (r#"{"a": "http://a.example"}"#, "has an error in `a`: `url` must be an https: URL, unless it is on localhost".into()),
        (
            r#"{"a": {"url": "https://a.example", "timeout": 121}}"#,
            "has an error in `a`: `timeout` must be a number of seconds from 1 to 120".into(),
        ),
        (r#"{"a": {"url": "https://a.example", "catalogue": "some"}}"#, format!("has an error in `a`: {catalogue}")),
        (
            r#"{"a": {"url": "https://a.example", "relay_logs": "loud"}}"#,
            "has an error in `a`: `relay_logs` must be a log level, such as \"info\"".into(),
        ),
        (
            r#"{"a": {"url": "https://a.example", "headers": {}}}"#,
            "has an error in `a`: unknown field `headers`, expected one of `url`, `trusted`, `revision`, `timeout`, `scopes`, `tools`, `without`, `catalogue`, \
             `apps`, `as_is`, `relay_logs`, `pass_sampling`"
                .into(),
        ),
        (
            r#"{"a": "https://a.example", "a": "https://b.example"}"#,
            "is not valid: the server name of the client \"a\" is used twice".into(),
        ),
        (
            r#"{"a_b": "https://a.example"}"#,
            "is not valid: the server name of the client \"a_b\" must begin with a letter and have at most 24 letters, digits and hyphens"
                .into(),
        ),
        (
            r#"{"a": {"url": "https://a.example", "as_is": true}, "b": "https://b.example"}"#,
            "is not valid: the mount of the gateway \"a\" is mounted as it is, which only a single mount can be".into(),
        ),
    ] {
        let error = configured(upstreams, "").map(drop).expect_err(upstreams);
        assert_eq!((&*error.variable, error.problem), ("UPSTREAMS", expected), "{upstreams}");
    }
    for (tokens, expected) in [
        (r#"{"a": SECRET-4711"#, "must be a JSON object of servers; see line 1, column 7"),
        (r#"{"a": ["SECRET-4711"]}"#, "has an error in `a`: the token must be a text"),
        (
            r#"{"a": "SECRET-4711\n"}"#,
            "has an error in `a`: the token has characters that are not visible ASCII, or is empty",
        ),
        (r#"{"b": "SECRET-4711"}"#, "has an error in `b`: UPSTREAMS has no server with this name"),
        (r#"{"a": "SECRET-4711", "a": "SECRET-4712"}"#, "has an error in `a`: UPSTREAMS has no server with this name"),
    ] {
        let error = configured(r#"{"a": "https://a.example"}"#, tokens).map(drop).expect_err(tokens);
        assert_eq!((&*error.variable, error.problem.as_str()), ("UPSTREAM_TOKENS", expected), "{tokens}");
    }
}
