//! Steps, and their results in later rounds of a call.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use edge_mcp::agents::{ChatAgent, Workflow};
use edge_mcp::host::Level;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, Json, McpServer, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chat_agent::{local, over};
use crate::fake_model::{asked, calls, model, text};
use crate::input_required::{all_capabilities, answer_all, retry, with_capabilities};
use crate::support::{Answer, modern};

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
pub struct Number {
    pub n: u32,
}

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
pub struct Sum {
    pub sum: u32,
}

#[derive(Deserialize, JsonSchema)]
pub struct Yes {
    pub yes: bool,
}

/// The effects of handlers, in order.
pub type Done = Rc<RefCell<Vec<String>>>;

/// Returns an endpoint without authentication.
pub fn open(build: impl Fn() -> Result<McpServer, BuildError> + 'static) -> Endpoint {
    testing::endpoint(move |_| build())
}

/// Returns an answer that accepts a question.
pub fn yes() -> Value {
    json!({ "action": "accept", "content": { "yes": true } })
}

/// Returns the keys of the questions of a round.
pub fn keys(answer: &Answer) -> Vec<String> {
    answer.result()["inputRequests"].as_object().expect("questions").keys().cloned().collect()
}

/// Calls a tool as a client that supports all kinds of questions.
pub fn ask_on(endpoint: &Endpoint, params: &Value, host: &TestHost) -> Answer {
    with_capabilities(all_capabilities(), "tools/call", params.clone()).ask_on(endpoint, host)
}

/// Calls a tool, accepts each of its questions, and returns the responses of all rounds.
pub fn rounds(endpoint: &Endpoint, params: &Value, host: &TestHost) -> Vec<Answer> {
    let mut rounds = vec![ask_on(endpoint, params, host)];
    while let Some(last) = rounds.last().filter(|last| last.result()["resultType"] == "input_required") {
        assert!(rounds.len() < 9, "the call has too many rounds: {last:?}");
        let next = retry(params, last, answer_all(last, &yes()));
        rounds.push(ask_on(endpoint, &next, host));
    }
    rounds
}

/// Records an effect.
pub fn note(done: &Done, effect: impl Into<String>) {
    done.borrow_mut().push(effect.into());
}

/// Returns a workflow that computes the price of a number and stores it.
pub fn booking(done: &Done) -> Workflow {
    let done = done.clone();
    Workflow::new("book", "Books a number.", move |Number { n }: Number, cx: Context| {
        let done = done.clone();
        async move {
            let sum = cx.step("price", &n, async || Ok(n * 2)).await?;
            let store = async || {
                note(&done, sum.to_string());
                Ok(Sum { sum })
            };
            cx.step("store", &sum, store).await.map(Json)
        }
    })
}

/// Returns a workflow that records a number, asks whether to pay it, and pays it.
fn paying(done: &Done) -> Workflow {
    let done = done.clone();
    Workflow::new("pay", "Pays a number.", move |Number { n }: Number, cx: Context| {
        let done = done.clone();
        async move {
            let price = async || {
                note(&done, format!("price {n}"));
                Ok(n)
            };
            let price: u32 = cx.step("price", &n, price).await?;
            let confirm = async || {
                let answer = cx.elicit::<Yes>("confirm", format!("Pay {n}?")).await?;
                match answer.accepted() {
                    Some(Yes { yes: true }) => Ok(()),
                    _ => Err(HandlerError::new("Not paid.")),
                }
            };
            cx.step("confirm", &price, confirm).await?;
            let pay = async || {
                note(&done, format!("pay {price}"));
                Ok(Sum { sum: price })
            };
            cx.step("pay", &price, pay).await.map(Json)
        }
    })
}

/// Calls a tool from a handler, and returns the text of its result.
pub async fn call(cx: &Context, name: &str, n: u32) -> Result<String, HandlerError> {
    Ok(cx.call_tool(name, json!({ "n": n })).await?.text())
}

