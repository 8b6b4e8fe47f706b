//! Lists of other servers, and their cache.

use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{Definition, Failure, Listing, McpClient, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, RequestInfo};
use futures::FutureExt;
use serde_json::{Value, json};

use crate::calls::{at, client, context};
use crate::peer::{Answer, End, Peer, error, json_answer, result};

fn pinned(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2026_07_28)
}

/// A list with one tool, and further members.
fn tools(name: &str, members: Value) -> Answer {
    let mut list = json!({ "tools": [{ "name": name, "inputSchema": {} }], "resultType": "complete" });
    list.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    result(list)
}

fn minute(name: &str) -> Answer {
    tools(name, json!({ "ttlMs": 60_000, "cacheScope": "public" }))
}

/// Lists the tools in a new connection.
fn list(client: &McpClient, host: &TestHost, cx: &Context) -> Listing {
    let connection = client.connect(cx);
    testing::run(host.run(async { connection.list_tools().await })).expect("the list ends")
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.items.iter().map(Definition::name).collect()
}

/// C44: a list is cached for the time that the server states.
#[test]
fn a_list_is_cached() {
    let peer = Peer::new([minute("a"), minute("b")]);
    let (client, host) = (client(pinned(&peer)), TestHost::new());
    let cx = context(&host);
    for (seconds, expected) in [(0, "a"), (59, "a"), (1, "b")] {
        host.advance(Duration::from_secs(seconds));
        assert_eq!(names(&list(&client, &host, &cx)), [expected]);
    }
    assert_eq!(peer.requests().len(), 2);
}

