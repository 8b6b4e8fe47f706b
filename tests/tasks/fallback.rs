//! Clients without tasks: they get the result, or a job.

use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

use edge_mcp::host::{Host, TaskObjects};
use edge_mcp::protocol::Revision;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Client, TestTasks};
use edge_mcp::{Context, HandlerError, Json, McpServerBuilder, Tool};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::world::{Seen, World, all, created, effect, endpoint, job_id, note, pause, text, with_tokens};

const REVISIONS: [Revision; 5] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];

#[derive(Deserialize, JsonSchema)]
struct Rest {
    seconds: u64,
}

#[derive(JsonSchema, Serialize)]
struct Rested {
    seconds: u64,
}

async fn rest(Rest { seconds }: Rest, cx: Context) -> Result<Json<Rested>, HandlerError> {
    cx.progress(0.0, None, "resting");
    cx.sleep(Duration::from_secs(seconds)).await;
    if seconds == 13 {
        return Err(HandlerError::new("Not 13."));
    }
    Ok(Json(Rested { seconds }))
}

async fn ask(cx: Context) -> Result<String, HandlerError> {
    let first = cx.confirm("first", "First?").await?;
    cx.sleep(Duration::from_secs(30)).await;
    let second = cx.confirm("second", "Second?").await?;
    Ok(format!("{first} {second}"))
}

fn items(server: McpServerBuilder) -> McpServerBuilder {
    let within = Task::new().answer_within(Duration::from_secs(5));
    server
        .tool(Tool::new("rest", "Rests.", rest).task(within.clone()))
        .tool(Tool::new("ask", "Asks.", ask).task(within))
}

fn rests(seconds: u64) -> Value {
    json!({ "seconds": seconds })
}

