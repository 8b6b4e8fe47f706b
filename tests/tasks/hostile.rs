//! Hostile callers, and what a task reveals.

use std::time::Duration;

use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Answer};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, McpServerBuilder, StaticTokens, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::world::{TOKENS, World, created, endpoint, job_id, text, with_tokens};
use edge_mcp_test_support::random::Random;

const SECRET: &str = "s3cret-4711";
const OLD: &str = "the-old-key-that-is-long-enough-for-this";
const BOTH: &str = "the-new-key-that-is-long-enough-for-this the-old-key-that-is-long-enough-for-this";

async fn wait(cx: Context) -> Result<String, HandlerError> {
    let name = cx.elicit::<Name>("name", "Your name?").await?.accepted();
    Ok(name.map_or_else(String::new, |it| it.name))
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

fn items(server: McpServerBuilder) -> McpServerBuilder {
    server.tool(Tool::new("wait", "Waits.", wait).task(Task::new().answer_within(Duration::ZERO)))
}

/// Returns everything that a caller can try with an id, with the texts of the answers.
async fn tries(world: &World, token: &str, id: &str) -> Vec<Answer> {
    let (modern, plain) = (world.client().token(token), world.plain().token(token));
    let mut answers = Vec::new();
    for (method, params) in [
        ("tasks/get", json!({ "taskId": id })),
        ("tasks/cancel", json!({ "taskId": id })),
        (
            "tasks/update",
            json!({ "taskId": id, "inputResponses": { "name": { "action": "accept", "content": { "name": "x" } } } }),
        ),
    ] {
        answers.push(modern.request(method, params).await);
    }
    for tool in ["job-result", "job-cancel"] {
        answers.push(plain.call(tool, json!({ "job": id })).await);
    }
    answers
}

/// T21, T27: an id that is not one of the caller's tasks has the same answer, whatever it is. It does not reach an object.
#[test]
fn ids_of_others_are_unknown() {
    testing::run(async {
        let world = World::of(with_tokens(endpoint(items)));
        let id = created(&world.client().token("ada").call("wait", json!({})).await);
        world.run().await;
        let mut hostile: Vec<String> =
            ["", "t1.", "t2.x", "..", "null", "t1.AAAA", "\u{e4}", "t1.\0"].map(str::to_owned).into();
        let mut random = Random::new(7);
        for _ in 0..20 {
            // The form is valid, the MAC is not.
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".as_bytes();
            hostile.push("t1.".chars().chain((0..43).map(|_| char::from(alphabet[random.below(64)]))).collect());
            let mut changed = id.clone().into_bytes();
            let at = 3 + random.below(42);
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            hostile.push(String::from_utf8(changed).expect("ASCII"));
        }
        hostile.extend([
            format!("{id}A"),
            id.get(..id.len() - 1).expect("ASCII").to_owned(),
            id.replace("t1.", "t1"),
            "A".repeat(60_000),
        ]);
        let (rows, messages) = (world.tasks.rows(), world.tasks.messages());
        let unknown = "There is no such job: it has expired, or it is not yours. Use the id that the call returned.";
        let check = |answers: Vec<Answer>, id: &str| {
            for answer in answers {
                assert_eq!(answer.text(), unknown, "{id}: {}", answer.json());
                let code = answer.error().map(|it| it.0);
                assert!(code == Some(-32602) || answer.result()["isError"] == true, "{}", answer.json());
            }
        };
        for other in &hostile {
            check(tries(&world, "ada", other).await, other);
        }
        for other in ["bob", "eve"] {
            check(tries(&world, other, &id).await, other);
        }
        assert_eq!((world.tasks.rows(), world.tasks.messages()), (rows, messages), "no object was reached");
        assert!(tries(&world, "ada", &id).await[0].error().is_none());
    });
}

/// T23, T27: an id of 64 KiB is refused.
#[test]
fn long_ids_are_refused() {
    testing::run(async {
        let world = World::new(items);
        for length in [64 << 10, 1 << 20] {
            let answer = world.client().request("tasks/get", json!({ "taskId": "A".repeat(length) })).await;
            assert!(matches!(answer.status(), 200 | 431), "{}", answer.status());
            assert!(answer.is_error() && answer.body().len() < 1000);
        }
        assert_eq!(world.tasks.messages(), 0);
    });
}

/// T27: the id of a task of another server, or of another resource or key, is unknown, although both servers share their objects and a key.
#[test]
fn ids_of_other_servers_are_unknown() {
    testing::run(async {
        let other = |name: &'static str| {
            let server = items(McpServer::builder(name, "1")).build().expect("a server");
            with_tokens(testing::endpoint(move |_| Ok(server.clone())))
        };
        let mut world = World::of(other("s"));
        let id = created(&world.client().token("ada").call("wait", json!({})).await);
        world.run().await;
        let tokens = || StaticTokens::from_json("T", Some(TOKENS)).expect("tokens");
        let at = |url: &str| {
            let resource = edge_mcp::auth::ProtectedResource::at(url).expect("a resource");
            other("s").resource(resource)
        };
        let with_key = |key: &'static str| -> Endpoint {
            other("s")
                .auth(tokens())
                .state_keys(edge_mcp::auth::StateKeys::from_text("MCP_STATE_KEY", Some(key)).expect("a key"))
        };
        for served in [other("t"), at("https://a.example/mcp"), with_key("another-key-that-is-long-enough-for-this")] {
            world.deploy(served);
            let messages = world.tasks.messages();
            let answer = world.client().token("ada").request("tasks/get", json!({ "taskId": id })).await;
            assert_eq!(answer.error().map(|it| it.0), Some(-32602), "{}", answer.json());
            assert_eq!(world.tasks.messages(), messages);
        }
        world.deploy(other("s"));
        assert!(world.client().token("ada").request("tasks/get", json!({ "taskId": id })).await.error().is_none());
    });
}

