//! Interruptions: at each write, the program ends or the write fails. The result is that of an undisturbed run, and each effect has one key.

use std::time::Duration;

use edge_mcp::agents::{ChatAgent, ChatModel};
use edge_mcp::host::Fetched;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, TestHost, TestTasks};
use edge_mcp::{Context, Endpoint, HandlerError, Tool};
use futures::future::try_join3;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::{Seen, World, effect, effects, endpoint, note, pause, text};

#[derive(Deserialize, JsonSchema)]
struct Number {
    n: u32,
}

/// Returns an endpoint that notes its effects.
type Program = fn(Seen) -> Endpoint;

/// The handlers of the tests. Each returns the tool `work`.
const HANDLERS: [(&str, Program); 8] = [
    ("steps", steps),
    ("joins", joins),
    ("questions", questions),
    ("sleeps", sleeps),
    ("nested calls", nested),
    ("started later", later),
    ("waits", waits),
    ("agent", agent),
];

/// Returns an endpoint whose tool `work` runs `handler`.
fn serving<F>(seen: Seen, task: Task, handler: fn(Context, Seen) -> F) -> Endpoint
where
    F: Future<Output = Result<String, HandlerError>> + 'static,
{
    endpoint(move |server| {
        let (outer, inner) = (seen.clone(), seen.clone());
        let work = move |cx: Context| handler(cx, outer.clone());
        let double = move |Number { n }: Number, cx: Context| {
            let seen = inner.clone();
            async move {
                let n = effect(&cx, &seen, &format!("double{n}"), n).await?;
                let is_sure = cx.confirm("sure", "Double it?").await?;
                cx.sleep(Duration::from_secs(5)).await;
                effect(&cx, &seen, &format!("doubled{n}"), n).await?;
                Ok::<_, HandlerError>(format!("{}", if is_sure { n * 2 } else { n }))
            }
        };
        server.tool(Tool::new("work", "Works.", work).task(task.clone())).tool(Tool::new("double", "Doubles.", double))
    })
}

fn steps(seen: Seen) -> Endpoint {
    serving(seen, Task::new(), |cx, seen| async move {
        let a = effect(&cx, &seen, "a", 1).await?;
        let b = effect(&cx, &seen, "b", a + 1).await?;
        let inner = cx
            .step("outer", &b, async || {
                let c = effect(&cx, &seen, "c", b).await?;
                let d = effect(&cx, &seen, "d", c + 1).await?;
                Ok(c + d)
            })
            .await?;
        // The order distinguishes equal steps.
        let mut polls = 0;
        while cx
            .step("poll", &(), async || {
                note(&seen, format!("poll{polls} {}", cx.idempotency_key()?));
                Ok(polls < 2)
            })
            .await?
        {
            polls += 1;
        }
        Ok(format!("{inner} {polls}"))
    })
}

fn joins(seen: Seen) -> Endpoint {
    serving(seen, Task::new(), |cx, seen| async move {
        let branch = async |name: &str, n: u32| {
            let first = effect(&cx, &seen, name, n).await?;
            cx.sleep(Duration::from_secs(n.into())).await;
            effect(&cx, &seen, &format!("{name}2"), first + 1).await
        };
        let (a, b, c) = try_join3(branch("a", 3), branch("b", 1), branch("c", 2)).await?;
        Ok(format!("{a} {b} {c}"))
    })
}

fn questions(seen: Seen) -> Endpoint {
    serving(seen, Task::new(), |cx, seen| async move {
        effect(&cx, &seen, "before", 1).await?;
        let first = cx.confirm("first", "First?").await?;
        effect(&cx, &seen, "between", 1).await?;
        let asked = async |key: &str| Ok::<_, HandlerError>(cx.confirm(key, "More?").await?);
        let (a, b, n) = try_join3(asked("a"), asked("b"), effect(&cx, &seen, "meanwhile", 7)).await?;
        effect(&cx, &seen, "after", 1).await?;
        // The second question with this key.
        let again = cx.confirm("first", "First, again?").await?;
        Ok(format!("{first} {a} {b} {n} {again}"))
    })
}

fn sleeps(seen: Seen) -> Endpoint {
    serving(seen, Task::new(), |cx, seen| async move {
        for nth in 0..2 {
            effect(&cx, &seen, &format!("s{nth}"), nth).await?;
            cx.sleep(Duration::from_mins(1)).await;
        }
        let within = cx
            .step("within", &(), async || {
                effect(&cx, &seen, "x", 1).await?;
                cx.sleep(Duration::from_mins(1)).await;
                effect(&cx, &seen, "y", 1).await
            })
            .await?;
        Ok(format!("{within}"))
    })
}

