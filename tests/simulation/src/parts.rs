//! Random handlers: programs of parts, the interpreter that runs them, and the model of their results.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{Delivery, McpClient};
use edge_mcp::{Context, HandlerError};
use edge_mcp_test_support::random::Random;
use edge_mcp_test_support::turn;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, try_join_all};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::digest;
use crate::ledger::{Invariant, mark};
use crate::model::{self, Script};
use crate::passages::{self, Work};
use crate::world::World;
use crate::{upstream, upstream_items};

/// A part of a handler. It returns a text.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Part {
    /// A step with this name, and the parts within it. They are its input, so equal steps do the same.
    Step(String, Vec<Part>),
    /// Branches that run at the same time.
    Join(Vec<Vec<Part>>),
    /// A question with this key. The number makes questions with the same key different.
    Ask(String, u32),
    /// A sleep of some seconds.
    Sleep(u64),
    /// A nested call of the tool that runs these parts.
    Call(Vec<Part>),
    /// A nested call of the tool that needs the person's approval.
    Approved(Vec<Part>),
    /// The point at which the task of the tool `later` begins.
    Start,
    /// A progress notification.
    Progress,
    /// A wait without any effect, after which other branches run.
    Yield,
    /// Parts whose failure is not a failure of the handler. After this number of milliseconds, they are dropped.
    Attempt(u64, Vec<Part>),
    /// A nested call of the tool that needs the scope `secret`, and whether the caller has it.
    Guarded(bool, Vec<Part>),
    /// A question to the agent, whose model calls tools: in each round, each of these parts is a call.
    Agent { is_noisy: bool, rounds: Vec<Vec<Part>> },
    /// A call of the tool `work` of another server, with a number. Calls with the same number are equal. The server may ask.
    Remote { server: usize, number: u32, asks: bool },
    /// A request for a resource, a prompt or a list of another server. The number decides which.
    ReadRemote { server: usize, number: u32 },
    /// Saves, removes or finds passages.
    Passages(Work),
    /// Ends the isolate in each attempt of a task, as a panic does.
    Crash,
}

/// The arguments of the tools that run parts.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Program {
    /// The name of the caller, and the number of its call.
    pub caller: String,
    /// A text that belongs to the caller.
    pub owned: String,
    /// The place of a nested call, or an empty text.
    pub place: String,
    pub parts: Vec<Part>,
}

/// Generates programs. Each has a bounded number of parts.
pub struct Generator<'r> {
    pub random: &'r mut Random,
    pub left: usize,
    /// The number of other servers.
    pub servers: usize,
    /// Whether the caller has the scope `secret`.
    pub has_secret: bool,
    pub keys: u32,
}

impl Generator<'_> {
    pub fn parts(&mut self, depth: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        while self.left > 0 && parts.len() < 4 && !(parts.len() > 1 && self.random.once_in(3)) {
            self.left -= 1;
            parts.push(self.part(depth));
        }
        parts
    }

    fn key(&mut self) -> u32 {
        self.keys += 1;
        self.keys
    }

    fn part(&mut self, depth: usize) -> Part {
        match self.random.below(if depth > 3 { 9 } else { 20 }) {
            0..=2 => Part::Step(self.random.one(&["a", "b"]).to_owned(), Vec::new()),
            3 => Part::Ask(format!("q{}", self.key()), 0),
            4 => Part::Sleep(1 + self.random.below(3) as u64),
            5 => Part::Progress,
            6 => Part::Yield,
            7 if self.servers > 0 && self.random.once_in(3) => {
                let server = self.random.below(self.servers);
                Part::ReadRemote { server, number: self.key() }
            }
            7 | 8 if self.servers > 0 => {
                let server = self.random.below(self.servers);
                let number = if self.random.once_in(3) { 1000 } else { self.key() };
                Part::Remote { server, number, asks: number != 1000 && self.random.once_in(4) }
            }
            7..=9 => Part::Step(self.random.one(&["c", "d"]).to_owned(), self.parts(depth + 1)),
            10 => Part::Call(self.parts(depth + 1)),
            11 => Part::Approved(self.parts(depth + 1)),
            12 if depth == 0 => {
                // Different questions with one key, one after the other.
                let number = self.key();
                Part::Ask("again".to_owned(), number)
            }
            12 | 13 => {
                let ms = [0, 10, 2000, 9000][self.random.below(4)];
                Part::Attempt(ms, self.parts(depth + 1))
            }
            14 => Part::Guarded(self.has_secret, self.parts(depth + 1)),
            15 | 16 if depth < 2 => {
                let mut round = || {
                    let calls = 1 + self.random.below(2);
                    self.left = self.left.saturating_sub(calls);
                    (0..calls).map(|_| self.part(depth + 1)).collect()
                };
                let rounds = vec![round(), round()];
                let rounds = rounds.into_iter().take(1 + self.random.below(2)).collect();
                Part::Agent { is_noisy: self.random.once_in(4), rounds }
            }
            _ => Part::Join((0..2 + self.random.below(2)).map(|_| self.parts(depth + 1)).collect()),
        }
    }
}

