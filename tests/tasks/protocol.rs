//! The methods and results of the tasks extension.

use std::time::Duration;

use edge_mcp::protocol::Revision;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Answer, Client, TestHost, TestTasks};
use edge_mcp::{Context, Endpoint, HandlerError, McpServerBuilder, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::{EXTENSION, World, all, created, endpoint, text};

const REVISIONS: [Revision; 5] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];

#[derive(Deserialize, JsonSchema)]
struct Agreement {
    agree: bool,
}

async fn rest(cx: Context) -> Result<&'static str, HandlerError> {
    cx.sleep(Duration::from_mins(1)).await;
    Ok("rested")
}

async fn ask(cx: Context) -> Result<String, HandlerError> {
    let agreed = cx.elicit::<Agreement>("agree", "Do you agree?").await?.accepted();
    Ok(format!("{:?}", agreed.map(|it| it.agree)))
}

/// Waits, and then asks a question whose key a handler must not use: the call fails in the protocol.
async fn fail_in_protocol(cx: Context) -> Result<String, HandlerError> {
    cx.sleep(Duration::from_secs(1)).await;
    Ok(cx.confirm("job-00000000/never", "Never asked").await?.to_string())
}

fn items(server: McpServerBuilder) -> McpServerBuilder {
    let fail = |cx: Context| async move {
        cx.sleep(Duration::from_secs(1)).await;
        Err::<String, _>(HandlerError::new("It failed."))
    };
    server
        .tool(Tool::new("rest", "Rests.", rest).task(Task::new()).deadline(Duration::from_secs(90)))
        .tool(Tool::new("ask", "Asks.", ask).task(Task::new()))
        .tool(Tool::new("fail", "Fails.", fail).task(Task::new()))
        .tool(Tool::new("break", "Fails.", fail_in_protocol).task(Task::new()))
        .tool(Tool::new("now", "Answers.", || async { "now" }))
}

fn only_with_tasks(server: McpServerBuilder) -> McpServerBuilder {
    server.tool(Tool::new("rest", "Rests.", rest).task(Task::required()))
}

async fn declared(endpoint: &Endpoint, revision: Revision, method: &str) -> Value {
    let params = if method == "initialize" {
        json!({ "protocolVersion": revision.name(), "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } })
    } else {
        json!({})
    };
    let answer = Client::new(endpoint).revision(revision).request(method, params).await;
    assert!(answer.result().is_object(), "{}", answer.text());
    answer.result()["capabilities"].clone()
}

/// T1: only a response to `server/discover` declares the extension, and only if a tool has tasks and the endpoint has objects for them.
#[test]
fn the_extension_is_declared_where_it_exists() {
    testing::run(async {
        let world = World::new(items);
        let capabilities = declared(&world.endpoint, Revision::V2026_07_28, "server/discover").await;
        assert_eq!(capabilities["extensions"][EXTENSION], json!({}));
        for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
            let capabilities = declared(&world.endpoint, revision, "initialize").await;
            assert!(!capabilities.to_string().contains("tasks"), "{capabilities}");
        }
        let without_objects = endpoint(items);
        let without_tool = World::new(|server| server.tool(Tool::new("now", "Answers.", || async { "now" })));
        for endpoint in [&without_objects, &*without_tool.endpoint] {
            let capabilities = declared(endpoint, Revision::V2026_07_28, "server/discover").await;
            assert!(!capabilities.to_string().contains("tasks"), "{capabilities}");
        }
    });
}

/// T2: each request decides for itself whether it can be answered with a task, in whatever order the requests come.
#[test]
fn each_request_declares_its_capability() {
    testing::run(async {
        let world = World::new(items);
        for _ in 0..2 {
            created(&world.client().call("rest", json!({})).await);
            let answer = world.plain().call("rest", json!({})).await;
            assert_eq!(answer.result()["resultType"], "complete", "{}", answer.json());
            let other = json!({ "extensions": { "com.example/tasks": {} } });
            let answer = world.plain().capabilities(other).call("rest", json!({})).await;
            assert_eq!(answer.result()["resultType"], "complete", "{}", answer.json());
        }
        for revision in REVISIONS {
            let answer = world.client().revision(revision).call("rest", json!({})).await;
            let is_task = answer.result()["resultType"] == "task";
            assert_eq!(is_task, revision == Revision::V2026_07_28, "{}", answer.json());
        }
    });
}

/// Checks the error for a request without the capability.
fn assert_lacks_tasks(answer: &Answer) {
    assert_eq!((answer.status(), answer.error().map(|it| it.0)), (400, Some(-32021)), "{}", answer.json());
    assert_eq!(answer.json()["error"]["data"], json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } }));
}