/// A call that ends in time has its own result, also if it is an error. Otherwise, the client gets a job, and `job-result` has the result.
#[test]
fn a_client_without_tasks_gets_the_result_or_a_handle() {
    testing::run(async {
        for revision in REVISIONS {
            let world = World::new(items);
            let client = world.plain().revision(revision);
            let began = world.host.now_ms();
            let answer = client.call("rest", rests(4)).await;
            assert_eq!(answer.text(), r#"{"seconds":4}"#, "{}", answer.json());
            assert_eq!(world.host.now_ms() - began, 4000);
            let direct =
                Client::new(&endpoint(items)).host(&world.host).revision(revision).call("rest", rests(4)).await;
            assert_eq!(direct.result(), answer.result(), "the result is that of the call");

            let began = world.host.now_ms();
            let answer = client.call("rest", rests(60)).await;
            assert_eq!(world.host.now_ms() - began, 5000);
            let job = job_id(&answer);
            assert!(!answer.is_error());
            let expected =
                format!("The job is still running. Its state: resting. Call `job-result` with {{\"job\": \"{job}\"}}");
            assert!(answer.text().starts_with(&expected), "{}", answer.text());
            // The next wait is 20 s, or as long as the client wants.
            for (arguments, seconds) in [
                (json!({ "job": job }), 20),
                (json!({ "job": job, "wait_seconds": 3 }), 3),
                (json!({ "job": job, "wait_seconds": 0 }), 0),
                (json!({ "job": job, "wait_seconds": 20 }), 20),
            ] {
                let began = world.host.now_ms();
                let answer = client.call("job-result", arguments).await;
                assert_eq!(job_id(&answer), job);
                assert_eq!(world.host.now_ms() - began, seconds * 1000);
            }
            for _ in 0..2 {
                let answer = client.call("job-result", json!({ "job": job })).await;
                assert_eq!(answer.text(), r#"{"seconds":60}"#);
            }
            assert_eq!(world.host.now_ms() - began, 60_000);
            let late = client.call("job-result", json!({ "job": job, "wait_seconds": 21 })).await;
            assert!(late.is_error() && late.text().contains("20"), "{}", late.text());

            // An error of the handler.
            let job = job_id(&client.call("rest", rests(13)).await);
            let answer = client.call("job-result", json!({ "job": job })).await;
            assert_eq!((answer.text(), &answer.result()["isError"]), ("Not 13.", &json!(true)));
            // Wrong arguments are answered at once.
            let rows = world.tasks.rows().len();
            assert!(client.call("rest", json!({})).await.is_error());
            assert_eq!(world.tasks.rows().len(), rows);
        }
    });
}

/// `job-cancel` cancels the job, and can be repeated.
#[test]
fn a_job_can_be_cancelled() {
    testing::run(async {
        for revision in REVISIONS {
            let world = World::new(items);
            let client = world.plain().revision(revision);
            let job = json!({ "job": job_id(&client.call("rest", rests(60)).await) });
            assert_eq!(client.call("job-cancel", job.clone()).await.text(), "The job is cancelled.");
            assert_eq!(client.call("job-cancel", job.clone()).await.text(), "The job is cancelled.");
            let answer = client.call("job-result", job).await;
            assert!(answer.is_error() && answer.text() == "The job was cancelled.", "{}", answer.text());
            let unknown = client.call("job-cancel", json!({ "job": "t1.x" })).await;
            assert!(unknown.is_error() && unknown.text().starts_with("There is no such job"), "{}", unknown.text());
        }
    });
}

/// In 2026-07-28, the call itself asks, and then `job-result`. Older clients cannot be asked.
#[test]
fn questions_are_passed_on() {
    testing::run(async {
        let world = World::new(items);
        let client = world.plain().answer("first", json!({})).decline("second");
        let answer = client.call("ask", json!({})).await;
        assert_eq!(answer.questions().keys().collect::<Vec<_>>(), ["job/first"], "{}", answer.json());
        let job = job_id(&answer);
        let answer = client.call("job-result", json!({ "job": job, "wait_seconds": 20 })).await;
        assert!(answer.questions().is_empty(), "{}", answer.json());
        assert_eq!(job_id(&answer), job);
        let answer = client.call("job-result", json!({ "job": job })).await;
        assert_eq!((answer.text(), answer.questions().len()), ("true false", 1), "{}", answer.json());
        assert_eq!(world.tasks.rows().iter().filter(|(key, _)| key.ends_with("/task")).count(), 1);

        for revision in &REVISIONS[..4] {
            let answer = world.plain().revision(*revision).call("ask", json!({})).await;
            assert!(answer.is_error(), "{}", answer.json());
            assert!(
                answer.text().contains("cannot be asked") || answer.text().contains("2026-07-28"),
                "{}",
                answer.text()
            );
        }
    });
}

/// A client with tasks can poll with `job-result` too, but a client that cannot be asked learns that the job waits for an answer.
#[test]
fn a_client_that_cannot_be_asked_is_told_so() {
    testing::run(async {
        let world = World::new(items);
        let id = created(&world.client().call("ask", json!({})).await);
        world.run().await;
        for client in [world.plain().revision(Revision::V2025_11_25), world.plain().capabilities(json!({}))] {
            let answer = client.call("job-result", json!({ "job": id })).await;
            assert!(answer.is_error(), "{}", answer.json());
            assert_eq!(world.status(&id).await, "input_required");
        }
    });
}

/// An answer that does not fit its question is an error of the call, which also cancels the task.
#[test]
fn a_wrong_answer_does_not_leave_a_task_behind() {
    testing::run(async {
        let world = World::new(items);
        let client = world.plain().reply("first", json!({ "action": "perhaps" }));
        let answer = client.call("ask", json!({})).await;
        assert!(answer.is_error(), "{}", answer.json());
        world.run().await;
        let statuses = statuses(&world);
        assert_eq!(statuses, ["cancelled"], "{}", answer.json());
    });
}

/// Objects whose first answer to a message with this text is lost.
struct Lossy {
    objects: TestTasks,
    lost: &'static str,
    has_lost: Cell<bool>,
}

impl TaskObjects for Lossy {
    fn send(&self, name: &str, message: String) -> LocalBoxFuture<'static, Result<String, String>> {
        let is_lost = message.contains(self.lost) && !self.has_lost.replace(true);
        let answer = self.objects.send(name, message);
        async move { if is_lost { answer.await.and(Err("the connection has ended".to_owned())) } else { answer.await } }
            .boxed_local()
    }
}

/// Texts of the messages that create a task and wait for it.
const CREATE: &str = r#""create""#;
const WAIT: &str = r#""get""#;

/// If the answer about a new task is lost, nobody knows its id, so it is cancelled. With a key, a repeated call finds it.
#[test]
fn a_lost_answer_does_not_leave_a_task_behind() {
    testing::run(async {
        let clients = [
            (CREATE, all(), Revision::V2026_07_28),
            (CREATE, json!({}), Revision::V2026_07_28),
            (CREATE, json!({}), Revision::V2025_11_25),
            (WAIT, json!({}), Revision::V2026_07_28),
            (WAIT, json!({}), Revision::V2025_11_25),
        ];
        for (has_key, expected) in [(false, "cancelled"), (true, "working")] {
            for (lost, capabilities, revision) in clients.clone() {
                let key = |Rest { seconds }: Rest| seconds.to_string();
                let task = if has_key { Task::new().dedupe(key) } else { Task::new() };
                let program = || {
                    let task = task.clone();
                    with_tokens(endpoint(|server| server.tool(Tool::new("rest", "Rests.", rest).task(task))))
                };
                let world = World::of(program());
                let lossy = Lossy { objects: world.tasks.clone(), lost, has_lost: Cell::new(false) };
                let endpoint = program().task_objects(lossy);
                let client = Client::new(&endpoint).host(&world.host).token("ada").revision(revision);
                let client = client.capabilities(capabilities);
                let answer = client.call("rest", rests(60)).await;
                assert!(answer.is_error(), "{}", answer.json());
                world.run().await;
                assert_eq!(statuses(&world), [expected], "{}", answer.json());
            }
        }
    });
}

/// Returns the stored status of each task.
fn statuses(world: &World) -> Vec<String> {
    let tasks = world.tasks.rows().into_iter().filter(|(key, _)| key.ends_with("/task"));
    let status = |(_, row): (String, Vec<u8>)| {
        let row: Value = serde_json::from_slice(&row).expect("JSON");
        row["status"].as_str().expect("a status").to_owned()
    };
    tasks.map(status).collect()
}

/// A tool with a job publishes no output schema, because the answer about a job does not fit it. The tools for jobs are listed if a tool that the
/// caller can see has tasks.
#[test]
fn output_schemas_are_published_if_every_result_fits() {
    testing::run(async {
        let world = World::of(with_tokens(endpoint(|server| {
            let short = async |cx: Context| {
                cx.sleep(Duration::from_secs(1)).await;
                Json(Rested { seconds: 1 })
            };
            items(server)
                .tool(Tool::new("direct", "Rests.", short).task(Task::new().without_job()))
                .tool(Tool::new("required", "Rests.", short).task(Task::required()))
        })));
        let client = world.plain().token("ada");
        let list = client.list("tools").await;
        assert_eq!(list.names(), ["rest", "ask", "direct", "required", "job-result", "job-cancel"]);
        let has_output = |name: &str| {
            let tools = list.result()["tools"].as_array().expect("tools");
            tools.iter().find(|tool| tool["name"] == name).expect("the tool").get("outputSchema").is_some()
        };
        assert_eq!(["rest", "direct", "required"].map(has_output), [false, true, true]);
        // Without a job, a client without tasks is answered directly. Others get a task.
        let answer = client.call("direct", json!({})).await;
        assert_eq!((answer.structured(), statuses(&world).len()), (&json!({ "seconds": 1 }), 0));
        created(&world.client().token("ada").call("direct", json!({})).await);
        let job =
            list.result()["tools"].as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == "job-result"));
        assert_eq!(job.expect("the tool")["annotations"]["readOnlyHint"], true);
    });
}