/// Returns an endpoint with a workflow and the tool `outer`.
pub fn with_tool<H, F>(workflow: impl Fn() -> Workflow + 'static, tool: H) -> Endpoint
where
    H: Fn(Context) -> F + Clone + 'static,
    F: Future<Output = Result<String, HandlerError>> + 'static,
{
    open(move || {
        let tool = Tool::new("outer", "Calls it.", tool.clone());
        McpServer::builder("s", "1").workflow(workflow()).tool(tool).build()
    })
}

#[test]
fn each_run_of_a_workflow_in_a_call_has_its_own_result() {
    let done = Done::default();
    let of = done.clone();
    let endpoint = with_tool(
        move || booking(&of),
        |cx| async move {
            let (first, second) = (call(&cx, "run_book", 1).await?, call(&cx, "run_book", 50).await?);
            Ok(format!("{first} {second} {}", call(&cx, "run_book", 1).await?))
        },
    );
    let params = json!({ "name": "outer" });
    for is_asked in [false, true] {
        let ask = modern("tools/call", params.clone());
        let answer = if is_asked { ask_on(&endpoint, &params, &TestHost::new()) } else { ask.ask_at(&endpoint) };
        assert_eq!(answer.tool_text(), ("{\"sum\":2} {\"sum\":100} {\"sum\":2}", false));
        assert_eq!(done.take(), ["2", "100", "2"], "whether the client can be asked: {is_asked}");
    }
}

#[test]
fn an_agent_can_run_a_workflow_several_times() {
    let done = Done::default();
    let of = done.clone();
    let endpoint = open(move || {
        let agent = ChatAgent::new("clerk", "Clerk", "Books.", local()).tools(["run_book"]);
        McpServer::builder("s", "1").workflow(booking(&of)).agent(agent).build()
    });
    let network = model([
        calls(&[("run_book", json!({ "n": 1 })), ("run_book", json!({ "n": 50 })), ("run_book", json!({ "n": 1 }))]),
        text("All booked."),
    ]);
    let host = over(&network);
    let params = json!({ "name": "ask_clerk", "arguments": { "message": "Book 1, 50 and 1." } });
    assert_eq!(ask_on(&endpoint, &params, &host).tool_text(), ("All booked.", false));
    assert_eq!(*done.borrow(), ["2", "100", "2"]);
    let messages = asked(&network)[1]["messages"].as_array().expect("messages").clone();
    let results: Vec<_> =
        messages.iter().filter(|message| message["role"] == "tool").map(|m| m["content"].clone()).collect();
    assert_eq!(results, ["{\"sum\":2}", "{\"sum\":100}", "{\"sum\":2}"]);
}

#[test]
fn steps_with_equal_names_all_run() {
    let endpoint = open(|| {
        let workflow = Workflow::new("w", "d", |Number { n }: Number, cx: Context| async move {
            let n: u32 = cx.step("check", &n, async || Ok(n + 1)).await?;
            cx.step("check", &n, async || Ok(n * 1000)).await?;
            // These steps have the same name and the same input. The library distinguishes them by their number.
            let mut same: Vec<u32> = Vec::new();
            for nth in 0..3 {
                same.push(cx.step("same", &5, async || Ok(nth)).await?);
            }
            cx.elicit::<Yes>("go", "Go on?").await?;
            Ok::<_, HandlerError>(Json(Sum { sum: same.iter().fold(0, |sum, n| sum * 10 + n) }))
        });
        McpServer::builder("s", "1").workflow(workflow).build()
    });
    let rounds = rounds(&endpoint, &json!({ "name": "run_w", "arguments": { "n": 1 } }), &TestHost::new());
    assert_eq!(rounds.len(), 2);
    assert_eq!(rounds[1].tool_text(), ("{\"sum\":12}", false));
}

#[test]
fn a_finished_step_does_not_run_again_in_later_rounds() {
    let done = Done::default();
    let of = done.clone();
    let endpoint = with_tool(
        move || paying(&of),
        |cx| async move {
            let (first, second) = (call(&cx, "run_pay", 1).await?, call(&cx, "run_pay", 50).await?);
            Ok(format!("{first} {second} {}", call(&cx, "run_pay", 1).await?))
        },
    );
    let host = TestHost::new();
    let rounds = rounds(&endpoint, &json!({ "name": "outer" }), &host);
    assert_eq!(rounds.last().expect("rounds").tool_text(), ("{\"sum\":1} {\"sum\":50} {\"sum\":1}", false));
    let asked: Vec<_> = rounds.iter().take(3).map(keys).collect();
    assert_eq!(asked.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1], "each run asks its own question: {asked:?}");
    assert_eq!(asked[2][0], asked[0][0].replace("/confirm", ".2/confirm"), "the key has the number of an equal call");
    assert_eq!(*done.borrow(), ["price 1", "pay 1", "price 50", "pay 50", "price 1", "pay 1"]);
    assert!(!host.log_levels().contains(&Level::Warning), "{}", host.log_text());
}

