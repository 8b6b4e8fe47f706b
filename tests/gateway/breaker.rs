//! The circuit breaker of a mounted server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::Upstream;
use edge_mcp::gateway::Mount;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, HandlerError, StaticTokens, Tool};
use futures::FutureExt;
use serde_json::{Value, json};

use crate::peer::{Answer, End, error};
use crate::questions::{asks, form};
use crate::servers::{Server, caller, complete, endpoint, gateway, serving, text};

/// A server whose next answer a test can change.
struct Changing {
    server: Server,
    next: Rc<RefCell<Answer>>,
    endpoint: Endpoint,
    host: TestHost,
}

fn changing(first: Answer) -> Changing {
    let next = Rc::new(RefCell::new(first));
    let answer = next.clone();
    let server = Server::new(move |_| answer.borrow().clone());
    let well = Server::tools(["t"]);
    let endpoint = endpoint([("m", server.mount()), ("well", well.mount())]);
    Changing { server, next, endpoint, host: TestHost::new() }
}

fn failing() -> Answer {
    Answer::new(500, "", "")
}

impl Changing {
    /// Calls a tool. Returns the result and whether the server was asked.
    fn call(&self) -> (String, bool) {
        self.server.take();
        let answer = testing::run(caller(&self.endpoint, &self.host).call("m_t", json!({})));
        let well = testing::run(caller(&self.endpoint, &self.host).call("well_t", json!({})));
        assert_eq!(well.text(), "t {}", "the other server is not affected");
        (answer.text().to_owned(), !self.server.take().is_empty())
    }

    fn is_asked(&self) -> bool {
        let (text, is_asked) = self.call();
        assert_eq!(text.contains("is not asked now, because it failed before. Try again in "), !is_asked, "{text}");
        is_asked
    }

    /// Calls the tool until the circuit breaker opens.
    fn open(&self) {
        for _ in 0..3 {
            assert!(self.is_asked());
        }
        assert!(!self.is_asked());
    }

    fn wait(&self, seconds: u64) {
        self.host.advance(Duration::from_secs(seconds));
    }
}

/// C109: 3 failures of transport in a row open the breaker. Other failures say that the server works.
#[test]
fn only_failures_of_transport_open_the_breaker() {
    let status = |status: u16| Answer::new(status, "text/plain", "");
    for (answer, opens) in [
        (status(500), true),
        (status(502), true),
        (status(503), true),
        (status(429), true),
        (status(521), true),
        (Answer::new(200, "", "").end(End::NoHead), true),
        (Answer::new(200, "", "").end(End::SilentBeforeHead), true),
        (Answer::new(200, "application/json", "{").end(End::Cut), true),
        (status(400), false),
        (status(401), false),
        (status(403), false),
        (status(404), false),
        (status(307), false),
        (Answer::new(200, "text/html", "<p>"), false),
        (Answer::new(200, "application/json", "{"), false),
        (error(200, -1, "no"), false),
        (error(404, -32_601, "no"), false),
        (complete(json!({ "content": [], "isError": true })), false),
        (text("done"), false),
    ] {
        let label = format!("{} {:?}", answer.status, answer.chunks);
        let it = changing(answer);
        for _ in 0..3 {
            assert!(it.is_asked(), "{label}");
        }
        assert_eq!(it.is_asked(), !opens, "{label}");
    }
}

/// C109: after a pause of 30 s, one request is let through. A success closes the breaker, and each failure doubles the pause up to 5 min.
#[test]
fn each_failure_after_a_pause_doubles_it() {
    let it = changing(failing());
    it.open();
    for pause in [30, 60, 120, 240, 300, 300] {
        it.wait(pause - 1);
        assert!(!it.is_asked(), "{pause}");
        it.wait(1);
        assert!(it.is_asked(), "{pause}");
        assert!(!it.is_asked(), "{pause}");
    }
    it.wait(300);
    it.next.replace(text("done"));
    assert_eq!(it.call(), ("done".to_owned(), true));
    it.next.replace(failing());
    it.open();
    it.wait(30);
    assert!(it.is_asked(), "the pause is short again");
    let log = it.host.log_text();
    assert!(
        log.contains("failed 3 times in a row for a caller, and is not asked for a caller for 30 s")
            && log.contains("answers again for a caller"),
        "{log}"
    );
    assert!(!log.contains("`well`"));
}

/// C109: a success between failures begins the count again. A failure that says nothing about the server does not.
#[test]
fn failures_must_be_in_a_row() {
    let it = changing(failing());
    for _ in 0..3 {
        it.next.replace(failing());
        assert!(it.is_asked() && it.is_asked());
        it.next.replace(text("done"));
        assert!(it.is_asked());
    }
}

