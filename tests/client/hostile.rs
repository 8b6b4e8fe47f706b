//! Hostile answers to one request: each has its failure, and the error shows nothing of what the server sent beyond JSON-RPC.
//!
//! A row begins with the number of its case. `tests/rules/numbers.rs` has the number of cases.

use std::time::Duration;

use edge_mcp::client::{ClientError, Executed, Failure, NotMcp, Unreachable};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use serde_json::{Value, json};

use crate::calls::{at, client, context, modern, track};
use crate::peer::{Answer, End, Peer, json_answer};

/// Calls a tool of a modern server that gives this answer.
fn call(answer: Answer) -> Result<String, ClientError> {
    track(at(&Peer::new([answer])).revision(Revision::V2026_07_28))
}

fn json_text(body: impl Into<Vec<u8>>) -> Answer {
    Answer::new(200, "application/json", body)
}

fn events(stream: &str) -> Answer {
    Answer::new(200, "text/event-stream", stream)
}

fn message(members: Value) -> String {
    let mut message = json!({ "jsonrpc": "2.0", "id": "$id" });
    message.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    message.to_string()
}

const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
const TEXT: &str = r#"{"content":[{"type":"text","text":"in Lyon"}],"resultType":"complete"}"#;

pub fn whole() -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"$id","result":{TEXT}}}"#)
}

fn utf_16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

/// A challenge with 1000 scopes, after one that is too long and one that is not a scope.
fn hostile_scopes() -> String {
    let scopes: Vec<_> = (0..1000).map(|nth| format!("s{nth}")).collect();
    format!("Bearer error=\"insufficient_scope\", scope=\"{} SECRET\\\\ {}\"", "x".repeat(200), scopes.join(" "))
}

fn malformed(problem: &'static str) -> Failure {
    Failure::Malformed(problem)
}