/// T3: a tool that can only answer with a task needs the capability.
#[test]
fn a_required_task_needs_the_capability() {
    testing::run(async {
        let world = World::new(only_with_tasks);
        assert_lacks_tasks(&world.plain().call("rest", json!({})).await);
        created(&world.client().call("rest", json!({})).await);
        let legacy = world.plain().revision(Revision::V2025_11_25).call("rest", json!({})).await;
        assert!(legacy.is_error() && legacy.text().contains(EXTENSION), "{}", legacy.json());
        assert_eq!(world.plain().list("tools").await.names(), ["rest"], "there are no jobs");
    });
}

/// T3, T13: without objects, a tool answers directly, and the methods do not exist. A tool that requires tasks closes the endpoint, and so do
/// objects without a key.
#[test]
fn without_objects_a_tool_answers_directly() {
    testing::run(async {
        let host = TestHost::new();
        let endpoint = endpoint(|server| {
            items(server).tool(
                Tool::new("short", "Sleeps.", async |cx: Context| {
                    cx.sleep(Duration::from_secs(2)).await;
                    format!("{:?}", cx.task())
                })
                .task(Task::new().starts_later()),
            )
        });
        let client = Client::new(&endpoint).host(&host).capabilities(all());
        assert_eq!(client.call("short", json!({})).await.text(), "None");
        let asked = client.clone().answer("agree", json!({ "agree": true })).call("ask", json!({})).await;
        assert_eq!(asked.text(), "Some(true)");
        let get = client.request("tasks/get", json!({ "taskId": "t1.x" })).await;
        assert_eq!((get.status(), get.error().map(|it| it.0)), (404, Some(-32601)));
        assert!(!client.list("tools").await.names().contains(&"job-result"));
        assert_eq!(client.call("job-result", json!({ "job": "t1.x" })).await.error().map(|it| it.0), Some(-32602));

        let closed = testing::endpoint(|_| only_with_tasks(edge_mcp::McpServer::builder("s", "1")).build());
        let answer = Client::new(&closed).host(&host).capabilities(all()).call("rest", json!({})).await;
        assert_eq!(answer.status(), 503);
        assert!(answer.text().contains("MCP_TASKS"), "{}", answer.text());

        let without_key = Endpoint::new(|_| items(edge_mcp::McpServer::builder("s", "1")).build());
        let without_key = TestTasks::new(&host).serve(without_key.without_auth().without_rate_limit());
        let answer = Client::new(&without_key).host(&host).capabilities(all()).call("now", json!({})).await;
        assert_eq!(answer.status(), 503);
        assert!(answer.text().contains("MCP_STATE_KEY"), "{}", answer.text());
    });
}

/// T5, T6, T9: the answer is flat, has the members of a task and no others, and the task can be read at once, before it has run.
#[test]
fn a_created_task_is_flat_and_durable() {
    testing::run(async {
        let world = World::new(items);
        let answer = world.client().call("rest", json!({})).await;
        let id = created(&answer);
        let mut result = answer.result().clone();
        let members = result.as_object_mut().expect("an object");
        members.remove("_meta");
        let expected = json!({
            "resultType": "task",
            "taskId": id,
            "status": "working",
            "createdAt": "2027-01-15T08:00:00.000Z",
            "lastUpdatedAt": "2027-01-15T08:00:00.000Z",
            "ttlMs": 3_600_000,
            "pollIntervalMs": 1000,
        });
        assert_eq!(result, expected);
        let mut state = world.get(&id).await;
        state.as_object_mut().expect("an object").remove("_meta");
        let mut expected = expected;
        expected["resultType"] = "complete".into();
        assert_eq!(state, expected);
        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    });
}

