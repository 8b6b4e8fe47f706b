//! The log policy, which selects the requests that are logged.

use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::Host as _;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Endpoint, HandlerError, LogPolicy, McpServer, Tool};
use serde_json::{Value, json};

use crate::support::{Ask, legacy, modern, post};

/// Returns the target and the status of each log line after these requests to `endpoint`.
fn logged(endpoint: &Endpoint, requests: &[Ask]) -> Vec<(Value, Value)> {
    let host = TestHost::new();
    for ask in requests {
        ask.clone().ask_on(endpoint, &host);
    }
    host.log().iter().map(|line| (line["target"].clone(), line["status"].clone())).collect()
}

fn call(tool: &str) -> Ask {
    legacy("tools/call", json!({ "name": tool, "arguments": {} }))
}

/// Returns an endpoint with a read-only tool, a tool that may change data, and a read-only tool that fails.
fn tools() -> Endpoint {
    let fail = || async { Err::<String, _>(HandlerError::new("It is closed.")) };
    testing::endpoint(move |_| {
        McpServer::builder("depot", "1.0.0")
            .tool(Tool::new("read", "Reads.", || async { "a" }).read_only())
            .tool(Tool::new("write", "Writes.", || async { "b" }))
            .tool(Tool::new("fail", "Fails.", fail).read_only())
            .build()
    })
}

/// By default, requests are logged if an operator has to look at them or if they may have changed data.
#[test]
fn failures_and_changes_are_logged() {
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "read" } },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "write" } },
    ]);
    let requests = [
        call("read"),
        call("fail"),
        legacy("tools/list", json!({})),
        modern("tools/call", json!({ "name": "read" })),
        post(json!([batch[0]]).to_string()),
        call("write"),
        call("missing"),
        post("{".to_owned()),
        post(batch.to_string()),
    ];
    let expected = [(json!("write"), 200), (json!("missing"), 200), (Value::Null, 400), (Value::Null, 200)];
    assert_eq!(logged(&tools(), &requests), expected.map(|(target, status)| (target, json!(status))));
}

/// The same rule applies to streamed responses.
#[test]
fn streamed_responses_are_logged_by_the_same_rule() {
    let ask = |tool: &str| legacy("tools/call", json!({ "name": tool, "_meta": { "progressToken": 1 } }));
    assert_eq!(logged(&tools(), &[ask("read"), ask("write")]), [(json!("write"), json!(200))]);
}

#[test]
fn the_program_and_the_environment_can_set_the_policy() {
    let requests = [call("read"), legacy("tools/list", json!({}))];
    let by_program = tools().log(LogPolicy::All);
    assert_eq!(logged(&by_program, &requests).len(), 2);
    let by_environment = |value: &'static str| tools().configured(&testing::variables(&[("MCP_LOG", value)]));
    assert_eq!(logged(&by_environment("all"), &requests).len(), 2);
    assert_eq!(logged(&by_environment("failures"), &requests).len(), 0);
    assert_eq!(logged(&by_environment("all").log(LogPolicy::Failures), &requests).len(), 0);
}

/// Every request that takes longer than 1 s is logged.
#[test]
fn slow_requests_are_logged() {
    for (milliseconds, lines) in [(1000, 0), (1001, 1)] {
        let host = Rc::new(TestHost::new());
        let clock = host.clone();
        let wait = move || {
            let clock = clock.clone();
            async move { clock.sleep(Duration::from_millis(milliseconds)).await }
        };
        let endpoint = testing::endpoint(move |_| {
            let wait = wait.clone();
            McpServer::builder("slow", "1.0.0").tool(Tool::new("wait", "Waits.", wait).read_only()).build()
        });
        call("wait").ask_on(&endpoint, &host);
        assert_eq!(host.log().len(), lines, "{milliseconds} ms");
    }
}