fn nested(seen: Seen) -> Endpoint {
    serving(seen, Task::new(), |cx, seen| async move {
        effect(&cx, &seen, "before", 1).await?;
        let double = async |n: u32| Ok::<_, HandlerError>(cx.call_tool("double", json!({ "n": n })).await?.text());
        let in_step = cx.step("call", &(), async || double(4).await);
        let (a, b, c) = try_join3(double(2), in_step, effect(&cx, &seen, "meanwhile", 1)).await?;
        Ok(format!("{a} {b} {c}"))
    })
}

fn later(seen: Seen) -> Endpoint {
    serving(seen, Task::new().starts_later(), |cx, seen| async move {
        let n = effect(&cx, &seen, "before", 5).await?;
        let first = cx.confirm("first", "First?").await?;
        cx.start_task().await;
        effect(&cx, &seen, "after", n).await?;
        let second = cx.confirm("second", "Second?").await?;
        Ok(format!("{n} {first} {second}"))
    })
}

/// Steps that wait for a request, also in parallel.
fn waits(seen: Seen) -> Endpoint {
    serving(seen, Task::new(), |cx, seen| async move {
        let slow = async |name: &str, seconds: u64| {
            cx.step(name, &seconds, async || {
                note(&seen, format!("{name} {}", cx.idempotency_key()?));
                pause(&cx, seconds).await;
                effect(&cx, &seen, &format!("{name}2"), 1).await?;
                pause(&cx, seconds).await;
                Ok(seconds)
            })
            .await
        };
        let (a, b, c) = try_join3(slow("a", 3), slow("b", 10), slow("c", 1)).await?;
        let d = slow("d", 2).await?;
        Ok(format!("{a} {b} {c} {d}"))
    })
}

/// An agent whose model calls a tool that asks.
fn agent(seen: Seen) -> Endpoint {
    let model = ChatModel::new("https://model.example/v1", "small").expect("a model");
    endpoint(move |server| {
        let inner = seen.clone();
        let double = move |Number { n }: Number, cx: Context| {
            let seen = inner.clone();
            async move {
                effect(&cx, &seen, "double", n).await?;
                let is_sure = cx.confirm("sure", "Double it?").await?;
                Ok::<_, HandlerError>(format!("{}", if is_sure { n * 2 } else { n }))
            }
        };
        let work = |cx: Context| async move {
            Ok::<_, HandlerError>(cx.call_tool("ask_clerk", json!({ "message": "Double 21." })).await?.text())
        };
        server
            .agent(ChatAgent::new("clerk", "Clerk", "Doubles.", model.clone()).tools(["double"]))
            .tool(Tool::new("double", "Doubles.", double))
            .tool(Tool::new("work", "Asks the clerk.", work).task(Task::new()))
    })
}

