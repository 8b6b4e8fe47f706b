//! The limits of attempts and of the journal.

use std::time::Duration;

use edge_mcp::host::Host;
use edge_mcp::tasks::Task;
use edge_mcp::testing;
use edge_mcp::{Context, HandlerError, Limits, Tool};
use edge_mcp_test_support::telemetry::TestTelemetry;
use futures::future::{join, try_join_all};
use serde_json::{Value, json};

use crate::world::{Seen, World, created, effects, endpoint, note, pause, text, with_tokens};

fn is_stopped(state: &Value) -> bool {
    let is_failed = state["status"] == "failed" && state["error"]["code"] == -32603;
    is_failed && state["error"]["message"] == "The task was stopped. The log of the server says why."
}

/// Begins the attempts that are due, and interrupts them.
async fn interrupt(world: &World) {
    world.tasks.begin().await.expect("it begins");
    world.tasks.interrupt();
}

/// T11: after 5 attempts without progress, the task fails, and the log says why.
#[test]
fn five_attempts_without_progress_stop_a_task() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let world = World::slow(endpoint(|server| {
            let work = move |cx: Context| {
                note(&of, "began");
                async move { pause(&cx, 100).await }
            };
            server.tool(Tool::new("work", "Works.", work).task(Task::new()))
        }));
        let id = world.start("work", json!({})).await;
        for _ in 0..5 {
            assert_eq!(world.status(&id).await, "working");
            interrupt(&world).await;
        }
        let state = world.finish(&id).await;
        assert!(is_stopped(&state), "{state}");
        assert_eq!(seen.borrow().len(), 5);
        assert!(world.logs("5 attempts without progress"), "{}", world.host.log_text());
    });
}

/// A step that finishes resets the count of attempts without progress, and so does a sleep or a question.
#[test]
fn progress_resets_the_count() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let world = World::slow(endpoint(|server| {
            let work = move |cx: Context| {
                let seen = of.clone();
                async move {
                    for nth in 0..6 {
                        cx.step("s", &nth, async || {
                            note(&seen, format!("s{nth} {}", cx.idempotency_key()?));
                            pause(&cx, 1).await;
                            Ok(())
                        })
                        .await?;
                    }
                    Ok::<_, HandlerError>("done")
                }
            };
            server.tool(Tool::new("work", "Works.", work).task(Task::new()))
        }));
        let id = world.start("work", json!({})).await;
        for _ in 0..6 {
            assert_eq!(world.status(&id).await, "working");
            for _ in 0..4 {
                interrupt(&world).await;
            }
            // The fifth attempt finishes a step.
            world.tasks.begin().await.expect("it begins");
            world.advance(1);
            interrupt(&world).await;
        }
        let state = world.finish(&id).await;
        assert_eq!(text(&state), "done");
        assert_eq!(effects(&seen).len(), 6);
    });
}

/// An attempt begins no step after 600 s. The steps that run then have 240 s. The next attempt continues.
#[test]
fn an_attempt_has_a_budget() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let world = World::slow(endpoint(|server| {
            let work = move |cx: Context| {
                let seen = of.clone();
                async move {
                    let slow = async |name: &str, seconds: u64| {
                        cx.step(name, &seconds, async || {
                            note(&seen, format!("{name} {}", cx.task().map_or(0, |it| it.attempt)));
                            for _ in 0..seconds / 100 {
                                pause(&cx, 100).await;
                            }
                            Ok(seconds)
                        })
                        .await
                    };
                    slow("first", 500).await?;
                    slow("second", 300).await?;
                    slow("third", 100).await?;
                    Ok::<_, HandlerError>("done")
                }
            };
            server.tool(Tool::new("work", "Works.", work).task(Task::new()))
        }));
        let id = world.start("work", json!({})).await;
        let began = world.host.now_ms();
        for _ in 0..10 {
            // A run advances the clock by at most 10 minutes.
            let _ = world.tasks.run().await;
        }
        assert_eq!(text(&world.get(&id).await), "done");
        // The second step ran from 500 s to 800 s, within the grace.
        assert_eq!(*seen.borrow(), ["first 1", "second 1", "third 2"]);
        assert_eq!((world.host.now_ms() - began) / 1000, 900);
    });
}

