//! The ways of a call into its handler: alone, in a batch, nested in another call, and as the attempt of a durable task. The context is the same on
//! each of them.

use std::cell::Cell;
use std::time::Duration;

use edge_mcp::auth::ProtectedResource;
use edge_mcp::call::ClientSupport;
use edge_mcp::protocol::Revision;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Answer};
use edge_mcp::{Context, HandlerError, Tool};
use serde_json::{Value, json};

use crate::world::{World, all, created, endpoint, job_id, with_tokens};

const EXTENSION: &str = "com.example/ledger";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

struct Depot(&'static str);
struct Tenant(String);

/// Returns what each accessor of the context and of the request returns, as JSON.
fn seen(cx: &Context) -> String {
    let support = |support: ClientSupport| match support {
        ClientSupport::Yes(settings) => settings.get().to_owned(),
        other => format!("{other:?}"),
    };
    let request = cx.request();
    let capabilities = cx.client_capabilities();
    let seen = json!({
        "caller": cx.caller().ok().map(|caller| caller.subject.clone()),
        "client": cx.client_info().map(|client| format!("{} {} {:?}", client.name, client.version, client.title)),
        "id": cx.request_id().to_string(),
        "revision": cx.revision().name(),
        "meta": cx.meta("example.com/tenant"),
        "extension": support(cx.client_supports(EXTENSION)),
        "capabilities": format!("{capabilities:?}"),
        "url": cx.url(),
        "traceparent": cx.traceparent(),
        "tracestate": cx.tracestate(),
        "header": cx.header("x-depot"),
        "state": cx.state::<Depot>().ok().map(|depot| depot.0),
        "extended": cx.extension::<Tenant>().map(|tenant| tenant.0.clone()),
        "request": {
            "caller": request.caller().map(|caller| caller.subject.clone()),
            "extension": support(request.client_supports(EXTENSION)),
            "path": request.path(),
            "header": request.header("x-depot"),
            "state": request.state::<Depot>().ok().map(|depot| depot.0),
            "extended": request.extension::<Tenant>().map(|tenant| tenant.0.clone()),
        },
    });
    seen.to_string()
}

/// Returns a world with the tools `plain`, `outer`, which calls it, and `task`, which runs as a durable task.
fn world() -> World {
    let server = endpoint(|server| {
        let plain = |cx: Context| async move { seen(&cx) };
        let outer = |cx: Context| async move {
            let inner = cx.call_tool("plain", json!({})).await?;
            Ok::<_, HandlerError>(inner.text())
        };
        let task = |cx: Context| async move {
            cx.sleep(Duration::from_secs(1)).await;
            seen(&cx)
        };
        server
            .tool(Tool::new("plain", "Reports its context.", plain))
            .tool(Tool::new("outer", "Calls another tool.", outer))
            .tool(Tool::new("task", "Reports its context.", task).task(Task::new().answer_within(Duration::ZERO)))
    });
    let resource = ProtectedResource::at("https://depot.example/mcp").expect("a resource");
    World::of(with_tokens(server.resource(resource)).state(Depot("Bern")).each(|request| {
        request.extend(Tenant(format!("of {}", request.path())));
        Ok(())
    }))
}

/// Returns the message that calls a tool.
fn message(revision: Revision, tool: &str, arguments: Value) -> Value {
    let mut meta = json!({ "example.com/tenant": { "n": 7 }, "traceparent": PARENT, "tracestate": "a=1" });
    if revision == Revision::V2026_07_28 {
        let mut capabilities = all();
        capabilities["extensions"][EXTENSION] = json!({ "page": 2 });
        meta["io.modelcontextprotocol/protocolVersion"] = json!(revision.name());
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        meta[CLIENT] = json!({ "name": "desk", "version": "7", "title": "The desk" });
    }
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params })
}

async fn send(world: &World, revision: Revision, tool: &str, body: Value) -> Answer {
    let request = http::Request::post("http://localhost/mcp")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("Authorization", "Bearer ada")
        .header("MCP-Protocol-Version", revision.name())
        .header("X-Depot", "7");
    let request = if revision == Revision::V2026_07_28 {
        request.header("Mcp-Method", "tools/call").header("Mcp-Name", tool)
    } else {
        request
    };
    world.plain().send(request.body(Cell::new(body.to_string().into_bytes())).expect("a request")).await
}

async fn single(world: &World, revision: Revision, tool: &str) -> Value {
    let answer = send(world, revision, tool, message(revision, tool, json!({}))).await;
    read(answer.result())
}

/// Returns the JSON in the text of a result.
fn read(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"))
}

/// Returns what an attempt differs in: docs/tasks.md.
fn in_attempt(mut seen: Value) -> Value {
    seen["id"] = json!("\"task\"");
    seen["revision"] = json!("2026-07-28");
    seen["header"] = Value::Null;
    seen["request"]["header"] = Value::Null;
    seen
}

#[test]
fn the_context_is_the_same_on_each_way_into_a_handler() {
    testing::run(async {
        for revision in [Revision::V2026_07_28, Revision::V2025_03_26] {
            let world = world();
            let alone = single(&world, revision, "plain").await;
            let is_modern = revision == Revision::V2026_07_28;
            assert_eq!(alone["client"], if is_modern { json!("desk 7 Some(\"The desk\")") } else { Value::Null });
            assert_eq!(
                (&alone["meta"], &alone["traceparent"]),
                (&json!({ "n": 7 }), &json!(PARENT)),
                "{revision:?}: {alone}"
            );
            assert_eq!((&alone["extended"], &alone["state"]), (&json!("of /mcp"), &json!("Bern")));
            assert_eq!(single(&world, revision, "outer").await, alone, "nested");

            let task = send(&world, revision, "task", message(revision, "task", json!({}))).await;
            let id = if is_modern { created(&task) } else { job_id(&task) };
            world.run().await;
            world.advance(1);
            world.run().await;
            let state = world.client().token("ada").request("tasks/get", json!({ "taskId": id })).await;
            let attempt = read(&state.result()["result"]);
            assert_eq!(attempt, in_attempt(alone.clone()), "an attempt: {}", state.json());

            if !is_modern {
                let both = json!([message(revision, "plain", json!({})), message(revision, "outer", json!({}))]);
                let answer = send(&world, revision, "", both).await;
                for nth in 0..2 {
                    assert_eq!(read(&answer.json()[nth]["result"]), alone, "in a batch");
                }
            }
        }
    });
}

/// The id of a job contains the configured URL of the endpoint.
#[test]
fn a_job_is_found_in_a_batch() {
    testing::run(async {
        let (world, revision) = (world(), Revision::V2025_03_26);
        let started = send(&world, revision, "", json!([message(revision, "task", json!({}))])).await;
        let job = started.json()[0]["result"]["_meta"]["edge-mcp/job"].clone();
        assert!(job.is_string(), "{}", started.json());
        world.run().await;
        world.advance(1);
        world.run().await;
        let result = message(revision, "job-result", json!({ "job": job }));
        let answers =
            [send(&world, revision, "", result.clone()).await, send(&world, revision, "", json!([result])).await];
        for answer in [&answers[0].json()["result"], &answers[1].json()[0]["result"]] {
            assert_eq!(read(answer)["id"], "\"task\"");
        }
    });
}
