//! Workflows as tools.

use edge_mcp::agents::Workflow;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, Json, McpServer, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::rounds::{Done, note};
use crate::support::{Answer, Ask, Internal, SECRET, legacy, modern};

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
struct Number {
    /// First number
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

fn endpoint(build: impl Fn() -> Result<McpServer, BuildError> + 'static) -> Endpoint {
    testing::endpoint(move |_| build())
}

async fn grow(Number { n }: Number, cx: Context) -> Result<Json<Sum>, HandlerError> {
    let double = async || match n {
        7 => Err(HandlerError::new("Seven cannot be doubled.").because("superstition")),
        8 => Err(Internal.into()),
        n => Ok(n * 2),
    };
    let doubled: u32 = cx.step("double", &n, double).await?;
    let sum = cx.step("add", &doubled, async || Ok(doubled + 1)).await?;
    Ok(Json(Sum { sum }))
}

fn workflow() -> Workflow {
    Workflow::new("grow", "Makes a number larger.", grow)
}

fn endpoint_with_grow() -> Endpoint {
    endpoint(|| McpServer::builder("s", "1").workflow(workflow()).build())
}

fn run(params: Value) -> Ask {
    modern("tools/call", params)
}

/// Adds the `_meta` member that requests the run of a workflow.
fn with_run(mut ask: Ask) -> Ask {
    let body = String::from_utf8(ask.body.clone()).expect("UTF-8");
    ask.body = body.replace("\"_meta\":{", "\"_meta\":{\"edge-mcp/run\":true,").into_bytes();
    ask
}

/// A workflow is listed as the tool `run_<key>`, with the schemas of its handler.
#[test]
fn a_workflow_is_listed_as_a_tool() {
    let answer = modern("tools/list", json!({})).ask_at(&endpoint_with_grow());
    let tool = &answer.result()["tools"][0];
    assert_eq!((&tool["name"], &tool["title"]), (&json!("run_grow"), &json!("grow")));
    assert_eq!(tool["description"], "Run workflow 'grow'. Workflow description: Makes a number larger.");
    assert_eq!(tool["inputSchema"]["properties"]["n"]["maximum"], 100);
    assert_eq!(tool["outputSchema"]["required"], json!(["sum"]));
    let hints = json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true });
    assert_eq!(tool["annotations"], hints);
    let named = || workflow().title("Grow").read_only();
    let endpoint = endpoint(move || McpServer::builder("s", "1").workflow(named()).build());
    let answer = modern("tools/list", json!({})).ask_at(&endpoint);
    let tool = &answer.result()["tools"][0];
    let hints = json!({ "readOnlyHint": true, "destructiveHint": false, "openWorldHint": true });
    assert_eq!((&tool["title"], &tool["annotations"]), (&json!("Grow"), &hints));
}

/// A step that fails ends the run with the message of its error. The cause is only in the log.
#[test]
fn a_failing_step_ends_the_run() {
    for (n, sum, says) in [
        (3, Some(7), ""),
        (7, None, "Seven cannot be doubled."),
        (8, None, "The server failed to answer this request."),
        (101, None, "must be at most 100"),
    ] {
        let host = TestHost::new();
        let answer = run(json!({ "name": "run_grow", "arguments": { "n": n } })).ask_on(&endpoint_with_grow(), &host);
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, sum.is_none(), "{text}");
        assert!(text.contains(says) && !text.contains(SECRET) && !text.contains("superstition"), "{text}");
        assert_eq!(answer.result().get("structuredContent"), sum.map(|sum| json!({ "sum": sum })).as_ref());
        assert!(answer.result()["_meta"].get("edge-mcp/run").is_none(), "the caller did not request the run");
        assert_eq!(host.log_text().contains("superstition"), n == 7);
    }
}

/// A caller that requests the run gets the status and times of each step, even if the run failed.
#[test]
fn the_run_is_sent_on_request() {
    let steps = |n: u32| {
        let params = json!({ "name": "run_grow", "arguments": { "n": n } });
        let answer = with_run(run(params)).ask_at(&endpoint_with_grow());
        answer.result()["_meta"]["edge-mcp/run"].clone()
    };
    let at = 1_800_000_000_000_u64;
    let step = |name: &str, status: &str| json!({ "step": name, "status": status, "startedAt": at, "endedAt": at });
    assert_eq!(steps(3), json!({ "status": "success", "steps": [step("double", "success"), step("add", "success")] }));
    assert_eq!(steps(7), json!({ "status": "failed", "steps": [step("double", "failed")] }));
}

/// If a step asks a question, the next round continues at that step with the results of the finished steps.
#[test]
fn a_step_can_ask_a_question() {
    let ran = Done::default();
    let seen = ran.clone();
    let endpoint = endpoint(move || {
        let ran = seen.clone();
        let workflow = Workflow::new("w", "d", move |Number { n }: Number, cx: Context| {
            let ran = ran.clone();
            async move {
                let beginning = async || {
                    note(&ran, "begin");
                    Ok(n + 40_404)
                };
                let begun: u32 = cx.step("begin", &n, beginning).await?;
                let ask = async || {
                    note(&ran, "ask");
                    let more = cx.elicit::<More>("more", "How much more?").await?.accepted();
                    Ok(begun + more.map_or(0, |answer| answer.more))
                };
                let sum = cx.step("ask", &begun, ask).await?;
                Ok::<_, HandlerError>(Json(Sum { sum }))
            }
        });
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
    let answer = ask(json!({
        "requestState": state, "inputResponses": { "more": { "action": "accept", "content": { "more": 5 } } },
    }));
    assert_eq!(answer.result()["structuredContent"], json!({ "sum": 40_410 }));
    assert_eq!(*ran.borrow(), ["begin", "ask", "ask"], "the finished step does not run again");
    let steps = &answer.result()["_meta"]["edge-mcp/run"]["steps"];
    assert_eq!(steps[0], json!({ "step": "begin", "status": "success" }), "an earlier round finished the step");
    assert_eq!(steps[1]["status"], "success");
    let old = legacy("tools/call", json!({ "name": "run_w", "arguments": { "n": 1 } })).ask_at(&endpoint);
    assert!(old.tool_text().1 && old.tool_text().0.contains("cannot be asked"), "{}", old.tool_text().0);
}

/// An explicit tool replaces a workflow. A workflow without a description is rejected by its key.
#[test]
fn a_tool_replaces_a_workflow_and_blank_descriptions_are_rejected() {
    let tool = Tool::new("run_grow", "Is not a workflow.", || async { "the tool" });
    let server = McpServer::builder("s", "1").workflow(workflow()).tool(tool).build();
    assert!(server.is_ok());
    let twice = McpServer::builder("s", "1").workflow(workflow()).workflow(workflow()).build();
    assert!(twice.err().is_some_and(|error| error.to_string().contains("twice")));
    for description in ["", " "] {
        let blank = Workflow::new("blank", description, grow);
        let problem = McpServer::builder("s", "1").workflow(blank).build().err().map(|error| error.to_string());
        assert!(problem.is_some_and(|text| text.contains("workflow \"blank\"") && text.contains("empty description")));
    }
}
