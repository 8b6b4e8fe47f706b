//! The messages on the event stream of an answer: progress, log messages, and questions of legacy servers.

use std::cell::RefCell;
use std::rc::Rc;

use edge_mcp::call::Root;
use edge_mcp::client::{ClientError, Failure, InProcess, Upstream};
use edge_mcp::protocol::{LogLevel, Revision};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, FormAnswer, HandlerError, McpServer, Tool};
use serde_json::{Value, json};

use crate::calls::{at, client, context, track};
use crate::peer::{Answer, End, Peer, result};
use crate::questions::body;

/// An event stream with these messages and then the result.
fn stream(messages: &[Value]) -> Answer {
    let done = json!({ "content": [{ "type": "text", "text": "in Lyon" }], "resultType": "complete" });
    let done = json!({ "jsonrpc": "2.0", "id": "$id", "result": done });
    let events: Vec<_> = messages.iter().chain([&done]).map(|message| format!("data: {message}\n\n")).collect();
    Answer::new(200, "text/event-stream", events.concat())
}

fn progress(token: &str, progress: Value) -> Value {
    let params = json!({ "progressToken": token, "progress": progress, "total": 10, "message": "loading" });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
}

fn message(level: &str, data: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": level, "logger": "depot", "data": data } })
}

/// Calls a tool. Returns its text and the notifications that the listeners got: progress, and log messages of at least `notice`.
fn call_and_notifications(upstream: Upstream) -> (Result<String, ClientError>, Vec<String>) {
    let (host, notifications) = (TestHost::new(), Rc::new(RefCell::new(Vec::new())));
    let connection = client(upstream).connect(&context(&host));
    let (progress, log) = (notifications.clone(), notifications.clone());
    let call = connection.server("parcels").expect("a server").call("track", json!({}));
    let call = call.on_progress(move |it| {
        progress.borrow_mut().push(format!("{} of {:?} {:?}", it.progress, it.total, it.message));
    });
    let call = call.on_log(LogLevel::Notice, move |it| {
        log.borrow_mut().push(format!("{:?} {:?} {}", it.level, it.logger, it.data));
    });
    let text = testing::run(host.run(async move { call.await.map(|result| result.text()) })).expect("the call ends");
    let notifications = notifications.borrow().clone();
    (text, notifications)
}

/// The hostile case 37, C11, C25: only progress with the token of the request that grows, and only log messages of the level that was asked
/// for.
#[test]
fn listeners_get_only_notifications_of_their_request() {
    let peer = Peer::new([stream(&[
        progress("$id", json!(1)),
        progress("other", json!(2)),
        progress("$id", json!(1)),
        progress("$id", json!(0.5)),
        progress("$id", json!("3")),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress" }),
        progress("$id", json!(2.5)),
        message("info", json!("quiet")),
        message("loud", json!("unknown level")),
        message("error", json!({ "code": 7 })),
        json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }),
    ])]);
    let (text, notifications) = call_and_notifications(at(&peer).revision(Revision::V2026_07_28));
    assert_eq!(text.expect("a result"), "in Lyon");
    assert_eq!(
        notifications,
        [
            "1 of Some(10.0) Some(\"loading\")",
            "2.5 of Some(10.0) Some(\"loading\")",
            "Error Some(\"depot\") {\"code\":7}"
        ]
    );
    let request = body(&peer.requests()[0]);
    assert_eq!(request["params"]["_meta"]["progressToken"], request["id"]);
    assert_eq!(request["params"]["_meta"]["io.modelcontextprotocol/logLevel"], "notice");
}

/// Hidden characters in notifications do not reach a person or a log.
#[test]
fn notifications_have_no_hidden_characters() {
    let mut report = progress("$id", json!(1));
    report["params"]["message"] = format!("load\u{e0041}ing\n{}", "é".repeat(2000)).into();
    let mut error = message("error", json!({ "a\u{200b}": ["b\u{202e}", 7] }));
    error["params"]["logger"] = "de\u{e0041}pot".into();
    let peer = Peer::new([stream(&[report, error])]);
    let (_, notifications) = call_and_notifications(at(&peer).revision(Revision::V2026_07_28));
    let shown = format!("loading {}…", "é".repeat(992));
    assert_eq!(
        notifications,
        [format!("1 of Some(10.0) {:?}", Some(shown)), "Error Some(\"depot\") {\"a\":[\"b\",7]}".to_owned()]
    );
}