#[test]
fn concurrent_runs_do_not_share_results() {
    let done = Done::default();
    let of = done.clone();
    let endpoint = with_tool(
        move || paying(&of),
        |cx| async move {
            let (first, second) = (call(&cx, "run_pay", 1), call(&cx, "run_pay", 50));
            let (first, second, third) = futures::try_join!(first, second, call(&cx, "run_pay", 1))?;
            Ok(format!("{first} {second} {third}"))
        },
    );
    let host = TestHost::new();
    let rounds = rounds(&endpoint, &json!({ "name": "outer" }), &host);
    assert_eq!(rounds.last().expect("rounds").tool_text(), ("{\"sum\":1} {\"sum\":50} {\"sum\":1}", false));
    let mut done = done.take();
    done.sort();
    assert_eq!(done, ["pay 1", "pay 1", "pay 50", "price 1", "price 1", "price 50"]);
    assert!(!host.log_levels().contains(&Level::Warning), "{}", host.log_text());
}

#[test]
fn a_step_with_a_changed_input_runs_again_with_a_warning() {
    let (done, stock) = (Done::default(), Rc::new(Cell::new(40_404)));
    let (of, in_stock) = (done.clone(), stock.clone());
    let endpoint = with_tool(
        move || paying(&of),
        move |cx| {
            let stock = in_stock.get();
            async move { call(&cx, "run_pay", stock).await }
        },
    );
    let params = json!({ "name": "outer" });
    let first = ask_on(&endpoint, &params, &TestHost::new());
    stock.set(50_505);
    let host = TestHost::new();
    let second = ask_on(&endpoint, &retry(&params, &first, answer_all(&first, &yes())), &host);
    assert_eq!(second.result()["resultType"], "input_required", "the answer belongs to another question: {second:?}");
    let warnings: Vec<_> = host.log().into_iter().filter(|line| line["event"] == "rounds").collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(host.log_levels().iter().filter(|level| **level == Level::Warning).count(), 1);
    let problem = warnings[0]["problem"].as_str().expect("a text");
    assert!(problem.contains("`price`") && !problem.contains("40404") && !problem.contains("50505"), "{problem}");
    let host = TestHost::new();
    let third = ask_on(&endpoint, &retry(&params, &second, answer_all(&second, &yes())), &host);
    assert_eq!(third.tool_text(), ("{\"sum\":50505}", false));
    assert_eq!(*done.borrow(), ["price 40404", "price 50505", "pay 50505"]);
    assert!(!host.log_text().contains("rounds"), "the warning is logged once: {}", host.log_text());
}

/// A boxed future of a text.
type TextFuture = Pin<Box<dyn Future<Output = Result<String, HandlerError>>>>;

#[test]
fn the_answer_of_an_agent_is_reused_in_later_rounds() {
    let outer = |cx: Context| -> TextFuture {
        Box::pin(async move {
            let ask = || cx.call_tool("ask_clerk", json!({ "message": "Who?" }));
            let (first, second) = (ask().await?.text(), ask().await?.text());
            cx.elicit::<Yes>("confirm", "Sure?").await?;
            Ok(format!("{first} {second}"))
        })
    };
    let endpoint = open(move || {
        let agent = ChatAgent::new("clerk", "Clerk", "Knows.", local());
        let outer = Tool::new("outer", "Asks twice.", outer);
        McpServer::builder("s", "1").tool(outer).agent(agent).build()
    });
    let network = model([text("Ada."), text("Still Ada.")]);
    let host = over(&network);
    let rounds = rounds(&endpoint, &json!({ "name": "outer" }), &host);
    assert_eq!((rounds.len(), rounds[1].tool_text()), (2, ("Ada. Still Ada.", false)));
    assert_eq!(network.requests().len(), 2);
}
