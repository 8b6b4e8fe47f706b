//! The time for which a task is kept, its poll intervals, and its cancellation.

use std::time::Duration;

use edge_mcp::host::Host;
use edge_mcp::tasks::Task;
use edge_mcp::testing;
use edge_mcp::{Context, HandlerError, McpServerBuilder, Tool};
use futures::FutureExt;
use serde_json::{Value, json};

use crate::world::{Seen, World, created, endpoint, note, pause, text, with_tokens};

async fn wait(cx: Context) -> Result<&'static str, HandlerError> {
    Ok(if cx.confirm("go", "Go on?").await? { "went" } else { "stayed" })
}

fn items(server: McpServerBuilder) -> McpServerBuilder {
    let rest = |cx: Context| async move {
        cx.sleep(Duration::from_secs(100_000_000)).await;
        "rested"
    };
    let quick = |cx: Context| async move { format!("{}", cx.task().is_some()) };
    let ttl = Task::new().ttl(Duration::from_mins(10));
    server
        .tool(Tool::new("wait", "Waits.", wait).task(ttl.clone()))
        .tool(Tool::new("rest", "Rests.", rest).task(ttl.clone()))
        .tool(Tool::new("quick", "Answers.", quick).task(ttl.clone()))
}

async fn is_gone(world: &World, id: &str) -> bool {
    let answer = world.client().request("tasks/get", json!({ "taskId": id })).await;
    let is_unknown = answer.error().map(|it| it.0) == Some(-32602);
    assert!(is_unknown || answer.error().is_none(), "{}", answer.text());
    is_unknown
}

/// T24: a task of each status is kept until its time is over, exactly. Then it is gone, with all its rows.
#[test]
fn a_task_is_kept_for_its_time() {
    testing::run(async {
        for (tool, status) in
            [("wait", "input_required"), ("rest", "working"), ("quick", "completed"), ("wait", "cancelled")]
        {
            let world = World::new(items);
            let answer = world.client().call(tool, json!({})).await;
            let id = created(&answer);
            assert_eq!(answer.result()["ttlMs"], 600_000);
            world.run().await;
            if status == "cancelled" {
                world.cancel(&id).await;
            }
            world.host.advance(Duration::from_millis(599_999));
            world.run().await;
            assert_eq!(world.get(&id).await["status"], status);
            assert_eq!(world.get(&id).await["ttlMs"], 600_000);
            world.host.advance(Duration::from_millis(1));
            assert!(is_gone(&world, &id).await, "{tool}");
            for answer in [world.cancel(&id).await, world.update(&id, json!({ "go": 1 })).await] {
                assert_eq!(answer.error().map(|it| it.0), Some(-32602));
            }
            world.run().await;
            assert!(is_gone(&world, &id).await);
            assert!(world.keys().is_empty(), "{tool}: {:?}", world.keys());
            assert_eq!(world.tasks.next_alarm(), None, "{tool}");
        }
    });
}

/// T24: a task that expires while its handler runs is deleted when the attempt ends. Nothing revives it.
#[test]
fn a_task_can_expire_during_an_attempt() {
    testing::run(async {
        let world = World::slow(endpoint(|server| {
            let work = |cx: Context| async move {
                cx.step("long", &(), async || {
                    pause(&cx, 30).await;
                    Ok(())
                })
                .await?;
                Ok::<_, HandlerError>("done")
            };
            server.tool(Tool::new("work", "Works.", work).task(Task::new().ttl(Duration::from_secs(20))))
        }));
        let id = world.start("work", json!({})).await;
        world.run().await;
        assert!(is_gone(&world, &id).await);
        world.run().await;
        assert!(world.tasks.rows().is_empty() && world.tasks.next_alarm().is_none());
    });
}

/// T25: the interval grows with the age of the task, and polls at any rate are answered.
#[test]
fn poll_intervals_grow() {
    testing::run(async {
        let world = World::of(endpoint(|server| {
            let rest = |cx: Context| async move { cx.sleep(Duration::from_secs(100_000)).await };
            server
                .tool(Tool::new("rest", "Rests.", rest).task(Task::new()))
                .tool(Tool::new("wait", "Waits.", wait).task(Task::new()))
        }));
        let id = world.start("rest", json!({})).await;
        world.run().await;
        let interval = async |seconds: u64| {
            world.host.advance(Duration::from_secs(seconds));
            world.get(&id).await["pollIntervalMs"].as_u64().expect("an interval")
        };
        for (seconds, expected) in [(0, 1000), (9, 1000), (1, 5000), (109, 5000), (1, 15_000), (1000, 15_000)] {
            assert_eq!(interval(seconds).await, expected);
        }
        for _ in 0..200 {
            assert_eq!(world.get(&id).await["status"], "working");
        }
        let id = world.start("wait", json!({})).await;
        world.run().await;
        assert_eq!(world.get(&id).await["pollIntervalMs"], 5000);
    });
}

/// T24, T27: a task without authentication is kept for at most 1 h, because its id is the only secret. 30 days are the limit for all others.
#[test]
fn tasks_of_unknown_callers_are_kept_for_an_hour() {
    testing::run(async {
        let items = |server: McpServerBuilder| {
            let days = |days: u64| Task::new().ttl(Duration::from_secs(days * 86_400));
            server
                .tool(Tool::new("long", "Waits.", wait).task(days(400)))
                .tool(Tool::new("usual", "Waits.", wait).task(Task::new()))
                .tool(Tool::new("short", "Waits.", wait).task(Task::new().ttl(Duration::ZERO)))
        };
        let open = World::new(items);
        let closed = World::of(with_tokens(endpoint(items)));
        let ttl = |answer: testing::Answer| answer.result()["ttlMs"].clone();
        for (tool, without, with) in
            [("long", 3_600_000_u64, 2_592_000_000_u64), ("usual", 3_600_000, 86_400_000), ("short", 1000, 1000)]
        {
            assert_eq!(ttl(open.client().call(tool, json!({})).await), json!(without));
            assert_eq!(ttl(closed.client().token("ada").call(tool, json!({})).await), json!(with));
        }
    });
}

