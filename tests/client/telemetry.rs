//! The telemetry of requests to other servers.

use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, HandlerError, McpServer, Tool};
use edge_mcp_test_support::telemetry::TestTelemetry;
use serde_json::json;

use crate::calls::{at, client, modern};
use crate::peer::{Answer, End, Peer, error, json_answer, result};

/// Calls a tool `calls` times, and returns the outcome of each request.
fn outcomes(answers: impl IntoIterator<Item = Answer>, calls: usize) -> Vec<Option<String>> {
    let (telemetry, host) = (TestTelemetry::default(), TestHost::new());
    let client = client(at(&Peer::new(answers)).revision(Revision::V2026_07_28));
    let track = move |cx: Context| {
        let connection = client.connect(&cx);
        async move {
            for _ in 0..calls {
                let _ = connection.server("parcels")?.call("track", json!({})).await;
            }
            Ok::<_, HandlerError>("done")
        }
    };
    let endpoint = testing::endpoint(move |_| {
        McpServer::builder("desk", "1").tool(Tool::new("track", "d", track.clone())).build()
    });
    let endpoint = endpoint.telemetry(telemetry.clone());
    let caller = Client::new(&endpoint).host(&host);
    let call = caller.call("track", json!({}));
    assert_eq!(testing::run(host.run(call)).expect("the call ends").text(), "done");
    let sent = telemetry.recorded().into_iter().filter(|each| each.upstream.as_deref() == Some("parcels"));
    sent.map(|each| each.error_type).collect()
}

/// A request that fails has the kind of its failure.
#[test]
fn a_failed_request_has_the_kind_of_its_failure() {
    let failed = json!({ "content": [], "isError": true, "resultType": "complete" });
    let json = |body: &str| Answer::new(200, "application/json", body);
    let stream = |body: &str| Answer::new(200, "text/event-stream", body);
    for (answer, expected) in [
        (modern("in Lyon"), None),
        (result(failed), Some("tool_error")),
        (error(200, -32_602, "no"), Some("-32602")),
        (json_answer(503, json!({})), Some("503")),
        (Answer::new(307, "", "").header("location", "https://other.example/mcp"), Some("307")),
        (json("").end(End::NoHead), Some("unreachable")),
        (json("").end(End::SilentBeforeHead), Some("timeout")),
        (json("{").end(End::Cut), Some("interrupted")),
        (json("{"), Some("malformed")),
        (stream(": ping\n\n").end(End::Endless), Some("limit_exceeded")),
    ] {
        assert_eq!(outcomes([answer], 1), [expected.map(str::to_owned)]);
    }
}

/// A request that the client does not send, because the connection has sent all that it may, is not a request that the caller cancelled.
#[test]
fn a_request_that_is_not_sent_exceeds_a_limit() {
    let mut outcomes = outcomes((0..40).map(|_| modern("in Lyon")), 41);
    assert_eq!(outcomes.pop(), Some(Some("limit_exceeded".to_owned())));
    assert_eq!(outcomes, vec![None; 40]);
}
