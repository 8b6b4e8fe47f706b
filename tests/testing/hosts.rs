//! The network, the clock and the log of a host.

use std::time::Duration;

use edge_mcp::host::{FetchError, FetchLimits, Fetched, Host, Level};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, HandlerError, Tool};
use serde_json::json;

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
