//! The trace context of a request, and the operations that telemetry records.
//!
//! Source: 2026-07-28, basic, "`_meta`"; W3C Trace Context, §3.2 and §3.3; the conventions of OpenTelemetry for MCP.

use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::Host;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, Endpoint, HandlerError, Limits, LogPolicy, McpServer, Prompt, PromptMessage, Resource, Tool};
use edge_mcp_test_support::telemetry::TestTelemetry;
use futures::FutureExt;
use serde_json::{Value, json};

use crate::support::{Ask, legacy, modern, post};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

/// Returns an endpoint whose tool `trace` returns the trace context of its request.
fn endpoint() -> Endpoint {
    let trace = |cx: Context| async move {
        [cx.traceparent(), cx.tracestate()].map(|text| text.unwrap_or_else(|| "none".to_owned())).join(" ")
    };
    let fail = || async { Err::<String, _>(HandlerError::new("It is closed.")) };
    let mut limits = Limits::default();
    limits.output = 2000;
    testing::endpoint(move |_| {
        McpServer::builder("s", "1")
            .tool(Tool::new("trace", "d", trace))
            .tool(Tool::new("fail", "d", fail))
            .tool(Tool::new("wait", "d", pending::<String>))
            .tool(Tool::new("long", "d", || async { "x".repeat(3000) }))
            .prompt(Prompt::new("greet", || async { PromptMessage::user("Hello") }))
            .resource(Resource::new("desk://secret-7", || async { "a" }).name("a"))
            .build()
    })
    .limits(limits)
    .log(LogPolicy::All)
}

fn call(meta: &Value) -> Ask {
    legacy("tools/call", json!({ "name": "trace", "_meta": meta }))
}

/// The trace id of a request is logged, and handlers can read its context. A context that is not valid is ignored.
#[test]
fn the_trace_of_a_request_is_logged_and_passed_on() {
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let zeros = |digits: usize| "0".repeat(digits);
    for (sent, text, is_logged) in [
        (json!({ "traceparent": PARENT }), format!("{PARENT} none"), true),
        (json!({ "traceparent": PARENT, "tracestate": "a=1,b=2" }), format!("{PARENT} a=1,b=2"), true),
        // Flags that are not defined are not passed on.
        (json!({ "traceparent": format!("{}fe", &PARENT[..53]) }), format!("{}00 none", &PARENT[..53]), true),
        // A later version may have more parts. It continues as version 00.
        (json!({ "traceparent": format!("01{}-x", &PARENT[2..]) }), format!("{PARENT} none"), true),
        (json!({ "traceparent": PARENT, "tracestate": "x".repeat(513) }), format!("{PARENT} none"), true),
        (json!({ "traceparent": PARENT, "tracestate": "a=\u{e9}" }), format!("{PARENT} none"), true),
        (json!({ "traceparent": PARENT, "tracestate": 7 }), format!("{PARENT} none"), true),
        (json!({ "tracestate": "a=1" }), "none none".to_owned(), false),
        (json!({ "traceparent": PARENT.to_uppercase() }), "none none".to_owned(), false),
        (json!({ "traceparent": "00-0af7-00f0-01" }), "none none".to_owned(), false),
        (json!({ "traceparent": format!("{PARENT}-x") }), "none none".to_owned(), false),
        (json!({ "traceparent": format!("ff{}", &PARENT[2..]) }), "none none".to_owned(), false),
        (json!({ "traceparent": format!("00-{}-00f067aa0ba902b7-01", zeros(32)) }), "none none".to_owned(), false),
        (json!({ "traceparent": format!("00-{trace}-{}-01", zeros(16)) }), "none none".to_owned(), false),
        (json!({ "traceparent": 7 }), "none none".to_owned(), false),
    ] {
        let host = TestHost::new();
        let answer = call(&sent).ask_on(&endpoint(), &host);
        assert_eq!(answer.tool_text(), (&*text, false), "{sent}");
        assert_eq!(host.log()[0].get("trace").and_then(Value::as_str), is_logged.then_some(trace), "{sent}");
    }
}

/// With telemetry, a request has a span of its own, and its handler passes on the context of this span. The flag of the client stays.
#[test]
fn a_request_has_a_span_of_its_own() {
    let telemetry = TestTelemetry::default();
    let endpoint = endpoint().telemetry(telemetry.clone());
    for flag in ["00", "01"] {
        let host = TestHost::new();
        let sent = format!("{}{flag}", &PARENT[..53]);
        let answer = call(&json!({ "traceparent": sent, "tracestate": "a=1" })).ask_on(&endpoint, &host);
        let recorded = telemetry.recorded().pop().expect("an operation");
        let expected = format!("00-{}-{}-{flag} a=1", recorded.trace_id, recorded.span_id);
        assert_eq!(answer.tool_text(), (&*expected, false));
        assert_eq!(recorded.parent_span_id.as_deref(), Some("00f067aa0ba902b7"));
        assert_ne!(recorded.span_id, "00f067aa0ba902b7");
    }
}