/// C3, C44: a list belongs to the credential with which it was requested, even if the server says that it is public.
#[test]
fn callers_do_not_share_lists() {
    let peer = Peer::new([minute("of-ann"), minute("of-bob"), minute("of-nobody")]);
    let token_of = |cx: Context| async move { Ok(cx.header("x-user")) };
    let (client, host) = (client(pinned(&peer).bearer_with(token_of)), TestHost::new());
    let caller = |name: Option<&str>| {
        let mut request = http::Request::builder();
        if let Some(name) = name {
            request = request.header("x-user", name);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        Context::for_program(RequestInfo::new(Rc::new(head), None), Rc::new(host.clone()))
    };
    let callers = [(Some("ann"), "of-ann"), (Some("bob"), "of-bob"), (None, "of-nobody")];
    for (name, expected) in callers.into_iter().chain(callers) {
        assert_eq!(names(&list(&client, &host, &caller(name))), [expected]);
    }
    let tokens: Vec<_> =
        peer.requests().iter().map(|request| request.headers().get("authorization").cloned()).collect();
    assert_eq!(
        tokens,
        [Some("Bearer ann".parse().expect("a value")), Some("Bearer bob".parse().expect("a value")), None]
    );
}

/// C45: lists without a valid hint, and lists that are not complete, are not cached.
#[test]
fn some_lists_are_not_cached() {
    let hints = [
        json!({}),
        json!({ "ttlMs": 0, "cacheScope": "public" }),
        json!({ "ttlMs": -1, "cacheScope": "public" }),
        json!({ "ttlMs": 1.5, "cacheScope": "public" }),
        json!({ "ttlMs": "60000", "cacheScope": "public" }),
        json!({ "ttlMs": 60_000 }),
        json!({ "ttlMs": 60_000, "cacheScope": "all" }),
    ];
    for hint in hints {
        let peer = Peer::new([tools("a", hint.clone()), tools("b", hint.clone())]);
        let (client, host) = (client(pinned(&peer)), TestHost::new());
        let cx = context(&host);
        list(&client, &host, &cx);
        assert_eq!(names(&list(&client, &host, &cx)), ["b"], "{hint}");
    }
    // The cursor repeats, so the list has no end.
    let page = || tools("a", json!({ "ttlMs": 60_000, "cacheScope": "private", "nextCursor": "x" }));
    let peer = Peer::new([page(), page(), minute("b")]);
    let (client, host) = (client(pinned(&peer)), TestHost::new());
    let cx = context(&host);
    assert!(list(&client, &host, &cx).is_truncated);
    assert_eq!(names(&list(&client, &host, &cx)), ["b"]);
}

/// The whole list is cached for the shortest time that one of its pages permits.
#[test]
fn each_page_must_permit_the_cache() {
    for (times, expected) in [([60_000, 60_000], "a"), ([60_000, 0], "c"), ([0, 60_000], "c")] {
        let page = |name: &str, time: u64, next: Value| {
            tools(name, json!({ "ttlMs": time, "cacheScope": "private", "nextCursor": next }))
        };
        let peer = Peer::new([page("a", times[0], json!("2")), page("b", times[1], Value::Null), minute("c")]);
        let (client, host) = (client(pinned(&peer)), TestHost::new());
        let cx = context(&host);
        assert_eq!(names(&list(&client, &host, &cx)), ["a", "b"]);
        assert_eq!(names(&list(&client, &host, &cx))[0], expected, "{times:?}");
    }
}

/// Legacy servers send no cache hints, so the program sets the time.
#[test]
fn lists_of_legacy_servers_are_cached_on_request() {
    for (time, expected) in [(Duration::ZERO, "b"), (Duration::from_mins(1), "a")] {
        let legacy =
            |name: &str| result(json!({ "tools": [{ "name": name }], "ttlMs": 60_000, "cacheScope": "public" }));
        let initialized =
            || result(json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": {} }));
        let accepted = || Answer::new(202, "", "");
        // The server has no session, so the second list needs no second handshake.
        let peer = Peer::new([initialized(), accepted(), legacy("a"), legacy("b")]);
        let upstream = at(&peer).revision(Revision::V2025_11_25).list_ttl(time);
        let (client, host) = (client(upstream), TestHost::new());
        let cx = context(&host);
        list(&client, &host, &cx);
        assert_eq!(names(&list(&client, &host, &cx)), [expected]);
    }
}

/// C46: an older list replaces the list of a server that fails, but not the list of a server that rejects the credential.
#[test]
fn a_stale_list_replaces_the_list_of_a_server_that_fails() {
    let (lost, failed, denied) = (
        || Answer::new(200, "", "").end(End::NoHead),
        || Answer::new(502, "text/html", "<p>SECRET-4711</p>"),
        || Answer::new(401, "", ""),
    );
    for (answer, seconds, is_stale) in
        [(lost(), 61, true), (failed(), 61, true), (failed(), 659, true), (failed(), 660, false), (denied(), 61, false)]
    {
        // A list is requested twice after a failure.
        let peer = Peer::new([minute("a"), answer, failed()]);
        let (client, host) = (client(pinned(&peer)), TestHost::new());
        let cx = context(&host);
        assert!(!list(&client, &host, &cx).is_stale);
        host.advance(Duration::from_secs(seconds));
        let listing = list(&client, &host, &cx);
        let expected = if is_stale { (vec!["a"], true, 0) } else { (vec![], false, 1) };
        assert_eq!((names(&listing), listing.is_stale, listing.missing.len()), expected, "{seconds} {listing:?}");
        assert_eq!(host.log_text().contains("stale list"), is_stale);
        assert!(!host.log_text().contains("SECRET"));
    }
}

/// C47: within a connection, a list that is requested twice at the same time is requested once. If the task that requests it ends early,
/// another task requests it.
#[test]
fn tasks_of_a_connection_share_a_request() {
    let peer = Peer::new([tools("dropped", json!({})), tools("a", json!({})), tools("b", json!({}))]);
    let upstream = Upstream::via("https://parcels.example/mcp", peer.slow(Duration::from_secs(1))).expect("a URL");
    let host = TestHost::new();
    let connection = client(upstream.revision(Revision::V2026_07_28)).connect(&context(&host));
    let server = connection.only().expect("a server");
    let lists = testing::run(host.run(async {
        let mut dropped = Box::pin(server.list_tools());
        assert!(futures::poll!(&mut dropped).is_pending());
        let mut others = Box::pin(futures::future::join(server.list_tools(), connection.list_tools()));
        assert!(futures::poll!(&mut others).is_pending());
        drop(dropped);
        others.await
    }))
    .expect("the lists end");
    assert_eq!((names(&lists.0.expect("a list")), names(&lists.1)), (vec!["a"], vec!["a"]));
    assert_eq!(peer.requests().len(), 2);
    let later = testing::run(host.run(server.list_tools())).expect("the list ends").expect("a list");
    assert_eq!((names(&later), peer.requests().len()), (vec!["b"], 3));
}

/// A request is aborted when no task waits for it.
#[test]
fn a_dropped_list_is_aborted() {
    let peer = Peer::new([tools("a", json!({})).end(End::SilentBeforeHead), tools("b", json!({}))]);
    let host = TestHost::new();
    let connection = client(pinned(&peer)).connect(&context(&host));
    testing::run(host.run(async {
        assert!(connection.list_tools().now_or_never().is_none());
        assert_eq!(names(&connection.list_tools().await), ["b"]);
    }))
    .expect("the list ends");
    assert_eq!(host.waits(), [Duration::ZERO; 0]);
}

/// C44: a server that is listed for many callers, or that changes its lists all the time, does not evict the lists of another server.
#[test]
fn a_server_does_not_evict_the_lists_of_another() {
    let day = |name: &str| tools(name, json!({ "ttlMs": 86_400_000, "cacheScope": "public" }));
    let good = Peer::new([minute("a")]);
    let other = Peer::new((0..100).map(|nth| day(&format!("t{nth}"))));
    let token_of = |cx: Context| async move { Ok(cx.header("x-user")) };
    let client = McpClient::builder("desk", "1.0.0")
        .server("good", pinned(&good))
        .server("other", pinned(&other).bearer_with(token_of))
        .build()
        .expect("a client");
    let host = TestHost::new();
    let list = |user: usize| {
        let (head, ()) = http::Request::builder().header("x-user", user).body(()).expect("a request").into_parts();
        let cx = Context::for_program(RequestInfo::new(Rc::new(head), None), Rc::new(host.clone()));
        list(&client, &host, &cx)
    };
    for user in 0..60 {
        let listing = list(user);
        assert_eq!((names(&listing), good.requests().len()), (vec!["a", &*format!("t{user}")], 1));
    }
    // The cache is full, and has the latest lists of the other server.
    list(59);
    assert_eq!(other.requests().len(), 60);
}

/// C25: lists that a server says have changed leave the cache, and a list during which it says so is not cached.
#[test]
fn a_list_that_changes_meanwhile_is_not_cached() {
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let members = json!({ "tools": [{ "name": "a", "inputSchema": {} }], "resultType": "complete", "ttlMs": 60_000, "cacheScope": "public" });
    let listed = json!({ "jsonrpc": "2.0", "id": "$id", "result": members });
    let stream = || Answer::new(200, "text/event-stream", format!("data: {changed}\n\ndata: {listed}\n\n"));
    let peer = Peer::new([stream(), stream(), minute("b")]);
    let (client, host) = (client(pinned(&peer)), TestHost::new());
    let cx = context(&host);
    for (expected, requests) in [("a", 1), ("a", 2), ("b", 3), ("b", 3)] {
        assert_eq!(names(&list(&client, &host, &cx)), [expected]);
        assert_eq!(peer.requests().len(), requests);
    }
}

/// C25: a server that says that its lists have changed is asked again.
#[test]
fn a_changed_list_is_requested_again() {
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let done = r#"{"jsonrpc":"2.0","id":"$id","result":{"content":[],"resultType":"complete"}}"#;
    let stream = Answer::new(200, "text/event-stream", format!("data: {changed}\n\ndata: {done}\n\n"));
    let peer = Peer::new([minute("a"), stream, minute("b")]);
    let (client, host) = (client(pinned(&peer)), TestHost::new());
    let cx = context(&host);
    list(&client, &host, &cx);
    let call = client.connect(&cx).call("parcels_a", json!({})).expect("a call");
    testing::run(host.run(async move { call.await })).expect("the call ends").expect("a result");
    assert_eq!(names(&list(&client, &host, &cx)), ["b"]);
}

/// C15: a server without a capability has an empty list.
#[test]
fn a_server_without_prompts_has_no_prompts() {
    let unknown = || error(404, -32_601, "Method not found");
    let legacy = || error(200, -32_601, "Method not found");
    let initialized =
        || result(json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": {} }));
    let run = |upstream: Upstream| {
        let host = TestHost::new();
        let connection = client(upstream).connect(&context(&host));
        testing::run(host.run(async move { connection.list_prompts().await })).expect("the list ends")
    };
    let peer = Peer::new([unknown()]);
    let list = run(pinned(&peer));
    assert!(list.items.is_empty() && list.missing.is_empty(), "{list:?}");
    let peer = Peer::new([initialized(), Answer::new(202, "", ""), legacy()]);
    let list = run(at(&peer).revision(Revision::V2025_11_25));
    assert!(list.items.is_empty() && list.missing.is_empty(), "{list:?}");

    // The description of the server is known, so nothing is sent.
    let described =
        result(json!({ "resultType": "complete", "supportedVersions": [], "capabilities": { "tools": {} } }));
    let peer = Peer::new([described]);
    let host = TestHost::new();
    let connection = client(at(&peer)).connect(&context(&host));
    let list = testing::run(host.run(async {
        connection.only()?.about().await?;
        connection.only()?.list_prompts().await
    }));
    assert!(list.expect("the list ends").expect("a list").items.is_empty());
    assert_eq!(peer.methods(), ["server/discover"]);
}

/// Each server has its own toolset, with the tools or the error.
#[test]
fn tools_are_listed_by_server() {
    let good = Peer::new([tools("track", json!({}))]);
    let bad = Peer::new([Answer::new(401, "", "")]);
    let client = McpClient::builder("desk", "1.0.0")
        .server("weather", pinned(&bad))
        .server("parcels", pinned(&good))
        .build()
        .expect("a client");
    let host = TestHost::new();
    let connection = client.connect(&context(&host));
    let toolsets = testing::run(host.run(connection.list_toolsets())).expect("the lists end");
    assert_eq!(toolsets.iter().map(|set| &*set.server).collect::<Vec<_>>(), ["weather", "parcels"]);
    let failure = toolsets[0].tools.as_ref().map(names).map_err(|error| error.failure().clone());
    assert_eq!(failure, Err(Failure::Unauthorized));
    assert_eq!(toolsets[1].tools.as_ref().map(names).map_err(ToString::to_string), Ok(vec!["track"]));

    assert!(connection.only().is_err());
    let error = connection.call("nothing", json!({})).err().expect("an unknown server");
    assert_eq!(error.to_string(), "The server `nothing` is not a server of this client.");
}

/// C48: several servers are asked at the same time.
#[test]
fn a_slow_server_does_not_delay_the_others() {
    let slow = || Peer::new([json_answer(200, json!({})).end(End::SilentBeforeHead), Answer::new(401, "", "")]);
    let mut builder = McpClient::builder("desk", "1.0.0");
    for nth in 0..4 {
        builder = builder.server(format!("s{nth}"), pinned(&slow()));
    }
    let host = TestHost::new();
    let connection = builder.build().expect("a client").connect(&context(&host));
    let list = testing::run(host.run(connection.list_tools())).expect("the list ends");
    assert_eq!(list.missing.len(), 4);
    assert_eq!(host.waits().iter().sum::<Duration>(), Duration::from_millis(10_250));
}