/// C25: a legacy server that declares log messages gets the lowest level, once in its session.
#[test]
fn a_legacy_server_gets_the_log_level() {
    for (capabilities, expected) in
        [(json!({ "logging": {} }), &["logging/setLevel", "tools/call"][..]), (json!({}), &["tools/call"][..])]
    {
        let mut answers = vec![initialized_with(&capabilities, Some("s-1")), accepted()];
        if expected.len() == 2 {
            // An error does not matter.
            answers.push(crate::peer::error(200, -32_603, "no"));
        }
        answers.extend([stream(&[message("info", json!("quiet")), message("error", json!("loud"))]), accepted()]);
        let peer = Peer::new(answers);
        let (text, notifications) = call_and_notifications(at(&peer).revision(Revision::V2025_06_18));
        assert_eq!(
            (text.expect("a result").as_str(), notifications),
            ("in Lyon", vec!["Error Some(\"depot\") \"loud\"".into()])
        );
        let methods = peer.methods();
        assert_eq!(methods[2..2 + expected.len()], *expected);
        if expected.len() == 2 {
            assert_eq!(body(&peer.requests()[2])["params"]["level"], "notice");
        }
    }
}

/// C11: without a listener, the request asks for no notifications.
#[test]
fn without_a_listener_no_notifications_are_requested() {
    let peer = Peer::new([stream(&[progress("$id", json!(1)), message("error", json!("x"))])]);
    assert_eq!(track(at(&peer).revision(Revision::V2026_07_28)).expect("a result"), "in Lyon");
    let meta = &body(&peer.requests()[0])["params"]["_meta"];
    assert!(meta.get("progressToken").is_none() && meta.get("io.modelcontextprotocol/logLevel").is_none(), "{meta}");
}

async fn load(cx: Context) -> &'static str {
    cx.progress(1.0, Some(2.0), "half");
    cx.log(LogLevel::Info, "quiet");
    cx.log(LogLevel::Warning, "loud");
    cx.progress(2.0, Some(2.0), "");
    "in Lyon"
}

#[test]
fn listeners_get_notifications_of_a_server_of_this_library() {
    let parcels = testing::endpoint(|_| {
        McpServer::builder("parcels", "1.0.0")
            .logging(LogLevel::Debug)
            .tool(Tool::new("track", "Locates a parcel.", load))
            .build()
    });
    let (text, notifications) =
        call_and_notifications(Upstream::via("http://localhost/mcp", InProcess::new(parcels)).expect("a URL"));
    assert_eq!(text.expect("a result"), "in Lyon");
    assert_eq!(
        notifications,
        ["1 of Some(2.0) Some(\"half\")", "Warning Some(\"parcels\") \"loud\"", "2 of Some(2.0) None"]
    );
}

fn initialized(session: Option<&str>) -> Answer {
    initialized_with(&json!({}), session)
}

fn initialized_with(capabilities: &Value, session: Option<&str>) -> Answer {
    let info = json!({ "name": "p", "version": "1" });
    let answer = result(json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info }));
    match session {
        Some(session) => answer.header("mcp-session-id", session),
        None => answer,
    }
}

fn accepted() -> Answer {
    Answer::new(202, "", "")
}

