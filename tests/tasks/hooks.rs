//! Hooks and approvals of tools with tasks.

use std::time::Duration;

use edge_mcp::call::ToolEvent;
use edge_mcp::tasks::Task;
use edge_mcp::testing;
use edge_mcp::{Context, HandlerError, McpServerBuilder, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::world::{Seen, World, created, endpoint, job_id, note, pause, text};

fn described(event: &ToolEvent) -> String {
    match event {
        ToolEvent::InputStart => "start".into(),
        ToolEvent::InputDelta(text) => format!("delta {text}"),
        ToolEvent::InputAvailable(arguments) => format!("available {arguments}"),
        ToolEvent::Output(_) => "output".into(),
        ToolEvent::Error(message) => format!("error {message}"),
        ToolEvent::Approval { is_approved } => format!("approved: {is_approved}"),
        ToolEvent::Finished(call) => format!("{} {} in {} s", call.tool, call.arguments, call.time.as_secs()),
        _ => "unknown".into(),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Payment {
    euros: u32,
}

fn items(server: McpServerBuilder, seen: &Seen) -> McpServerBuilder {
    let (hooked, paid) = (seen.clone(), seen.clone());
    let pay = move |Payment { euros }: Payment, cx: Context| {
        let seen = paid.clone();
        async move {
            if euros == 13 {
                return Err(HandlerError::new("Not 13."));
            }
            for nth in 0..3 {
                cx.step("s", &nth, async || Ok(())).await?;
                cx.sleep(Duration::from_secs(1)).await;
            }
            cx.confirm("sure", "Sure?").await?;
            note(&seen, format!("paid {euros}"));
            Ok(format!("paid {euros}"))
        }
    };
    let hook = move |event: ToolEvent, _: Context| {
        note(&hooked, described(&event));
        async { Ok(()) }
    };
    let pay = Tool::new("pay", "Pays.", pay).hook(hook).task(Task::new().answer_within(Duration::from_secs(30)));
    let seen = seen.clone();
    server.tool(pay.requires_approval(move |Payment { euros }: Payment, _| {
        note(&seen, "approval");
        async move { Ok((euros > 100).then(|| "Pay this much?".into())) }
    }))
}

/// The hooks get the events of a call once, over all attempts and kinds of clients.
#[test]
fn hooks_run_once_per_call() {
    testing::run(async {
        for has_tasks in [true, false] {
            let seen = Seen::default();
            let world = World::new(|server| items(server, &seen));
            let client = if has_tasks { world.client() } else { world.plain() };
            let client = client.answer("sure", json!({}));
            let answer = client.call("pay", json!({ "euros": 1 })).await;
            if has_tasks {
                let id = created(&answer);
                world.finish(&id).await;
                world.update(&id, json!({ "sure": { "action": "accept", "content": {} } })).await;
                assert_eq!(text(&world.finish(&id).await), "paid 1");
            } else {
                assert_eq!(answer.text(), "paid 1");
            }
            let mut events = seen.borrow().clone();
            events.retain(|event| event != "approval");
            assert_eq!(
                events,
                [
                    "start",
                    r#"delta {"euros":1}"#,
                    r#"available {"euros":1}"#,
                    "paid 1",
                    "output",
                    r#"pay {"euros":1} in 3 s"#
                ]
            );
            seen.borrow_mut().clear();
            let answer = client.call("pay", json!({ "euros": 13 })).await;
            if has_tasks {
                world.finish(&created(&answer)).await;
            }
            assert_eq!(seen.borrow().iter().rev().nth(1).map(String::as_str), Some("error Not 13."));
            assert_eq!(seen.borrow().iter().filter(|event| *event == "start").count(), 1);
            // Wrong arguments do not create a task.
            let keys = world.keys();
            assert!(client.call("pay", json!({ "euros": "x" })).await.is_error());
            assert_eq!(world.keys(), keys);
            assert!(seen.borrow().iter().any(|event| event.starts_with("error The arguments")), "{seen:?}");
            assert_eq!(seen.borrow().last().map(String::as_str), Some("pay null in 0 s"));
        }
    });
}

/// T7: the approval is asked before the task exists, and not again in it.
#[test]
fn an_approval_comes_before_the_task() {
    testing::run(async {
        for has_tasks in [true, false] {
            let seen = Seen::default();
            let world = World::new(|server| items(server, &seen));
            let client = if has_tasks { world.client() } else { world.plain() };
            let declined = client.clone().decline("edge-mcp/approval").call("pay", json!({ "euros": 200 })).await;
            assert!(declined.is_error(), "{}", declined.json());
            assert!(world.keys().is_empty(), "{:?}", world.keys());
            assert_eq!(seen.borrow().iter().filter(|it| *it == "approved: false").count(), 1);
            seen.borrow_mut().clear();
            let client = client.answer("edge-mcp/approval", json!({})).answer("sure", json!({}));
            let answer = client.call("pay", json!({ "euros": 200 })).await;
            assert!(answer.questions().contains_key("edge-mcp/approval"));
            if has_tasks {
                let id = created(&answer);
                let before = seen.borrow().iter().filter(|it| *it == "approval").count();
                let state = world.finish(&id).await;
                assert_eq!(
                    state["inputRequests"].as_object().map(|it| it.keys().cloned().collect::<Vec<_>>()),
                    Some(vec!["sure".into()])
                );
                world.update(&id, json!({ "sure": { "action": "accept", "content": {} } })).await;
                assert_eq!(text(&world.finish(&id).await), "paid 200");
                assert_eq!(
                    seen.borrow().iter().filter(|it| *it == "approval").count(),
                    before,
                    "an attempt does not ask"
                );
                assert_eq!(seen.borrow().iter().filter(|it| *it == "approved: true").count(), 1);
            } else {
                assert_eq!(answer.text(), "paid 200");
            }
            assert_eq!(seen.borrow().iter().filter(|it| *it == "paid 200").count(), 1);
            // A client that cannot be asked gets no task.
            let rows = world.keys().len();
            let refused = world.plain().capabilities(json!({ "extensions": { crate::world::EXTENSION: {} } }));
            assert!(refused.call("pay", json!({ "euros": 200 })).await.is_error());
            assert_eq!(world.keys().len(), rows);
        }
    });
}

/// A tool that a task calls asks for its approval in the task.
#[test]
fn a_nested_approval_is_a_question_of_the_task() {
    testing::run(async {
        let seen = Seen::default();
        let world = World::new(|server| {
            let outer = |cx: Context| async move {
                cx.sleep(Duration::from_secs(1)).await;
                Ok::<_, HandlerError>(cx.call_tool("pay", json!({ "euros": 200 })).await?.text())
            };
            items(server, &seen).tool(Tool::new("outer", "Pays.", outer).task(Task::new()))
        });
        let id = world.start("outer", json!({})).await;
        for _ in 0..2 {
            let state = world.finish(&id).await;
            let keys: Vec<_> = state["inputRequests"].as_object().expect("questions").keys().cloned().collect();
            assert_eq!(keys.len(), 1, "{state}");
            world.update(&id, json!({ &*keys[0]: { "action": "accept", "content": {} } })).await;
        }
        assert_eq!(text(&world.finish(&id).await), "paid 200");
        assert_eq!(seen.borrow().iter().filter(|it| it.starts_with("paid")).count(), 1);
        assert_eq!(
            world.keys().iter().filter(|key| key.ends_with("/task")).count(),
            1,
            "there is no task within a task"
        );
    });
}

/// A call of the program, and a call within another call, does not become a task of its own. Its own deadline is that of the attempt.
#[test]
fn nested_calls_are_part_of_the_outer_task() {
    testing::run(async {
        let world = World::slow(endpoint(|server| {
            let inner = |cx: Context| async move {
                pause(&cx, 100).await;
                cx.task().map_or_else(|| "none".to_owned(), |it| it.attempt.to_string())
            };
            let outer =
                |cx: Context| async move { Ok::<_, HandlerError>(cx.call_tool("inner", json!({})).await?.text()) };
            server
                .tool(Tool::new("inner", "Waits.", inner).task(Task::new()))
                .tool(Tool::new("outer", "Calls.", outer).task(Task::new().answer_within(Duration::from_secs(1))))
        }));
        let job = job_id(&world.plain().call("outer", json!({})).await);
        assert_eq!(text(&world.finish(&job).await), "1");
        assert_eq!(world.keys().iter().filter(|key| key.ends_with("/task")).count(), 1);
    });
}
