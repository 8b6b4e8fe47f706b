//! Calls of tools.

use edge_mcp::client::{ClientError, Executed, Failure, InProcess, McpClient, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{McpServer, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub use edge_mcp::testing::context;

use crate::peer::{Peer, error, json_answer, result};

pub fn client(upstream: Upstream) -> McpClient {
    McpClient::builder("desk", "1.0.0").server("parcels", upstream).build().expect("a client")
}

pub fn at(peer: &Peer) -> Upstream {
    Upstream::via("https://parcels.example/mcp", peer.clone()).expect("a URL")
}

/// Calls the tool `track` and returns its text.
pub fn track(upstream: Upstream) -> Result<String, ClientError> {
    let host = TestHost::new();
    let cx = context(&host);
    let connection = client(upstream).connect(&cx);
    let peer = connection.server("parcels")?;
    let call = peer.call("track", json!({ "number": 7 }));
    let text = testing::run(host.run(async move { call.await.map(|result| result.text()) }));
    drop((connection, peer));
    // The end of a session is a task of its own.
    testing::run(host.run(async {})).expect("the tasks end");
    text.expect("the call ends")
}

#[derive(Deserialize, JsonSchema)]
struct Parcel {
    number: u32,
}

/// The tool `track` of a server of this library.
pub fn track_tool() -> Tool {
    let track = |Parcel { number }: Parcel| async move { format!("Parcel {number} is in Lyon.") };
    Tool::new("track", "Locates a parcel.", track)
}

fn parcels() -> InProcess {
    InProcess::new(testing::endpoint(|_| McpServer::builder("parcels", "1.0.0").tool(track_tool()).build()))
}

/// A tool of this library's own server is called in each revision.
#[test]
fn a_tool_is_called_in_each_revision() {
    let upstream = || Upstream::via("http://localhost/mcp", parcels()).expect("a URL");
    for revision in Revision::ALL {
        assert_eq!(track(upstream().revision(revision)).expect("a result"), "Parcel 7 is in Lyon.", "{revision}");
    }
    assert_eq!(track(upstream()).expect("a result"), "Parcel 7 is in Lyon.");
}

pub fn modern(text: &str) -> crate::peer::Answer {
    result(json!({ "content": [{ "type": "text", "text": text }], "resultType": "complete" }))
}

/// C37: a call is never the first probe. `server/discover` comes before it.
#[test]
fn a_call_is_preceded_by_a_probe() {
    let peer = Peer::new([result(json!({ "resultType": "complete" })), modern("in Lyon")]);
    assert_eq!(track(at(&peer)).expect("a result"), "in Lyon");
    assert_eq!(peer.methods(), ["server/discover", "tools/call"]);
}

/// A legacy server with sessions: three requests, and the end of the session.
#[test]
fn a_legacy_session_is_begun_and_ended() {
    let initialized =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": { "name": "p", "version": "1" } });
    let peer = Peer::new([
        json_answer(400, json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": "no session" } })),
        result(initialized).header("mcp-session-id", "s-1"),
        crate::peer::Answer::new(202, "", ""),
        result(json!({ "content": [{ "type": "text", "text": "in Lyon" }] })),
        crate::peer::Answer::new(200, "", ""),
    ]);
    assert_eq!(track(at(&peer)).expect("a result"), "in Lyon");
    let expected = ["server/discover", "initialize", "notifications/initialized", "tools/call", "DELETE"];
    assert_eq!(peer.methods(), expected);
    for request in &peer.requests()[2..] {
        assert_eq!(request.headers()["mcp-session-id"], "s-1", "{request:?}");
    }
    assert_eq!(peer.requests()[3].headers()["mcp-protocol-version"], "2025-06-18");
}

/// C52, C53: a call is not repeated, and its error says that its outcome is not known.
#[test]
fn a_failed_call_is_not_repeated() {
    let pinned = |peer: &Peer| at(peer).revision(Revision::V2026_07_28);
    let peer = Peer::new([crate::peer::Answer::new(502, "text/html", "<p>Bad gateway</p>"), modern("in Lyon")]);
    let error = track(pinned(&peer)).expect_err("a failure");
    assert_eq!((error.failure(), error.executed()), (&Failure::ServerFailed { status: 502 }, Executed::Unknown));
    assert_eq!(
        error.to_string(),
        "The server `parcels` failed (status 502). It is not known whether the call was executed. Check its effect before you call again."
    );
    assert_eq!(peer.methods(), ["tools/call"]);
}

/// C53: a tool may also send such an error after an effect, so it proves nothing. If the server says that the request is not valid, or that there
/// are too many, the sentence does not warn of effects.
#[test]
fn only_a_call_that_may_have_been_executed_is_said_to_be() {
    let unknown = " It is not known whether the call was executed. Check its effect before you call again.";
    for (code, warning) in [
        (-32_700, ""),
        (-32_600, ""),
        (-32_601, ""),
        (-32_602, ""),
        (-32_603, unknown),
        (-32_000, unknown),
        (-32_002, unknown),
        (7, unknown),
    ] {
        let peer = Peer::new([error(200, code, "Unknown tool `track`.")]);
        let error = track(at(&peer).revision(Revision::V2026_07_28)).expect_err("a failure");
        assert_eq!(error.to_string(), format!("The server `parcels` answers: \"Unknown tool `track`.\"{warning}"));
        assert_eq!(error.executed(), Executed::Unknown, "{code}");
    }
    let limited = crate::peer::Answer::new(429, "", "").header("retry-after", "7");
    let error = track(at(&Peer::new([limited])).revision(Revision::V2026_07_28)).expect_err("a failure");
    assert_eq!(error.to_string(), "The server `parcels` has got too many requests. Try again after 7 s.");
    assert_eq!(error.executed(), Executed::No);
}