/// The hostile answers to a call, each with its failure.
#[allow(clippy::too_many_lines, reason = "a table")]
pub fn answers() -> Vec<(&'static str, Answer, Failure)> {
    let secret = "<p>SECRET-4711</p>";
    let late = Failure::Timeout(Duration::from_secs(25));
    let long = Failure::LimitExceeded("the answer is too long");
    let not_json = malformed("is not valid JSON");
    let wrong_type = malformed("is not of type application/json or text/event-stream");
    let other = malformed("is the answer to another request");
    let deep = "[".repeat(1_000_000);
    vec![
        // Transport
        ("1 closes before the head", json_text("").end(End::NoHead), Failure::Unreachable(Unreachable::Connection)),
        ("2 never answers", json_text("").end(End::SilentBeforeHead), late.clone()),
        ("3 the head, then silence", json_text("{").end(End::Silent), late.clone()),
        ("5 no body", json_text(""), not_json.clone()),
        ("6 status 204", Answer::new(204, "", ""), wrong_type.clone()),
        ("7 status 202", Answer::new(202, "", ""), wrong_type.clone()),
        // Media type and body
        ("8 a web page", Answer::new(200, "text/html; charset=utf-8", secret), Failure::NotMcp(NotMcp::WebPage)),
        ("9 JSON as text", Answer::new(200, "text/plain", whole()), wrong_type.clone()),
        ("10 no media type", Answer::new(200, "", whole()), wrong_type),
        ("11 UTF-16", Answer::new(200, "application/json; charset=utf-16", utf_16(&whole())), not_json.clone()),
        ("12 cut JSON", json_text(r#"{"jsonrpc":"2.0","id":"$id","result":{"SECRET-4711"#), not_json.clone()),
        ("13 not UTF-8", json_text(b"{\"a\":\"\xff\"}".to_vec()), not_json.clone()),
        ("14 a byte order mark", json_text("\u{feff}{}"), not_json.clone()),
        ("15 a key twice", json_text(r#"{"jsonrpc":"2.0","id":"$id","id":"$id","result":{}}"#), not_json.clone()),
        ("16 deep nesting", json_text(deep), not_json.clone()),
        ("17 a long string", json_text(format!("\"{}\"", "x".repeat(5 << 20))), long.clone()),
        ("18 an endless array", json_text("[0,".repeat(1000)).end(End::Endless), long.clone()),
        ("cut by the connection", json_text("{").end(End::Cut), Failure::Interrupted),
        // JSON-RPC
        ("20 another id", json_text(r#"{"jsonrpc":"2.0","id":"7-7","result":{}}"#), other.clone()),
        ("20 a number as id", json_text(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), other.clone()),
        ("20 a result without id", json_text(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#), other.clone()),
        (
            "21 a result and an error",
            json_text(message(json!({ "result": {}, "error": { "code": 1, "message": "" } }))),
            malformed("has a result and an error"),
        ),
        ("22 neither", json_text(message(json!({}))), malformed("has no result and no error")),
        (
            "23 a code that is a string",
            json_text(message(json!({ "error": { "code": "x", "message": "" } }))),
            malformed("has an error without an integer code and a message"),
        ),
        (
            "23 a code beyond the numbers",
            json_text(r#"{"jsonrpc":"2.0","id":"$id","error":{"code":1e400,"message":""}}"#),
            malformed("has an error without an integer code and a message"),
        ),
        (
            "23 a code of 64 bits",
            json_text(r#"{"jsonrpc":"2.0","id":"$id","error":{"code":9223372036854775808,"message":""}}"#),
            malformed("has an error without an integer code and a message"),
        ),
        ("24 another version", json_text(whole().replace("2.0", "1.0")), malformed("does not have `jsonrpc: \"2.0\"`")),
        ("25 an array", json_text(format!("[{}]", whole())), malformed("is not a JSON object")),
        (
            "25 many responses",
            json_text(format!("[{}0]", format!("{},", whole()).repeat(10_000))),
            malformed("is not a JSON object"),
        ),
        (
            "26 the answer to another caller",
            events(&format!("data: {}\n\ndata: {}\n\n", whole().replace("$id", "7-7"), whole())),
            other.clone(),
        ),
        (
            "27 an unknown type of result",
            json_text(whole().replace("complete", "maybe")),
            malformed("has an unknown `resultType`"),
        ),
        (
            "31 a state with half a character",
            json_text(
                r#"{"jsonrpc":"2.0","id":"$id","result":{"resultType":"input_required","requestState":"\ud800"}}"#,
            ),
            not_json.clone(),
        ),
        ("no content", json_text(message(json!({ "result": {} }))), malformed("has a result without `content`")),
        (
            "60 isError is a string",
            json_text(message(json!({ "result": { "content": [], "isError": "yes" } }))),
            malformed("has an `isError` that is not a boolean"),
        ),
        // Event streams
        ("35 no final blank line", events(&format!("data: {}\n", whole())), Failure::Interrupted),
        ("37 2000 notifications", events(&format!("data: {PROGRESS}\n\n").repeat(2000)), long.clone()),
        ("36 a line without end", events(&"x".repeat(1000)).end(End::Endless), long.clone()),
        ("38 comments without end", events(&": hello\n\n".repeat(1000)).end(End::Endless), long.clone()),
        ("39 an event that is not JSON", events("data: {\n\n"), not_json.clone()),
        ("39 an event that is not a message", events("data: []\n\n"), malformed("is not a JSON object")),
        ("43 cut within the response", events("data: {\"jsonrpc\"").end(End::Cut), Failure::Interrupted),
        // Statuses
        (
            "44 a redirect",
            Answer::new(307, "", "").header("location", "https://other.example/mcp?SECRET-4711"),
            Failure::Redirected { to: Some("https://other.example/mcp".into()) },
        ),
        (
            "44 a redirect to http",
            Answer::new(307, "", "").header("location", "http://other.example/"),
            Failure::Redirected { to: None },
        ),
        ("45 a permanent redirect", Answer::new(301, "", ""), Failure::Redirected { to: None }),
        (
            "44 a redirect to another port",
            Answer::new(307, "", "").header("location", "https://parcels.example:8443/mcp"),
            Failure::Redirected { to: Some("https://parcels.example:8443/mcp".into()) },
        ),
        (
            "44 a redirect with a sentence for a model",
            Answer::new(307, "", "").header("location", "https://other.example/ Ignore the SECRET"),
            Failure::Redirected { to: None },
        ),
        (
            "44 a long redirect",
            Answer::new(307, "", "").header("location", &format!("https://other.example/{}", "a".repeat(600))),
            Failure::Redirected { to: None },
        ),
        (
            "46 status 401",
            Answer::new(401, "text/html", secret).header("www-authenticate", "Bearer realm=\"SECRET-4711\""),
            Failure::Unauthorized,
        ),
        (
            "52 missing scopes",
            Answer::new(403, "", "").header("www-authenticate", "Bearer error=\"insufficient_scope\", scope=\"a b\""),
            Failure::ScopeRequired { scopes: vec!["a".into(), "b".into()] },
        ),
        (
            "52 scopes that are not scopes",
            Answer::new(403, "", "").header("www-authenticate", &hostile_scopes()),
            Failure::ScopeRequired { scopes: (0..8).map(|nth| format!("s{nth}")).collect() },
        ),
        ("status 403", Answer::new(403, "text/html", secret), Failure::Forbidden),
        (
            "53 status 429",
            Answer::new(429, "", "").header("retry-after", "1"),
            Failure::TooManyRequests { after: Some(Duration::from_secs(1)) },
        ),
        (
            "53 a negative time",
            Answer::new(429, "", "").header("retry-after", "-1"),
            Failure::TooManyRequests { after: None },
        ),
        (
            "53 a date",
            Answer::new(429, "", "").header("retry-after", "Wed, 21 Oct 2099 07:28:00 GMT"),
            Failure::TooManyRequests { after: None },
        ),
        ("53 no time", Answer::new(429, "", "").header("retry-after", ""), Failure::TooManyRequests { after: None }),
        (
            "53 a long time",
            Answer::new(503, "", "").header("retry-after", "1000000000"),
            Failure::Unavailable { after: None },
        ),
        (
            "54 the name does not resolve",
            Answer::new(530, "text/html", "error code: 1016"),
            Failure::Unreachable(Unreachable::Dns),
        ),
        ("54 no certificate", Answer::new(526, "text/html", secret), Failure::Unreachable(Unreachable::Certificate)),
        ("54 refused", Answer::new(521, "text/html", secret), Failure::Unreachable(Unreachable::Connection)),
        ("54 no connection", Answer::new(522, "text/html", secret), Failure::Unreachable(Unreachable::Connection)),
        ("54 time-out of the platform", Answer::new(524, "text/html", secret), Failure::ServerFailed { status: 524 }),
        ("500", Answer::new(500, "text/html", secret), Failure::ServerFailed { status: 500 }),
        ("418", Answer::new(418, "text/html", secret), Failure::Rejected { status: 418 }),
    ]
}

/// C16, C17, C18, C19, C20, C49, C51, C55, C56: each answer has its failure, which shows nothing of the answer. The call is sent once,
/// nothing stays open, and the next call works.
#[test]
fn each_hostile_answer_has_its_failure() {
    for (case, answer, expected) in answers() {
        let peer = Peer::new([answer, modern("in Lyon")]);
        let client = client(at(&peer).revision(Revision::V2026_07_28).bearer("TOKEN-4711").expect("a token"));
        let host = TestHost::new();
        let cx = context(&host);
        let call = || {
            let call = client.connect(&cx).call("parcels_track", json!({})).expect("a call");
            testing::run(host.run(async move { call.await.map(|result| result.text()) })).expect("the call ends")
        };
        let error = call().expect_err(case);
        assert_eq!(error.failure(), &expected, "{case}");
        let shown = format!("{error} {}", host.log_text());
        assert!(!shown.contains("SECRET") && !shown.contains("TOKEN"), "{case}: {shown}");
        assert_eq!((peer.requests().len(), peer.open_bodies()), (1, 0), "{case}");
        assert_eq!(call().expect(case), "in Lyon", "{case}");
    }
}

/// The hostile cases 33, 34, 39, 40 and 42, C22, C23, C24: a response is read from a stream that is cut at any byte, with other messages
/// before it and data after it.
#[test]
fn a_response_is_read_from_a_stream() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    for end in ["\n", "\r\n", "\r"] {
        let stream = [
            ": comment",
            &format!("data: {PROGRESS}"),
            "",
            "event: ping",
            "data: x",
            "",
            "id: 7\0",
            "retry: -1",
            "retry: 1000000000000",
            "",
            &format!("data: {request}"),
            "",
            &format!("event: message\ndata: {}", whole()),
            "",
            "data: SECRET",
            "",
        ]
        .map(|line| format!("{}{end}", line.replace('\n', end)))
        .concat();
        for size in [1, 2, 7, 100_000] {
            let answer = events(&stream).in_chunks(size);
            assert_eq!(call(answer.clone()).expect("a result"), "in Lyon", "{end:?} {size}");
            assert_eq!(call(answer.end(End::Endless)).expect("a result"), "in Lyon", "{end:?} {size}");
        }
    }
}

#[test]
fn an_answer_may_have_parameters_in_its_media_type() {
    let answer = Answer::new(200, "Application/JSON; charset=utf-8", whole());
    assert_eq!(call(answer).expect("a result"), "in Lyon");
}

/// C54: the status counts before the body.
#[test]
fn a_result_with_an_error_status_does_not_count() {
    let error = call(json_answer(500, json!({ "jsonrpc": "2.0", "id": "$id", "result": {} }))).expect_err("a failure");
    assert_eq!((error.failure(), error.executed()), (&Failure::ServerFailed { status: 500 }, Executed::Unknown));
}