/// T19: a task can be cancelled in each state, twice, and after its end. A handler that does not watch is dropped at its next wait.
#[test]
fn a_task_can_be_cancelled() {
    testing::run(async {
        let world = World::new(items);
        // Before its first attempt, asleep, and with a question.
        for (tool, runs) in [("rest", false), ("rest", true), ("wait", true)] {
            let id = world.start(tool, json!({})).await;
            if runs {
                world.run().await;
            }
            for _ in 0..2 {
                assert_eq!(world.cancel(&id).await.status(), 200);
                assert_eq!(world.status(&id).await, "cancelled", "{tool}");
            }
            world.run().await;
            assert_eq!(world.status(&id).await, "cancelled");
        }
        let id = world.start("quick", json!({})).await;
        assert_eq!(text(&world.finish(&id).await), "true");
        assert!(world.cancel(&id).await.error().is_none());
        assert_eq!(world.status(&id).await, "completed");
    });
}

/// Returns a world whose tool `work` waits for a request. With `watches`, it notices the cancellation, and then cleans up for this time.
fn endless(seen: &Seen, watches: Option<u64>) -> World {
    let of = seen.clone();
    World::slow(endpoint(move |server| {
        let seen = of.clone();
        let work = move |cx: Context| {
            let seen = seen.clone();
            async move {
                struct Dropped(Seen);
                impl Drop for Dropped {
                    fn drop(&mut self) {
                        note(&self.0, "dropped");
                    }
                }
                let _dropped = Dropped(seen.clone());
                note(&seen, "began");
                let Some(seconds) = watches else {
                    pause(&cx, 500).await;
                    return "done";
                };
                futures::select_biased! {
                    () = cx.cancelled().fuse() => {}
                    () = pause(&cx, 500).fuse() => {}
                }
                note(&seen, "cleans up");
                pause(&cx, seconds).await;
                note(&seen, "cleaned up");
                "cleaned up"
            }
        };
        server.tool(Tool::new("work", "Works.", work).task(Task::new()))
    }))
}

/// T19: a running handler that does not watch the cancellation is dropped at once.
#[test]
fn a_running_handler_is_dropped() {
    testing::run(async {
        let seen = Seen::default();
        let world = endless(&seen, None);
        let id = world.start("work", json!({})).await;
        world.tasks.begin().await.expect("it begins");
        assert_eq!(*seen.borrow(), ["began"]);
        let before = world.host.now_ms();
        world.cancel(&id).await;
        world.run().await;
        assert_eq!(world.status(&id).await, "cancelled");
        assert_eq!(*seen.borrow(), ["began", "dropped"]);
        assert_eq!(world.host.now_ms(), before);
    });
}

/// T19: a handler that watches the cancellation has 30 s. If it ends within them, the task has its result.
#[test]
fn a_watching_handler_cleans_up() {
    testing::run(async {
        for (seconds, status) in [(29, "completed"), (60, "cancelled")] {
            let seen = Seen::default();
            let world = endless(&seen, Some(seconds));
            let id = world.start("work", json!({})).await;
            world.tasks.begin().await.expect("it begins");
            world.cancel(&id).await;
            assert_eq!(world.status(&id).await, "working");
            let before = world.host.now_ms();
            world.run().await;
            assert_eq!(world.host.now_ms() - before, seconds.min(30) * 1000);
            let state = world.get(&id).await;
            assert_eq!(state["status"], status, "{seconds}");
            let is_clean = seen.borrow().contains(&"cleaned up".to_owned());
            assert_eq!(is_clean, seconds < 30, "{seen:?}");
            assert_eq!(seen.borrow().last().map(String::as_str), Some("dropped"));
        }
    });
}

/// T19: a cancellation is not lost if the isolate ends before the handler has noticed it.
#[test]
fn a_cancellation_survives_an_interruption() {
    testing::run(async {
        let seen = Seen::default();
        let world = endless(&seen, Some(20));
        let id = world.start("work", json!({})).await;
        world.tasks.begin().await.expect("it begins");
        world.cancel(&id).await;
        world.tasks.interrupt();
        world.run().await;
        assert_eq!(world.status(&id).await, "cancelled");
        assert_eq!(seen.borrow().iter().filter(|it| *it == "began").count(), 1, "{seen:?}");
    });
}

/// T10: the times of a description are those of the object's clock, and they do not go back.
#[test]
fn a_clock_that_changes_does_no_harm() {
    testing::run(async {
        let world = World::new(items);
        let start = world.host.now_ms();
        let id = world.start("wait", json!({})).await;
        // An hour back, an hour ahead, and standing still.
        for (offset, is_kept) in [(-3_600_000_i64, true), (0, true), (3_600_000, false)] {
            let _ = world.host.clone().clock(start.saturating_add_signed(offset));
            for _ in 0..3 {
                world.run().await;
                assert_eq!(is_gone(&world, &id).await, !is_kept, "{offset}");
            }
        }
        let _ = world.host.clone().clock(start);
        world.run().await;
        let state: Value = json!(is_gone(&world, &id).await);
        assert_eq!(state, true, "a deleted task stays deleted");
    });
}