impl Part {
    /// Returns the lists of parts within this one.
    pub fn lists(&self) -> &[Vec<Self>] {
        match self {
            Self::Step(_, parts)
            | Self::Call(parts)
            | Self::Approved(parts)
            | Self::Guarded(_, parts)
            | Self::Attempt(_, parts) => std::slice::from_ref(parts),
            Self::Join(branches) | Self::Agent { rounds: branches, .. } => branches,
            _ => &[],
        }
    }

    /// Returns the same lists as [`lists`](Self::lists), to change them.
    pub fn lists_mut(&mut self) -> &mut [Vec<Self>] {
        match self {
            Self::Step(_, parts)
            | Self::Call(parts)
            | Self::Approved(parts)
            | Self::Guarded(_, parts)
            | Self::Attempt(_, parts) => std::slice::from_mut(parts),
            Self::Join(branches) | Self::Agent { rounds: branches, .. } => branches,
            _ => &mut [],
        }
    }
}

/// Returns all parts, the outer ones first.
pub fn all(parts: &[Part]) -> Vec<&Part> {
    let mut found: Vec<&Part> = parts.iter().collect();
    let mut at = 0;
    while let Some(part) = found.get(at).copied() {
        found.extend(part.lists().iter().flatten());
        at += 1;
    }
    found
}

/// Returns the place of a step or a nested call: equal ones with the same parent have the same place.
pub fn place_of(parent: &str, kind: &str, parts: &[Part]) -> String {
    let digest = digest::of(&serde_json::to_vec(parts).expect("JSON"));
    format!("{parent}/{kind}{digest:x}")
}

/// Returns the parts that a tool call of an agent runs, or `None` if the caller must not call the tool.
fn called(call: &Part) -> Option<&[Part]> {
    match call {
        Part::Guarded(false, _) => None,
        Part::Guarded(true, inner) => Some(inner),
        part => Some(std::slice::from_ref(part)),
    }
}

/// The equal steps at a place.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub count: usize,
    /// Whether all of them have run if the call succeeds.
    pub is_certain: bool,
    /// Whether nothing is within them.
    pub is_leaf: bool,
}

/// Counts the equal steps at each place.
pub fn steps(parts: &[Part], parent: &str, is_certain: bool, counts: &mut BTreeMap<String, Steps>) {
    for part in parts {
        match part {
            Part::Step(name, inner) => {
                let place = place_of(parent, name, inner);
                let leaf = Steps { count: 0, is_certain: true, is_leaf: inner.is_empty() };
                let equal = counts.entry(place.clone()).or_insert(leaf);
                equal.count += 1;
                equal.is_certain &= is_certain;
                steps(inner, &place, is_certain, counts);
            }
            Part::Call(inner) => steps(inner, &place_of(parent, "sub", inner), is_certain, counts),
            Part::Approved(inner) => steps(inner, &place_of(parent, "approved", inner), is_certain, counts),
            // Without the scope, no step of the tool ever runs.
            Part::Guarded(true, inner) => steps(inner, &place_of(parent, "guarded", inner), is_certain, counts),
            Part::Agent { rounds, .. } => {
                let place = place_of(parent, "agent", std::slice::from_ref(part));
                let agent = Steps { count: 0, is_certain: false, is_leaf: false };
                counts.entry(place.clone()).or_insert(agent).count += 1;
                for (round, calls) in rounds.iter().enumerate() {
                    for call in calls {
                        let inner = called(call).unwrap_or_default();
                        steps(inner, &model::place_of_call(&place, round, call), false, counts);
                    }
                }
            }
            Part::Attempt(_, inner) => steps(inner, parent, false, counts),
            Part::Join(branches) => branches.iter().for_each(|branch| steps(branch, parent, is_certain, counts)),
            _ => {}
        }
    }
}

