//! The context of a handler: requests to other servers, work after the response, client capabilities and questions.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::call::InputError;
use edge_mcp::handler::{Handler, IntoToolResult, Parameters};
use edge_mcp::host::{FetchError, FetchLimits, Fetched};
use edge_mcp::protocol::ClientCapabilities;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, McpServer, ResultExt, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input_required::{all_capabilities, answer_all, retry, with_capabilities};
use crate::support::{Answer, legacy, modern};

fn endpoint<P, H>(handler: H) -> Endpoint
where
    P: Parameters<Arguments: JsonSchema>,
    H: Handler<P, Output: IntoToolResult> + Clone,
{
    testing::endpoint(move |_| McpServer::builder("s", "1").tool(Tool::new("t", "Does it.", handler.clone())).build())
}

/// Calls the tool on `host`, and returns the text of its result.
fn text(endpoint: &Endpoint, host: &TestHost) -> String {
    testing::run(Client::new(endpoint).host(host).call("t", json!({}))).text().to_owned()
}

#[derive(Deserialize)]
struct Rate {
    rate: f64,
}

async fn rate(cx: Context) -> Result<String, HandlerError> {
    let limits = FetchLimits { time: Duration::from_secs(2), bytes: 100 };
    let request = http::Request::post("https://rates.example/eur").body("the body")?;
    let fetched = cx.fetch(request, limits).await.and_then(Fetched::success).message("No rate.")?;
    Ok(fetched.json::<Rate>().message("Not a rate.")?.rate.to_string())
}

