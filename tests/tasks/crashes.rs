//! The program crashes in an attempt. A crash undoes all changes since the last wait.

use std::cell::OnceCell;
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::call::ToolEvent;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, TestTasks};
use edge_mcp::{Context, HandlerError, Tool};
use serde_json::json;

use crate::world::{Seen, World, endpoint, note, pause, text};

/// The objects in which the program crashes. They exist after the program.
type Crash = Rc<OnceCell<TestTasks>>;

async fn crash(crash: &Crash) {
    crash.get().expect("the objects").kill();
    pending::<()>().await;
}

/// Returns a world whose tool `work` crashes in each attempt, after the wait of this number.
fn crashing(after: u32, seen: &Seen) -> World {
    let objects = Crash::default();
    let (of_handler, of_hook, seen) = (objects.clone(), objects.clone(), seen.clone());
    let world = World::slow(endpoint(|server| {
        let work = move |cx: Context| {
            let (objects, seen) = (of_handler.clone(), seen.clone());
            async move {
                note(&seen, "began");
                match after {
                    1 => pause(&cx, 1).await,
                    2 => {
                        pause(&cx, 1).await;
                        pause(&cx, 1).await;
                    }
                    // The result is not stored when the handler crashes.
                    3 => cx.step("step", &(), async || Ok(())).await?,
                    // In the second attempt, the result is there at once.
                    4 => {
                        cx.step("step", &(), async || Ok(())).await?;
                        pause(&cx, 1).await;
                    }
                    5 => cx.sleep(Duration::from_secs(10)).await,
                    _ => {}
                }
                crash(&objects).await;
                Ok::<_, HandlerError>("done")
            }
        };
        let hook = move |_: ToolEvent, cx: Context| {
            let objects = of_hook.clone();
            async move {
                if after == 6 && cx.task().is_some() {
                    crash(&objects).await;
                }
                Ok(())
            }
        };
        server.tool(Tool::new("work", "Crashes.", work).hook(hook).task(Task::new()))
    }));
    objects.set(world.tasks.clone()).ok().expect("it is set once");
    world
}

/// A crash is counted, wherever it happens in an attempt. Without the count, the platform would forget the alarm, and the task would work forever.
#[test]
fn a_task_that_crashes_in_each_attempt_is_stopped() {
    testing::run(async {
        for after in 0..=6 {
            let seen = Seen::default();
            let world = crashing(after, &seen);
            let id = world.start("work", json!({})).await;
            let state = world.finish(&id).await;
            assert_eq!(state["status"], "failed", "{after}: {state}");
            assert_eq!(state["error"]["code"], -32603, "{after}: {state}");
            let runs = seen.borrow().len();
            assert!(runs <= 7 && (runs >= 5 || after == 6), "{after}: {runs} runs");
            assert!(world.logs("5 attempts without progress"), "{after}: {}", world.host.log_text());
        }
    });
}

/// The platform forgets an alarm if the program ends seven times before an attempt is counted. The next request sets it again, when the attempt is
/// late by a minute.
#[test]
fn a_forgotten_alarm_is_set_by_the_next_request() {
    testing::run(async {
        let world = World::new(|server| {
            let work = |cx: Context| async move {
                cx.sleep(Duration::from_mins(10)).await;
                "done"
            };
            server.tool(Tool::new("work", "Sleeps.", work).task(Task::new()))
        });
        let id = world.start("work", json!({})).await;
        world.run().await;
        world.advance(600);
        let before = world.tasks.next_alarm();
        for _ in 0..7 {
            world.tasks.kill_at_write(1);
            world.tasks.begin().await.expect("it begins");
        }
        assert_ne!(world.tasks.next_alarm(), before, "the alarm is forgotten");
        world.advance(59);
        assert_eq!(world.status(&id).await, "working");
        world.run().await;
        assert_eq!(world.status(&id).await, "working", "an attempt may be late");
        world.advance(1);
        assert_eq!(world.status(&id).await, "working");
        world.run().await;
        assert_eq!(text(&world.get(&id).await), "done");
    });
}
