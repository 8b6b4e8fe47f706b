//! A new version of the program is deployed while a task exists.

use std::time::Duration;

use edge_mcp::tasks::Task;
use edge_mcp::testing;
use edge_mcp::{Context, Endpoint, HandlerError, Tool};
use futures::future::try_join;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::{Seen, World, effect, effects, endpoint, note, pause, text, with_tokens};

/// The program of a version: the inputs of its steps `pay` and `after`, and the order of two parallel steps `p`.
#[derive(Clone, Copy)]
struct Program {
    pay: u32,
    after: u32,
    is_reversed: bool,
    tolerates: bool,
}

const FIRST: Program = Program { pay: 1, after: 1, is_reversed: false, tolerates: false };

fn program(seen: &Seen, version: Option<&str>, program: Program) -> Endpoint {
    let seen = seen.clone();
    let Program { pay, after, is_reversed, tolerates } = program;
    let served = endpoint(|server| {
        let work = move |cx: Context| {
            let seen = seen.clone();
            async move {
                effect(&cx, &seen, "pay", pay).await?;
                let p = async |n: u32| {
                    cx.step("p", &n, async || {
                        note(&seen, format!("p{n} {}", cx.idempotency_key()?));
                        Ok(n)
                    })
                    .await
                };
                let (one, two) = if is_reversed {
                    let (two, one) = try_join(p(2), p(1)).await?;
                    (one, two)
                } else {
                    try_join(p(1), p(2)).await?
                };
                cx.sleep(Duration::from_secs(10)).await;
                effect(&cx, &seen, "after", after).await?;
                Ok::<_, HandlerError>(format!("{one} {two}"))
            }
        };
        let task = if tolerates { Task::new().tolerates_changes() } else { Task::new() };
        server.tool(Tool::new("work", "Works.", work).task(task))
    });
    match version {
        Some(version) => served.version(version),
        None => served,
    }
}

/// Starts a task at version 1, which then sleeps, and finishes it at another version.
async fn deployed(seen: &Seen, versions: [Option<&str>; 2], second: Program) -> (World, Value) {
    let mut world = World::of(program(seen, versions[0], FIRST));
    let id = world.start("work", json!({})).await;
    world.run().await;
    assert_eq!(effects(seen), ["p1", "p2", "pay"]);
    world.deploy(program(seen, versions[1], second));
    world.to_next_alarm();
    let state = world.finish(&id).await;
    (world, state)
}

fn assert_stopped(world: &World, state: &Value, step: &str) {
    assert_eq!((&state["status"], &state["error"]["code"]), (&json!("failed"), &json!(-32603)), "{state}");
    assert!(world.logs(&format!("the step `{step}` with a different input")), "{}", world.host.log_text());
}

/// Equal steps are replayed, also in another order, and a step that has not begun can change.
#[test]
fn a_new_version_continues_with_the_same_steps() {
    testing::run(async {
        for versions in
            [[Some("1"), Some("2")], [None, Some("2")], [Some("1"), None], [None, None], [Some("1"), Some("1")]]
        {
            for second in [FIRST, Program { is_reversed: true, ..FIRST }, Program { after: 2, ..FIRST }] {
                let seen = Seen::default();
                let (_, state) = deployed(&seen, versions, second).await;
                assert_eq!(text(&state), "1 2", "{versions:?}");
                assert_eq!(seen.borrow().len(), 4, "{seen:?}");
                assert_eq!(effects(&seen), ["after", "p1", "p2", "pay"]);
            }
        }
    });
}

