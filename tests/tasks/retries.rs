//! Work of a task that is tried again later.

use std::time::Duration;

use edge_mcp::host::{FetchLimits, Fetched};
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, Endpoint, HandlerError, Tool};
use serde_json::json;

use crate::world::{World, endpoint, text};

const CURRENCIES: [&str; 3] = ["chf", "gbp", "usd"];

fn url(currency: &str) -> String {
    format!("https://rates.example/{currency}")
}

/// Reads a rate in at most five attempts.
async fn rate(currency: &str, cx: &Context) -> Result<u32, HandlerError> {
    let attempt = async || {
        let request = http::Request::get(url(currency)).body("")?;
        let response = cx.fetch(request, FetchLimits::default()).await?;
        if response.status == 429 {
            return Err(HandlerError::new("There is no rate now.").try_again(response.retry_after));
        }
        Ok(response.success()?.json()?)
    };
    cx.retry("rate", &currency, 5, attempt).await
}

/// Returns an endpoint whose task reads all rates.
fn rates() -> Endpoint {
    endpoint(|server| {
        let sum = |cx: Context| async move {
            let mut sum = 0;
            for currency in CURRENCIES {
                sum += rate(currency, &cx).await?;
            }
            Ok::<_, HandlerError>(sum.to_string())
        };
        server.tool(Tool::new("sum", "Adds all rates.", sum).task(Task::new()))
    })
}

/// The second rate is there at the third request.
fn host() -> TestHost {
    let busy = || Fetched::new(429, "").retry_after(Duration::from_mins(10));
    TestHost::new()
        .respond("GET", url("chf"), 200, "1")
        .respond_with("GET", url("gbp"), busy())
        .respond("GET", url("gbp"), 429, "")
        .respond("GET", url("gbp"), 200, "2")
        .respond("GET", url("usd"), 200, "3")
}

fn requests(host: &TestHost) -> Vec<String> {
    host.requests().iter().map(|request| request.uri().path().to_owned()).collect()
}

/// The pauses are sleeps of the task, and no finished attempt is repeated.
#[test]
fn attempts_of_a_task_are_sleeps_apart() {
    testing::run(async {
        let world = World::on(host(), rates());
        let began = edge_mcp::host::Host::now_ms(&world.host);
        let id = world.start("sum", json!({})).await;
        assert_eq!(text(&world.finish(&id).await), "6");
        assert_eq!(requests(&world.host), ["/chf", "/gbp", "/gbp", "/gbp", "/usd"]);
        let seconds = (edge_mcp::host::Host::now_ms(&world.host) - began) / 1000;
        assert_eq!(seconds, 600 + 2);
    });
}

/// A crash loses at most the attempt that it interrupts, because each request waits for its response, as on a network.
#[test]
fn a_crash_repeats_at_most_one_request() {
    testing::run(async {
        let mut crashes = 0;
        for nth in 1..100 {
            let world = World::on(host(), rates());
            let id = world.start("sum", json!({})).await;
            world.tasks.kill_at_write(nth);
            assert_eq!(text(&world.finish(&id).await), "6", "a crash at write {nth}");
            let requests = requests(&world.host);
            assert!((5..=6).contains(&requests.len()), "a crash at write {nth}: {requests:?}");
            crashes += requests.len() - 5;
            if !world.tasks.has_failed() {
                break;
            }
        }
        assert!(crashes > 0, "no crash interrupted a request");
    });
}
