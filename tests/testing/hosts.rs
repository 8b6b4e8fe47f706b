//! The network, the clock and the log of a host.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edge_mcp::host::{FetchError, FetchLimits, Fetched, Host, Level, Outbound, PublicKey};
use edge_mcp::testing::{self, Client, TestHost, TestIssuer};
use edge_mcp::{Context, HandlerError, Tool};
use futures::FutureExt;
use serde_json::{Value, json};

use super::serving;

const LIMITS: FetchLimits = FetchLimits { time: Duration::from_secs(1), bytes: 100 };

fn fetched(host: &TestHost, method: &str, url: &str) -> Result<Fetched, FetchError> {
    let request = http::Request::builder().method(method).uri(url).body("sent".to_owned()).expect("a request");
    testing::run(host.run(Host::fetch(host, request, LIMITS))).expect("it finishes")
}

#[test]
fn the_network_gives_the_prepared_responses_in_order() {
    let host = TestHost::new()
        .respond("GET", "https://a.example/x", 503, "")
        .respond("POST", "https://a.example/x", 201, "made")
        .respond("GET", "https://a.example/x", 200, "one");
    let statuses = ["GET", "POST", "GET", "GET"].map(|method| fetched(&host, method, "https://a.example/x"));
    assert_eq!(statuses.map(|it| it.expect("a response").status), [503, 201, 200, 200]);
    let Err(FetchError::Failed(problem)) = fetched(&host, "PUT", "https://a.example/x?y=1") else { panic!("failed") };
    assert!(problem.contains("no response to PUT https://a.example/x?y=1"), "{problem}");
    let requests = host.requests();
    assert_eq!((requests.len(), requests[1].method().as_str(), requests[1].body().as_str()), (5, "POST", "sent"));
}

#[test]
fn the_network_can_be_a_function() {
    let host = TestHost::new()
        .fetch(|request, limits| async move { Ok(Fetched::new(200, format!("{} {}", request.uri(), limits.bytes))) });
    assert_eq!(fetched(&host, "GET", "https://a.example/").expect("a response").body, b"https://a.example/ 100");
    assert_eq!(host.requests()[0].extensions().get::<FetchLimits>().map(|limits| limits.bytes), Some(100));
    // A clone and the original are the same host.
    drop(host.clone().fetch(|_, _| async { Err(FetchError::TooSlow) }));
    assert_eq!(fetched(&host, "GET", "https://a.example/"), Err(FetchError::TooSlow));
}

/// A server that is unreachable fails at each of its paths, whatever is prepared for it. Other servers answer.
#[test]
fn a_server_can_be_unreachable() {
    let lost = Err(FetchError::Failed("Network connection lost.".into()));
    let prepared = TestHost::new().respond("GET", "https://a.example/x", 200, "x").respond(
        "GET",
        "https://a.example.org/",
        200,
        "y",
    );
    let of_function = TestHost::new().fetch(|_, _| async { Ok(Fetched::new(200, "y")) });
    for host in [prepared, of_function] {
        let host = host.unreachable("https://a.example");
        for url in ["https://a.example/x", "https://a.example/", "https://a.example?y=1"] {
            assert_eq!(fetched(&host, "GET", url), lost, "{url}");
        }
        assert_eq!(fetched(&host, "GET", "https://a.example.org/").expect("a response").body, b"y");
        assert_eq!(host.requests().len(), 4);
    }
}

/// A test host enforces the limits of a fetch, as a Worker does. Its timeout takes no real time.
#[test]
fn the_limits_of_a_fetch_are_enforced() {
    let host = TestHost::new().respond("GET", "https://a.example/", 200, vec![b'x'; 101]);
    assert_eq!(fetched(&host, "GET", "https://a.example/"), Err(FetchError::TooLarge));
    let silent = TestHost::new().fetch(|_, _| std::future::pending());
    assert_eq!(fetched(&silent, "GET", "https://a.example/"), Err(FetchError::TooSlow));
}

#[test]
fn the_clock_moves_only_when_it_is_advanced() {
    let endpoint =
        serving(|server| server.tool(Tool::new("now", "d", |cx: Context| async move { cx.now_ms().to_string() })));
    let host = TestHost::new().clock(5000);
    let client = Client::new(&endpoint).host(&host);
    let now = || testing::run(client.call("now", json!({}))).text().to_owned();
    assert_eq!([now(), now()], ["5000", "5000"]);
    host.advance(Duration::from_millis(250));
    assert_eq!(now(), "5250");
    assert!(host.waits().is_empty());
}

#[test]
fn the_log_of_a_call_can_be_read() {
    let endpoint = serving(|server| {
        let fail = || async { Err::<(), _>(HandlerError::new("No.").because("the disk is full")) };
        server.tool(Tool::new("fail", "Fails.", fail))
    });
    let host = TestHost::new();
    testing::run(Client::new(&endpoint).host(&host).call("fail", json!({})));
    assert!(host.log_text().contains("the disk is full"), "{}", host.log_text());
    let (log, levels) = (host.log(), host.log_levels());
    assert_eq!(log.len(), levels.len());
    assert_eq!((&log[log.len() - 1]["target"], levels[log.len() - 1]), (&json!("fail"), Level::Info));
}

/// A request on a network waits, so a handler that sends one waits too. A response can say when to try again.
#[test]
fn a_prepared_response_comes_after_a_wait() {
    let busy = Fetched::new(429, "").retry_after(Duration::from_secs(30));
    let host = TestHost::new().respond_with("GET", "https://a.example/", busy.clone());
    let request = || http::Request::get("https://a.example/").body(String::new()).expect("a request");
    assert_eq!(Host::fetch(&host, request(), LIMITS).now_or_never(), None);
    assert_eq!(fetched(&host, "GET", "https://a.example/"), Ok(busy));
    let outbound = Outbound::from(request());
    let opened = testing::run(host.run(host.open(outbound))).expect("it finishes").expect("a response");
    assert_eq!(opened.headers["retry-after"], "30");
}

/// The host checks the signatures of its issuers, and cannot check those of others.
#[test]
fn a_host_checks_the_signatures_of_test_issuers() {
    let (issuer, other) = (TestIssuer::new("https://a.example"), TestIssuer::new("https://b.example"));
    let verified = |token: &str, key: [u8; 32]| {
        let (message, signature) = token.rsplit_once('.').expect("a signature");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        let key = PublicKey::EdDsa { x: key };
        testing::run(Host::verify(&TestHost::new(), key, message.as_bytes().to_vec(), signature))
    };
    let key = |issuer: &TestIssuer| -> [u8; 32] {
        let keys: Value = serde_json::from_str(&issuer.keys()).expect("JSON");
        let key = URL_SAFE_NO_PAD.decode(keys["keys"][0]["x"].as_str().expect("a key")).expect("base64");
        key.try_into().expect("32 bytes")
    };
    let token = issuer.token(&json!({ "sub": "ada" }));
    assert_eq!(verified(&token, key(&issuer)), Ok(true));
    assert_eq!(verified(&token, key(&other)), Ok(false));
    assert_eq!(verified(&format!("x{token}"), key(&issuer)), Ok(false));
    assert!(verified(&token, [7; 32]).is_err());
}