/// The name of an operation is its method, and its tool or prompt. It has no URI and no text of the client.
#[test]
fn operations_have_the_names_of_the_conventions() {
    let telemetry = TestTelemetry::default();
    let endpoint = endpoint().telemetry(telemetry.clone());
    for (ask, name, error_type) in [
        (modern("tools/call", json!({ "name": "trace" })), "tools/call trace", None),
        (legacy("tools/call", json!({ "name": "fail" })), "tools/call fail", Some("tool_error")),
        // The result is too long, so another one with an error replaces it.
        (legacy("tools/call", json!({ "name": "long" })), "tools/call long", Some("tool_error")),
        (modern("tools/call", json!({ "name": "no-tool-7" })), "tools/call", Some("-32602")),
        (modern("prompts/get", json!({ "name": "greet" })), "prompts/get greet", None),
        (modern("resources/read", json!({ "uri": "desk://secret-7" })), "resources/read", None),
        (modern("tools/list", json!({})), "tools/list", None),
        (modern("no/method-7", json!({})), "_OTHER", Some("-32601")),
    ] {
        ask.ask_at(&endpoint);
        let recorded = telemetry.recorded().pop().expect("an operation");
        assert_eq!((&*recorded.name, recorded.error_type.as_deref()), (name, error_type));
    }
    assert!(!format!("{:?}", telemetry.recorded()).contains("-7"));
}

/// An operation has the attributes of the conventions.
#[test]
fn operations_have_the_attributes_of_the_conventions() {
    let telemetry = TestTelemetry::default();
    let endpoint = endpoint().telemetry(telemetry.clone());
    let common = ["mcp.method.name", "mcp.protocol.version", "network.transport", "network.protocol.name"];
    let ids = ["edge_mcp.trace_id", "edge_mcp.span_id"];
    for (ask, own, at_end) in [
        (call(&json!({})), vec!["gen_ai.operation.name", "gen_ai.tool.name"], vec![]),
        (modern("prompts/get", json!({ "name": "greet" })), vec!["gen_ai.prompt.name"], vec![]),
        (
            modern("resources/read", json!({ "uri": "desk://no" })),
            vec![],
            vec!["error.type", "rpc.response.status_code"],
        ),
    ] {
        ask.ask_at(&endpoint);
        let recorded = telemetry.recorded().pop().expect("an operation");
        let expected: Vec<_> = common.into_iter().chain(own).chain(ids).chain(at_end).collect();
        assert_eq!(recorded.attributes, expected);
    }
}

/// An operation lasts until its answer. If its client goes away before that, it was cancelled.
#[test]
fn an_operation_lasts_until_its_answer() {
    let telemetry = TestTelemetry::default();
    let endpoint = endpoint().telemetry(telemetry.clone());
    let host = TestHost::new();
    let rc: Rc<dyn Host> = Rc::new(host.clone());
    let ask = modern("tools/call", json!({ "name": "wait" }));
    let mut answer = ask.raw(&endpoint, &rc).boxed_local();
    assert!((&mut answer).now_or_never().is_none());
    assert!(telemetry.recorded().is_empty());
    host.advance(Duration::from_millis(70));
    drop(answer);
    let recorded = telemetry.recorded().pop().expect("an operation");
    assert_eq!((recorded.error_type.as_deref(), recorded.ms), (Some("cancelled"), 70));
}

/// Each request of a batch is an operation. Two kinds of telemetry both get each operation.
#[test]
fn each_request_of_a_batch_is_an_operation() {
    let telemetry: [TestTelemetry; 2] = Default::default();
    let endpoint = endpoint().telemetry(telemetry[0].clone()).telemetry(telemetry[1].clone());
    let calls = ["trace", "fail"].map(
        |name| json!({ "jsonrpc": "2.0", "id": name, "method": "tools/call", "params": { "name": name, "_meta": { "traceparent": PARENT } } }),
    );
    post(json!(calls).to_string()).ask_at(&endpoint);
    let of = |telemetry: &TestTelemetry| {
        let recorded = telemetry.recorded().into_iter();
        recorded.map(|each| (each.name, each.error_type, each.parent_span_id)).collect::<Vec<_>>()
    };
    let parent = Some("00f067aa0ba902b7".to_owned());
    let expected = [
        ("tools/call trace".to_owned(), None, parent.clone()),
        ("tools/call fail".to_owned(), Some("tool_error".to_owned()), parent),
    ];
    assert_eq!((of(&telemetry[0]), of(&telemetry[1])), (expected.to_vec(), expected.to_vec()));
}
