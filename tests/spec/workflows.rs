//! Workflows as tools.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::http::Endpoint;
use edge_mcp::{BuildError, Context, HandlerError, McpServer, StateKeys, Tool, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Answer, Ask, Internal, Lines, SECRET, legacy, modern};

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
struct Number {
    /// Where to begin
    #[schemars(range(max = 100))]
    n: u32,
}

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
struct Sum {
    sum: u32,
}

#[derive(Deserialize, JsonSchema)]
struct More {
    more: u32,
}

/// The steps that were run.
type Ran = Rc<RefCell<Vec<String>>>;

fn endpoint(build: impl Fn() -> Result<McpServer, BuildError> + 'static) -> Endpoint {
    let keys = StateKeys::from_text("MCP_STATE_KEY", Some("a-key-of-thirty-two-bytes-or-more"));
    Endpoint::new(move |_| build()).without_auth().without_rate_limit().state_keys(keys)
}

async fn double(Number { n }: Number, _: Context) -> Result<u32, HandlerError> {
    match n {
        7 => Err(HandlerError::new("Seven cannot be doubled.").because("superstition")),
        8 => Err(Internal.into()),
        n => Ok(n * 2),
    }
}

async fn sum(n: u32, _: Context) -> Result<Sum, HandlerError> {
    Ok(Sum { sum: n + 1 })
}

fn workflow() -> Workflow<Number, Sum> {
    Workflow::new("grow").describe("Makes a number larger.").then("double", double).then("add", sum)
}

fn one() -> Endpoint {
    endpoint(|| McpServer::builder("s", "1").workflow(workflow()).build())
}

fn run(params: Value) -> Ask {
    modern("tools/call", params)
}

fn with_run(mut ask: Ask) -> Ask {
    let body = String::from_utf8(ask.body.clone()).expect("UTF-8");
    ask.body = body.replace("\"_meta\":{", "\"_meta\":{\"edge-mcp/run\":true,").into_bytes();
    ask
}

/// A workflow is listed as the tool `run_<key>`, with the schemas of its first and its last step.
#[test]
fn a_workflow_is_a_tool() {
    let answer = modern("tools/list", json!({})).ask_at(&one());
    let tool = &answer.result()["tools"][0];
    assert_eq!((&tool["name"], &tool["title"]), (&json!("run_grow"), &json!("grow")));
    assert_eq!(tool["description"], "Run workflow 'grow'. Workflow description: Makes a number larger.");
    assert_eq!(tool["inputSchema"]["properties"]["n"]["maximum"], 100);
    assert_eq!(tool["outputSchema"]["required"], json!(["sum"]));
    assert_eq!(tool["annotations"], json!({ "readOnlyHint": false }));
    let named = || workflow().title("Grow").read_only();
    let endpoint = endpoint(move || McpServer::builder("s", "1").workflow(named()).build());
    let answer = modern("tools/list", json!({})).ask_at(&endpoint);
    let tool = &answer.result()["tools"][0];
    assert_eq!((&tool["title"], &tool["annotations"]), (&json!("Grow"), &json!({ "readOnlyHint": true })));
}

/// The result is structured content; a step that fails ends the run, and is named.
#[test]
fn steps_follow_one_another() {
    for (n, sum, says) in [
        (3, Some(7), ""),
        (7, None, "Step `double` failed: Seven cannot be doubled."),
        (8, None, "Step `double` failed: The server failed to answer this request."),
        (101, None, "must be at most 100"),
    ] {
        let lines = Lines::default();
        let answer = run(json!({ "name": "run_grow", "arguments": { "n": n } })).ask_logging(&one(), &lines);
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, sum.is_none(), "{text}");
        assert!(text.contains(says) && !text.contains(SECRET) && !text.contains("superstition"), "{text}");
        assert_eq!(answer.result().get("structuredContent"), sum.map(|sum| json!({ "sum": sum })).as_ref());
        assert!(answer.result()["_meta"].get("edge-mcp/run").is_none(), "nobody asked for it");
        assert_eq!(lines.text().contains("superstition"), n == 7);
    }
}

/// The run is told to whoever asks for it, also when it has failed.
#[test]
fn the_run_is_told_where_it_is_asked_for() {
    let steps = |n: u32| {
        let params = json!({ "name": "run_grow", "arguments": { "n": n } });
        let answer = with_run(run(params)).ask_at(&one());
        answer.result()["_meta"]["edge-mcp/run"].clone()
    };
    let at = 1_800_000_000_000_u64;
    let step = |name: &str, status: &str| json!({ "step": name, "status": status, "startedAt": at, "endedAt": at });
    assert_eq!(steps(3), json!({ "status": "success", "steps": [step("double", "success"), step("add", "success")] }));
    assert_eq!(steps(7), json!({ "status": "failed", "steps": [step("double", "failed")] }));
}