/// C109: `Retry-After` opens the breaker for this time, at most 60 s.
#[test]
fn an_overloaded_server_is_asked_after_the_time_that_it_names() {
    for (header, seconds) in [("7", 7), ("0", 1), ("3600", 60)] {
        let it = changing(Answer::new(429, "", "").header("retry-after", header));
        assert!(it.is_asked());
        assert!(!it.is_asked(), "{header}");
        it.wait(seconds - 1);
        assert!(!it.is_asked(), "{header}");
        it.wait(1);
        it.next.replace(text("done"));
        assert!(it.is_asked() && it.is_asked(), "{header}");
    }
    // It does not shorten a pause that other failures began.
    let it = changing(failing());
    it.open();
    it.wait(30);
    it.next.replace(Answer::new(503, "", "").header("retry-after", "5"));
    assert!(it.is_asked());
    it.wait(5);
    it.next.replace(failing());
    assert!(it.is_asked());
    it.wait(59);
    assert!(!it.is_asked());
}

/// C109: failures of requests at the same time open the breaker once.
#[test]
fn failures_at_the_same_time_count_once() {
    let it = changing(failing());
    let slow = it.server.clone().slow(Duration::from_millis(10));
    let client = caller(&it.endpoint, &it.host);
    testing::run(futures::future::join_all((0..8).map(|_| client.call("m_t", json!({})))));
    assert_eq!(slow.take().len(), 8);
    it.wait(30);
    assert!(it.is_asked(), "the pause is not doubled");
}

/// C109: after a pause, one of several requests at the same time is let through.
#[test]
fn one_request_is_let_through_after_a_pause() {
    let it = changing(failing());
    it.open();
    it.wait(30);
    it.next.replace(text("done"));
    it.server.clone().slow(Duration::from_millis(10));
    let client = caller(&it.endpoint, &it.host);
    let answers = testing::run(futures::future::join_all((0..5).map(|_| client.call("m_t", json!({})))));
    assert_eq!(answers.iter().filter(|answer| answer.text() == "done").count(), 1);
    assert_eq!(it.server.take().len(), 1);
    assert!(it.is_asked());
}

/// C109: if the caller of this request leaves, the next request is let through.
#[test]
fn a_dropped_request_after_a_pause_is_replaced() {
    let it = changing(failing());
    it.open();
    it.wait(30);
    it.next.replace(Answer::new(200, "", "").end(End::SilentBeforeHead));
    let client = caller(&it.endpoint, &it.host);
    let mut call = Box::pin(client.call("m_t", json!({})));
    assert!((&mut call).now_or_never().is_none());
    assert!(!it.is_asked(), "the first one still waits");
    drop(call);
    it.next.replace(text("done"));
    assert!(it.is_asked() && it.is_asked());
}

/// C109: a server that asks a question after a pause can go on with it.
#[test]
fn a_question_after_a_pause_can_be_answered() {
    let it = changing(failing());
    it.open();
    it.wait(30);
    let round = Cell::new(0);
    it.next.replace(asks(json!({ "sure": form("Really?", json!({})) }), json!("s")));
    let next = it.next.clone();
    let client = caller(&it.endpoint, &it.host);
    let first = testing::run(client.call("m_t", json!({})));
    assert!(first.text().contains("m.1.sure"), "{first:?}");
    let server = Server::new(move |_| {
        round.set(round.get() + 1);
        if round.get() == 1 { next.borrow().clone() } else { text("done") }
    });
    let endpoint = endpoint([("m", server.mount())]);
    let answer = testing::run(caller(&endpoint, &it.host).answer("m.1.sure", json!({})).call("m_t", json!({})));
    assert_eq!(answer.text(), "done");
    // The breaker of the first endpoint lets the next request through.
    it.next.replace(text("done"));
    assert!(it.is_asked() && it.is_asked());
}

/// C94, C109: a list from the cache is no success of the server.
#[test]
fn a_cached_list_does_not_close_the_breaker() {
    let lists = json!({ "tools": [crate::servers::tool("t")], "ttlMs": 3_600_000 });
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/list") => crate::servers::answer_of(&lists, message),
        _ => failing(),
    });
    let (endpoint, host) = (endpoint([("m", server.mount())]), TestHost::new());
    testing::run(async {
        let client = caller(&endpoint, &host);
        for _ in 0..3 {
            assert_eq!(client.list("tools").await.names(), ["m_t"]);
            client.call("m_t", json!({})).await;
        }
        server.take();
        assert_eq!(client.list("tools").await.names(), ["m_t"], "the list needs no request");
        let answer = client.call("m_t", json!({})).await;
        assert!(answer.text().contains("is not asked now") && server.take().is_empty(), "{answer:?}");
    });
}

