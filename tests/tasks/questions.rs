//! Questions of a task.

use std::time::Duration;

use edge_mcp::call::Sampling;
use edge_mcp::tasks::Task;
use edge_mcp::testing;
use edge_mcp::{Context, FormAnswer, HandlerError, McpServerBuilder, Tool};
use futures::FutureExt;
use futures::future::{Either, select, try_join, try_join_all};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::{EXTENSION, World, created, text};

#[derive(Deserialize, JsonSchema)]
struct Name {
    #[schemars(length(max = 5))]
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Agreement {
    agree: bool,
}

async fn ask_twice(cx: Context) -> Result<String, HandlerError> {
    let name = async { Ok::<_, HandlerError>(cx.elicit::<Name>("name", "Your name?").await?) };
    let agreement = async { Ok(cx.elicit::<Agreement>("agree", "Do you agree?").await?) };
    let (name, agreed) = try_join(name, agreement).await?;
    let name = name.accepted().map_or_else(|| "nobody".to_owned(), |it| it.name);
    Ok(format!("{name} {}", agreed.accepted().is_some_and(|it| it.agree)))
}

fn twice(server: McpServerBuilder) -> McpServerBuilder {
    server.tool(Tool::new("twice", "Asks twice.", ask_twice).task(Task::new()))
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn keys(state: &Value) -> Vec<&str> {
    let questions = state["inputRequests"].as_object().map(|questions| questions.keys().map(String::as_str).collect());
    let mut keys: Vec<_> = questions.unwrap_or_default();
    keys.sort_unstable();
    keys
}

/// T13, T14, T15: a client can answer some of the questions. The answered ones leave the list at once. Unknown and answered keys are ignored,
/// whatever their values are.
#[test]
fn a_subset_of_questions_can_be_answered() {
    testing::run(async {
        let world = World::new(twice);
        let id = world.start("twice", json!({})).await;
        world.run().await;
        assert_eq!(keys(&world.get(&id).await), ["agree", "name"]);
        for unknown in [json!({ "other": 1 }), json!({ "other": null, "": {} }), json!({})] {
            assert_eq!(world.update(&id, unknown).await.status(), 200);
            assert_eq!(keys(&world.get(&id).await), ["agree", "name"]);
        }
        let some = json!({ "name": accept(json!({ "name": "Ada" })), "other": "wrong" });
        assert!(world.update(&id, some).await.error().is_none());
        let state = world.get(&id).await;
        assert_eq!((keys(&state), &state["status"]), (vec!["agree"], &json!("input_required")));
        // The second answer to a question does not replace the first one, even if it is wrong.
        for again in [accept(json!({ "name": "Bob" })), json!("wrong")] {
            assert!(world.update(&id, json!({ "name": again })).await.error().is_none());
        }
        world.run().await;
        assert_eq!(keys(&world.get(&id).await), ["agree"]);
        world.update(&id, json!({ "agree": accept(json!({ "agree": true })) })).await;
        let state = world.get(&id).await;
        assert!(state["status"] == "working" && state.get("inputRequests").is_none(), "{state}");
        assert_eq!(text(&world.finish(&id).await), "Ada true");
    });
}

/// T14: an answer that does not fit its question is refused, and the question stays open. The other answers of the request are not stored either.
#[test]
fn wrong_answers_are_refused() {
    testing::run(async {
        let world = World::new(twice);
        let id = world.start("twice", json!({})).await;
        world.run().await;
        for wrong in [
            json!(1),
            json!(null),
            json!([]),
            json!({}),
            json!({ "action": "agree" }),
            json!({ "action": "accept" }),
            accept(json!({})),
            accept(json!({ "name": 1 })),
            accept(json!({ "name": "too long" })),
            accept(json!("Ada")),
        ] {
            // The valid answer has the first key of both.
            let answers = json!({ "agree": accept(json!({ "agree": true })), "name": wrong });
            let answer = world.update(&id, answers).await;
            assert_eq!((answer.status(), answer.error().map(|it| it.0)), (200, Some(-32602)), "{wrong}");
            assert!(answer.text().contains("`name`"), "{}", answer.text());
            assert_eq!(keys(&world.get(&id).await), ["agree", "name"], "{wrong}");
        }
        world.update(&id, json!({ "name": { "action": "decline" }, "agree": { "action": "cancel" } })).await;
        assert_eq!(text(&world.finish(&id).await), "nobody false");
    });
}

/// T16: a key belongs to one question for the whole life of a task, although the handler asks different questions with it.
#[test]
fn keys_are_never_reused() {
    testing::run(async {
        let world = World::new(|server| {
            let guess = |cx: Context| async move {
                for nth in 1..=3 {
                    let message = format!("Guess {nth}?");
                    if let FormAnswer::Accepted(Name { name }) = cx.elicit::<Name>("guess", message).await?
                        && name == "right"
                    {
                        return Ok::<_, HandlerError>(format!("guess {nth}"));
                    }
                }
                Ok("none".to_owned())
            };
            server.tool(Tool::new("guess", "Asks again.", guess).task(Task::new()))
        });
        let id = world.start("guess", json!({})).await;
        let mut all = Vec::new();
        for nth in 1..=3 {
            let state = world.finish(&id).await;
            let [key] = keys(&state)[..] else { panic!("{state}") };
            assert_eq!(state["inputRequests"][key]["params"]["message"], format!("Guess {nth}?"));
            assert!(!all.contains(&key.to_owned()), "{key} was used before: {all:?}");
            all.push(key.to_owned());
            for old in &all[..all.len() - 1] {
                world.update(&id, json!({ old: accept(json!({ "name": "right" })) })).await;
            }
            assert_eq!(keys(&world.get(&id).await), [key]);
            let name = if nth == 3 { "right" } else { "wrong" };
            world.update(&id, json!({ key: accept(json!({ "name": name })) })).await;
        }
        assert_eq!(text(&world.finish(&id).await), "guess 3");
    });
}

/// T16: a question that the handler no longer asks is withdrawn. Its key is not used again.
#[test]
fn a_changed_question_gets_another_key() {
    testing::run(async {
        let world = World::new(|server| {
            let price = |cx: Context| async move {
                // The price differs in each attempt.
                let attempt = cx.task().map_or(0, |task| task.attempt);
                let paid = cx.elicit::<Agreement>("pay", format!("Pay {attempt} euros?"));
                let other = cx.elicit::<Agreement>("other", "Other?");
                let (_, other) = try_join(paid, other).await?;
                Ok::<_, HandlerError>(format!("{}", other.accepted().is_some_and(|it| it.agree)))
            };
            server.tool(Tool::new("price", "Asks for a price.", price).task(Task::new()))
        });
        let id = world.start("price", json!({})).await;
        world.run().await;
        assert_eq!(keys(&world.get(&id).await), ["other", "pay"]);
        world.update(&id, json!({ "pay": accept(json!({ "agree": true })) })).await;
        world.update(&id, json!({ "other": accept(json!({ "agree": true })) })).await;
        world.run().await;
        let state = world.get(&id).await;
        let [key] = keys(&state)[..] else { panic!("{state}") };
        assert_ne!(key, "pay");
        assert_eq!(state["inputRequests"][key]["params"]["message"], "Pay 2 euros?");
    });
}

/// T16: an open question is withdrawn if the handler asks another one instead. An answer to it is then ignored.
#[test]
fn an_open_question_can_be_withdrawn() {
    testing::run(async {
        let world = World::new(|server| {
            let price = |cx: Context| async move {
                let attempt = cx.task().map_or(0, |task| task.attempt);
                let asks = async {
                    let answer = cx.elicit::<Agreement>("pay", format!("Pay {} euros?", attempt.min(2))).await?;
                    Ok::<_, HandlerError>(answer.accepted().is_some_and(|it| it.agree))
                };
                let sleeps = async {
                    cx.sleep(Duration::from_secs(10)).await;
                    Ok(())
                };
                let (agreed, ()) = try_join(asks, sleeps).await?;
                Ok::<_, HandlerError>(agreed.to_string())
            };
            server.tool(Tool::new("price", "Asks for a price.", price).task(Task::new()))
        });
        let id = world.start("price", json!({})).await;
        world.run().await;
        assert_eq!(keys(&world.get(&id).await), ["pay"]);
        world.advance(10);
        world.run().await;
        let state = world.get(&id).await;
        let [key] = keys(&state)[..] else { panic!("{state}") };
        assert_eq!(state["inputRequests"][key]["params"]["message"], "Pay 2 euros?");
        assert_ne!(key, "pay");
        world.update(&id, json!({ "pay": accept(json!({ "agree": true })) })).await;
        assert_eq!(keys(&world.get(&id).await), [key]);
        world.update(&id, json!({ key: accept(json!({ "agree": false })) })).await;
        assert_eq!(text(&world.finish(&id).await), "false");
    });
}

/// T18: a task asks only the kinds of questions that its creating request declared, whatever later requests declare.
#[test]
fn only_declared_questions_are_asked() {
    testing::run(async {
        let world = World::new(|server| {
            let sample = |cx: Context| async move {
                let sampling = Sampling::new(10).message(edge_mcp::PromptMessage::user(edge_mcp::Content::text("Hi")));
                Ok::<_, HandlerError>(cx.sample("sample", sampling).await?.text)
            };
            twice(server).tool(Tool::new("sample", "Samples.", sample).task(Task::new()))
        });
        for (tool, required) in [("twice", "elicitation"), ("sample", "sampling")] {
            let only = json!({ "extensions": { EXTENSION: {} } });
            let id = created(&world.plain().capabilities(only).call(tool, json!({})).await);
            let state = world.finish(&id).await;
            assert_eq!((&state["status"], &state["error"]["code"]), (&json!("failed"), &json!(-32021)), "{state}");
            assert!(state["error"]["data"]["requiredCapabilities"][required].is_object(), "{state}");
        }
        let id = world.start("sample", json!({})).await;
        let state = world.finish(&id).await;
        assert_eq!(state["inputRequests"]["sample"]["method"], "sampling/createMessage");
        for wrong in [json!({}), json!({ "role": "assistant" }), json!({ "model": "m" })] {
            assert_eq!(world.update(&id, json!({ "sample": wrong })).await.error().map(|it| it.0), Some(-32602));
        }
        let right = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "Hello" } });
        world.update(&id, json!({ "sample": right })).await;
        assert_eq!(text(&world.finish(&id).await), "Hello");
    });
}