/// T7: a handler can ask before its task begins. The answer is there in the task, but neither the state of the rounds nor a question is part of
/// the task. A step before the mark does not run again.
#[test]
fn rounds_before_a_task_do_not_leak_into_it() {
    testing::run(async {
        let seen = crate::world::Seen::default();
        let of = seen.clone();
        let world = World::new(move |server| {
            let seen = of.clone();
            let handler = move |cx: Context| {
                let seen = seen.clone();
                async move {
                    crate::world::effect(&cx, &seen, "before", 1).await?;
                    let agreed = cx.elicit::<Agreement>("agree", "Do you agree?").await?.accepted();
                    crate::world::effect(&cx, &seen, "between", 1).await?;
                    cx.start_task().await;
                    crate::world::effect(&cx, &seen, "after", 1).await?;
                    Ok::<_, HandlerError>(format!(
                        "{:?} {:?}",
                        agreed.map(|it| it.agree),
                        cx.task().map(|it| it.attempt)
                    ))
                }
            };
            server.tool(Tool::new("later", "Asks, and works.", handler).task(Task::required().starts_later()))
        });
        let client = world.client().answer("agree", json!({ "agree": true }));
        let answer = client.call("later", json!({})).await;
        assert!(answer.questions().contains_key("agree"));
        let id = created(&answer);
        for leaked in ["requestState", "inputRequests", "result", "error", "task"] {
            assert!(answer.result().get(leaked).is_none(), "{}", answer.json());
        }
        let state = world.get(&id).await;
        assert!(state.get("inputRequests").is_none() && state["status"] == "working", "{state}");
        assert_eq!(text(&world.finish(&id).await), "Some(true) Some(1)");
        assert_eq!(seen.borrow().len(), 3, "{seen:?}");
        assert_eq!(crate::world::effects(&seen), ["after", "before", "between"]);
    });
}

/// T7: steps before the mark run once, also for a client that cannot be asked.
#[test]
fn steps_before_the_mark_run_once_for_every_client() {
    testing::run(async {
        for revision in REVISIONS {
            let seen = crate::world::Seen::default();
            let of = seen.clone();
            let world = World::new(move |server| {
                let seen = of.clone();
                let handler = move |cx: Context| {
                    let seen = seen.clone();
                    async move {
                        crate::world::effect(&cx, &seen, "before", 1).await?;
                        cx.start_task().await;
                        crate::world::effect(&cx, &seen, "after", 1).await?;
                        Ok::<_, HandlerError>("done")
                    }
                };
                server.tool(Tool::new("later", "Works.", handler).task(Task::new().starts_later()))
            });
            let none = world.plain().capabilities(json!({})).revision(revision).call("later", json!({})).await;
            assert_eq!(none.text(), "done");
            assert_eq!(seen.borrow().len(), 2, "{revision:?} {seen:?}");
        }
    });
}

/// T7: after the task has begun, a round of the call does not run the handler in the request, where a call of another server before the mark
/// that has failed would be sent once more.
#[test]
fn a_handler_runs_in_its_task_only() {
    testing::run(async {
        let seen = crate::world::Seen::default();
        let of = seen.clone();
        let world = World::new(move |server| {
            let seen = of.clone();
            let handler = move |cx: Context| {
                let seen = seen.clone();
                async move {
                    crate::world::note(&seen, if cx.task().is_some() { "task" } else { "request" });
                    cx.start_task().await;
                    Ok::<_, HandlerError>(format!("{}", cx.confirm("sure", "Sure?").await?))
                }
            };
            server.tool(Tool::new("later", "Asks.", handler).task(Task::new().starts_later()))
        });
        assert_eq!(world.plain().answer("sure", json!({})).call("later", json!({})).await.text(), "true");
        assert_eq!(*seen.borrow(), ["request", "task", "task"]);
    });
}

/// T7: a result before the mark that is too long for the state of the rounds fails the call, and is not lost.
#[test]
fn no_result_before_the_mark_is_lost() {
    testing::run(async {
        let world = World::new(|server| {
            let handler = |cx: Context| async move {
                let long = cx.step("long", &(), async || Ok(Some("x".repeat(600_000)))).await?;
                cx.start_task().await;
                Ok::<_, HandlerError>(format!("{:?}", long.map(|long| long.len())))
            };
            server.tool(Tool::new("later", "Works.", handler).task(Task::new().starts_later()))
        });
        let answer = world.client().call("later", json!({})).await;
        assert_eq!(answer.error().map(|it| it.0), Some(-32603), "{}", answer.json());
        assert!(world.logs("does not fit"), "{}", world.host.log_text());
        assert!(world.tasks.rows().is_empty());
    });
}

/// T8: the parameter `task` of 2025-11-25 is ignored.
#[test]
fn the_parameter_of_the_older_tasks_is_ignored() {
    testing::run(async {
        let world = World::new(items);
        let params = |tool: &str| json!({ "name": tool, "arguments": {}, "task": { "ttl": 60_000 } });
        for revision in REVISIONS {
            let plain = world.plain().revision(revision);
            assert_eq!(plain.request("tools/call", params("now")).await.text(), "now");
            let answer = plain.request("tools/call", params("rest")).await;
            assert!(answer.text().starts_with("The job is still running."), "{}", answer.text());
            assert!(answer.result().get("task").is_none());
        }
        let answer = world.client().request("tools/call", params("rest")).await;
        created(&answer);
        assert_eq!(answer.result()["ttlMs"], 3_600_000);
        assert_eq!(world.client().request("tools/call", params("now")).await.text(), "now");
    });
}