fn guarded(server: McpServerBuilder) -> McpServerBuilder {
    let is_ada = |request: &edge_mcp::RequestInfo| request.caller().is_some_and(|caller| caller.subject == "ada");
    let task = || Task::new().answer_within(Duration::from_secs(1));
    server
        .tool(Tool::new("scoped", "Rests.", rest).scopes(["jobs"]).task(task()))
        .tool(Tool::new("seen", "Rests.", rest).visible_if(is_ada).task(task()))
}

/// T27: scopes and visibility hold for the call, for each poll, and for the job. The tools for jobs are as visible as the tools.
#[test]
fn scopes_and_visibility_hold_for_tasks() {
    testing::run(async {
        let mut world = World::of(with_tokens(endpoint(guarded)));
        for client in [world.plain().token("eve"), world.client().token("eve")] {
            let answer = client.call("scoped", rests(60)).await;
            assert_eq!(answer.status(), 403, "{}", answer.json());
        }
        for client in [world.plain().token("bob"), world.client().token("bob")] {
            assert_eq!(client.call("seen", rests(60)).await.error().map(|it| it.0), Some(-32602));
        }
        assert!(statuses(&world).is_empty());
        let mut jobs = Vec::new();
        for tool in ["scoped", "seen"] {
            jobs.push(job_id(&world.plain().token("ada").call(tool, rests(60)).await));
        }
        // Other callers cannot use the job.
        for job in &jobs {
            for other in ["bob", "eve"] {
                let answer = world.plain().token(other).call("job-result", json!({ "job": job })).await;
                assert!(answer.is_error() && answer.text().starts_with("There is no such job"), "{}", answer.json());
            }
        }
        // The caller loses the scope, and the tool is hidden: see the new program.
        world.deploy(with_tokens(endpoint(|server| {
            let server = server.tool(Tool::new("scoped", "Rests.", rest).scopes(["more"]).task(Task::new()));
            server.tool(Tool::new("seen", "Rests.", rest).visible_if(|_| false).task(Task::new()))
        })));
        for job in &jobs {
            let client = world.client().token("ada");
            let result = client.call("job-result", json!({ "job": job })).await;
            assert!(result.is_error() && result.text().starts_with("There is no such job"), "{}", result.json());
            for method in ["tasks/get", "tasks/cancel"] {
                let answer = client.request(method, json!({ "taskId": job })).await;
                assert_eq!(answer.error().map(|it| it.0), Some(-32602), "{method}");
            }
        }
        // The attempts find that too.
        world.advance(60);
        world.run().await;
        assert_eq!(statuses(&world), ["failed", "failed"]);
    });
}