/// A finished step with another input could repeat its effect. So the task stops, unless the tool tolerates that. In the same version, the
/// handler itself has changed the input, and the step runs again with a warning.
#[test]
fn a_changed_input_of_a_finished_step_stops_the_task() {
    testing::run(async {
        let changed = Program { pay: 2, ..FIRST };
        for versions in [[Some("1"), Some("2")], [None, Some("2")], [Some("1"), None], [None, None]] {
            let seen = Seen::default();
            let (world, state) = deployed(&seen, versions, changed).await;
            assert_stopped(&world, &state, "pay");
            assert_eq!(effects(&seen), ["p1", "p2", "pay"]);
        }
        for (versions, second) in
            [([Some("1"), Some("2")], Program { tolerates: true, ..changed }), ([Some("1"), Some("1")], changed)]
        {
            let seen = Seen::default();
            let (_, state) = deployed(&seen, versions, second).await;
            assert_eq!(text(&state), "1 2");
            let payments = seen.borrow().iter().filter(|it| it.starts_with("pay ")).count();
            assert_eq!(payments, 2, "{seen:?}");
        }
    });
}

/// A step that has begun may have had its effect too.
#[test]
fn a_changed_input_of_a_begun_step_stops_the_task() {
    testing::run(async {
        let program = |seen: &Seen, version: &str, input: u32| {
            let seen = seen.clone();
            endpoint(|server| {
                let work = move |cx: Context| {
                    let seen = seen.clone();
                    async move {
                        cx.step("pay", &input, async || {
                            note(&seen, "pay");
                            pause(&cx, 1).await;
                            Ok(())
                        })
                        .await
                    }
                };
                server.tool(Tool::new("work", "Works.", work).task(Task::new()))
            })
            .version(version)
        };
        for (input, payments) in [(1, 2), (2, 1)] {
            let seen = Seen::default();
            let mut world = World::slow(program(&seen, "1", 1));
            let id = world.start("work", json!({})).await;
            world.tasks.begin().await.expect("it begins");
            world.tasks.interrupt();
            world.deploy(program(&seen, "2", input));
            let state = world.finish(&id).await;
            assert_eq!(state["status"], if payments == 2 { "completed" } else { "failed" });
            assert_eq!(seen.borrow().len(), payments, "{input}");
        }
    });
}

/// Steps in different parents are different, although they have the same name.
#[test]
fn steps_of_other_parents_do_not_stop_a_task() {
    testing::run(async {
        let program = |version: &str, is_second: bool| {
            endpoint(|server| {
                let work = move |cx: Context| async move {
                    cx.step("outer", &(), async || cx.step("s", &1, async || Ok(1)).await).await?;
                    cx.sleep(Duration::from_secs(1)).await;
                    if is_second {
                        cx.step("s", &2, async || Ok(2)).await?;
                    }
                    Ok::<_, HandlerError>("done")
                };
                server.tool(Tool::new("work", "Works.", work).task(Task::new()))
            })
            .version(version)
        };
        let mut world = World::of(program("1", false));
        let id = world.start("work", json!({})).await;
        world.run().await;
        world.deploy(program("2", true));
        assert_eq!(text(&world.finish(&id).await), "done");
    });
}

#[derive(Deserialize, JsonSchema)]
struct Old {
    n: u32,
}

#[derive(Deserialize, JsonSchema)]
struct New {
    name: String,
}

/// The stored arguments are checked against the current schema. The caller of a removed tool cannot see its task.
#[test]
fn the_tool_of_a_task_can_change() {
    testing::run(async {
        let rest = |cx: Context| async move { cx.sleep(Duration::from_secs(5)).await };
        let first = || {
            endpoint(|server| {
                let handler = move |Old { n }: Old, cx: Context| async move {
                    rest(cx).await;
                    n.to_string()
                };
                server
                    .tool(Tool::new("work", "Works.", handler).task(Task::new()))
                    .tool(Tool::new("other", "Works.", rest).task(Task::new()))
            })
        };
        let mut world = World::of(first());
        let id = world.start("work", json!({ "n": 1 })).await;
        world.run().await;
        world.deploy(endpoint(|server| {
            let handler = move |New { name }: New| async move { name };
            server.tool(Tool::new("work", "Works.", handler).task(Task::new()))
        }));
        let state = world.finish(&id).await;
        assert_eq!((&state["status"], &state["result"]["isError"]), (&json!("completed"), &json!(true)), "{state}");
        assert!(text(&state).contains("input schema"), "{state}");

        let mut world = World::of(first());
        let id = world.start("work", json!({ "n": 1 })).await;
        world.run().await;
        world.deploy(endpoint(|server| server.tool(Tool::new("other", "Works.", rest).task(Task::new()))));
        world.to_next_alarm();
        world.run().await;
        let answer = world.client().request("tasks/get", json!({ "taskId": id })).await;
        assert_eq!(answer.error().map(|it| it.0), Some(-32602), "{}", answer.json());
        // The task has ended, and its result says why.
        world.deploy(first());
        let state = world.finish(&id).await;
        assert_eq!(state["status"], "failed", "{state}");
        // A tool that no longer has tasks ends its task, too.
        let id = world.start("other", json!({})).await;
        world.run().await;
        world.deploy(endpoint(|server| {
            let without = Tool::new("other", "Works.", || async { "now" });
            server.tool(without).tool(Tool::new("work", "Works.", rest).task(Task::new()))
        }));
        assert_eq!(text(&world.finish(&id).await), "now");
    });
}