/// T10, T11, T12: each status has its members, and an end is final. A tool's error completes the task; an error of the protocol fails it.
#[test]
fn each_status_has_its_members() {
    testing::run(async {
        let world = World::new(items);
        let members = |state: &Value, names: &[&str]| {
            let common =
                ["createdAt", "lastUpdatedAt", "pollIntervalMs", "resultType", "status", "taskId", "ttlMs", "_meta"];
            let mut expected: Vec<_> = common.iter().chain(names).copied().collect();
            expected.sort_unstable();
            let mut found: Vec<_> = state.as_object().expect("an object").keys().map(String::as_str).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{state}");
        };
        // Completed.
        let id = world.start("rest", json!({})).await;
        members(&world.get(&id).await, &[]);
        let state = world.finish(&id).await;
        assert_eq!(text(&state), "rested");
        members(&state, &["result"]);
        assert!(!state.to_string().contains("related-task"));
        assert_eq!(state["lastUpdatedAt"], "2027-01-15T08:01:00.000Z");
        assert_eq!(state["createdAt"], "2027-01-15T08:00:00.000Z");
        // The result is that of the call.
        let direct = Client::new(&endpoint(items)).host(&world.host).call("rest", json!({})).await;
        assert_eq!(state["result"]["content"], direct.result()["content"]);
        // Completed, with an error of the tool.
        let id = world.start("fail", json!({})).await;
        let state = world.finish(&id).await;
        assert_eq!((&state["status"], &state["result"]["isError"]), (&json!("completed"), &json!(true)));
        assert_eq!(text(&state), "It failed.");
        // Failed.
        let id = world.start("break", json!({})).await;
        let state = world.finish(&id).await;
        assert_eq!((&state["status"], &state["error"]["code"]), (&json!("failed"), &json!(-32603)), "{state}");
        assert!(state["error"]["message"].is_string());
        members(&state, &["error"]);
        // Input required, and cancelled.
        let id = world.start("ask", json!({})).await;
        let state = world.finish(&id).await;
        assert_eq!(state["status"], "input_required");
        members(&state, &["inputRequests"]);
        assert_eq!(state["inputRequests"]["agree"]["method"], "elicitation/create");
        assert_eq!(world.cancel(&id).await.status(), 200);
        members(&world.get(&id).await, &[]);
        // An end is final.
        for _ in 0..2 {
            assert_eq!(world.status(&id).await, "cancelled");
            assert_eq!(
                world
                    .update(&id, json!({ "agree": { "action": "accept", "content": { "agree": true } } }))
                    .await
                    .status(),
                200
            );
            world.cancel(&id).await;
            world.run().await;
        }
        assert_eq!(world.status(&id).await, "cancelled");
    });
}

/// T13, T14, T19: the results of the three methods.
#[test]
fn acknowledgements_are_empty() {
    testing::run(async {
        let world = World::new(items);
        let id = world.start("ask", json!({})).await;
        world.run().await;
        for (_, answer) in [("update", world.update(&id, json!({})).await), ("cancel", world.cancel(&id).await)] {
            let mut result = answer.result().clone();
            result.as_object_mut().expect("an object").remove("_meta");
            assert_eq!(result, json!({ "resultType": "complete" }), "{}", answer.json());
        }
        assert_eq!(world.get(&id).await["resultType"], "complete");
    });
}

/// T20: there is neither a list of tasks nor a method for results.
#[test]
fn tasks_cannot_be_listed() {
    testing::run(async {
        let world = World::new(items);
        let id = world.start("rest", json!({})).await;
        for method in ["tasks/list", "tasks/result", "tasks/other"] {
            for client in [world.client(), world.plain()] {
                let answer = client.request(method, json!({ "taskId": id })).await;
                assert_eq!((answer.status(), answer.error().map(|it| it.0)), (404, Some(-32601)), "{method}");
            }
        }
        for revision in &REVISIONS[..4] {
            for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"] {
                let params = json!({ "taskId": id, "inputResponses": {} });
                let answer = world.plain().revision(*revision).request(method, params).await;
                assert_eq!(answer.error().map(|it| it.0), Some(-32601), "{method}");
            }
        }
    });
}

