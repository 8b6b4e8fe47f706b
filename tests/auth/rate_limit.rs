//! Rate limits per caller and per address.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::auth::{Introspection, ProtectedResource};
use edge_mcp::host::{FetchError, Level, RateLimit};
use edge_mcp::testing::TestHost;
use edge_mcp::{Endpoint, McpServer, StaticTokens, Tool};
use serde_json::json;

use crate::issuer::{RESOURCE, host_at};
use crate::network;
use crate::support::{Ask, NOW, legacy, post, server};

const TOKENS: &str = r#"[{"token":"ada","subject":"ada","scopes":[]}, {"token":"also","subject":"ada","scopes":[]},
                         {"token":"cli","subject":"ada","client_id":"cli","scopes":[]}, {"token":"bob","subject":"bob","scopes":[]}]"#;

/// Counts requests per key, and permits `most` requests of each key.
#[derive(Default)]
struct Counter {
    most: usize,
    seen: RefCell<HashMap<String, usize>>,
}

impl Counter {
    fn limit(self: &Rc<Self>) -> RateLimit {
        let counter = self.clone();
        RateLimit::new(Duration::from_mins(1), move |key| {
            let mut seen = counter.seen.borrow_mut();
            let count = seen.entry(key).or_default();
            *count += 1;
            ready(Ok(*count <= counter.most))
        })
    }
}

fn up_to(most: usize) -> Rc<Counter> {
    Rc::new(Counter { most, ..Counter::default() })
}

fn guarded(limit: &Rc<Counter>) -> Endpoint {
    Endpoint::new(server)
        .auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(TOKENS)).expect("tokens"))
        .rate_limit(limit.limit())
}

fn ping(address: &str) -> Ask {
    legacy("ping", json!({})).address(address)
}

/// Rule 62: a caller above the limit gets a 429 with `Retry-After`. Other callers are not affected.
#[test]
fn each_caller_has_a_limit() {
    let endpoint = guarded(&up_to(2));
    for (token, status) in [("ada", 200), ("also", 200), ("ada", 429), ("also", 429), ("bob", 200), ("cli", 200)] {
        let answer = ping("192.0.2.1").bearer(token).ask_at(&endpoint);
        assert_eq!(answer.status, status, "{token}");
        let wait = (status == 429).then_some("60");
        assert_eq!((answer.header("retry-after"), answer.header("www-authenticate")), (wait, None), "{token}");
    }
}

/// Requests without a valid token are counted per address. They do not use up the limit of authenticated callers.
#[test]
fn unauthenticated_requests_are_counted_per_address() {
    let endpoint = guarded(&up_to(2));
    let bad = || ping("192.0.2.1").bearer("bad");
    let statuses: Vec<_> = [bad(), ping("192.0.2.1"), bad(), ping("192.0.2.1").header("Authorization", "Bearer")]
        .into_iter()
        .map(|ask| ask.ask_at(&endpoint).status)
        .collect();
    assert_eq!(statuses, [401, 401, 429, 429]);
    assert_eq!(ping("192.0.2.1").bearer("ada").ask_at(&endpoint).status, 200, "an authenticated caller");
    assert_eq!(ping("192.0.2.2").ask_at(&endpoint).status, 401, "another address");
    // A caller usually has a whole /64 network of IPv6 addresses, so the network counts as one address.
    for (address, status) in
        [("2001:db8:0:1::1", 401), ("2001:db8:0:1:ffff::2", 401), ("2001:db8:0:1::3", 429), ("2001:db8:0:2::1", 401)]
    {
        assert_eq!(ping(address).ask_at(&endpoint).status, status, "{address}");
    }
}

/// A client cannot choose the address that is counted, because the endpoint does not read the address from a header.
#[test]
fn no_header_changes_the_address_that_is_counted() {
    let headers =
        ["CF-Connecting-IP", "CF-Connecting-IPv6", "True-Client-IP", "X-Forwarded-For", "X-Real-IP", "Forwarded"];
    for known in [Some("192.0.2.1"), None] {
        let limit = up_to(1);
        let endpoint = guarded(&limit);
        let ask = || known.map_or_else(|| legacy("ping", json!({})).without_address(), ping);
        assert_eq!(ask().ask_at(&endpoint).status, 401);
        for header in headers {
            assert_eq!(ask().header(header, "192.0.2.9").ask_at(&endpoint).status, 429, "{header} {known:?}");
        }
        assert_eq!(limit.seen.borrow().len(), 1, "{known:?}");
    }
}

/// An IPv4 address counts as the same address if the host writes it as an IPv4-mapped IPv6 address.
#[test]
fn an_ipv4_mapped_address_counts_as_its_ipv4_address() {
    let endpoint = guarded(&up_to(1));
    for (address, status) in
        [("192.0.2.1", 401), ("::ffff:192.0.2.1", 429), ("::ffff:192.0.2.2", 401), ("192.0.2.2", 429)]
    {
        assert_eq!(ping(address).ask_at(&endpoint).status, status, "{address}");
    }
}

