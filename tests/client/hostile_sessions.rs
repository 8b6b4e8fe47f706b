//! Hostile sessions and revisions.

use std::time::Duration;

use edge_mcp::FormAnswer;
use edge_mcp::client::{Failure, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use serde_json::{Value, json};

use crate::calls::{at, client, context, modern, track};
use crate::peer::{Answer, Peer, json_answer, result};
use crate::questions::{asks, body, form};

/// The hostile case 57: a server that names its revision as unsupported, again and again, or names no revision.
#[test]
fn a_negotiation_ends() {
    let unsupported = |supported: Value| {
        let error = json!({ "code": -32022, "message": "no", "data": { "supported": supported } });
        json_answer(400, json!({ "jsonrpc": "2.0", "id": "$id", "error": error }))
    };
    let ours = || unsupported(json!(["2026-07-28"]));
    let long = "9".repeat(100);
    for (supported, offered, requests) in [
        (json!(["2026-07-28"]), vec!["2026-07-28".to_owned()], 2),
        (json!([]), vec![], 1),
        (json!([1]), vec![], 1),
        (json!({}), vec![], 1),
        (json!(["2099-01-01", "1999-01-01"]), vec!["2099-01-01".into(), "1999-01-01".into()], 1),
        (
            json!([long, "Ignore this.", "a\nb", "\u{202e}", ""]),
            vec!["9".repeat(32), "Ignorethis.".into(), "ab".into()],
            1,
        ),
        (json!(vec!["1"; 10_000]), vec!["1".into(); 8], 1),
    ] {
        let peer = Peer::new((0..20).map(|_| unsupported(supported.clone())));
        let error = track(at(&peer)).expect_err("a failure");
        assert_eq!(error.failure(), &Failure::UnsupportedRevision { offered }, "{supported}");
        assert_eq!(peer.methods(), vec!["server/discover"; requests]);
    }

    let peer = Peer::new([ours(), modern("discovered"), modern("in Lyon")]);
    assert_eq!(track(at(&peer)).expect("a result"), "in Lyon");
    // A server that offers an older revision, and then none of its sessions.
    let peer = Peer::new((0..40).map(|_| unsupported(json!(["2025-11-25"]))));
    assert!(track(at(&peer)).is_err());
    assert!(peer.requests().len() <= 4, "{:?}", peer.methods());
}

/// The hostile cases 55 and 56: sessions that end again and again, and revisions that do not exist.
#[test]
fn a_session_that_ends_again_and_again_ends_the_call() {
    let initialized = || {
        json_answer(200, json!({ "jsonrpc": "2.0", "id": "$id", "result": { "protocolVersion": "2025-11-25", "capabilities": null } }))
            .header("mcp-session-id", "s")
    };
    let gone = || Answer::new(404, "", "");
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.extend([initialized(), Answer::new(202, "", ""), gone()]);
    }
    let peer = Peer::new(answers);
    let error = track(at(&peer).revision(Revision::V2025_11_25)).expect_err("a failure");
    assert_eq!(error.failure(), &Failure::Malformed("contradicts the earlier answers of the server"));
    assert!(peer.requests().len() <= 13, "{:?}", peer.methods());

    for version in [json!("2099-01-01"), json!("1999-01-01"), json!(7), json!(null), json!("2026-07-28")] {
        let answer =
            json_answer(200, json!({ "jsonrpc": "2.0", "id": "$id", "result": { "protocolVersion": version } }));
        let error = track(at(&Peer::new([answer])).revision(Revision::V2025_11_25)).expect_err("a failure");
        assert!(matches!(error.failure(), Failure::UnsupportedRevision { .. }), "{error}");
    }
}

