//! Tasks that follow each other in one object, because their calls have the same key. Messages about one of them arrive late, and its attempts go on.

use std::time::Duration;

use edge_mcp::host::Host;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Answer};
use edge_mcp::{Context, HandlerError, Tool};
use futures::future::{join, join3};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::{Seen, World, created, endpoint, note, pause, text, with_tokens};

#[derive(Deserialize, JsonSchema)]
struct Work {
    /// All calls have the same key.
    note: String,
}

const TTL: u64 = 100;

/// Returns a world whose tool `work` has one task for each caller. Its result is the note of its call, and its effect is the same note in `seen`.
fn world(seen: &Seen) -> World {
    let seen = seen.clone();
    World::slow(with_tokens(endpoint(|server| {
        let work = move |Work { note: text }: Work, cx: Context| {
            let seen = seen.clone();
            async move {
                cx.step("effect", &text, async || {
                    note(&seen, format!("{text} {}", cx.idempotency_key()?));
                    pause(&cx, 2).await;
                    Ok(())
                })
                .await?;
                if text == "quick" {
                    return Ok(text);
                }
                if text == "fails" {
                    // A handler must not use such a key.
                    cx.confirm("job-00000000/never", "Never asked").await?;
                }
                if text == "cleans" {
                    cx.cancelled().await;
                    pause(&cx, 20).await;
                    return Ok(text);
                }
                let is_sure = cx.confirm("sure", "Sure?").await?;
                // Another attempt.
                cx.sleep(Duration::from_secs(1)).await;
                Ok::<_, HandlerError>(if is_sure { text } else { "declined".to_owned() })
            }
        };
        let task = Task::new().dedupe(|_: Work| String::new()).per_caller(2).ttl(Duration::from_secs(TTL));
        server.tool(Tool::new("work", "Works.", work).task(task.answer_within(Duration::from_secs(1))))
    })))
}

/// The member `name` of the record of the only task.
fn recorded(world: &World, name: &str) -> Value {
    let rows = world.tasks.rows();
    let record = rows.iter().find(|(key, _)| key.ends_with("/task"));
    record.map_or(Value::Null, |(_, row)| serde_json::from_slice::<Value>(row).expect("JSON")[name].clone())
}

/// Asserts that each task counts until it ends, and no other one does.
fn assert_counted(world: &World, case: &str) {
    let now = world.host.now_ms();
    let is_taken = |row: &[u8]| serde_json::from_slice::<Value>(row).expect("JSON")["untilMs"].as_u64() > Some(now);
    let rows = world.tasks.rows();
    let places = rows.iter().filter(|(key, row)| key.contains("/active:") && is_taken(row)).count();
    let runs = matches!(recorded(world, "status").as_str(), Some("working" | "input_required"));
    assert_eq!(places, usize::from(runs), "{case}: {:?}", world.keys());
}

/// The state of a task before two messages arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    Created,
    Running,
    Asking,
    CleaningUp,
    Cancelled,
    Failed,
    Completed,
}

const STATES: [Before; 7] = [
    Before::Created,
    Before::Running,
    Before::Asking,
    Before::CleaningUp,
    Before::Cancelled,
    Before::Failed,
    Before::Completed,
];

/// A request of the caller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Request {
    Call,
    Cancel,
    Answer,
    Wait,
}

const REQUESTS: [Request; 4] = [Request::Call, Request::Cancel, Request::Answer, Request::Wait];

fn answers() -> Value {
    json!({ "sure": { "action": "accept", "content": {} } })
}

async fn request(world: &World, request: Request, id: &str, text: &str) -> Answer {
    let client = world.client().token("ada");
    match request {
        Request::Call => client.call("work", json!({ "note": text })).await,
        Request::Cancel => client.request("tasks/cancel", json!({ "taskId": id })).await,
        Request::Answer => client.request("tasks/update", json!({ "taskId": id, "inputResponses": answers() })).await,
        Request::Wait => {
            let arguments = json!({ "job": id, "wait_seconds": 2 });
            world.plain().token("ada").call("job-result", arguments).await
        }
    }
}