/// T27: a new key does not lose the tasks of the old one.
#[test]
fn keys_can_be_rotated() {
    testing::run(async {
        let with = |keys: &'static str| {
            endpoint(items).state_keys(edge_mcp::auth::StateKeys::from_text("MCP_STATE_KEY", Some(keys)).expect("keys"))
        };
        let mut world = World::of(with(OLD));
        let id = world.start("wait", json!({})).await;
        world.run().await;
        world.deploy(with(BOTH));
        world.update(&id, json!({ "name": { "action": "accept", "content": { "name": "Ada" } } })).await;
        assert_eq!(text(&world.finish(&id).await), "Ada");
    });
}

/// T14: a flood of unknown keys and a huge answer change nothing.
#[test]
fn floods_of_answers_are_ignored() {
    testing::run(async {
        let world = World::new(items);
        let id = world.start("wait", json!({})).await;
        world.run().await;
        let rows = world.tasks.rows();
        let flood: Map<String, Value> = (0..2000).map(|nth| (format!("k{nth}"), json!({ "nth": nth }))).collect();
        assert!(world.update(&id, flood.into()).await.error().is_none());
        assert_eq!(world.tasks.rows(), rows);
        for length in [300_000, 3_000_000] {
            let huge = json!({ "name": { "action": "accept", "content": { "name": "x".repeat(length) } } });
            let answer = world.update(&id, huge).await;
            assert_eq!(answer.error().map(|it| it.0), Some(-32602), "{}", answer.json());
            assert!(answer.body().len() < 1000);
        }
        let too_large = json!({ "name": { "action": "accept", "content": { "name": "x".repeat(5 << 20) } } });
        assert_eq!(world.update(&id, too_large).await.status(), 413);
        assert_eq!(world.tasks.rows(), rows);
        let fits = json!({ "name": { "action": "accept", "content": { "name": "x".repeat(200_000) } } });
        assert!(world.update(&id, fits).await.error().is_none());
        assert_eq!(text(&world.finish(&id).await).len(), 200_000);
    });
}

/// T11: results take as many rows as they need. A result of more than 4 MiB is an error: it would be in memory several times at each poll.
#[test]
fn results_can_be_long() {
    testing::run(async {
        for (mib, fits) in [(2, true), (5, false)] {
            let world = World::new(|server| {
                let long = move || async move { "x".repeat(mib << 20) };
                server.tool(Tool::new("long", "Answers.", long).task(Task::new()))
            });
            let id = world.start("long", json!({})).await;
            world.run().await;
            assert!(world.tasks.rows().iter().all(|(_, value)| value.len() <= 3 << 19), "a row has at most 1.5 MiB");
            let state = world.get(&id).await;
            let plain = world.plain().call("long", json!({})).await;
            assert_eq!(state["result"]["content"][0]["text"], plain.text());
            assert_eq!(plain.is_error(), !fits);
            assert_eq!(plain.text().len() == mib << 20, fits);
            assert!(fits || plain.text().contains("must have at most 4194304 bytes"), "{}", plain.text());
        }
    });
}

/// T11: each result that a task stores fits into an answer to `tasks/get`, with the message of the task.
#[test]
fn each_result_can_be_read() {
    testing::run(async {
        let limit = 50_000;
        for length in (limit - 6000..limit).step_by(100) {
            let mut limits = edge_mcp::Limits::default();
            limits.output = limit;
            let world = World::of(
                endpoint(|server| {
                    let long = move |cx: Context| async move {
                        cx.progress(1.0, None, "\u{1f980}".repeat(1000));
                        "x".repeat(length)
                    };
                    server.tool(Tool::new("long", "Answers.", long).task(Task::new()))
                })
                .limits(limits),
            );
            let id = world.start("long", json!({})).await;
            world.run().await;
            let state = world.get(&id).await;
            assert_eq!(state["status"], "completed", "{length}");
        }
    });
}