/// C52: one limit bounds all repetitions of a request: with another revision, in another session, for the rest of its answer, and after a
/// pause. The error is that of the last attempt.
#[test]
fn all_repetitions_have_one_limit() {
    let error = |code: i64, data: Value| {
        json_answer(
            400,
            json!({ "jsonrpc": "2.0", "id": "$id", "error": { "code": code, "message": "no", "data": data } }),
        )
    };
    let session = || {
        let initialized = result(json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
        [initialized.header("mcp-session-id", "s"), Answer::new(202, "", "")]
    };
    let interrupted = || Answer::new(200, "text/event-stream", "id: e-1\ndata:\n\n");
    let mut answers = vec![error(-32_022, json!({ "supported": ["2026-07-28"] }))];
    // The list, and `server/discover`.
    answers.extend([error(-32_000, json!({})), error(-32_000, json!({}))]);
    answers.extend(session());
    answers.push(Answer::new(404, "", ""));
    answers.extend(session());
    answers.extend((0..10).map(|_| interrupted()));
    let (peer, host) = (Peer::new(answers), TestHost::new());
    let connection = client(at(&peer)).connect(&context(&host));
    let list = testing::run(host.run(async move { connection.only().expect("a server").list_tools().await }));
    let error = list.expect("the list ends").expect_err("a failure");
    assert_eq!(error.failure(), &Failure::Interrupted);
    let sent = peer.methods().into_iter().filter(|method| method == "tools/list" || method == "GET").count();
    assert_eq!(sent, 8, "{:?}", peer.methods());
}

/// C52: the limit of repetitions holds for all rounds of a request together.
#[test]
fn the_repetitions_in_all_rounds_have_one_limit() {
    let question = || asks(json!({ "q": form("Sure?", json!({})) }), json!("s"));
    let peer = Peer::new((0..20).flat_map(|_| [Answer::new(500, "", ""), question()]));
    let upstream = at(&peer).revision(Revision::V2026_07_28);
    let upstream = upstream.on_elicitation(|_, _| async { Ok(FormAnswer::Accepted(json!({}))) });
    let (client, host) = (client(upstream), TestHost::new());
    let connection = client.connect(&context(&host));
    let read = async move { connection.only().expect("a server").read_resource("parcels://7").await };
    let error = testing::run(host.run(read)).expect("the request ends").expect_err("a failure");
    assert_eq!(error.failure(), &Failure::ServerFailed { status: 500 });
    // In each of 7 rounds, the request is sent twice.
    assert_eq!(peer.methods().len(), 15, "{:?}", peer.methods());
}

/// The hostile case 55, C41: only `initialize` names a session, in visible ASCII. A wrong id is not used, and no id is in the log.
#[test]
fn a_session_has_a_usual_id() {
    let long = "s".repeat(1 << 20);
    for (id, is_used) in
        [("s-1", true), (&"s".repeat(512), true), ("", false), ("s 1", false), ("sé", false), (&long, false)]
    {
        let initialized =
            result(json!({ "protocolVersion": "2025-11-25", "capabilities": {} })).header("mcp-session-id", id);
        let done = result(json!({ "content": [] })).header("mcp-session-id", "other");
        let peer = Peer::new([initialized, Answer::new(202, "", "").header("mcp-session-id", "other"), done]);
        track(at(&peer).revision(Revision::V2025_11_25)).expect("a result");
        let expected = is_used.then(|| id.as_bytes().to_vec());
        for request in &peer.requests()[1..] {
            let sent = request.headers().get("mcp-session-id").map(|id| id.as_bytes().to_vec());
            assert_eq!(sent, expected, "{}", request.method());
        }
        assert_eq!(peer.requests().len(), if is_used { 4 } else { 3 });
    }
}

/// The hostile case 63, C3: two callers at the same time, whose requests have the same id, get their own answers.
#[test]
fn callers_with_the_same_id_get_their_own_answers() {
    let peer = Peer::new([modern("of ann"), modern("of bob")]);
    let upstream = Upstream::via("https://parcels.example/mcp", peer.slow(Duration::from_secs(1))).expect("a URL");
    let (client, host) = (client(upstream.revision(Revision::V2026_07_28)), TestHost::new());
    let call = || {
        let call = client.connect(&context(&host)).call("parcels_track", json!({})).expect("a call");
        async move { call.await.map(|result| result.text()) }
    };
    let (ann, bob) = testing::run(host.run(futures::future::join(call(), call()))).expect("the calls end");
    assert_eq!((ann.expect("a result").as_str(), bob.expect("a result").as_str()), ("of ann", "of bob"));
    let ids: Vec<_> = peer.requests().iter().map(|request| body(request)["id"].clone()).collect();
    assert_eq!(ids[0], ids[1]);
}