/// Without authentication, all requests are counted per address.
#[test]
fn an_endpoint_without_authentication_counts_per_address() {
    let endpoint = Endpoint::new(server).open_to_the_public().rate_limit(up_to(1).limit());
    for (address, status) in [("192.0.2.1", 200), ("192.0.2.1", 429), ("192.0.2.2", 200)] {
        assert_eq!(ping(address).ask_at(&endpoint).status, status);
    }
}

/// The endpoint counts the address before it sends an introspection request, so a caller cannot cause an unlimited number of them. It
/// counts each request once.
#[test]
fn the_address_is_counted_before_introspection() {
    let network = network::answering(200, &json!({ "active": false }));
    let limit = up_to(2);
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    let endpoint = Endpoint::new(server)
        .auth(Introspection::new("https://auth.example.com/introspect").expect("a URL"))
        .resource(resource)
        .rate_limit(limit.limit());
    let ask = |token: &str| ping("192.0.2.1").bearer(token).ask_on(&endpoint, &host_at(&network, NOW)).status;
    assert_eq!([ask("a"), ask("b"), ask("c"), ask("d")], [401, 401, 429, 429]);
    assert_eq!(network.requests().len(), 2);
    assert_eq!(limit.seen.borrow().values().copied().collect::<Vec<_>>(), [4]);
    network::change(&network, |_| Err(FetchError::TooSlow));
    assert_eq!(ask("e"), 429);
}

/// Each request of a batch counts. A batch that exceeds the limit is rejected as a whole, and none of its requests runs. Messages that are
/// not requests do not count.
#[test]
fn each_request_of_a_batch_counts() {
    let batch = |length: usize| {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "count" } });
        let mut messages = vec![call; length];
        messages.push(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        messages.push(json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
        post(serde_json::Value::from(messages).to_string()).address("192.0.2.1")
    };
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(TOKENS)).expect("tokens");
    let counting = |runs: &Rc<Cell<usize>>| {
        let runs = runs.clone();
        Endpoint::new(move |_| {
            let runs = runs.clone();
            let count = move || {
                runs.set(runs.get() + 1);
                ready("counted")
            };
            McpServer::builder("s", "1").tool(Tool::new("count", "Counts.", count)).build()
        })
    };
    let runs = Rc::default();
    for endpoint in [counting(&runs).auth(tokens), counting(&runs).open_to_the_public()] {
        runs.set(0);
        let limit = up_to(5);
        let endpoint = endpoint.rate_limit(limit.limit());
        assert_eq!(batch(3).bearer("ada").ask_at(&endpoint).status, 200);
        let refused = batch(3).bearer("ada").ask_at(&endpoint);
        assert_eq!((refused.status, refused.header("retry-after"), runs.get()), (429, Some("60"), 3));
        assert_eq!(limit.seen.borrow().values().copied().collect::<Vec<_>>(), [6]);
        assert_eq!(ping("192.0.2.1").bearer("ada").ask_at(&endpoint).status, 429, "a single request");
    }
}

/// The rate limit gets digests as keys. It does not get subjects or addresses.
#[test]
fn keys_are_digests() {
    let limit = up_to(9);
    ping("192.0.2.1").bearer("ada").ask_at(&guarded(&limit));
    ping("192.0.2.1").ask_at(&guarded(&limit));
    let keys: Vec<_> = limit.seen.borrow().keys().cloned().collect();
    assert!(keys.len() == 2 && keys.iter().all(|key| key.len() == 43), "{keys:?}");
}

/// Without a rate limit, or with a rate limit that fails, callers pass, and the log has one warning.
#[test]
fn a_missing_or_failing_rate_limit_is_logged_once() {
    fn warnings(endpoint: impl FnOnce() -> Endpoint + Send + 'static) -> Vec<String> {
        // The endpoint logs a warning once per thread, which is once per isolate on Workers.
        let thread = std::thread::spawn(|| {
            let (endpoint, host) = (endpoint(), TestHost::new());
            for _ in 0..3 {
                assert_eq!(ping("192.0.2.1").ask_on(&endpoint, &host).status, 200);
            }
            assert_eq!(host.log_levels().iter().filter(|level| **level == Level::Error).count(), 0);
            let lines = host.log().into_iter().filter(|line| line["event"] == "unlimited");
            lines.map(|line| line["problem"].to_string()).collect::<Vec<_>>()
        });
        thread.join().expect("the thread ends")
    }
    let open = || Endpoint::new(server).open_to_the_public();
    let unbound = warnings(open);
    assert!(unbound.len() == 1 && unbound[0].contains("MCP_RATE_LIMIT"), "{unbound:?}");
    let broken = || RateLimit::new(Duration::ZERO, |_| ready(Err("out of order".to_owned())));
    let failing = warnings(move || open().rate_limit(broken()));
    assert!(failing.len() == 1 && failing[0].contains("out of order"), "{failing:?}");
    assert!(warnings(move || open().without_rate_limit()).is_empty(), "`without_rate_limit` needs no warning");
}
