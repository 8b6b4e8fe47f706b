//! Redirects to another path of the same server.

use edge_mcp::auth::SecureUrl;
use edge_mcp::client::{Executed, Failure, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use http::Request;
use serde_json::json;

use crate::calls::{at, client, context, modern, track};
use crate::peer::{Answer, Peer, error, result};

fn redirect(status: u16, location: &str) -> Answer {
    Answer::new(status, "", "").header("location", location)
}

fn pinned(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2026_07_28).bearer("t-1").expect("a token")
}

/// The method, the body, the token and the other headers stay, and the further requests of the connection use the new URL.
#[test]
fn a_redirect_to_another_path_is_followed_with_the_same_request() {
    for (status, location) in
        [(307, "/mcp/"), (308, "https://parcels.example/mcp/"), (307, "https://PARCELS.example:443/mcp/")]
    {
        let peer = Peer::new([redirect(status, location), modern("in Lyon"), modern("in Paris")]);
        let host = TestHost::new();
        let connection = client(pinned(&peer)).connect(&context(&host));
        for expected in ["in Lyon", "in Paris"] {
            let call = connection.call("parcels_track", json!({ "number": 7 })).expect("a call");
            let found = testing::run(host.run(async move { call.await })).expect("the call ends").expect("a result");
            assert_eq!(found.text(), expected);
        }
        let requests = peer.requests();
        let target = |request: &Request<String>| SecureUrl::parse(&request.uri().to_string()).expect("a URL");
        let paths: Vec<_> = requests.iter().map(|request| request.uri().path()).collect();
        assert_eq!(paths, ["/mcp", "/mcp/", "/mcp/"], "{status} {location}");
        for request in &requests {
            assert_eq!(
                target(request).origin().to_ascii_lowercase().trim_end_matches(":443"),
                "https://parcels.example"
            );
        }
        let [first, second, _] = &*requests else { panic!("three requests") };
        assert_eq!((first.method(), first.body(), first.headers()), (second.method(), second.body(), second.headers()));
        assert_eq!(second.headers()["authorization"], "Bearer t-1");
    }
}

/// Another origin does not get the token, and another method is another request. The failure has the URL.
#[test]
fn another_redirect_is_not_followed() {
    for (status, location, to) in [
        (301, "https://parcels.example/mcp/", Some("https://parcels.example/mcp/")),
        (302, "/mcp/", None),
        (303, "https://parcels.example/mcp/", Some("https://parcels.example/mcp/")),
        (307, "https://other.example/mcp/", Some("https://other.example/mcp/")),
        (308, "https://parcels.example.evil.example/", Some("https://parcels.example.evil.example/")),
        (307, "http://parcels.example/mcp/", None),
        (307, "//evil.example/mcp", None),
    ] {
        let peer = Peer::new([redirect(status, location), modern("in Lyon")]);
        let failed = track(pinned(&peer)).expect_err("a failure");
        assert_eq!(failed.failure(), &Failure::Redirected { to: to.map(str::to_owned) }, "{status} {location}");
        assert_eq!(peer.requests().len(), 1, "{status} {location}");
    }
}

/// A server that redirects in circles gets two requests.
#[test]
fn one_redirect_is_followed_for_each_request() {
    let circle = || [redirect(307, "/mcp/"), redirect(307, "/mcp")];
    let peer = Peer::new(circle().into_iter().chain(circle()));
    let failed = track(pinned(&peer)).expect_err("a failure");
    assert_eq!((failed.failure(), failed.executed()), (&Failure::Redirected { to: None }, Executed::No));
    assert_eq!(peer.requests().len(), 2);
}

/// The Python SDK 1.8 serves `/mcp/` and redirects `/mcp`, also for the messages of a session and its end.
#[test]
fn a_session_continues_at_the_new_path() {
    let initialized = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {} });
    let peer = Peer::new([
        redirect(307, "https://parcels.example/mcp/"),
        error(400, -32_600, "Bad Request: Missing session ID"),
        result(initialized).header("mcp-session-id", "s-1"),
        Answer::new(202, "", ""),
        result(json!({ "content": [{ "type": "text", "text": "in Lyon" }] })),
        Answer::new(200, "", ""),
    ]);
    assert_eq!(track(at(&peer)).expect("a result"), "in Lyon");
    let paths: Vec<_> = peer.requests().iter().map(|request| request.uri().path().to_owned()).collect();
    assert_eq!(paths, ["/mcp", "/mcp/", "/mcp/", "/mcp/", "/mcp/", "/mcp/"]);
}