/// Brings the task of `note` into a state, and returns its id.
async fn prepare(world: &World, before: Before) -> String {
    let text = match before {
        Before::CleaningUp => "cleans",
        Before::Failed => "fails",
        Before::Completed => "quick",
        _ => "first",
    };
    let id = created(&request(world, Request::Call, "", text).await);
    match before {
        Before::Created => {}
        Before::Running => world.tasks.begin().await.expect("it begins"),
        Before::CleaningUp => {
            world.tasks.begin().await.expect("it begins");
            world.tasks.begin().await.expect("it begins");
            world.advance(2);
            world.tasks.begin().await.expect("the step ends");
            request(world, Request::Cancel, &id, "").await;
            world.tasks.begin().await.expect("it cleans up");
        }
        _ => world.run().await,
    }
    if before == Before::Cancelled {
        request(world, Request::Cancel, &id, "").await;
    }
    id
}

/// Sends two requests at the same time, in both orders, while each of their messages is late, and while the task expires or not. Afterwards:
/// - A task that the second call created has the result and the effect of this call.
/// - A task that nobody cancelled is not cancelled.
/// - Each running task is counted, and no other one.
#[test]
fn messages_about_one_task_do_not_change_the_next_one() {
    testing::run(async {
        for before in STATES {
            for first in REQUESTS {
                for second in REQUESTS {
                    for (late, expires) in [(0, false), (1, false), (2, false), (3, false), (0, true), (2, true)] {
                        let case =
                            format!("{before:?}, {first:?}, {second:?}, message {late} late, expires: {expires}");
                        Box::pin(pair(before, [first, second], late, expires, &case)).await;
                    }
                }
            }
        }
    });
}

async fn pair(before: Before, [first, second]: [Request; 2], late: usize, expires: bool, case: &str) {
    let seen = Seen::default();
    let world = world(&seen);
    let id = prepare(&world, before).await;
    let generation = recorded(&world, "generation");
    if late > 0 {
        world.tasks.delay_message(late, Duration::from_secs(1));
    }
    if expires {
        // The task expires half a second after the first request.
        let left = TTL * 1000 - 500 - (world.host.now_ms() - recorded(&world, "createdMs").as_u64().expect("a time"));
        world.host.advance(Duration::from_millis(left));
    }
    let host = world.host.clone();
    let two = async {
        if expires {
            host.run(host.sleep(Duration::from_millis(600))).await.expect("the clock advances");
        }
        request(&world, second, &id, "second").await
    };
    let attempts = async {
        // Attempts go on and begin meanwhile.
        for _ in 0..3 {
            let _stalled = world.tasks.run().await;
            host.run(host.sleep(Duration::from_millis(300))).await.expect("the clock advances");
        }
    };
    let (one, two, ()) = join3(Box::pin(request(&world, first, &id, "second")), Box::pin(two), attempts).await;
    world.run().await;
    assert_counted(&world, case);
    // The task may have expired without another one.
    let is_new = ![Value::Null, generation].contains(&recorded(&world, "generation"));
    let is_cancelled = [first, second].contains(&Request::Cancel);
    for _ in 0..20 {
        match recorded(&world, "status").as_str() {
            Some("working") => world.to_next_alarm(),
            Some("input_required") => drop(request(&world, Request::Answer, &id, "").await),
            _ => break,
        }
        world.run().await;
        assert_counted(&world, case);
    }
    let status = recorded(&world, "status");
    if is_new && status == "completed" {
        let client = world.client().token("ada");
        let state = client.request("tasks/get", json!({ "taskId": id })).await;
        assert_eq!(text(state.result()), "second", "{case}");
        assert!(seen.borrow().iter().any(|effect| effect.starts_with("second ")), "{case}: {seen:?}");
    }
    if is_new {
        // The cancellation was sent to the task before, unless it was read after the new one was created.
        let reached = is_cancelled && (late == 1 || first == Request::Call || expires && second == Request::Cancel);
        assert!(
            status == "completed" || reached && status == "cancelled",
            "{case}: {status}, {} {}",
            one.json(),
            two.json()
        );
    }
    for _ in 0..3 {
        world.advance(TTL);
        world.run().await;
    }
    assert!(world.keys().is_empty(), "{case}: {:?}", world.keys());
}

