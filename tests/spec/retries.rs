//! Work that is tried again later.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::{FetchLimits, Fetched};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, McpServer, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

const RATES: &str = "https://rates.example/usd";

/// Reads the rate in at most four attempts.
async fn rate(cx: &Context) -> Result<f64, HandlerError> {
    let attempt = async || {
        let response = cx.fetch(http::Request::get(RATES).body("")?, FetchLimits::default()).await?;
        if response.status == 429 {
            return Err(HandlerError::new("There is no rate now.").try_again(response.retry_after));
        }
        Ok(response.success()?.json()?)
    };
    cx.retry("rate", &"usd", 4, attempt).await
}

fn endpoint(deadline: Duration) -> Endpoint {
    testing::endpoint(move |_| {
        let rate = async |cx: Context| Ok::<_, HandlerError>(rate(&cx).await?.to_string());
        McpServer::builder("rates", "1").tool(Tool::new("rate", "Reads the rate.", rate).deadline(deadline)).build()
    })
}

fn busy(host: TestHost, after: Option<u64>) -> TestHost {
    let response = Fetched::new(429, "");
    let after = after.map(Duration::from_secs);
    host.respond_with("GET", RATES, after.map_or(response.clone(), |after| response.retry_after(after)))
}

fn ask(host: &TestHost, deadline: u64) -> String {
    let endpoint = endpoint(Duration::from_secs(deadline));
    testing::run(Client::new(&endpoint).host(host).call("rate", json!({}))).text().to_owned()
}

fn seconds(host: &TestHost) -> Vec<u64> {
    host.waits().iter().map(Duration::as_secs).collect()
}

/// A pause is that of `Retry-After`. Without it, each pause is twice as long as the one before.
#[test]
fn the_pause_is_that_of_the_error_or_grows() {
    let host = busy(busy(busy(TestHost::new(), Some(30)), None), None).respond("GET", RATES, 200, "1.5");
    assert_eq!(ask(&host, 100), "1.5");
    assert_eq!((seconds(&host), host.requests().len()), (vec![30, 2, 4], 4));
    assert!(
        host.log_text().contains("attempt 1 of step `rate` failed, and the next one follows in 30s"),
        "{}",
        host.log_text()
    );
}

#[test]
fn the_error_of_the_last_attempt_is_the_error() {
    let host = busy(TestHost::new(), None);
    assert_eq!(ask(&host, 100), "There is no rate now.");
    assert_eq!((seconds(&host), host.requests().len()), (vec![1, 2, 4], 4));
}

#[test]
fn another_error_is_not_tried_again() {
    let host = busy(TestHost::new(), None).respond("GET", RATES, 500, "");
    assert_eq!(ask(&host, 100), "The server failed to answer this request. Its log says why.");
    assert_eq!((seconds(&host), host.requests().len()), (vec![1], 2));
}

/// A handler does not wait for an attempt that would begin after its deadline.
#[test]
fn a_pause_beyond_the_deadline_is_not_begun() {
    let host = busy(TestHost::new(), Some(10));
    assert_eq!(ask(&host, 10), "There is no rate now.");
    assert_eq!((seconds(&host), host.requests().len()), (vec![], 1));
}

#[derive(Deserialize, JsonSchema)]
struct Yes {}

/// A later round of the call gets the result. All attempts have the idempotency key of the step.
#[test]
fn attempts_are_one_step_with_one_idempotency_key() {
    let keys = Rc::<RefCell<Vec<String>>>::default();
    let of = keys.clone();
    let endpoint = testing::endpoint(move |_| {
        let keys = of.clone();
        let pay = move |cx: Context| {
            let keys = keys.clone();
            async move {
                let nth = cx
                    .retry("pay", &(), 3, async || {
                        keys.borrow_mut().push(cx.idempotency_key()?);
                        let nth = keys.borrow().len();
                        if nth < 3 { Err(HandlerError::new("Later.").try_again(None)) } else { Ok(nth) }
                    })
                    .await?;
                match cx.elicit::<Yes>("sure", "Sure?").await? {
                    FormAnswer::Accepted(Yes {}) => Ok(format!("paid at attempt {nth}")),
                    _ => Err(HandlerError::new("No.")),
                }
            }
        };
        McpServer::builder("s", "1").tool(Tool::new("pay", "Pays.", pay)).build()
    });
    let host = TestHost::new();
    let answer = testing::run(Client::new(&endpoint).host(&host).answer("sure", json!({})).call("pay", json!({})));
    assert_eq!(answer.text(), "paid at attempt 3");
    assert_eq!(seconds(&host), [1, 2]);
    let keys = keys.borrow();
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}