/// Sends a request of 2026-07-28 with these headers.
async fn raw(world: &World, method: &str, capabilities: Value, params: Value, headers: &[(&str, &str)]) -> Answer {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let request = http::Request::post("http://localhost/mcp")
        .extension(std::net::IpAddr::from([127, 0, 0, 1]))
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    world.plain().send(request.body(std::cell::Cell::new(body.into_bytes())).expect("a request")).await
}

/// T21, T22, T23: headers are checked first, then the method, the capability, and at last the id. `Mcp-Name` is the id of the task.
#[test]
fn errors_have_an_order() {
    testing::run(async {
        let world = World::new(items);
        let id = world.start("rest", json!({})).await;
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = |id: &str| {
                if method == "tasks/update" {
                    json!({ "taskId": id, "inputResponses": {} })
                } else {
                    json!({ "taskId": id })
                }
            };
            let code = |answer: Answer| (answer.status(), answer.error().map(|it| it.0));
            let none = json!({});
            for (name, expected) in [("t1.other", (400, Some(-32020))), (&*id, (200, None))] {
                let answer = raw(&world, method, all(), params(&id), &[("Mcp-Name", name)]).await;
                assert_eq!(code(answer), expected, "{method}");
            }
            for capabilities in [all(), none.clone()] {
                assert_eq!(
                    code(raw(&world, method, capabilities.clone(), params(&id), &[]).await),
                    (400, Some(-32020))
                );
                let other = raw(&world, method, capabilities, params("unknown"), &[("Mcp-Name", "other")]).await;
                assert_eq!(code(other), (400, Some(-32020)), "{method}");
            }
            let unknown = raw(&world, "tasks/list", none.clone(), params(&id), &[]).await;
            assert_eq!(code(unknown), (404, Some(-32601)));
            for id in [&*id, "unknown"] {
                assert_lacks_tasks(&raw(&world, method, none.clone(), params(id), &[("Mcp-Name", id)]).await);
            }
            let unknown = raw(&world, method, all(), params("unknown"), &[("Mcp-Name", "unknown")]).await;
            assert_eq!(code(unknown), (200, Some(-32602)), "{method}");
        }
    });
}

/// T21: wrong parameters.
#[test]
fn parameters_are_checked() {
    testing::run(async {
        let world = World::new(items);
        let id = world.start("ask", json!({})).await;
        for (method, params) in [
            ("tasks/get", json!({})),
            ("tasks/get", json!({ "taskId": 1 })),
            ("tasks/cancel", json!({ "taskId": [id] })),
            ("tasks/update", json!({ "taskId": id })),
            ("tasks/update", json!({ "taskId": id, "inputResponses": [] })),
            ("tasks/update", json!({ "taskId": id, "inputResponses": null })),
        ] {
            let answer = world.client().request(method, params.clone()).await;
            let code = answer.error().map(|it| it.0);
            assert!(matches!(code, Some(-32602 | -32020)), "{method} {params}: {}", answer.json());
        }
        assert_eq!(world.finish(&id).await["status"], "input_required");
    });
}

/// T26: a task sends neither progress notifications nor log messages. The last message of the handler is the message of the task.
#[test]
fn a_task_sends_no_notifications() {
    testing::run(async {
        let world = World::new(|server| {
            let work = |cx: Context| async move {
                cx.progress(1.0, Some(2.0), "half");
                cx.log(edge_mcp::protocol::LogLevel::Error, "logged");
                cx.sleep(Duration::from_secs(5)).await;
                cx.progress(2.0, Some(2.0), "whole");
                "done"
            };
            server
                .logging(edge_mcp::protocol::LogLevel::Debug)
                .tool(Tool::new("work", "Works.", work).task(Task::new()))
        });
        let client =
            world.client().meta("progressToken", json!(1)).meta("io.modelcontextprotocol/logLevel", json!("debug"));
        let answer = client.call("work", json!({})).await;
        let id = created(&answer);
        assert!(answer.notifications().is_empty());
        assert!(answer.result().get("statusMessage").is_none());
        world.run().await;
        let answer = client.request("tasks/get", json!({ "taskId": id })).await;
        assert!(answer.notifications().is_empty());
        assert_eq!(answer.result()["statusMessage"], "half");
        let state = world.finish(&id).await;
        assert_eq!((text(&state), &state["statusMessage"]), ("done", &json!("whole")));
    });
}
