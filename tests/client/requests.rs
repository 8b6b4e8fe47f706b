//! The form of requests, and what they repeat.

use std::time::Duration;

use edge_mcp::client::{ClientError, Connection, Failure, McpClient, NotMcp, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use http::Request;
use serde_json::{Value, json};

use crate::calls::{at, client, context, modern, track};
use crate::peer::{Answer, Peer, error, result};

fn body(request: &Request<String>) -> Value {
    serde_json::from_str(request.body()).expect("a message")
}

fn header<'a>(request: &'a Request<String>, name: &str) -> Option<&'a str> {
    request.headers().get(name).map(|value| value.to_str().expect("text"))
}

fn accepted() -> Answer {
    Answer::new(202, "", "")
}

/// A legacy server without sessions, unless the answer gets the header.
fn initialized(revision: &str) -> Answer {
    result(json!({ "protocolVersion": revision, "capabilities": {}, "serverInfo": { "name": "p", "version": "1" } }))
}

fn in_lyon() -> Answer {
    result(json!({ "content": [{ "type": "text", "text": "in Lyon" }] }))
}

/// Calls a tool in a connection and ends the connection.
fn call(connection: Connection, host: &TestHost) -> Result<String, ClientError> {
    let call = connection.server("parcels")?.call("track", json!({ "number": 7 }));
    let work = async move {
        let outcome = call.await.map(|result| result.text());
        connection.disconnect().await;
        outcome
    };
    testing::run(host.run(work)).expect("the call ends")
}

/// C5, C7: one message per POST. The headers of a modern request repeat its body.
#[test]
fn headers_repeat_the_message() {
    let discovered = result(json!({ "resultType": "complete", "capabilities": {} }));
    let peer = Peer::new([discovered, modern("in Lyon")]);
    track(at(&peer)).expect("a result");
    for (request, method, name) in
        [(&peer.requests()[0], "server/discover", None), (&peer.requests()[1], "tools/call", Some("track"))]
    {
        let message = body(request);
        assert_eq!((message["method"].as_str(), message["params"]["name"].as_str()), (Some(method), name));
        assert_eq!((header(request, "mcp-method"), header(request, "mcp-name")), (Some(method), name));
        let version = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        assert_eq!((header(request, "mcp-protocol-version"), version), (Some("2026-07-28"), Some("2026-07-28")));
        assert_eq!(header(request, "content-type"), Some("application/json"));
        assert_eq!(header(request, "accept"), Some("application/json, text/event-stream"));
        assert_eq!(header(request, "mcp-session-id"), None);
    }
}

/// C6: each request of a connection has its own id, also one that is sent again.
#[test]
fn ids_are_never_used_again() {
    let outage = || Answer::new(502, "text/html", "");
    let peer = Peer::new([result(json!({ "resultType": "complete" })), outage(), modern("in Lyon")]);
    let host = TestHost::new();
    let call = client(at(&peer)).connect(&context(&host)).call("parcels_track", json!({})).expect("a call");
    testing::run(host.run(async move { call.idempotent().await })).expect("the call ends").expect("a result");
    let ids: Vec<_> = peer.requests().iter().map(|request| body(request)["id"].clone()).collect();
    assert_eq!(ids, ["r1", "r2", "r3"]);
}