/// T13: an answer can arrive while the attempt that asked still runs a step.
#[test]
fn an_answer_can_arrive_while_another_question_is_asked() {
    testing::run(async {
        let world = World::new(|server| {
            let work = |cx: Context| async move {
                let asks = async {
                    let first = cx.elicit::<Agreement>("first", "First?").await?;
                    let second = cx.elicit::<Agreement>("second", "Second?").await?;
                    Ok::<_, HandlerError>((first.accepted().is_some(), second.accepted().is_some()))
                };
                let sleeps = async {
                    cx.sleep(Duration::from_secs(10)).await;
                    Ok(())
                };
                let (asked, ()) = try_join(asks, sleeps).await?;
                Ok::<_, HandlerError>(format!("{asked:?}"))
            };
            server.tool(Tool::new("work", "Asks and sleeps.", work).task(Task::new()))
        });
        let id = world.start("work", json!({})).await;
        world.run().await;
        assert_eq!(keys(&world.get(&id).await), ["first"]);
        // The sleep ends while the question is open.
        world.advance(10);
        world.run().await;
        assert_eq!(keys(&world.get(&id).await), ["first"]);
        for key in ["first", "second"] {
            world.update(&id, json!({ key: accept(json!({ "agree": true })) })).await;
            world.run().await;
        }
        assert_eq!(text(&world.get(&id).await), "(true, true)");
    });
}