/// An attempt ends when its task expires. The call that follows is a new task, with its own arguments and effects.
#[test]
fn an_attempt_ends_when_its_task_expires() {
    testing::run(async {
        let seen = Seen::default();
        let of = seen.clone();
        let world = World::slow(with_tokens(endpoint(|server| {
            let work = move |Work { note: text }: Work, cx: Context| {
                let seen = of.clone();
                async move {
                    cx.step("long", &(), async || {
                        note(&seen, format!("{text} began"));
                        pause(&cx, 30).await;
                        note(&seen, format!("{text} ended"));
                        Ok(())
                    })
                    .await?;
                    Ok::<_, HandlerError>(text)
                }
            };
            let task = Task::new().dedupe(|_: Work| String::new()).ttl(Duration::from_secs(40));
            server.tool(Tool::new("work", "Works.", work).task(task))
        })));
        let client = world.client().token("ada");
        created(&client.call("work", json!({ "note": "a" })).await);
        world.advance(20);
        world.tasks.begin().await.expect("it begins");
        world.tasks.begin().await.expect("it begins");
        assert_eq!(*seen.borrow(), ["a began"]);
        world.advance(20);
        let id = created(&client.call("work", json!({ "note": "b" })).await);
        world.run().await;
        let state = client.request("tasks/get", json!({ "taskId": id })).await;
        assert_eq!(text(state.result()), "b");
        assert_eq!(*seen.borrow(), ["a began", "b began", "b ended"]);
    });
}

/// A call after a cancellation is a new task, also while the handler of the cancelled one cleans up.
#[test]
fn a_call_does_not_get_a_task_that_is_being_cancelled() {
    testing::run(async {
        let seen = Seen::default();
        let world = world(&seen);
        let id = prepare(&world, Before::CleaningUp).await;
        assert_eq!(recorded(&world, "status"), "working");
        created(&request(&world, Request::Call, &id, "quick").await);
        assert_eq!(recorded(&world, "isCancelled"), false);
        assert_counted(&world, "the new task");
        world.run().await;
        let client = world.client().token("ada");
        let state = client.request("tasks/get", json!({ "taskId": id })).await;
        assert_eq!(text(state.result()), "quick");
    });
}

/// The message that creates a task can arrive twice. The second one does not run the handler again, also if the task has failed meanwhile.
#[test]
fn a_repeated_creation_is_answered_with_the_same_task() {
    testing::run(async {
        for text in ["first", "fails", "quick"] {
            let seen = Seen::default();
            let world = world(&seen);
            world.tasks.repeat_message(1, Duration::from_secs(5));
            let (answer, ()) = join(request(&world, Request::Call, "", text), async {
                // The task ends before the second delivery.
                world.host.sleep(Duration::from_secs(1)).await;
                world.run().await;
            })
            .await;
            created(&answer);
            world.run().await;
            assert_eq!(seen.borrow().len(), 1, "{text}: {seen:?}");
            assert_counted(&world, text);
        }
    });
}

/// The steps of a call that follows a failed or cancelled one with the same key have the idempotency keys of the earlier call. A call after its
/// task has expired is another one.
#[test]
fn a_call_after_a_failed_one_has_the_same_idempotency_keys() {
    testing::run(async {
        for before in [Before::Failed, Before::Cancelled] {
            let seen = Seen::default();
            let world = world(&seen);
            prepare(&world, before).await;
            let text = if before == Before::Failed { "fails" } else { "first" };
            let key = || seen.borrow().last().cloned().expect("an effect");
            let first = key();
            request(&world, Request::Call, "", text).await;
            world.run().await;
            assert_eq!((seen.borrow().len(), key()), (2, first.clone()), "{before:?}");
            world.advance(TTL);
            request(&world, Request::Call, "", text).await;
            world.run().await;
            assert_eq!(seen.borrow().len(), 3, "{before:?}");
            assert_ne!(key(), first, "{before:?}");
        }
    });
}

/// The cancellation of a task does not reach the next one, although its last message is still on its way.
#[test]
fn a_cancellation_does_not_reach_the_next_task() {
    testing::run(async {
        let seen = Seen::default();
        let world = world(&seen);
        let id = prepare(&world, Before::Asking).await;
        // The message after which the place of the cancelled task is free.
        world.tasks.delay_message(3, Duration::from_secs(20));
        let calls = async {
            request(&world, Request::Call, &id, "quick").await;
            world.run().await;
        };
        let (_, ()) = join(Box::pin(request(&world, Request::Cancel, &id, "")), Box::pin(calls)).await;
        let client = world.client().token("ada");
        let state = client.request("tasks/get", json!({ "taskId": id })).await;
        assert_eq!(text(state.result()), "quick", "{}", state.json());
        assert_counted(&world, "the new task");
    });
}