/// A step that takes longer than the budget and the grace is interrupted. A handler that makes no progress within its attempts is stopped.
#[test]
fn attempts_without_progress_are_stopped_although_they_end_in_time() {
    testing::run(async {
        for is_step in [true, false] {
            let seen = Seen::default();
            let of = seen.clone();
            let world = World::slow(with_tokens(endpoint(|server| {
                let work = move |cx: Context| {
                    let seen = of.clone();
                    async move {
                        note(&seen, "began");
                        let long = async || {
                            for _ in 0..20 {
                                pause(&cx, 100).await;
                            }
                            Ok::<_, HandlerError>(())
                        };
                        if is_step {
                            cx.step("long", &(), long).await?;
                        } else {
                            long().await?;
                        }
                        Ok::<_, HandlerError>("done")
                    }
                };
                server.tool(Tool::new("work", "Works.", work).task(Task::new()))
            })));
            let client = world.client().token("ada");
            let id = created(&client.call("work", json!({})).await);
            for _ in 0..40 {
                // A run advances the clock by at most 10 minutes.
                let is_over = world.tasks.run().await.is_ok();
                if client.request("tasks/get", json!({ "taskId": id })).await.result()["status"] != "working" {
                    break;
                }
                if is_over {
                    world.to_next_alarm();
                }
            }
            let state = client.request("tasks/get", json!({ "taskId": id })).await;
            assert!(is_stopped(state.result()), "{is_step}: {} after {} attempts", state.json(), seen.borrow().len());
            assert_eq!(seen.borrow().len(), 5);
        }
    });
}

/// Without memory for an attempt, the task waits. The attempt does not count.
#[test]
fn an_attempt_waits_for_memory() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let slow = World::slow(
            endpoint(|server| {
                let hook = move |event: edge_mcp::call::ToolEvent, _: Context| {
                    note(&of, format!("{event:?}").split(['(', ' ']).next().unwrap_or_default());
                    async { Ok(()) }
                };
                let hold = |cx: Context| async move { pause(&cx, 60).await };
                let work = |cx: Context| async move { format!("attempt {}", cx.task().map_or(0, |it| it.attempt)) };
                server
                    .tool(Tool::new("hold", "Holds memory.", hold).task(Task::new()))
                    .tool(Tool::new("work", "Works.", work).hook(hook).task(Task::new()))
            })
            .limits({
                let mut limits = Limits::default();
                (limits.body, limits.in_flight) = (100_000, 400_000);
                limits
            }),
        );
        let holding = slow.start("hold", json!({})).await;
        slow.tasks.begin().await.expect("it begins");
        let id = slow.start("work", json!({})).await;
        for _ in 0..10 {
            slow.tasks.begin().await.expect("it waits");
            slow.advance(1);
            assert_eq!(slow.status(&id).await, "working");
        }
        assert!(seen.borrow().is_empty());
        assert_eq!(slow.cancel(&holding).await.status(), 200);
        slow.run().await;
        let state = slow.finish(&id).await;
        assert_eq!(text(&state), "attempt 1");
        assert_eq!(*seen.borrow(), ["InputStart", "InputDelta", "InputAvailable", "Output", "Finished"]);
    });
}

/// A long attempt keeps its memory to its end: another one waits.
#[test]
fn a_long_attempt_keeps_its_memory() {
    testing::run(async {
        let world = World::slow(
            endpoint(|server| {
                let hold = |cx: Context| async move {
                    cx.step("long", &(), async || {
                        for _ in 0..8 {
                            pause(&cx, 100).await;
                        }
                        Ok(())
                    })
                    .await
                };
                server
                    .tool(Tool::new("hold", "Holds memory.", hold).task(Task::new()))
                    .tool(Tool::new("work", "Works.", || async { "done" }).task(Task::new()))
            })
            .limits({
                let mut limits = Limits::default();
                (limits.body, limits.in_flight) = (100_000, 400_000);
                limits
            }),
        );
        world.start("hold", json!({})).await;
        for _ in 0..7 {
            world.tasks.begin().await.expect("it runs");
            world.advance(100);
        }
        world.tasks.begin().await.expect("it runs");
        let id = world.start("work", json!({})).await;
        world.tasks.begin().await.expect("it waits");
        assert_eq!(world.status(&id).await, "working");
        world.advance(100);
        world.run().await;
        assert_eq!(text(&world.finish(&id).await), "done");
    });
}

/// A task has at most 10 000 steps, and its sleeps count. The last one that is allowed can run again after an interruption.
#[test]
fn the_number_of_steps_is_limited() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let world = World::slow(endpoint(|server| {
            let steps = move |cx: Context| {
                let seen = of.clone();
                async move {
                    let steps = (0..9_999).map(|nth| cx.step("s", &nth, async move || Ok(nth)));
                    try_join_all(steps).await?;
                    cx.step("last", &(), async || {
                        note(&seen, "last");
                        pause(&cx, 1).await;
                        Ok(())
                    })
                    .await?;
                    note(&seen, "done");
                    cx.sleep(Duration::from_secs(1)).await;
                    note(&seen, "slept");
                    Ok::<_, HandlerError>("done")
                }
            };
            server.tool(Tool::new("steps", "Works.", steps).task(Task::new()))
        }));
        let id = world.start("steps", json!({})).await;
        interrupt(&world).await;
        let state = world.finish(&id).await;
        assert!(is_stopped(&state), "{state}");
        assert_eq!(*seen.borrow(), ["last", "last", "done"]);
        assert!(world.logs("more than 10000 steps"), "{}", world.host.log_text());
    });
}