#[test]
fn handlers_fetch_through_the_host() {
    let answers = |answer: Result<Fetched, FetchError>| {
        TestHost::new().fetch(move |request, limits| {
            assert_eq!((request.uri().host(), request.body().as_str()), (Some("rates.example"), "the body"));
            assert_eq!((limits.time, limits.bytes), (Duration::from_secs(2), 100));
            let answer = answer.clone();
            async { answer }
        })
    };
    for (answer, expected, cause) in [
        (Ok(Fetched::new(200, r#"{"rate":1.25}"#)), "1.25", ""),
        (Ok(Fetched::new(302, "")), "No rate.", "the other server answers with status 302"),
        (Ok(Fetched::new(500, "")), "No rate.", "the other server answers with status 500"),
        (Ok(Fetched::new(200, r#"{"rate":"high"}"#)), "Not a rate.", "the answer of the other server cannot be read"),
        (Ok(Fetched::new(200, "<html>")), "Not a rate.", "the answer of the other server cannot be read"),
        (Err(FetchError::TooSlow), "No rate.", "the other server did not answer in time"),
        (Err(FetchError::TooLarge), "No rate.", "the answer of the other server is too long"),
        (Err(FetchError::Failed("refused".into())), "No rate.", "the other server cannot be reached: refused"),
    ] {
        let host = answers(answer);
        assert_eq!(text(&endpoint(rate), &host), expected);
        assert!(host.log_text().contains(cause), "{cause}: {}", host.log_text());
    }
}

struct Dropped(Rc<Cell<bool>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

/// A pending request to another server is dropped at the deadline of the tool.
#[test]
fn a_request_is_dropped_at_the_deadline() {
    let handler = |cx: Context| async move {
        let limits = FetchLimits { time: Duration::from_mins(1), bytes: 1 };
        let _response = cx.fetch(http::Request::get("https://rates.example/").body("")?, limits).await?;
        Ok::<_, HandlerError>("fetched")
    };
    let endpoint = testing::endpoint(move |_| {
        let tool = Tool::new("t", "Does it.", handler).deadline(Duration::from_secs(25));
        McpServer::builder("s", "1").tool(tool).build()
    });
    let is_dropped = Rc::<Cell<bool>>::default();
    let of = is_dropped.clone();
    let host = TestHost::new().fetch(move |_, _| {
        let request = Dropped(of.clone());
        async move {
            std::future::pending::<()>().await;
            drop(request);
            Err(FetchError::TooSlow)
        }
    });
    let answer = modern("tools/call", json!({ "name": "t" })).ask_on(&endpoint, &host);
    assert!(answer.tool_text().0.contains("within 25 s"), "{answer:?}");
    assert_eq!((is_dropped.get(), host.waits()), (true, vec![Duration::from_secs(25)]));
}

/// Work that is passed to `wait_until` does not delay the response.
#[test]
fn work_can_outlive_the_response() {
    let done = Rc::new(Cell::new(false));
    let of = done.clone();
    let handler = move |cx: Context| {
        let done = of.clone();
        async move {
            cx.wait_until(std::future::pending());
            cx.wait_until(async move { done.set(true) });
            "answered"
        }
    };
    assert_eq!(text(&endpoint(handler), &TestHost::new()), "answered");
    assert!(done.get());
}

#[test]
fn handlers_can_read_the_capabilities_of_the_client() {
    let endpoint = endpoint(|cx: Context| async move {
        let ClientCapabilities { elicitation_form, elicitation_url, sampling, roots, .. } = cx.client_capabilities();
        format!("{elicitation_form} {elicitation_url} {sampling} {roots}")
    });
    let params = json!({ "name": "t" });
    for (declared, expected) in [
        (json!({}), "false false false false"),
        (json!({ "elicitation": { "url": {} }, "roots": {} }), "false true false true"),
        (all_capabilities(), "true true true true"),
    ] {
        let answer = with_capabilities(declared, "tools/call", params.clone()).ask_at(&endpoint);
        assert_eq!(answer.tool_text().0, expected);
    }
    assert_eq!(legacy("tools/call", params).ask_at(&endpoint).tool_text().0, "false false false false");
}

async fn confirm(cx: Context) -> Result<String, HandlerError> {
    Ok(cx.confirm("clear", "Delete all?").await?.to_string())
}

/// Calls the tool, and sends `answer` to each of its questions.
fn answered(endpoint: &Endpoint, answer: &Value) -> Answer {
    let params = json!({ "name": "t" });
    let first = with_capabilities(all_capabilities(), "tools/call", params.clone()).ask_at(endpoint);
    let responses = answer_all(&first, answer);
    with_capabilities(all_capabilities(), "tools/call", retry(&params, &first, responses)).ask_at(endpoint)
}

#[test]
fn only_an_accepted_confirmation_is_true() {
    for (action, expected) in [("accept", "true"), ("decline", "false"), ("cancel", "false")] {
        let answer = answered(&endpoint(confirm), &json!({ "action": action, "content": {} }));
        assert_eq!(answer.tool_text(), (expected, false));
    }
}

/// `or_if_unasked` provides a default if the client cannot be asked, in both eras. A malformed answer is still an error.
#[test]
fn handlers_can_continue_if_the_client_cannot_be_asked() {
    #[derive(Deserialize, JsonSchema)]
    struct Name {
        name: String,
    }
    let handler = |cx: Context| async move {
        let name = cx.elicit::<Name>("name", "Who?").await.or_if_unasked(|| FormAnswer::Declined)?;
        Ok::<_, HandlerError>(name.accepted().map_or("no name".to_owned(), |name| name.name))
    };
    let endpoint = endpoint(handler);
    let params = json!({ "name": "t" });
    for ask in [modern("tools/call", params.clone()), legacy("tools/call", params)] {
        assert_eq!(ask.ask_at(&endpoint).tool_text(), ("no name", false));
    }
    let ada = answered(&endpoint, &json!({ "action": "accept", "content": { "name": "Ada" } }));
    assert_eq!(ada.tool_text(), ("Ada", false));
    let malformed = answered(&endpoint, &json!({ "action": "accept", "content": { "name": 7 } }));
    assert_eq!(malformed.error()["code"], -32602);
}

#[test]
fn an_error_says_whether_the_client_was_asked() {
    let handler = |cx: Context| async move {
        let error: Option<InputError> = cx.roots("r").await.err();
        error.map_or("no error", |error| if error.is_unasked() { "unasked" } else { "asked" })
    };
    assert_eq!(legacy("tools/call", json!({ "name": "t" })).ask_at(&endpoint(handler)).tool_text().0, "unasked");
}