/// Returns what is left of `text` after the result of these parts, or `None` if `text` is not their result.
pub fn result<'t>(parts: &[Part], mut text: &'t str) -> Option<&'t str> {
    for part in parts {
        text = match part {
            Part::Step(name, inner) => {
                result(inner, text.strip_prefix(name.as_str())?.strip_prefix('(')?)?.strip_prefix(')')?
            }
            Part::Call(inner) | Part::Approved(inner) | Part::Guarded(true, inner) => {
                result(inner, text.strip_prefix('(')?)?.strip_prefix(')')?
            }
            Part::Join(branches) => {
                for branch in branches {
                    text = result(branch, text.strip_prefix('(')?)?.strip_prefix(')')?;
                }
                text
            }
            Part::Attempt(_, inner) => match text.strip_prefix("{!}") {
                Some(rest) => rest,
                None => result(inner, text.strip_prefix('{')?)?.strip_prefix('}')?,
            },
            Part::Guarded(false, _) => text.strip_prefix("(-)")?,
            Part::Agent { rounds, .. } => {
                let (_, mut rest) = model::number(text)?;
                for call in rounds.iter().flatten() {
                    rest = match rest.strip_prefix("(!)") {
                        Some(rest) => rest,
                        None => result(called(call)?, rest.strip_prefix('(')?)?.strip_prefix(')')?,
                    };
                }
                rest.strip_prefix('>')?
            }
            // The reply is the question, and a text of the caller.
            Part::Ask(key, nth) => {
                let rest = text.strip_prefix(&format!("[{key}:{nth}#"))?;
                rest.split_once(']')?.1
            }
            Part::Remote { server, number, .. } => text.strip_prefix(&upstream::done(*server, *number))?,
            Part::ReadRemote { server, number } => text.strip_prefix(&upstream_items::read_result(*server, *number))?,
            Part::Passages(_) => text.strip_prefix('⟨')?.split_once('⟩')?.1,
            Part::Sleep(_) | Part::Start | Part::Progress | Part::Yield | Part::Crash => text,
        };
    }
    Some(text)
}

/// The answer to a question.
#[derive(Deserialize, JsonSchema)]
pub struct Reply {
    pub reply: String,
}

/// What a run of parts needs.
#[derive(Clone)]
pub struct Running {
    pub world: Rc<World>,
    pub client: McpClient,
    pub cx: Context,
    /// The caller of the call, and its owned text.
    pub program: Rc<Program>,
    pub outer: Rc<Outer>,
}

/// What the outermost call shares with its nested calls.
pub struct Outer {
    /// The id of the call, which is the same in all its rounds and attempts.
    pub call: String,
    pub steps: BTreeMap<String, Steps>,
    /// The number of equal calls of other servers.
    pub remote: BTreeMap<(usize, u32), usize>,
}

impl Outer {
    /// Creates the shared values of the call with this id.
    pub fn new(call: String, parts: &[Part]) -> Self {
        let mut counts = BTreeMap::new();
        steps(parts, "", true, &mut counts);
        let mut remote = BTreeMap::new();
        for part in all(parts) {
            if let Part::Remote { server, number, .. } = part {
                *remote.entry((*server, *number)).or_default() += 1;
            }
        }
        Self { call, steps: counts, remote }
    }
}

/// Runs parts.
pub fn run<'a>(
    running: &'a Running,
    parts: &'a [Part],
    place: String,
) -> LocalBoxFuture<'a, Result<String, HandlerError>> {
    let run = async move {
        let mut text = String::new();
        let Running { cx, world, program, outer, .. } = running;
        let mut add = |part: std::fmt::Arguments<'_>| text.write_fmt(part).expect("a text");
        for part in parts {
            match part {
                Part::Step(name, inner) => {
                    let place = place_of(&place, name, inner);
                    let begun = RefCell::new(None);
                    let done = cx.step(name, inner, async || {
                        let key = cx.idempotency_key()?;
                        let most = outer.steps.get(&place).map_or(0, |steps| steps.count);
                        world.ledger.effect(&outer.call, &place, &key, most);
                        world.check_end(&program.caller);
                        if world.is_strict() {
                            world.ledger.begins(&key, &place);
                        }
                        begun.replace(Some(key));
                        if name == "b" {
                            // The effect takes a moment, in which other parts ask or end.
                            world.schedule.sleep(20).await;
                        }
                        run(running, inner, place.clone()).await
                    });
                    add(format_args!("{name}({})", done.await?));
                    if let Some(key) = begun.take() {
                        world.ledger.finished(key);
                    }
                }
                Part::Join(branches) => {
                    let branches = branches.iter().map(|branch| run(running, branch, place.clone()));
                    for branch in try_join_all(branches).await? {
                        add(format_args!("({branch})"));
                    }
                }
                Part::Ask(key, nth) => {
                    let reply = cx.elicit::<Reply>(key.clone(), format!("{key}:{nth}")).await?.accepted();
                    let reply = reply.ok_or_else(|| HandlerError::new("The question was declined."))?;
                    add(format_args!("[{}]", reply.reply));
                }
                Part::Sleep(seconds) => cx.sleep(Duration::from_secs(*seconds)).await,
                Part::Call(inner) => add(format_args!("({})", nested(running, "sub", inner, &place).await?)),
                Part::Approved(inner) => add(format_args!("({})", nested(running, "approved", inner, &place).await?)),
                Part::Guarded(is_allowed, inner) => match nested(running, "guarded", inner, &place).await {
                    Ok(done) => {
                        world.ledger.check(*is_allowed, Invariant::OwnAccess, || {
                            format!("{} has a result of a tool whose scope it lacks", program.caller)
                        });
                        add(format_args!("({done})"));
                    }
                    Err(_) if !is_allowed => add(format_args!("(-)")),
                    Err(error) => return Err(error),
                },
                Part::Agent { is_noisy, rounds } => {
                    let place = place_of(&place, "agent", std::slice::from_ref(part));
                    add(format_args!("{}", asked(running, place, *is_noisy, rounds).await?));
                }
                Part::Progress => cx.progress(1.0, None, mark_of(&program.caller, "progress")),
                Part::Crash => {
                    if cx.task().is_some() {
                        world.fork();
                        world.crashes.set(true);
                        std::future::pending::<()>().await;
                    }
                }
                Part::Start => cx.start_task().await,
                Part::Yield => turn().await,
                Part::Attempt(ms, inner) => match attempt(running, *ms, inner, &place).await {
                    Some(done) => add(format_args!("{{{done}}}")),
                    None => add(format_args!("{{!}}")),
                },
                Part::Passages(work) => {
                    add(format_args!("⟨{}⟩", passages::run(world, cx, &program.caller, work).await?));
                }
                Part::ReadRemote { server, number } => {
                    add(format_args!("{}", upstream_items::read(running, *server, *number).await?));
                }
                Part::Remote { server, number, asks } => {
                    add(format_args!("{}", remote(running, *server, *number, *asks).await?));
                }
            }
        }
        Ok(text)
    };
    run.boxed_local()
}