/// The result of a step has at most 8 MiB, and all results together at most 64 MiB.
#[test]
fn results_of_steps_are_limited() {
    testing::run(async {
        let world = World::new(|server| {
            let one = |mib: usize| {
                move |cx: Context| async move {
                    let long = cx.step("long", &(), async || Ok("x".repeat((mib << 20) - 2))).await?;
                    cx.sleep(Duration::from_secs(1)).await;
                    Ok::<_, HandlerError>(format!("{}", long.len() + 2))
                }
            };
            let many = |cx: Context| async move {
                for nth in 0..9 {
                    cx.step("long", &nth, async || Ok("x".repeat((8 << 20) - 2))).await?;
                }
                Ok::<_, HandlerError>("done")
            };
            server
                .tool(Tool::new("8", "Works.", one(8)).task(Task::new()))
                .tool(Tool::new("9", "Works.", one(9)).task(Task::new()))
                .tool(Tool::new("many", "Works.", many).task(Task::new()))
        });
        let id = world.start("8", json!({})).await;
        assert_eq!(text(&world.finish(&id).await), "8388608");
        assert!(world.tasks.rows().iter().all(|(_, value)| value.len() <= 3 << 19), "a row has at most 1.5 MiB");
        // The second one takes long without optimizations.
        for tool in ["9", "many"].into_iter().take(if cfg!(debug_assertions) { 1 } else { 2 }) {
            let id = world.start(tool, json!({})).await;
            let state = world.finish(&id).await;
            assert!(is_stopped(&state), "{tool}: {}", state["status"]);
        }
        assert!(world.logs("is too long"));
    });
}

/// A task asks at most 256 questions.
#[test]
fn questions_are_limited() {
    testing::run(async {
        let world = World::new(|server| {
            let ask = |cx: Context| async move {
                let asked = (0..257).map(|nth| {
                    let cx = cx.clone();
                    async move { Ok::<_, HandlerError>(cx.confirm(&format!("q{nth}"), "Sure?").await?) }
                });
                try_join_all(asked).await?;
                Ok::<_, HandlerError>("done")
            };
            server.tool(Tool::new("ask", "Asks.", ask).task(Task::new()))
        });
        let id = world.start("ask", json!({})).await;
        let state = world.finish(&id).await;
        assert!(is_stopped(&state), "{}", state["status"]);
    });
}

/// `wait_until` also works in an attempt.
#[test]
fn work_can_outlive_an_attempt() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let world = World::slow(endpoint(|server| {
            let work = move |cx: Context| {
                let seen = of.clone();
                async move {
                    let later = cx.clone();
                    cx.wait_until(async move {
                        pause(&later, 5).await;
                        note(&seen, "counted");
                    });
                    join(cx.sleep(Duration::ZERO), async {}).await;
                    "done"
                }
            };
            server.tool(Tool::new("work", "Works.", work).task(Task::new()))
        }));
        let id = world.start("work", json!({})).await;
        assert_eq!(text(&world.finish(&id).await), "done");
        assert_eq!(*seen.borrow(), ["counted"]);
    });
}

/// Each attempt is an operation in the trace of the request that created the task. The request is its parent, also if the client sent no trace.
#[test]
fn each_attempt_is_an_operation() {
    testing::run(async {
        for has_parent in [true, false] {
            let telemetry = TestTelemetry::default();
            let rest = |cx: Context| async move {
                cx.sleep(Duration::from_mins(1)).await;
                let tenant = cx.meta("example.com/tenant").map(|tenant| tenant.to_string());
                Err::<String, _>(HandlerError::new(format!("{:?} {tenant:?}", cx.tracestate())))
            };
            let endpoint = endpoint(|server| server.tool(Tool::new("rest", "d", rest).task(Task::new())));
            let world = World::of(endpoint.telemetry(telemetry.clone()));
            let parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
            // Without `traceparent`, a `tracestate` has no meaning.
            let client = world.client().meta("tracestate", json!("a=1")).meta("example.com/tenant", json!({ "n": 7 }));
            let client = if has_parent { client.meta("traceparent", json!(parent)) } else { client };
            let id = created(&client.call("rest", json!({})).await);
            let state = has_parent.then_some("a=1");
            assert_eq!(text(&world.finish(&id).await), format!("{state:?} {:?}", Some(r#"{"n":7}"#)));
            let recorded = telemetry.recorded().into_iter().filter(|each| each.name == "tools/call rest");
            let [request, attempts @ ..] = &*recorded.collect::<Vec<_>>() else { panic!("no request") };
            let client = has_parent.then_some("00f067aa0ba902b7");
            assert_eq!((request.parent_span_id.as_deref(), request.error_type.as_deref()), (client, None));
            let outcome = |error_type: Option<&str>| {
                let (trace, parent) = (request.trace_id.clone(), request.span_id.clone());
                (trace, Some(parent), error_type.map(str::to_owned))
            };
            let attempts = attempts.iter().cloned().map(|each| (each.trace_id, each.parent_span_id, each.error_type));
            assert_eq!(attempts.collect::<Vec<_>>(), [outcome(None), outcome(Some("tool_error"))], "two attempts");
        }
    });
}