fn asks(id: Value, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn form() -> Value {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string", "default": "Lyon" } } });
    json!({ "message": "Where to?", "requestedSchema": schema })
}

fn legacy(peer: &Peer) -> Upstream {
    at(peer)
        .revision(Revision::V2025_06_18)
        .on_elicitation(|_, _| async { Ok(FormAnswer::Accepted(json!({}))) })
        .roots([Root { uri: "file:///parcels".into(), name: None }])
}

/// C35: questions on the stream of a legacy server are answered by POSTs in its session, in the order of the stream.
#[test]
fn questions_of_a_legacy_server_are_answered() {
    let questions = [
        asks(json!("a"), "elicitation/create", form()),
        asks(json!(7), "ping", json!({})),
        asks(json!("c"), "roots/list", json!({})),
        asks(json!("d"), "sampling/createMessage", json!({ "messages": [], "maxTokens": 1 })),
        asks(json!("e"), "tasks/get", json!({})),
    ];
    let answers = (0..5).map(|_| accepted()).chain([Answer::new(200, "", "")]);
    let peer = Peer::new([initialized(Some("s-1")), accepted(), stream(&questions)].into_iter().chain(answers));
    assert_eq!(track(legacy(&peer)).expect("a result"), "in Lyon");
    let requests = peer.requests();
    assert_eq!(body(&requests[0])["params"]["capabilities"], json!({ "elicitation": {}, "roots": {} }));
    let bodies: Vec<_> = requests[3..8].iter().map(body).collect();
    let not_found = json!({ "code": -32601, "message": "Method not found" });
    for (body, expected) in bodies.iter().zip([
        json!({ "id": "a", "result": { "action": "accept", "content": { "city": "Lyon" } } }),
        json!({ "id": 7, "result": {} }),
        json!({ "id": "c", "result": { "roots": [{ "uri": "file:///parcels" }] } }),
        json!({ "id": "d", "error": not_found }),
        json!({ "id": "e", "error": not_found }),
    ]) {
        let mut expected = expected;
        expected["jsonrpc"] = json!("2.0");
        assert_eq!(*body, expected);
    }
    for request in &requests[3..8] {
        assert_eq!(request.headers()["mcp-session-id"], "s-1");
        assert_eq!(request.headers()["mcp-protocol-version"], "2025-06-18");
        assert_eq!(request.headers()["content-type"], "application/json");
    }
}

/// C35: a server without sessions cannot find the question that an answer belongs to.
#[test]
fn a_legacy_server_without_a_session_gets_no_answer() {
    let questions = [asks(json!("a"), "elicitation/create", form())];
    let peer = Peer::new([initialized(None), accepted(), stream(&questions), accepted()]);
    assert_eq!(track(legacy(&peer)).expect("a result"), "in Lyon");
    assert_eq!(body(&peer.requests()[3])["error"]["code"], -32601);
}

/// The hostile case 41, C33, C35: at most 8 questions in one exchange, each of at most 64 KiB.
#[test]
fn a_legacy_server_asks_at_most_eight_questions() {
    let questions: Vec<_> = (0..50).map(|nth| asks(json!(nth), "elicitation/create", form())).collect();
    let answers = (0..50).map(|_| accepted());
    let peer = Peer::new([initialized(Some("s-1")), accepted(), stream(&questions)].into_iter().chain(answers));
    let error = track(legacy(&peer)).expect_err("a failure");
    assert_eq!(error.failure(), &Failure::LimitExceeded("the server asks too many questions"));
    assert_eq!(peer.methods().iter().filter(|method| *method == "a response").count(), 8);

    let long = [asks(json!("x".repeat(64 << 10)), "ping", json!({}))];
    let peer = Peer::new([initialized(Some("s-1")), accepted(), stream(&long), accepted()]);
    let error = track(legacy(&peer)).expect_err("a failure");
    assert_eq!(error.failure(), &Failure::LimitExceeded("a question is too long"));
}

/// C33: the repetitions of a call share the limit of its questions: an answer that is interrupted does not permit eight more.
#[test]
fn the_questions_of_all_repetitions_are_counted() {
    let questions = |from: usize| -> Vec<_> {
        (from..from + 5).map(|nth| asks(json!(nth), "elicitation/create", form())).collect()
    };
    let events: Vec<_> = questions(0).iter().map(|question| format!("data: {question}\n\n")).collect();
    let interrupted = Answer::new(200, "text/event-stream", events.concat()).end(End::Cut);
    let answers = || (0..5).map(|_| accepted());
    let begun = [initialized(Some("s-1")), accepted(), interrupted];
    let peer = Peer::new(begun.into_iter().chain(answers()).chain([stream(&questions(10))]).chain(answers()));
    let host = TestHost::new();
    let call = client(legacy(&peer)).connect(&context(&host)).call("parcels_track", json!({})).expect("a call");
    let outcome = testing::run(host.run(call.idempotent().into_future())).expect("the call ends");
    let error = outcome.map(|result| result.text()).expect_err("a failure");
    assert_eq!(error.failure(), &Failure::LimitExceeded("the server asks too many questions"));
    assert_eq!(peer.methods().iter().filter(|method| *method == "a response").count(), 8);
}

/// C35: pings are not questions. The client answers 16 of them, and further ones do not fail the call.
#[test]
fn pings_do_not_count_as_questions() {
    for (pings, answered) in [(12, 12), (50, 16)] {
        let ping = |nth| asks(json!(nth), "ping", json!({}));
        let mut messages: Vec<_> = (0..pings).map(ping).collect();
        messages.extend((100..108).map(|nth| asks(json!(nth), "elicitation/create", form())));
        let answers = (0..50).map(|_| accepted());
        let peer = Peer::new([initialized(Some("s-1")), accepted(), stream(&messages)].into_iter().chain(answers));
        assert_eq!(track(legacy(&peer)).expect("a result"), "in Lyon");
        let requests = peer.requests();
        let messages = requests.iter().filter(|request| request.method() == "POST").map(body);
        let sent: Vec<_> = messages.filter(|message| message.get("method").is_none()).collect();
        let pongs = sent.iter().filter(|message| message["result"] == json!({})).count();
        assert_eq!((pongs, sent.len()), (answered, answered + 8));
    }
}

/// C35: the call does not depend on an answer that no function of the program gives: to a ping, or to a question that was not declared.
#[test]
fn a_lost_answer_to_a_ping_does_not_fail_the_call() {
    let lost = [
        Answer::new(404, "", ""),
        Answer::new(500, "", ""),
        Answer::new(401, "", ""),
        Answer::new(200, "", "").end(End::NoHead),
        Answer::new(200, "", "").end(End::SilentBeforeHead),
    ];
    for answer in lost {
        for (session, method) in [(Some("s-1"), "ping"), (None, "ping"), (Some("s-1"), "tasks/get")] {
            let messages = [asks(json!(7), method, json!({}))];
            let peer = Peer::new([initialized(session), accepted(), stream(&messages), answer.clone(), accepted()]);
            assert_eq!(track(legacy(&peer)).expect("a result"), "in Lyon", "{} {method}", answer.status);
            assert_eq!(peer.methods()[3], "a response");
        }
    }
}

/// C35: the client answers 16 pings in a connection, so that the requests of the connection suffice for its calls.
#[test]
fn pings_of_many_calls_do_not_exhaust_the_requests() {
    let pings: Vec<_> = (0..16).map(|nth| asks(json!(nth), "ping", json!({}))).collect();
    let peer = Peer::new(
        [initialized(Some("s-1")), accepted(), stream(&pings)]
            .into_iter()
            .chain((0..16).map(|_| accepted()))
            .chain((0..20).map(|_| stream(&pings))),
    );
    let host = TestHost::new();
    let connection = client(legacy(&peer)).connect(&context(&host));
    for _ in 0..20 {
        let call = connection.call("parcels_track", json!({})).expect("a call");
        let result = testing::run(host.run(async move { call.await })).expect("the call ends");
        assert_eq!(result.expect("a result").text(), "in Lyon");
    }
    assert_eq!(peer.methods().iter().filter(|method| *method == "a response").count(), 16);
}

/// C35: if the function of the program fails, the server gets an error and the call fails.
#[test]
fn a_legacy_server_learns_that_there_is_no_answer() {
    let questions = [asks(json!("a"), "elicitation/create", form())];
    let peer = Peer::new([initialized(Some("s-1")), accepted(), stream(&questions), accepted(), accepted()]);
    let fails = |_, _| async { Err::<FormAnswer<Value>, _>(HandlerError::new("No depot is open.")) };
    let error = track(legacy(&peer).on_elicitation(fails)).expect_err("a failure");
    assert!(error.to_string().contains("No depot is open."), "{error}");
    let answer = body(&peer.requests()[3]);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32603)));
    assert!(!answer.to_string().contains("depot"), "{answer}");
}

/// The hostile case 40, C26: a modern server must not send requests, so they are not answered.
#[test]
fn requests_of_a_modern_server_are_not_answered() {
    let peer =
        Peer::new([stream(&[asks(json!("a"), "elicitation/create", form()), asks(json!("b"), "ping", json!({}))])]);
    let upstream = legacy(&peer).revision(Revision::V2026_07_28);
    assert_eq!(track(upstream).expect("a result"), "in Lyon");
    assert_eq!(peer.requests().len(), 1);
}