/// A question is withdrawn if the handler then only sleeps. The task works again, and an answer to the question is ignored.
#[test]
fn a_question_is_withdrawn_if_the_handler_only_sleeps() {
    testing::run(async {
        let world = World::new(|server| {
            let work = |cx: Context| async move {
                let asks = cx.elicit::<Agreement>("go", "Go?").boxed_local();
                let sleeps = cx.sleep(Duration::from_mins(1)).boxed_local();
                let won = matches!(select(sleeps, asks).await, Either::Left(_));
                cx.sleep(Duration::from_mins(10)).await;
                Ok::<_, HandlerError>(format!("the sleep won: {won}"))
            };
            server.tool(Tool::new("work", "Asks and sleeps.", work).task(Task::new()))
        });
        let id = world.start("work", json!({})).await;
        world.run().await;
        assert_eq!(keys(&world.get(&id).await), ["go"]);
        world.advance(60);
        world.run().await;
        let state = world.get(&id).await;
        assert!(state["status"] == "working" && state.get("inputRequests").is_none(), "{state}");
        let rows = world.tasks.rows();
        assert!(world.update(&id, json!({ "go": accept(json!({ "agree": true })) })).await.error().is_none());
        assert_eq!(world.tasks.rows(), rows);
        assert_eq!(text(&world.finish(&id).await), "the sleep won: true");
    });
}