/// Returns a host with the model: it calls the tool, and then repeats the result. Requests to other servers are never answered.
fn host() -> TestHost {
    TestHost::new().fetch(|request, _| async move {
        if request.uri().host() != Some("model.example") {
            std::future::pending::<()>().await;
        }
        let asked: Value = serde_json::from_str(request.body()).expect("JSON");
        let last = asked["messages"].as_array().and_then(|all| all.last()).expect("a message").clone();
        let (message, reason) = if last["role"] == "tool" {
            (json!({ "role": "assistant", "content": format!("It is {}.", last["content"].as_str().expect("a text")) }), "stop")
        } else {
            let function = json!({ "name": "double", "arguments": "{\"n\":21}" });
            let call = json!([{ "id": "call1", "type": "function", "function": function }]);
            (json!({ "role": "assistant", "content": null, "tool_calls": call }), "tool_calls")
        };
        let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
        let usage = json!({ "prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8 });
        Ok(Fetched::new(200, json!({ "id": "c", "object": "chat.completion", "choices": [choice], "usage": usage }).to_string()))
    })
}

/// Returns the status in the row of the only task.
fn stored_status(tasks: &TestTasks) -> Option<String> {
    let rows = tasks.rows();
    let (_, row) = rows.iter().find(|(key, _)| key.ends_with("/task"))?;
    let row: Value = serde_json::from_slice(row).expect("JSON");
    row["status"].as_str().map(str::to_owned)
}

/// Runs `work` to its end, answers each question, and returns the text of the result. A request that fails is repeated. After each answer,
/// `between` runs.
async fn complete(world: &World, seen: &Seen, between: impl Fn(&TestTasks)) -> String {
    let client = world.client().answer("first", json!({}));
    let mut id = None;
    for _ in 0..500 {
        let Some(task) = id.clone() else {
            let answer = client.call("work", json!({})).await;
            id = answer.result()["taskId"].as_str().map(str::to_owned);
            if id.is_none() {
                assert!(answer.is_error(), "{}", answer.json());
                // The repeated call is another one.
                seen.borrow_mut().clear();
            }
            continue;
        };
        between(&world.tasks);
        world.run().await;
        let state = world.get(&task).await;
        let status = state["status"].as_str().expect("a status");
        assert_eq!(stored_status(&world.tasks).as_deref(), Some(status), "a state that is not stored");
        match status {
            "working" => world.to_next_alarm(),
            "input_required" => {
                let (key, _) =
                    state["inputRequests"].as_object().and_then(|all| all.iter().next()).expect("a question");
                let updated = world.update(&task, json!({ key: { "action": "accept", "content": {} } })).await;
                let after = world.get(&task).await;
                let is_open = !after["inputRequests"][key].is_null();
                assert!(!is_open || updated.error().is_some(), "an answer that is not stored");
            }
            _ => {
                for seconds in [3600, 2] {
                    world.advance(seconds);
                    world.run().await;
                }
                assert!(world.keys().is_empty() && world.tasks.next_alarm().is_none(), "{:?}", world.keys());
                return text(&state).to_owned();
            }
        }
    }
    panic!("the task does not end: {}", world.host.log_text());
}

/// Runs each handler with a fault at each write, until there are no more writes.
async fn with_fault_at_each_write(fault: impl Fn(&TestTasks, u32)) {
    for (name, handler) in HANDLERS {
        let seen = Seen::default();
        let undisturbed = complete(&World::on(host(), handler(seen.clone())), &seen, |_| {}).await;
        let expected = effects(&seen);
        assert!(!expected.is_empty());
        let mut faults = 0;
        for nth in 1.. {
            let seen = Seen::default();
            let world = World::on(host(), handler(seen.clone()));
            fault(&world.tasks, nth);
            let result = complete(&world, &seen, |_| {}).await;
            assert_eq!(result, undisturbed, "{name}, fault at write {nth}");
            assert_eq!(effects(&seen), expected, "{name}, fault at write {nth}");
            if !world.tasks.has_failed() {
                break;
            }
            faults = nth;
        }
        assert!(faults > 5, "{name}: {faults} writes");
    }
}

#[test]
fn the_program_can_end_at_each_write() {
    testing::run(with_fault_at_each_write(TestTasks::kill_at_write));
}

/// A state that a client sees is stored: see [`complete`].
#[test]
fn each_write_can_fail() {
    testing::run(with_fault_at_each_write(TestTasks::fail_write));
}

/// The isolate ends between two polls of a handler, at each of its waits.
#[test]
fn attempts_can_be_interrupted_at_each_wait() {
    testing::run(async {
        for (name, handler) in HANDLERS {
            let seen = Seen::default();
            let undisturbed = complete(&World::on(host(), handler(seen.clone())), &seen, |_| {}).await;
            let expected = effects(&seen);
            let seen = Seen::default();
            let world = World::on(host(), handler(seen.clone()));
            let interrupted = complete(&world, &seen, |tasks| {
                futures::executor::block_on(tasks.begin()).expect("it begins");
                tasks.interrupt();
            })
            .await;
            assert_eq!(interrupted, undisturbed, "{name}");
            assert_eq!(effects(&seen), expected, "{name}");
        }
    });
}

/// The rows of a task and of its count are deleted after it has expired, whichever write has failed when it was created.
#[test]
fn nothing_is_left_after_a_failed_write() {
    testing::run(async {
        for (name, handler) in HANDLERS {
            for nth in 1..=12 {
                let world = World::on(host(), handler(Seen::default()));
                world.tasks.fail_write(nth);
                let _answer = world.client().call("work", json!({})).await;
                for _ in 0..3 {
                    world.run().await;
                    world.advance(100_000);
                }
                world.run().await;
                assert!(world.tasks.rows().is_empty(), "{name}, write {nth}: {:?}", world.keys());
            }
        }
    });
}
