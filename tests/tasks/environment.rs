//! Faults of the program and of its settings: they cost no attempt of a task, and they do not keep what has expired. Also the places of a
//! caller's tasks.

use std::time::Duration;

use edge_mcp::auth::StateKeys;
use edge_mcp::host::Host;
use edge_mcp::tasks::Task;
use edge_mcp::testing;
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, McpServerBuilder, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::{World, created, endpoint, text, with_tokens};

async fn work(cx: Context) -> Result<String, HandlerError> {
    let first = cx.step("first", &(), async || Ok(1)).await?;
    cx.sleep(Duration::from_mins(1)).await;
    Ok(format!("{first}, in attempt {}", cx.task().map_or(0, |task| task.attempt)))
}

fn items(server: McpServerBuilder) -> McpServerBuilder {
    let task = Task::new().ttl(Duration::from_hours(24));
    server
        .tool(Tool::new("work", "Works.", work).task(task))
        .tool(Tool::new("quick", "Answers.", || async { "done" }).task(Task::new().ttl(Duration::from_mins(10))))
}

fn with_key(key: &'static str) -> Endpoint {
    with_tokens(endpoint(items)).state_keys(StateKeys::from_text("MCP_STATE_KEY", Some(key)).expect("a key"))
}

const KEY: &str = "a-key-that-is-long-enough-for-this-test";
const OTHER: &str = "another-key-that-is-long-enough-for-this";

