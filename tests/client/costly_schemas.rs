//! Schemas of other servers that take too long to compile: output schemas and forms.

use edge_mcp::client::{Executed, Failure, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use serde_json::{Map, Value, json};

use crate::calls::{at, client, context, track};
use crate::peer::{Peer, result};
use crate::questions::asks;

fn pinned(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2026_07_28)
}

/// Returns a schema with `count` alternatives, all of them the same closed object with `count` properties.
pub fn alternatives(count: usize) -> Value {
    let properties: Map<_, _> = (0..count).map(|nth| (format!("{nth:x}"), json!({}))).collect();
    let references = vec![json!({ "$ref": "#/a" }); count];
    json!({ "type": "object", "a": { "additionalProperties": false, "properties": properties }, "anyOf": references })
}

/// C59: such an output schema is not enforced. The log says so, without a text of the server.
#[test]
fn an_output_schema_that_takes_too_long_to_compile_is_not_enforced() {
    for (count, is_enforced) in [(20, true), (2_000, false)] {
        let mut schema = alternatives(count);
        schema["description"] = "SERVER-4711".into();
        let tool = json!({ "name": "track", "inputSchema": {}, "outputSchema": schema });
        let wrong = json!({ "content": [], "structuredContent": { "unknown": 1 }, "resultType": "complete" });
        let peer = Peer::new([result(json!({ "tools": [tool], "resultType": "complete" })), result(wrong)]);
        let host = TestHost::new();
        let connection = client(pinned(&peer)).connect(&context(&host));
        let outcome = testing::run(host.run(async {
            connection.list_tools().await;
            connection.call("parcels_track", json!({})).expect("a call").await
        }));
        assert_eq!(outcome.expect("the call ends").is_err(), is_enforced, "{count}");
        let warning = "The output schema of the tool `track` of the server `parcels` is neither enforced nor listed: it takes too long to compile.";
        assert_eq!(host.log_text().contains(warning), !is_enforced, "{}", host.log_text());
        assert!(!host.log_text().contains("SERVER-4711"), "{}", host.log_text());
    }
}

/// C34: such a form is not valid, and the program is not asked.
#[test]
fn a_form_that_takes_too_long_to_compile_is_rejected() {
    // Empty groups add no states to the automaton of a pattern, so the number of states does not limit the work.
    let pattern = format!("(?:a{}){{4000}}", "()".repeat(10_000));
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": pattern } } });
    let params = json!({ "mode": "form", "message": "Where to?", "requestedSchema": schema });
    let peer = Peer::new([asks(json!({ "a": { "method": "elicitation/create", "params": params } }), json!("s"))]);
    let error = track(pinned(&peer).on_elicitation(|_, _| async { panic!("asked") })).expect_err("a failure");
    let problem = Failure::Malformed("asks with a form that takes too long to compile");
    assert_eq!((error.failure(), error.executed()), (&problem, Executed::Unknown));
    assert_eq!(peer.requests().len(), 1);
}

/// C59: the calls of a request share the steps to compile output schemas.
#[test]
fn the_calls_of_a_request_share_the_steps_for_schemas() {
    // Each schema takes about a quarter of the steps of a request.
    let constants: Vec<_> = (0..8_000).collect();
    let pairs = vec![json!({ "anyOf": [{ "$ref": "#/x" }] }); 3];
    let tool = |nth: usize| {
        let schema = json!({ "x": { "enum": constants }, "prefixItems": pairs, "$comment": nth });
        json!({ "name": format!("t{nth}"), "inputSchema": {}, "outputSchema": schema })
    };
    let tools: Vec<_> = (0..6).map(tool).collect();
    let done = || result(json!({ "content": [], "structuredContent": [7], "resultType": "complete" }));
    let peer = Peer::new(
        [result(json!({ "tools": tools, "resultType": "complete" }))].into_iter().chain((0..6).map(|_| done())),
    );
    let host = TestHost::new();
    let connection = client(pinned(&peer)).connect(&context(&host));
    testing::run(host.run(async {
        connection.list_tools().await;
        for nth in 0..6 {
            let call = connection.call(&format!("parcels_t{nth}"), json!({})).expect("a call");
            assert!(call.await.is_ok(), "{nth}");
            let is_used_up = host.log_text().contains("neither enforced nor listed: it takes too long to compile");
            assert_eq!(is_used_up, nth >= 3, "{nth}");
        }
    }))
    .expect("the calls end");
}