/// The tools for jobs are not listed for a caller who sees no tool with tasks.
#[test]
fn job_tools_are_listed_with_the_tools() {
    testing::run(async {
        let world = World::of(with_tokens(endpoint(|server| {
            let is_ada =
                |request: &edge_mcp::RequestInfo| request.caller().is_some_and(|caller| caller.subject == "ada");
            server.tool(Tool::new("seen", "Rests.", rest).visible_if(is_ada).task(Task::new())).tool(Tool::new(
                "open",
                "Answers.",
                || async { "now" },
            ))
        })));
        let names = async |token: &str| world.plain().token(token).list("tools").await.names().join(" ");
        assert_eq!(names("ada").await, "seen open job-result job-cancel");
        assert_eq!(names("bob").await, "open");
    });
}

/// A client of 2026-07-28 that leaves before it has the id of the job cancels the task. A legacy client may leave for other reasons.
#[test]
fn a_client_that_leaves_cancels_its_task() {
    testing::run(async {
        for revision in REVISIONS {
            let seen = Seen::default();
            let of = seen.clone();
            let world = World::slow(endpoint(|server| {
                let work = move |cx: Context| {
                    let seen = of.clone();
                    async move {
                        note(&seen, "began");
                        pause(&cx, 3).await;
                        note(&seen, "ended");
                        "done"
                    }
                };
                server.tool(Tool::new("work", "Works.", work).task(Task::new()))
            }));
            {
                let client = world.plain().revision(revision);
                let mut call = pin!(client.call("work", json!({})));
                let mut task = std::task::Context::from_waker(std::task::Waker::noop());
                assert!(call.as_mut().poll(&mut task).is_pending());
                assert_eq!(*seen.borrow(), ["began"]);
            }
            world.run().await;
            let is_modern = revision == Revision::V2026_07_28;
            assert_eq!(statuses(&world), [if is_modern { "cancelled" } else { "completed" }], "{revision:?}");
            assert_eq!(seen.borrow().len(), if is_modern { 1 } else { 2 });
        }
    });
}

/// A client of 2026-07-28 with a question does not leave when its round ends.
#[test]
fn a_question_does_not_cancel_the_task() {
    testing::run(async {
        let world = World::new(items);
        // The client does not answer.
        let answer = world.plain().call("ask", json!({})).await;
        assert!(answer.is_error());
        world.run().await;
        assert_eq!(statuses(&world), ["input_required"]);
    });
}