/// Two steps at once, one or another, and values of any kind in between.
#[test]
fn steps_are_put_together() {
    async fn halve(n: u32, _: Context) -> Result<u32, HandlerError> {
        Ok(n / 2)
    }
    async fn name(n: u32, _: Context) -> Result<String, HandlerError> {
        if n == 12 { Err(HandlerError::new("Twelve has no name.")) } else { Ok(format!("n{n}")) }
    }
    async fn add((half, name): (u32, String), _: Context) -> Result<Sum, HandlerError> {
        Ok(Sum { sum: half + u32::try_from(name.len()).expect("short") })
    }
    async fn small(Sum { sum }: Sum, _: Context) -> Result<Sum, HandlerError> {
        Ok(Sum { sum: sum + 1000 })
    }
    async fn large(Sum { sum }: Sum, _: Context) -> Result<Sum, HandlerError> {
        Ok(Sum { sum: sum + 2000 })
    }
    let build = || {
        Workflow::new("w")
            .describe("d")
            .then("double", double)
            .parallel(("halve", halve), ("name", name))
            .then("add", add)
            .branch(|sum: &Sum| sum.sum < 10, ("small", small), ("large", large))
    };
    let endpoint = endpoint(move || McpServer::builder("s", "1").workflow(build()).build());
    for (n, text, steps) in [
        (3, "{\"sum\":1005}", vec!["double", "halve", "name", "add", "small"]),
        (50, "{\"sum\":2054}", vec!["double", "halve", "name", "add", "large"]),
        (6, "Step `name` failed: Twelve has no name.", vec!["double", "halve", "name"]),
    ] {
        let answer = with_run(run(json!({ "name": "run_w", "arguments": { "n": n } }))).ask_at(&endpoint);
        assert_eq!(answer.tool_text().0, text);
        let run = &answer.result()["_meta"]["edge-mcp/run"]["steps"];
        let names: Vec<_> = run.as_array().expect("steps").iter().map(|step| step["step"].clone()).collect();
        assert_eq!(names, steps);
    }
}

/// A step is tried again as often as it is said, and no more; others are not.
#[test]
fn steps_are_tried_again() {
    for (attempts, fails, passes) in [(1, 0, true), (1, 1, false), (3, 2, true), (3, 3, false), (0, 0, true)] {
        let tries = Rc::new(Cell::new(0));
        let counted = tries.clone();
        let endpoint = endpoint(move || {
            let tries = counted.clone();
            let shaky = move |Number { n }: Number, _: Context| {
                tries.set(tries.get() + 1);
                let works = tries.get() > fails;
                async move { if works { Ok(Sum { sum: n }) } else { Err(HandlerError::new("Not now.")) } }
            };
            let workflow = Workflow::new("w").describe("d").then("shaky", shaky).retry(attempts, Duration::ZERO);
            McpServer::builder("s", "1").workflow(workflow).build()
        });
        let lines = Lines::hasty();
        let answer = run(json!({ "name": "run_w", "arguments": { "n": 1 } })).ask_logging(&endpoint, &lines);
        assert_eq!(answer.tool_text().1, !passes, "{attempts} {fails}");
        assert_eq!(tries.get(), (fails + 1).min(attempts.max(1)), "{attempts} {fails}");
    }
}

/// A step asks; the next call goes on there, with the results of the steps before, which are neither run again nor readable.
#[test]
fn a_step_may_ask() {
    let ran = Ran::default();
    let seen = ran.clone();
    let endpoint = endpoint(move || {
        let (first, second) = (seen.clone(), seen.clone());
        let begin = move |Number { n }: Number, _: Context| {
            first.borrow_mut().push("begin".into());
            async move { Ok(n + 40_404) }
        };
        let ask = move |n: u32, cx: Context| {
            let second = second.clone();
            async move {
                second.borrow_mut().push("ask".into());
                let more = cx.elicit::<More>("more", "How much more?").await?.accepted();
                Ok(Sum { sum: n + more.map_or(0, |answer| answer.more) })
            }
        };
        let workflow = Workflow::new("w").describe("d").then("begin", begin).then("ask", ask).retry(3, Duration::ZERO);
        McpServer::builder("s", "1").workflow(workflow).build()
    });
    let ask = |more: Value| {
        let mut params = json!({ "name": "run_w", "arguments": { "n": 1 } });
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let ask = run(params);
        let body = String::from_utf8(ask.body.clone()).expect("UTF-8");
        let able = "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{\"form\":{}}}";
        let body = body.replace("\"io.modelcontextprotocol/clientCapabilities\":{}", able);
        with_run(ask.with_body(body)).ask_at(&endpoint)
    };
    let question: Answer = ask(json!({}));
    let state = question.result()["requestState"].as_str().expect("a state").to_owned();
    assert!(question.result()["inputRequests"].get("more").is_some());
    assert_eq!(*ran.borrow(), ["begin", "ask"]);
    assert!(state.starts_with("p1."), "what the steps have given is private: {state}");
    let answer = ask(json!({
        "requestState": state, "inputResponses": { "more": { "action": "accept", "content": { "more": 5 } } },
    }));
    assert_eq!(answer.result()["structuredContent"], json!({ "sum": 40_410 }));
    assert_eq!(*ran.borrow(), ["begin", "ask", "ask"], "what is done is not done again");
    let steps = &answer.result()["_meta"]["edge-mcp/run"]["steps"];
    assert_eq!(steps[0], json!({ "step": "begin", "status": "success" }), "an earlier round has done it");
    assert_eq!(steps[1]["status"], "success");
    let old = legacy("tools/call", json!({ "name": "run_w", "arguments": { "n": 1 } })).ask_at(&endpoint);
    assert!(old.tool_text().1 && old.tool_text().0.contains("session"), "{}", old.tool_text().0);
}

/// An explicit tool wins; a workflow that says nothing of itself is refused by its key.
#[test]
fn workflows_are_checked() {
    let tool = Tool::new("run_grow", || async { "the tool" }).description("Is no workflow.");
    let server = McpServer::builder("s", "1").workflow(workflow()).tool(tool).build();
    assert!(server.is_ok());
    for description in ["", " "] {
        let blank = Workflow::new("blank").describe(description).then("double", double);
        let problem = McpServer::builder("s", "1").workflow(blank).build().err().map(|error| error.to_string());
        assert!(problem.is_some_and(|text| text.contains("workflow \"blank\"") && text.contains("empty description")));
    }
}