async fn nested(running: &Running, tool: &str, parts: &[Part], place: &str) -> Result<String, HandlerError> {
    let Program { caller, owned, .. } = &*running.program;
    let place = place_of(place, tool, parts);
    let arguments = json!({ "caller": caller, "owned": owned, "place": place, "parts": parts });
    let called = running.cx.call_tool(tool, arguments).await?;
    if called.is_error() { Err(HandlerError::new(called.text())) } else { Ok(called.text()) }
}

/// Asks the agent.
async fn asked(running: &Running, place: String, is_noisy: bool, rounds: &[Vec<Part>]) -> Result<String, HandlerError> {
    let Running { world, cx, program, outer, .. } = running;
    let most = outer.steps.get(&place).map_or(0, |steps| steps.count);
    let Program { caller, owned, .. } = &**program;
    let (call, caller, owned) = (outer.call.clone(), caller.clone(), owned.clone());
    let remote = outer.remote.iter().map(|((server, number), most)| (*server, *number, *most)).collect();
    let script = Script { call, caller, owned, place, most, remote, is_noisy, rounds: rounds.to_vec() };
    let question = serde_json::to_string(&script)?;
    let reply = cx.call_tool("ask_clerk", json!({ "message": question })).await?;
    if reply.is_error() {
        return Err(HandlerError::new(reply.text()));
    }
    // A sentence for each server whose tools were missing follows the text.
    let text = reply.text();
    let (text, missing) = text.split_once('\n').unwrap_or((&text, ""));
    let is_about_servers = missing.lines().all(|sentence| sentence.starts_with("The server `s"));
    world.ledger.check(is_about_servers, Invariant::OwnResult, || format!("{missing} is in the result of an agent"));
    if let Some((number, _)) = model::number(text) {
        world.conversations.used(world, &script, rounds.len(), number);
    }
    Ok(text.to_owned())
}

async fn attempt(running: &Running, ms: u64, parts: &[Part], place: &str) -> Option<String> {
    let work = run(running, parts, place.to_owned());
    if ms == 0 {
        return work.await.ok();
    }
    let late = running.world.schedule.sleep(ms);
    futures::select_biased! {
        done = work.fuse() => done.ok(),
        () = late.fuse() => None,
    }
}

async fn remote(running: &Running, server: usize, number: u32, asks: bool) -> Result<String, HandlerError> {
    let Running { world, client, cx, program, outer } = running;
    let peer = client.connect(cx).server(&upstream::name(server))?;
    let most = outer.remote.get(&(server, number)).copied().unwrap_or_default();
    let arguments = json!({ "call": outer.call, "number": number, "asks": asks, "owned": program.owned, "most": most });
    match upstream_items::passing(peer.call("work", arguments).ask_caller(cx), cx).await {
        Ok(result) => {
            upstream::reported(world, &outer.call, (server, number), most, true);
            Ok(result.text())
        }
        Err(error) => {
            if error.delivery() == Delivery::NotExecuted {
                upstream::reported(world, &outer.call, (server, number), most, false);
            }
            Err(error.into())
        }
    }
}

fn mark_of(caller: &str, what: &str) -> String {
    mark(caller.split('-').next().unwrap_or_default(), what)
}