/// A caller has a number of tasks of a tool at the same time. A task that has ended, was cancelled, or has expired frees its place.
#[test]
fn tasks_are_counted_for_each_caller() {
    testing::run(async {
        let world = World::of(with_tokens(endpoint(|server| {
            let two = Task::new().per_caller(2).answer_within(Duration::ZERO).ttl(Duration::from_secs(100));
            server
                .tool(Tool::new("rest", "Rests.", rest).task(two.clone()))
                .tool(Tool::new("other", "Rests.", rest).task(two))
        })));
        let ada = world.plain().token("ada");
        let first = job_id(&ada.call("rest", rests(50)).await);
        world.run().await;
        world.advance(10);
        job_id(&ada.call("rest", rests(1000)).await);
        let sentence = "`rest` was not called: you already have 2 running jobs of it. Wait until one has ended, or cancel one. A place becomes \
                        free in 90 s at the latest.";
        let modern = world.client().token("ada");
        for client in [&ada, &modern] {
            let refused = client.call("rest", rests(1)).await;
            assert_eq!((refused.text(), &refused.result()["isError"]), (sentence, &json!(true)));
        }
        // Another caller, and another tool.
        job_id(&world.plain().token("bob").call("rest", rests(1000)).await);
        let other = job_id(&ada.call("other", rests(1000)).await);
        job_id(&ada.call("other", rests(1000)).await);
        assert!(ada.call("other", rests(1)).await.is_error());
        ada.call("job-cancel", json!({ "job": other })).await;
        job_id(&ada.call("other", rests(1000)).await);
        // The first one ends.
        world.advance(50);
        assert_eq!(ada.call("job-result", json!({ "job": first })).await.text(), r#"{"seconds":50}"#);
        job_id(&ada.call("rest", rests(1000)).await);
        assert!(ada.call("rest", rests(1)).await.is_error());
        // The second one expires, although its alarm has not rung.
        world.advance(50);
        job_id(&ada.call("rest", rests(1000)).await);
        for _ in 0..3 {
            world.advance(100);
            world.run().await;
        }
        assert!(world.keys().is_empty(), "{:?}", world.keys());
    });
}

#[derive(Deserialize, JsonSchema)]
struct Year {
    year: u16,
    format: Option<String>,
}

/// Calls with the same key are one task, as long as it is kept. Other callers have their own.
#[test]
fn calls_with_the_same_key_are_one_task() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let world = World::of(with_tokens(endpoint(|server| {
            let report = move |Year { year, format }: Year, cx: Context| {
                let seen = of.clone();
                async move {
                    effect(&cx, &seen, &format!("y{year}"), 1).await?;
                    cx.sleep(Duration::from_mins(1)).await;
                    Ok::<_, HandlerError>(format!("{year} {}", format.unwrap_or_default()))
                }
            };
            let task = Task::new().dedupe(|it: Year| it.year.to_string()).per_caller(2).ttl(Duration::from_mins(10));
            server.tool(Tool::new("report", "Reports.", report).task(task.answer_within(Duration::ZERO)))
        })));
        let ada = world.client().token("ada");
        let year = |year: u16, format: &str| json!({ "year": year, "format": format });
        let first = created(&ada.call("report", year(2026, "a")).await);
        for _ in 0..3 {
            assert_eq!(created(&ada.call("report", year(2026, "b")).await), first);
        }
        assert_eq!(job_id(&world.plain().token("ada").call("report", year(2026, "c")).await), first);
        let second = created(&ada.call("report", year(2025, "a")).await);
        assert_ne!(second, first);
        assert_ne!(created(&world.client().token("bob").call("report", year(2026, "a")).await), first);
        // A repeated call also finds a task that has ended, and the number of tasks does not grow.
        world.run().await;
        world.advance(60);
        world.run().await;
        let again = ada.call("report", year(2026, "a")).await;
        assert_eq!((created(&again), &again.result()["status"]), (first.clone(), &json!("completed")));
        assert_eq!(seen.borrow().len(), 3);
        assert_eq!(world.plain().token("ada").call("report", year(2026, "z")).await.text(), "2026 a");
        for year_of in [2001, 2002] {
            created(&ada.call("report", year(year_of, "a")).await);
        }
        assert!(ada.call("report", year(2003, "a")).await.is_error());
        // After its time, the key is free.
        for seconds in [60, 480] {
            world.run().await;
            world.advance(seconds);
        }
        let third = created(&ada.call("report", year(2026, "a")).await);
        assert_eq!(third, first, "the id follows from the key");
        world.run().await;
        let state = ada.request("tasks/get", json!({ "taskId": third })).await;
        assert_eq!(state.result()["status"], "working");
        assert_eq!(seen.borrow().iter().filter(|it| it.starts_with("y2026")).count(), 3);
    });
}

/// The results of both kinds of clients are the same.
#[test]
fn a_handle_and_a_task_are_the_same() {
    testing::run(async {
        let world = World::new(items);
        let job = job_id(&world.plain().call("rest", rests(30)).await);
        assert_eq!(world.status(&job).await, "working");
        assert_eq!(world.get(&job).await["statusMessage"], "resting");
        let state = world.finish(&job).await;
        assert_eq!(text(&state), r#"{"seconds":30}"#);
        let answer = world.client().capabilities(all()).call("job-result", json!({ "job": job })).await;
        assert_eq!(answer.result()["structuredContent"], state["result"]["structuredContent"]);
    });
}
