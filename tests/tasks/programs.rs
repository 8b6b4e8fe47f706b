//! Random handlers, which are interrupted at random, against a model.

use std::fmt::Write;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::tasks::Task;
use edge_mcp::testing;
use edge_mcp::{Context, HandlerError, Tool};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, try_join_all};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::world::{Seen, World, endpoint, note, text};
use edge_mcp_test_support::random::Random;
use edge_mcp_test_support::turn;

/// A part of a handler. It returns a text.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
enum Part {
    /// A step with this name, and the parts within it. They are its input, so equal steps do the same.
    Step(String, Vec<Part>),
    /// Branches that run at the same time.
    Join(Vec<Vec<Part>>),
    /// A question with this key. The second number makes questions with the same key different.
    Ask(String, u32),
    /// A sleep of some seconds.
    Sleep(u64),
    /// A nested call of the tool that runs these parts.
    Call(Vec<Part>),
    /// A progress notification.
    Progress,
    /// A wait without any effect, after which other branches run.
    Yield,
}

#[derive(Deserialize, JsonSchema)]
struct Program {
    parts: Vec<Part>,
}

/// Generates programs. Each has a bounded number of parts.
struct Generator {
    random: Random,
    left: usize,
    /// The number of keys so far.
    keys: u32,
}

impl Generator {
    fn parts(&mut self, depth: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        while self.left > 0 && parts.len() < 4 && !(parts.len() > 1 && self.random.once_in(3)) {
            self.left -= 1;
            parts.push(self.part(depth));
        }
        parts
    }

    fn part(&mut self, depth: usize) -> Part {
        match self.random.below(if depth > 3 { 7 } else { 11 }) {
            0..=2 => Part::Step(self.random.one(&["a", "b"]).to_owned(), Vec::new()),
            3 => {
                self.keys += 1;
                Part::Ask(format!("q{}", self.keys), 0)
            }
            4 => Part::Sleep(1 + self.random.below(3) as u64),
            5 => Part::Progress,
            6 => Part::Yield,
            7 => Part::Step(self.random.one(&["c", "d"]).to_owned(), self.parts(depth + 1)),
            8 => Part::Call(self.parts(depth + 1)),
            9 if depth == 0 => {
                // Different questions with one key, one after the other.
                self.keys += 1;
                Part::Ask("again".to_owned(), self.keys)
            }
            _ => Part::Join((0..2 + self.random.below(2)).map(|_| self.parts(depth + 1)).collect()),
        }
    }
}

/// Returns what a program does, in the model: its text, and the number of its steps.
fn model(parts: &[Part]) -> (String, usize) {
    let (mut text, mut steps) = (String::new(), 0);
    for part in parts {
        let branches = match part {
            Part::Step(name, inner) => {
                text += name;
                steps += 1;
                std::slice::from_ref(inner)
            }
            Part::Call(inner) => std::slice::from_ref(inner),
            Part::Join(branches) => branches,
            Part::Ask(key, nth) => {
                write!(text, "[{key}:{nth}]").expect("a text");
                &[]
            }
            Part::Sleep(_) | Part::Progress | Part::Yield => &[],
        };
        for branch in branches {
            let (of_branch, in_branch) = model(branch);
            write!(text, "({of_branch})").expect("a text");
            steps += in_branch;
        }
    }
    (text, steps)
}

#[derive(Deserialize, JsonSchema)]
struct Reply {
    reply: String,
}

/// Runs parts, and notes the idempotency key of each step.
fn run<'a>(parts: &'a [Part], cx: &'a Context, seen: &'a Seen) -> LocalBoxFuture<'a, Result<String, HandlerError>> {
    let run = async move {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Step(name, inner) => {
                    let done = cx.step(name, inner, async || {
                        note(seen, cx.idempotency_key()?);
                        run(inner, cx, seen).await
                    });
                    write!(text, "{name}({})", done.await?).expect("a text");
                }
                Part::Join(branches) => {
                    for branch in try_join_all(branches.iter().map(|branch| run(branch, cx, seen))).await? {
                        write!(text, "({branch})").expect("a text");
                    }
                }
                Part::Ask(key, nth) => {
                    let reply = cx.elicit::<Reply>(key.clone(), format!("{key}:{nth}")).await?.accepted();
                    write!(text, "[{}]", reply.map_or_else(String::new, |it| it.reply)).expect("a text");
                }
                Part::Sleep(seconds) => cx.sleep(Duration::from_secs(*seconds)).await,
                Part::Call(inner) => {
                    let called = cx.call_tool("sub", json!({ "parts": inner })).await?;
                    write!(text, "({})", called.text()).expect("a text");
                }
                Part::Progress => cx.progress(1.0, None, "progress"),
                Part::Yield => turn().await,
            }
        }
        Ok(text)
    };
    run.boxed_local()
}

fn world(seen: &Seen) -> World {
    let tool = |name: &'static str| {
        let seen = seen.clone();
        Tool::new(name, "Runs a program.", move |Program { parts }: Program, cx: Context| {
            let seen = seen.clone();
            async move { run(&Rc::<[Part]>::from(parts), &cx, &seen).await }
        })
    };
    World::of(endpoint(|server| server.tool(tool("main").task(Task::new())).tool(tool("sub"))))
}

/// Runs the program of a seed, with interruptions, and compares it with the model.
async fn check(seed: u64) {
    let mut generator = Generator { random: Random::new(seed), left: 14, keys: 0 };
    let parts = generator.parts(0);
    let mut random = generator.random;
    let (expected, steps) = model(&parts);
    let noted = Seen::default();
    let world = world(&noted);
    let id = world.start("main", json!({ "parts": parts })).await;
    for _ in 0..400 {
        match random.below(6) {
            0 | 1 => world.tasks.kill_at_write(1 + u32::try_from(random.below(12)).expect("a small number")),
            2 => world.tasks.fail_write(1 + u32::try_from(random.below(12)).expect("a small number")),
            3 => {
                world.tasks.begin().await.expect("it begins");
                world.tasks.interrupt();
            }
            _ => {}
        }
        world.run().await;
        let state = world.get(&id).await;
        match state["status"].as_str().expect("a status") {
            "working" => world.to_next_alarm(),
            "input_required" => {
                let questions = state["inputRequests"].as_object().expect("questions");
                assert!(!questions.is_empty(), "seed {seed}: there is no question");
                let reply = |question: &Value| json!({ "action": "accept", "content": { "reply": question["params"]["message"] } });
                let mut replies = serde_json::Map::new();
                for (key, question) in questions {
                    if random.once_in(2) {
                        replies.insert(key.clone(), reply(question));
                    }
                }
                world.update(&id, replies.into()).await;
                if random.once_in(2) {
                    world.advance(1);
                }
            }
            _ => {
                assert_eq!(text(&state), expected, "seed {seed}: {parts:?}");
                let mut keys = noted.borrow().clone();
                keys.sort();
                keys.dedup();
                assert_eq!(keys.len(), steps, "seed {seed}: {parts:?}");
                return;
            }
        }
    }
    panic!("seed {seed} does not end: {parts:?}");
}

/// The result is that of the model, and each step has one idempotency key, whatever interrupts the attempts.
#[test]
fn random_programs_end_like_their_model() {
    testing::run(async {
        for seed in 0..200 {
            check(seed).await;
        }
    });
}