/// C109, C116: the result of an earlier round is no success of the server.
#[test]
fn the_result_of_an_earlier_round_does_not_close_the_breaker() {
    let server = Server::new(|message| if message["params"]["name"] == "t" { text("done") } else { failing() });
    let outer = |cx: Context| async move {
        let first = cx.call_tool("m_t", json!({})).await?.text();
        let is_sure = cx.confirm("sure", "Really?").await?;
        Ok::<_, HandlerError>(format!("{first} {is_sure}"))
    };
    let endpoint =
        serving(gateway([("m", server.mount())]), move |it| it.tool(Tool::new("outer", "Calls another tool.", outer)));
    let host = TestHost::new();
    testing::run(async {
        let client = caller(&endpoint, &host);
        let first = client.call("outer", json!({})).await;
        let fail = || client.call("m_u", json!({}));
        fail().await;
        fail().await;
        let answers = json!({ "sure": { "action": "accept", "content": {} } });
        let state = &first.result()["requestState"];
        let params = json!({ "name": "outer", "arguments": {}, "requestState": state, "inputResponses": answers });
        assert_eq!(client.request("tools/call", params).await.text(), "done true");
        assert!(fail().await.text().contains("failed (status 500)"));
        assert!(fail().await.text().contains("is not asked now"), "the third failure in a row opens the breaker");
    });
}

/// Two callers of a mounted server. `ada` and `bob` are their tokens here.
fn two_callers(upstream: Upstream) -> Endpoint {
    let tokens = r#"[{"token":"ada","subject":"ada","scopes":[]},{"token":"bob","subject":"bob","scopes":[]}]"#;
    endpoint([("m", Mount::new(upstream))]).auth(StaticTokens::from_json("T", Some(tokens)).expect("tokens"))
}

fn call_as(endpoint: &Endpoint, host: &TestHost, who: &'static str, arguments: Value) -> String {
    testing::run(Client::new(endpoint).host(host).token(who).call("m_t", arguments)).text().to_owned()
}

const PAUSED: &str = "is not asked now, because it failed before";

/// Neither a rate limit, nor slow calls, nor a tool that crashes closes the server for other callers, also with one credential for all.
#[test]
fn no_caller_closes_a_server_for_others() {
    for (label, answer, calls) in [
        ("a rate limit", Answer::new(429, "", "").header("retry-after", "60"), 1),
        ("rate limits without a time", Answer::new(429, "", ""), 3),
        ("slow calls", Answer::new(200, "", "").end(End::SilentBeforeHead), 3),
        ("errors", failing(), 3),
        ("cut answers", Answer::new(200, "application/json", "{").end(End::Cut), 3),
    ] {
        let server =
            Server::new(
                move |message| {
                    if message["params"]["arguments"]["bad"] == true { answer.clone() } else { text("done") }
                },
            );
        let (endpoint, host) = (two_callers(server.upstream().bearer("shared").expect("a token")), TestHost::new());
        for _ in 0..calls {
            assert!(!call_as(&endpoint, &host, "ada", json!({ "bad": true })).contains(PAUSED), "{label}");
        }
        assert!(call_as(&endpoint, &host, "ada", json!({})).contains(PAUSED), "{label}");
        assert_eq!(call_as(&endpoint, &host, "bob", json!({})), "done", "{label}");
    }
}

/// A server that cannot be reached, or whose proxy says so, is not asked for any caller.
#[test]
fn a_server_that_is_down_is_closed_for_all_callers() {
    let status = |status: u16| Answer::new(status, "text/plain", "");
    for answer in
        [Answer::new(200, "", "").end(End::NoHead), status(502), status(503), status(504), status(521), status(530)]
    {
        let label = answer.status;
        let server = Server::new(move |_| answer.clone());
        let (endpoint, host) = (two_callers(server.upstream()), TestHost::new());
        for _ in 0..3 {
            assert!(!call_as(&endpoint, &host, "ada", json!({})).contains(PAUSED), "{label}");
        }
        assert!(call_as(&endpoint, &host, "bob", json!({})).contains(PAUSED), "{label}");
    }
}

/// Callers without an identity are told apart by a header that is passed on, since it can be their credential.
#[test]
fn a_header_that_is_passed_on_tells_callers_apart() {
    let server = Server::new(|_| Answer::new(429, "", "").header("retry-after", "60"));
    let upstream = server.upstream().forward_header("x-key").expect("a header");
    let (endpoint, host) = (endpoint([("m", Mount::new(upstream))]), TestHost::new());
    let call = |key: &str| testing::run(Client::new(&endpoint).host(&host).header("X-Key", key).call("m_t", json!({})));
    assert!(!call("one").text().contains(PAUSED));
    assert!(call("one").text().contains(PAUSED));
    assert!(!call("two").text().contains(PAUSED));
}