/// A row that this version cannot read does not stop its task, nor others: the program of another version can continue it.
#[test]
fn rows_in_another_format_are_kept() {
    testing::run(async {
        let rest = |cx: Context| async move { cx.sleep(Duration::from_secs(5)).await };
        for (row, is_described) in [("task", false), ("call#0", true), ("step:", true)] {
            let server = endpoint(|server| {
                let steps = move |cx: Context| async move {
                    cx.step("s", &(), async || Ok(1)).await?;
                    rest(cx).await;
                    Ok::<_, HandlerError>("done")
                };
                server.tool(Tool::new("work", "Works.", steps).task(Task::new()))
            });
            let world = World::of(with_tokens(server)).signed_in("ada");
            let id = world.start("work", json!({})).await;
            world.run().await;
            let (key, readable) =
                world.tasks.rows().into_iter().find(|(key, _)| key.contains(&format!("/{row}"))).expect("the row");
            world.tasks.write_row(&key, b"\x01{\"format\":2}");
            for _ in 0..10 {
                world.advance(20);
                world.run().await;
            }
            let answer = world.client().request("tasks/get", json!({ "taskId": id })).await;
            if is_described {
                assert_eq!(world.status(&id).await, "working", "{row}");
            } else {
                assert_eq!(answer.error().map(|it| it.0), Some(-32603), "{row}: {}", answer.json());
            }
            assert!(world.logs("format of this version") || world.logs("decrypted"), "{}", world.host.log_text());
            // Other tasks work.
            let other = world.start("work", json!({})).await;
            assert_eq!(text(&world.finish(&other).await), "done");
            world.tasks.write_row(&key, &readable);
            world.advance(3600);
            assert_eq!(text(&world.finish(&id).await), "done", "{row}");
        }
    });
}

/// A step that finished in the request, in an order that the task does not repeat, is not one with another input, also if no version is known.
#[test]
fn equal_steps_are_not_changed_steps() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let world = World::slow(endpoint(move |server| {
            let handler = move |cx: Context| {
                let seen = of.clone();
                async move {
                    let book = || {
                        cx.step("book", &1, async || {
                            note(&seen, cx.idempotency_key()?);
                            pause(&cx, 1).await;
                            Ok(1)
                        })
                    };
                    if cx.task().is_some() {
                        book().await?;
                    } else {
                        // The request drops the first step.
                        let mut first = Box::pin(book());
                        assert!(futures::poll!(first.as_mut()).is_pending());
                    }
                    book().await?;
                    cx.start_task().await;
                    Ok::<_, HandlerError>("booked")
                }
            };
            server.tool(Tool::new("later", "Books.", handler).task(Task::new().starts_later()))
        }));
        let id = world.start("later", json!({})).await;
        assert_eq!(text(&world.finish(&id).await), "booked");
        let mut keys = seen.borrow().clone();
        keys.sort();
        keys.dedup();
        assert_eq!((seen.borrow().len(), keys.len()), (3, 2), "{seen:?}");
    });
}
