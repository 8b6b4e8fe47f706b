//! What a rejected request teaches the client about a server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_mcp::client::{Connection, Failure, McpClient, NotMcp, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, RequestInfo};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::{Value, json};

use crate::calls::{at, client, context};
use crate::peer::{Answer, Peer, error, id_of, result};

/// A server that knows `server/discover` and no `initialize`, or the reverse, or both. It may reject requests. Clones are the same server.
#[derive(Clone, Default)]
struct Shop(Rc<State>);

#[derive(Default)]
struct State {
    is_legacy: Cell<bool>,
    /// Whether a modern server also accepts legacy requests.
    has_both: Cell<bool>,
    /// The method of the request that is rejected, the token of its caller, and the answer.
    rejected: RefCell<Option<(&'static str, &'static str, Answer)>>,
    methods: RefCell<Vec<String>>,
}

impl Shop {
    /// Rejects the requests of one method by the callers with a token.
    fn reject(&self, method: &'static str, token: &'static str, answer: Answer) {
        self.0.rejected.replace(Some((method, token, answer)));
    }

    fn accept(&self) {
        self.0.rejected.replace(None);
    }

    fn client(&self) -> McpClient {
        let upstream = Upstream::via("https://parcels.example/mcp", self.clone()).expect("a URL");
        client(upstream.bearer_with(|cx: Context| async move { Ok(cx.header("x-user")) }))
    }

    /// Returns the methods of the requests since the last time.
    fn take(&self) -> Vec<String> {
        self.0.methods.take()
    }

    fn answer(&self, method: &str, token: &str, is_modern: bool) -> Answer {
        if let Some((rejected, caller, answer)) = &*self.0.rejected.borrow()
            && (*rejected, *caller) == (method, token)
        {
            return answer.clone();
        }
        let is_legacy = if self.0.has_both.get() { !is_modern } else { self.0.is_legacy.get() };
        if is_modern == is_legacy && !["server/discover", "initialize"].contains(&method) {
            // The server rejects the form of the other era.
            return error(400, if is_modern { -32_000 } else { -32_020 }, "no");
        }
        let done = |mut members: Value| {
            if !is_legacy {
                members["resultType"] = json!("complete");
            }
            result(members)
        };
        match (method, is_legacy) {
            ("server/discover", false) => done(json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} })),
            ("initialize", true) => done(json!({ "protocolVersion": "2025-11-25", "capabilities": {} })),
            ("notifications/initialized", true) => Answer::new(202, "", ""),
            ("tools/list", _) => done(json!({ "tools": [{ "name": "track", "inputSchema": {} }] })),
            ("tools/call", _) => done(json!({ "content": [{ "type": "text", "text": "in Lyon" }] })),
            _ => error(if is_legacy { 200 } else { 404 }, -32_601, "Method not found"),
        }
    }
}

impl Transport for Shop {
    fn open(&self, request: Outbound, _: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let token = request.headers.iter().find(|(name, _)| name == "authorization");
        let token = token.map_or("", |(_, value)| value.to_str().expect("ASCII").trim_start_matches("Bearer "));
        let is_modern = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
        assert!(is_modern || !self.0.has_both.get(), "a modern request is possible");
        let answer = self.answer(&method, token, is_modern);
        self.0.methods.borrow_mut().push(method);
        let body = answer.chunks_for(&id_of(&request.body)).concat();
        ready(Ok(Opened::new(answer.status, answer.headers, body))).boxed_local()
    }
}

fn connect(client: &McpClient, host: &TestHost, user: &str) -> Connection {
    let (head, ()) = http::Request::builder().header("x-user", user).body(()).expect("a request").into_parts();
    client.connect(&Context::for_program(RequestInfo::new(Rc::new(head), None), Rc::new(host.clone())))
}

fn track(client: &McpClient, host: &TestHost, user: &str) -> Result<String, Failure> {
    let call = connect(client, host, user).call("parcels_track", json!({})).expect("a call");
    let outcome = testing::run(host.run(async move { call.await.map(|result| result.text()) }));
    outcome.expect("the call ends").map_err(|error| error.failure().clone())
}

fn rejections() -> Vec<Answer> {
    let pages = [400, 404, 405, 406, 415].map(|status| Answer::new(status, "text/html", "<p>no</p>"));
    let errors = [(400, -32_602), (404, -32_602), (400, -32_000), (404, -32_001), (400, -32_600)];
    let errors = errors.map(|(status, code)| error(status, code, "no"));
    pages.into_iter().chain(errors).collect()
}