/// C12: the client names itself. Characters that a header cannot have are replaced.
#[test]
fn requests_name_the_client() {
    for (name, version, expected) in
        [("desk", "1.0.0", "desk/1.0.0 edge-mcp/"), ("Büro 7\r\nX: y", "", "B-ro-7--X--y/ edge-mcp/")]
    {
        let peer = Peer::new([modern("in Lyon")]);
        let upstream = at(&peer).revision(Revision::V2026_07_28);
        let client = McpClient::builder(name, version).server("parcels", upstream).build().expect("a client");
        let host = TestHost::new();
        call(client.connect(&context(&host)), &host).expect("a result");
        let agent = format!("{expected}{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(header(&peer.requests()[0], "user-agent"), Some(&*agent));
    }
}

/// C13, C39: a legacy server chooses the revision. One that this client does not support is an error that names it.
#[test]
fn a_legacy_server_chooses_the_revision() {
    for (offered, named) in [("2025-11-25", true), ("2025-06-18", true), ("2025-03-26", false), ("2024-11-05", false)] {
        let peer = Peer::new([initialized(offered), accepted(), in_lyon()]);
        track(at(&peer).revision(Revision::V2025_11_25)).expect("a result");
        assert_eq!(body(&peer.requests()[0])["params"]["protocolVersion"], "2025-11-25");
        // Older revisions do not have the header.
        assert_eq!(header(&peer.requests()[2], "mcp-protocol-version"), named.then_some(offered));
    }
    for (offered, shown) in
        [("2023-01-01", vec!["2023-01-01".to_owned()]), ("2026-07-28", vec!["2026-07-28".to_owned()]), ("", vec![])]
    {
        let peer = Peer::new([initialized(offered)]);
        let error = track(at(&peer).revision(Revision::V2025_11_25)).expect_err("a failure");
        assert_eq!(*error.failure(), Failure::UnsupportedRevision { offered: shown });
    }
}

/// C39: at most eight of the revisions that a server offers are named, each shortened.
#[test]
fn offered_revisions_are_bounded() {
    let names: Vec<_> = (0..50).map(|nth| format!("{nth}{}", "ä".repeat(50))).collect();
    let data = json!({ "code": -32022, "message": "no", "data": { "supported": names, "requested": "2026-07-28" } });
    let rejection = crate::peer::json_answer(400, json!({ "jsonrpc": "2.0", "id": "$id", "error": data }));
    let peer = Peer::new([rejection]);
    let error = track(at(&peer).revision(Revision::V2026_07_28)).expect_err("a failure");
    let Failure::UnsupportedRevision { offered } = error.failure() else { panic!("{error:?}") };
    assert_eq!((offered.len(), offered.iter().all(|name| name.len() <= 32)), (8, true));
}

/// C14: a server that rejects `notifications/initialized` gets no request.
#[test]
fn a_rejected_notification_ends_the_call() {
    let begun = || initialized("2025-11-25").header("mcp-session-id", "s-1");
    let peer = Peer::new([begun(), error(400, -32_600, "no"), accepted()]);
    let error = track(at(&peer).revision(Revision::V2025_11_25)).expect_err("a failure");
    assert_eq!(*error.failure(), Failure::Rejected { status: 400 });
    assert_eq!(peer.methods(), ["initialize", "notifications/initialized", "DELETE"]);
}

/// C4, C40, C41: a session belongs to its connection, and its id comes only from the answer to `initialize`.
#[test]
fn a_session_belongs_to_its_connection() {
    let session = |id: &str| [initialized("2025-11-25").header("mcp-session-id", id), accepted()];
    let done = || [in_lyon().header("mcp-session-id", "another"), accepted()];
    let peer = Peer::new([session("s-1"), done(), session("s-2"), done()].into_iter().flatten());
    let client = client(at(&peer).revision(Revision::V2025_11_25));
    for (nth, id) in [(0, "s-1"), (4, "s-2")] {
        let host = TestHost::new();
        call(client.connect(&context(&host)), &host).expect("a result");
        let requests = peer.requests();
        let ids: Vec<_> = requests[nth..].iter().map(|request| header(request, "mcp-session-id")).collect();
        assert_eq!(ids, [None, Some(id), Some(id), Some(id)]);
    }
}

/// C41: an id that is too long is not used.
#[test]
fn an_invalid_session_id_is_not_used() {
    for (id, is_used) in [("x".repeat(512), true), ("x".repeat(513), false), ("a b".to_owned(), false)] {
        let peer =
            Peer::new([initialized("2025-11-25").header("mcp-session-id", &id), accepted(), in_lyon(), accepted()]);
        track(at(&peer).revision(Revision::V2025_11_25)).expect("a result");
        assert_eq!(header(&peer.requests()[2], "mcp-session-id"), is_used.then_some(&*id));
    }
}

/// C43: the client does not negotiate with a server whose revision the program sets.
#[test]
fn a_set_revision_is_not_negotiated() {
    let rejection = |supported: Value| {
        let error = json!({ "code": -32022, "message": "no", "data": { "supported": supported, "requested": "x" } });
        crate::peer::json_answer(400, json!({ "jsonrpc": "2.0", "id": "$id", "error": error }))
    };
    for (answer, failure) in [
        (Answer::new(404, "text/html", ""), Failure::NotMcp(NotMcp::NotFound)),
        (Answer::new(405, "", ""), Failure::NotMcp(NotMcp::NoPost)),
        (Answer::new(400, "text/plain", "no"), Failure::Rejected { status: 400 }),
        (rejection(json!(["2025-11-25"])), Failure::UnsupportedRevision { offered: vec!["2025-11-25".to_owned()] }),
    ] {
        let peer = Peer::new([answer]);
        let error = track(at(&peer).revision(Revision::V2026_07_28)).expect_err("a failure");
        assert_eq!((error.failure(), peer.methods()), (&failure, vec!["tools/call".to_owned()]));
    }
}

/// C43: the knowledge about a legacy server expires, but not an era that the program sets.
#[test]
fn a_set_era_does_not_expire() {
    let calls = |upstream: fn(Upstream) -> Upstream, answers: Vec<Answer>| {
        let peer = Peer::new(answers);
        let client = client(upstream(at(&peer)));
        let host = TestHost::new();
        for _ in 0..2 {
            call(client.connect(&context(&host)), &host).expect("a result");
            host.advance(Duration::from_secs(3601));
        }
        peer.methods()
    };
    let begun = ["initialize", "notifications/initialized", "tools/call"];
    let answers = || [initialized("2025-11-25"), accepted(), in_lyon()];
    let set = calls(|upstream| upstream.revision(Revision::V2025_11_25), [answers(), answers()].concat());
    assert_eq!(set, [begun, begun].concat());
    let rejected = || error(400, -32_000, "no session");
    let probed = [[rejected()].as_slice(), &answers(), &[rejected()], &answers()].concat();
    let learned = calls(|upstream| upstream, probed);
    assert_eq!(learned, [["server/discover"].as_slice(), &begun, &["server/discover"], &begun].concat());
}