/// The programs in which no attempt can begin.
fn broken() -> [(&'static str, Endpoint); 3] {
    let fails = testing::endpoint(|_| Err(BuildError::new("server", "s", "a variable is missing")));
    let fails = fails.state_keys(StateKeys::from_text("MCP_STATE_KEY", Some(KEY)).expect("a key"));
    let server = items(edge_mcp::McpServer::builder("s", "1")).build().expect("a server");
    let without_key = Endpoint::new(move |_| Ok(server.clone())).open_to_the_public().without_rate_limit();
    [("its server function fails", fails), ("another key", with_key(OTHER)), ("no key", without_key)]
}

/// A program that is deployed by mistake costs no attempt. The pauses grow to an hour, and the task continues with the next program.
#[test]
fn a_broken_deployment_costs_no_attempt() {
    testing::run(async {
        for (name, program) in broken() {
            let mut world = World::of(with_key(KEY)).signed_in("ada");
            let id = world.start("work", json!({})).await;
            world.run().await;
            world.deploy(program);
            let began = world.host.now_ms();
            let (mut alarms, mut longest) = (0, 0);
            while world.host.now_ms() - began < 10 * 3_600_000 {
                let before = world.host.now_ms();
                world.to_next_alarm();
                longest = longest.max(world.host.now_ms() - before);
                world.run().await;
                alarms += 1;
            }
            assert_eq!(longest, 3_600_000, "{name}");
            assert!((15..30).contains(&alarms), "{name}: {alarms} attempts");
            world.deploy(with_key(KEY));
            assert_eq!(text(&world.finish(&id).await), "1, in attempt 2", "{name}");
        }
    });
}

/// The result of a step that cannot be read now costs no attempt either: the key that encrypted it is missing, after a rotation that was undone.
#[test]
fn a_step_that_cannot_be_read_costs_no_attempt() {
    testing::run(async {
        const ROTATED: &str = "another-key-that-is-long-enough-for-this a-key-that-is-long-enough-for-this-test";
        let mut world = World::of(with_key(KEY)).signed_in("ada");
        let id = world.start("work", json!({})).await;
        world.deploy(with_key(ROTATED));
        world.run().await;
        world.deploy(with_key(KEY));
        for _ in 0..12 {
            world.to_next_alarm();
            world.run().await;
            assert_eq!(world.status(&id).await, "working");
        }
        world.deploy(with_key(ROTATED));
        assert_eq!(text(&world.finish(&id).await), "1, in attempt 2");
    });
}

/// What has expired is deleted without keys: a task that has ended, one that has not, and the count of their caller.
#[test]
fn what_has_expired_is_deleted_without_keys() {
    testing::run(async {
        for tool in ["work", "quick"] {
            for (name, program) in broken() {
                let mut world = World::of(with_key(KEY)).signed_in("ada");
                world.start(tool, json!({})).await;
                world.run().await;
                world.deploy(program);
                for _ in 0..60 {
                    if world.tasks.next_alarm().is_none() {
                        break;
                    }
                    world.to_next_alarm();
                    world.run().await;
                }
                assert!(world.keys().is_empty(), "{name}, {tool}: {:?}", world.keys());
            }
        }
    });
}

/// A record that no version can read is deleted when its time has passed, or after 30 days.
#[test]
fn a_record_that_cannot_be_read_is_deleted() {
    testing::run(async {
        for (row, hours) in [
            (json!({ "format": 2 }).to_string(), 720),
            ("not JSON".to_owned(), 720),
            (json!({ "createdMs": 1_800_000_000_000_u64, "ttlMs": 7_200_000 }).to_string(), 2),
            (json!({ "createdMs": u64::MAX, "ttlMs": u64::MAX }).to_string(), 720),
        ] {
            let world = World::of(with_tokens(endpoint(items))).signed_in("ada");
            world.start("work", json!({})).await;
            let keys = world.keys();
            let record = keys.iter().find(|key| key.ends_with("/task")).expect("the record");
            world.tasks.write_row(record, row.as_bytes());
            let began = world.host.now_ms();
            let mut alarms = 0;
            while world.keys().iter().any(|key| key == record) {
                world.run().await;
                if world.tasks.next_alarm().is_some() {
                    world.to_next_alarm();
                }
                alarms += 1;
                assert!(alarms < 1000, "{row}");
            }
            assert_eq!((world.host.now_ms() - began) / 3_600_000, hours, "{row}");
        }
    });
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

/// Returns a world whose tool `sleep` has a task for each name, and one place.
fn counting() -> World {
    World::of(with_tokens(endpoint(|server| {
        let sleep = |Named { name }: Named, cx: Context| async move {
            if name != "quick" {
                cx.sleep(Duration::from_hours(1)).await;
            }
            name
        };
        let task = Task::new().dedupe(|Named { name }: Named| name).per_caller(1).ttl(Duration::from_hours(12));
        server.tool(Tool::new("sleep", "Sleeps.", sleep).task(task.answer_within(Duration::ZERO)))
    })))
}

fn named(name: &str) -> Value {
    json!({ "name": name })
}

/// A repeated call needs no place if its task exists: it has completed, or it is the one that takes the place.
#[test]
fn a_repeated_call_is_answered_although_no_place_is_free() {
    testing::run(async {
        let world = counting();
        let (client, plain) = (world.client().token("ada"), world.plain().token("ada"));
        created(&client.call("sleep", named("quick")).await);
        world.run().await;
        let id = created(&client.call("sleep", named("long")).await);
        world.run().await;
        assert!(client.call("sleep", named("other")).await.is_error(), "no place is free");
        assert_eq!(client.call("sleep", named("quick")).await.result()["status"], "completed");
        assert_eq!(plain.call("sleep", named("quick")).await.text(), "quick");
        assert_eq!(created(&client.call("sleep", named("long")).await), id);
    });
}

/// A task that ends gives its place back.
#[test]
fn a_place_becomes_free_when_its_task_ends() {
    testing::run(async {
        let world = counting();
        let client = world.client().token("ada");
        for nth in 0..5 {
            let id = created(&client.call("sleep", named(&format!("cancelled {nth}"))).await);
            world.run().await;
            assert!(client.call("sleep", named("refused")).await.is_error(), "no place is free");
            client.request("tasks/cancel", json!({ "taskId": id })).await;
            created(&client.call("sleep", named(&format!("ends {nth}"))).await);
            world.advance(3600);
            world.run().await;
            world.advance(3600);
            world.run().await;
        }
    });
}

/// A call that ends between the count and the creation of its task keeps its place for a minute, and not until the task would expire.
#[test]
fn a_place_without_a_task_becomes_free() {
    testing::run(async {
        let world = counting();
        let client = world.client().token("ada");
        // The count has two writes. The next one belongs to the task.
        world.tasks.fail_write(3);
        assert!(client.call("sleep", named("lost")).await.is_error());
        assert!(world.tasks.has_failed());
        let refused = client.call("sleep", named("other")).await;
        assert!(refused.text().contains("A place becomes free in 43200 s at the latest."), "{}", refused.text());
        world.advance(59);
        assert!(client.call("sleep", named("other")).await.is_error());
        world.advance(1);
        created(&client.call("sleep", named("other")).await);
        // The first attempt takes the place for longer.
        world.run().await;
        world.advance(600);
        assert!(client.call("sleep", named("third")).await.is_error());
    });
}

/// A row of the count that this version cannot read does not refuse the calls of its caller.
#[test]
fn a_place_of_another_version_is_free() {
    testing::run(async {
        let world = counting();
        let client = world.client().token("ada");
        created(&client.call("sleep", named("first")).await);
        let keys = world.keys();
        world.tasks.write_row(keys.iter().find(|key| key.contains("/active:")).expect("a place"), b"17");
        created(&client.call("sleep", named("second")).await);
    });
}