/// A caller can cause a rejection with an argument or a token of their own. It teaches nothing to the calls of others: neither when
/// the server is known, nor when the rejected request is the first one.
#[test]
fn a_rejection_of_one_caller_teaches_nothing_to_others() {
    for answer in rejections() {
        for (is_known, has_both) in [(true, false), (false, false), (true, true), (false, true)] {
            let (shop, host) = (Shop::default(), TestHost::new());
            shop.0.has_both.set(has_both);
            let client = shop.client();
            if is_known {
                track(&client, &host, "ada").expect("a result");
            }
            shop.reject("resources/read", "eve", answer.clone());
            let eve = connect(&client, &host, "eve").server("parcels").expect("a server");
            testing::run(host.run(eve.read_resource("m+file:///bad").into_future()))
                .expect("the read ends")
                .expect_err("a failure");
            shop.take();
            assert_eq!(track(&client, &host, "ada"), Ok("in Lyon".to_owned()), "{} {is_known}", answer.status);
            assert!(!shop.take().contains(&"initialize".to_owned()), "{} {is_known}", answer.status);
        }
    }
}

/// A page that answers once, for example during a deployment, does not make a modern server legacy. The rejection is the error, and not the
/// answer to `initialize`.
#[test]
fn a_page_that_answers_once_is_the_error_of_one_call() {
    for (method, calls, sent, next) in [
        ("tools/list", false, ["tools/list", "server/discover"], vec!["tools/call"]),
        ("server/discover", true, ["server/discover", "initialize"], vec!["server/discover", "tools/call"]),
    ] {
        let (shop, host) = (Shop::default(), TestHost::new());
        let client = shop.client();
        shop.reject(method, "ada", Answer::new(404, "text/html", ""));
        let failure = if calls {
            track(&client, &host, "ada").expect_err("a failure")
        } else {
            let peer = connect(&client, &host, "ada").server("parcels").expect("a server");
            let list = testing::run(host.run(peer.list_tools())).expect("the list ends");
            list.expect_err("a failure").failure().clone()
        };
        assert_eq!(failure, Failure::NotMcp(NotMcp::NotFound), "{method}");
        assert_eq!(shop.take(), sent);
        shop.accept();
        assert_eq!(track(&client, &host, "ada"), Ok("in Lyon".to_owned()), "{method}");
        assert_eq!(shop.take(), next);
    }
}

/// A modern server that rejects a request is asked by `server/discover` whether it is still modern. It is not sent the request again.
#[test]
fn a_rejection_is_settled_by_discovery() {
    let (shop, host) = (Shop::default(), TestHost::new());
    let client = shop.client();
    track(&client, &host, "ada").expect("a result");
    shop.take();
    for (method, is_call) in [("tools/list", false), ("tools/call", true)] {
        shop.reject(method, "ada", error(400, -32_602, "Unknown parcel."));
        let connection = connect(&client, &host, "ada");
        let peer = connection.server("parcels").expect("a server");
        let failed = if is_call {
            track(&client, &host, "ada").expect_err("a failure")
        } else {
            let list = testing::run(host.run(peer.list_tools())).expect("the list ends");
            list.expect_err("a failure").failure().clone()
        };
        assert!(matches!(failed, Failure::Rpc { code: -32_602, .. }), "{failed:?}");
        assert_eq!(shop.take(), [method, "server/discover"]);
    }
}

/// A server that changes its era is found again by the next calls, in both directions, also if they have effects.
#[test]
fn a_server_may_change_its_era() {
    let (shop, host) = (Shop::default(), TestHost::new());
    let client = shop.client();
    track(&client, &host, "ada").expect("a result");
    for _ in 0..2 {
        for is_legacy in [true, false] {
            shop.0.is_legacy.set(is_legacy);
            track(&client, &host, "ada").expect_err("a failure");
            assert_eq!(track(&client, &host, "ada"), Ok("in Lyon".to_owned()), "{is_legacy}");
            shop.take();
            assert_eq!(track(&client, &host, "ada"), Ok("in Lyon".to_owned()), "{is_legacy}");
            assert_eq!(shop.take(), ["tools/call"], "{is_legacy}");
        }
    }
}

/// The error of `initialize` is not that of the list: a server that was not asked for a list does not have an empty one.
#[test]
fn a_rejected_handshake_is_not_an_empty_list() {
    let peer = Peer::new([error(404, -32_601, "Method not found")]);
    let host = TestHost::new();
    let connection = client(at(&peer).revision(Revision::V2025_11_25)).connect(&context(&host));
    let list = testing::run(host.run(async move { connection.list_prompts().await })).expect("the list ends");
    assert_eq!(list.missing.iter().map(|error| error.failure().clone()).collect::<Vec<_>>(), [Failure::NotNegotiated]);
    let sentence = "The server `parcels` rejects the requests with which a client begins. Check its URL, and whether it supports a revision of \
                    this client.";
    assert_eq!(list.missing[0].to_string(), sentence);
}