/// A model may read the message of a task, so it has no hidden characters, is one line, and is not long.
#[test]
fn messages_are_cleaned() {
    testing::run(async {
        let world = World::new(|server| {
            let work = |cx: Context| async move {
                cx.progress(
                    1.0,
                    None,
                    format!("load\u{202e}ed\u{200b} \u{e0041}2\nof\t3\u{1b}[1m {}", "x".repeat(2000)),
                );
                cx.sleep(Duration::from_mins(1)).await;
                cx.progress(2.0, None, "");
                "done"
            };
            server.tool(Tool::new("work", "Works.", work).task(Task::new().answer_within(Duration::from_secs(1))))
        });
        let id = world.start("work", json!({})).await;
        world.run().await;
        let state = world.get(&id).await;
        let message = state["statusMessage"].as_str().expect("a message");
        assert!(message.chars().count() <= 501, "{}", message.len());
        let is_hidden = |c: char| c.is_control() || c == '\u{200b}' || c == '\u{202e}' || c >= '\u{e0000}';
        assert!(!message.contains(is_hidden), "{message:?}");
        assert!(message.starts_with("load"), "{message}");
        let answer = world.plain().call("work", json!({})).await;
        job_id(&answer);
        assert!(!answer.text().contains(is_hidden), "{:?}", answer.text());
        assert_eq!(text(&world.finish(&id).await), "done");
    });
}

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
struct Order {
    article: String,
}

/// T27: rows and log lines contain no argument, answer, result, message, claim, token or question. They contain no id, which is a secret.
#[test]
fn rows_and_log_lines_reveal_nothing() {
    testing::run(async {
        let world = World::of(
            with_tokens(endpoint(|server| {
                let buy = |order: Order, cx: Context| async move {
                    cx.progress(1.0, None, format!("buys {}", order.article));
                    let receipt = cx.step("charge", &order, async || Ok(format!("receipt {SECRET}"))).await?;
                    let name = cx.elicit::<Name>("name", format!("Whose {}?", order.article)).await?.accepted();
                    cx.sleep(Duration::from_secs(1)).await;
                    if order.article.starts_with("fail") {
                        return Err(HandlerError::new(format!("No {}", order.article)));
                    }
                    Ok(format!("{receipt} {}", name.map_or_else(String::new, |it| it.name)))
                };
                server.tool(Tool::new("buy", "Buys.", buy).task(Task::new().answer_within(Duration::ZERO)))
            }))
            .log(edge_mcp::LogPolicy::All),
        );
        let mut ids = Vec::new();
        let check = |ids: &[String]| {
            let rows = world.tasks.rows();
            let all = rows.iter().map(|(key, value)| format!("{key} {}", String::from_utf8_lossy(value)));
            for line in all.chain([world.host.log_text()]) {
                assert!(!line.contains(SECRET), "{line}");
                assert!(!line.contains("\"ada\"") && !line.contains("subject"), "{line}");
                assert!(
                    !ids.iter().any(|id| line.contains(&**id) || line.contains(id.get(3..25).expect("ASCII"))),
                    "{line}"
                );
            }
        };
        for article in [format!("book {SECRET}"), format!("fail {SECRET}")] {
            let client = world.client().token("ada");
            let id = created(&client.call("buy", json!({ "article": article })).await);
            ids.push(id.clone());
            check(&ids);
            world.run().await;
            check(&ids);
            let wrong = json!({ "name": { "action": "accept", "content": { "name": 1, "other": SECRET } } });
            client.request("tasks/update", json!({ "taskId": id, "inputResponses": wrong })).await;
            let name = json!({ "name": { "action": "accept", "content": { "name": SECRET } } });
            client.request("tasks/update", json!({ "taskId": id, "inputResponses": name })).await;
            for _ in 0..3 {
                world.run().await;
                world.advance(1);
                check(&ids);
            }
            let state = client.request("tasks/get", json!({ "taskId": id })).await;
            assert_eq!(state.result()["status"], "completed");
            check(&ids);
        }
        ids.push(job_id(&world.plain().token("ada").call("buy", json!({ "article": SECRET })).await));
        check(&ids);
    });
}

/// T27: a row of one task cannot be moved to another, and not to another key.
#[test]
fn encrypted_rows_are_bound_to_their_place() {
    testing::run(async {
        let world = World::new(items);
        let first = world.start("wait", json!({})).await;
        world.run().await;
        let of_first = world.tasks.rows();
        let second = world.start("wait", json!({})).await;
        world.run().await;
        let row = |rows: &[(String, Vec<u8>)], name: &str| {
            rows.iter().find(|(key, _)| key.ends_with(name)).map(|(_, value)| value.clone()).expect("the row")
        };
        let question = row(&of_first, "/question:0000#0");
        for (key, _) in world.tasks.rows() {
            if key.ends_with("/question:0000#0") && !of_first.iter().any(|(known, _)| *known == key) {
                world.tasks.write_row(&key, &question);
            }
        }
        assert_eq!(world.status(&first).await, "input_required");
        let answer = world.client().request("tasks/get", json!({ "taskId": second })).await;
        assert_eq!(answer.error().map(|it| it.0), Some(-32603), "{}", answer.json());
        assert!(!answer.text().contains("decrypted"), "{}", answer.text());
    });
}