/// An answer changes the rows of its own question only. What the question does not define is not stored.
#[test]
fn an_answer_writes_the_rows_of_its_question() {
    testing::run(async {
        let world = World::new(|server| {
            let ask = |cx: Context| async move {
                let asked = (0..20).map(|nth| {
                    let cx = cx.clone();
                    async move { Ok::<_, HandlerError>(cx.confirm(&format!("q{nth:02}"), "Sure?").await?) }
                });
                Ok::<_, HandlerError>(format!("{}", try_join_all(asked).await?.len()))
            };
            server.tool(Tool::new("ask", "Asks.", ask).task(Task::new()))
        });
        let id = world.start("ask", json!({})).await;
        world.run().await;
        let before = world.tasks.rows();
        for action in ["decline", "accept"] {
            let key = if action == "decline" { "q00" } else { "q01" };
            let long =
                json!({ "action": action, "content": { "x": "x".repeat(200_000) }, "other": "x".repeat(50_000) });
            assert!(world.update(&id, json!({ key: long })).await.error().is_none());
        }
        let rows = world.tasks.rows();
        let mut changed: Vec<_> = rows.iter().filter(|row| !before.contains(row)).collect();
        changed.retain(|(key, _)| !key.ends_with("/task"));
        let names: Vec<_> = changed.iter().map(|(key, _)| key.rsplit('/').next().expect("a key")).collect();
        assert_eq!(names, ["answer:0000#0", "answer:0001#0", "question:0000#0", "question:0001#0"]);
        assert!(changed.iter().all(|(_, row)| row.len() < 1000), "{:?}", changed.iter().map(|row| row.1.len()));
        let others: Value = (2..20).map(|nth| (format!("q{nth:02}"), json!({ "action": "cancel" }))).collect();
        world.update(&id, others).await;
        assert_eq!(text(&world.finish(&id).await), "20");
    });
}

/// All answers of a task together have at most 4 MiB. A longer one is refused, and a short one is not.
#[test]
fn all_answers_together_are_limited() {
    #[derive(Deserialize, JsonSchema)]
    struct Long {
        text: String,
    }
    testing::run(async {
        let world = World::new(|server| {
            let ask = |cx: Context| async move {
                let asked =
                    (0..18).map(|nth| {
                        let cx = cx.clone();
                        async move {
                            Ok::<_, HandlerError>(cx.elicit::<Long>(format!("q{nth:02}"), "Text?").await?.accepted())
                        }
                    });
                let bytes = try_join_all(asked).await?.into_iter().flatten().map(|long| long.text.len());
                Ok::<_, HandlerError>(format!("{}", bytes.sum::<usize>()))
            };
            server.tool(Tool::new("ask", "Asks.", ask).task(Task::new()))
        });
        let id = world.start("ask", json!({})).await;
        world.run().await;
        let long = accept(json!({ "text": "x".repeat(250_000) }));
        for nth in 0..16 {
            assert!(world.update(&id, json!({ format!("q{nth:02}"): long })).await.error().is_none(), "{nth}");
        }
        let refused = world.update(&id, json!({ "q16": long })).await;
        assert_eq!(refused.error().map(|it| it.0), Some(-32602));
        assert!(refused.text().contains("all answers of the job together"), "{}", refused.text());
        world.update(&id, json!({ "q16": { "action": "decline" }, "q17": { "action": "decline" } })).await;
        assert_eq!(text(&world.finish(&id).await), "4000000");
    });
}
