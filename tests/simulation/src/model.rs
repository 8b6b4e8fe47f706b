//! A chat model with a script, and the agent that asks it.
//!
//! The question of a conversation is its script: the tools that the model calls in each round. So each answer is a function of the request.
//! The model fails, is late, and answers nonsense at its fault points.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::agents::{ChatAgent, ChatModel};
use edge_mcp::client::McpClient;
use futures::FutureExt;
use futures::channel::oneshot;
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::case::Plan;
use crate::faults::Point;
use crate::ledger::{Invariant, mark};
use crate::network::{Head, Sent, Service, answer};
use crate::parts::Part;
use crate::schedule::Owner;
use crate::upstream;
use crate::world::World;

pub const ORIGIN: &str = "https://model.example";
/// The most requests of a conversation.
const ROUNDS: usize = 8;
/// The tools of the program that the agent may call.
const TOOLS: [&str; 2] = ["sub", "guarded"];

/// The question of a conversation.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Script {
    /// The id of the outermost call.
    pub call: String,
    /// The name of the caller, and the number of its call.
    pub caller: String,
    pub owned: String,
    /// The place of the agent's call.
    pub place: String,
    /// The number of equal conversations at this place.
    pub most: usize,
    /// The number of equal calls of each call of another server in the outermost call.
    pub remote: Vec<(usize, u32, usize)>,
    /// Whether the model also calls a tool that does not exist.
    pub is_noisy: bool,
    /// The tool calls of each round. Each part is a call.
    pub rounds: Vec<Vec<Part>>,
}

/// Returns the place of the steps of a tool call of an agent.
pub fn place_of_call(agent: &str, round: usize, part: &Part) -> String {
    crate::parts::place_of(&format!("{agent}/r{round}"), "sub", std::slice::from_ref(part))
}

/// The answers of the model that the program has used: their numbers, by the call, the place of the agent and the round.
#[derive(Default)]
pub struct Conversations {
    used: RefCell<BTreeMap<(String, String, usize), BTreeSet<String>>>,
    next: Cell<u32>,
}

impl Conversations {
    /// Records that the program has used the answer `number` of a round.
    pub fn used(&self, world: &World, script: &Script, round: usize, number: &str) {
        let key = (script.call.clone(), script.place.clone(), round);
        let mut used = self.used.borrow_mut();
        let known = used.entry(key).or_default();
        known.insert(number.to_owned());
        world.ledger.check(known.len() <= script.most || !world.is_strict(), Invariant::NoRepeatedEffect, || {
            format!("round {round} of {} has the answers {known:?} of the model", script.place)
        });
    }

    /// Checks that the program still needs the answer of a round, and returns a number for it.
    fn asked(&self, world: &World, script: &Script, round: usize) -> String {
        let key = (script.call.clone(), script.place.clone(), round);
        let known = self.used.borrow().get(&key).map_or(0, BTreeSet::len);
        world.ledger.check(known < script.most || !world.is_strict(), Invariant::NoRepeatedEffect, || {
            format!("the model is asked again for round {round} of {}", script.place)
        });
        self.next.set(self.next.get() + 1);
        self.next.get().to_string()
    }
}

/// Returns the text of an agent's answer without its number, and the number.
pub fn number(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("<A")?.split_once(':')
}

/// Returns the agent, which calls tools of the program and of the other servers.
pub fn agent(plan: &Plan, client: &McpClient) -> ChatAgent {
    let model = ChatModel::new(&format!("{ORIGIN}/v1"), "scripted").expect("a model");
    let model = model.api_key(&mark("model", "key")).expect("a key");
    let agent = ChatAgent::new("clerk", "The clerk", "Follows the script in its question.", model);
    let names: Vec<_> = (0..plan.servers.len()).map(|server| format!("{}_work", upstream::name(server))).collect();
    let agent = agent.instructions("Follow the script.").tools(TOOLS).time_limit(Duration::from_secs(150));
    if names.is_empty() { agent } else { agent.source(client.tools(names)) }
}

/// The server of the model.
pub struct Model {
    world: Rc<World>,
}

impl Model {
    pub fn new(world: &Rc<World>) -> Rc<Self> {
        Rc::new(Self { world: world.clone() })
    }

    /// Returns the answer to a request.
    fn reply(&self, request: &Sent) -> Option<Value> {
        let World { ledger, conversations, .. } = &*self.world;
        for (name, value) in &request.headers {
            let allowed: &[&str] = if name.eq_ignore_ascii_case("authorization") { &["model"] } else { &[] };
            ledger.scan(value.as_bytes(), allowed, "the model");
        }
        let body: Value = serde_json::from_slice(&request.body).ok()?;
        let messages = body["messages"].as_array()?;
        let question = messages.iter().find(|message| message["role"] == "user")?;
        let script: Script = serde_json::from_str(question["content"].as_str()?).ok()?;
        let caller = script.caller.split('-').next().unwrap_or_default();
        ledger.scan(&request.body, &[caller], &format!("the model of a call of {caller}"));
        for tool in body["tools"].as_array().into_iter().flatten() {
            let name = tool["function"]["name"].as_str().unwrap_or_default();
            let is_own = TOOLS.contains(&name) || name.ends_with("_work");
            ledger.check(is_own, Invariant::OwnAccess, || format!("the model is offered the tool {name}"));
            let may = name != "guarded" || self.world.has_scope(caller, "secret");
            ledger.check(may, Invariant::OwnAccess, || format!("the model is offered {name} in a call of {caller}"));
        }
        let mut round = 0;
        for message in messages.iter().filter(|message| message["role"] == "assistant") {
            let id = message["tool_calls"][0]["id"].as_str()?;
            conversations.used(&self.world, &script, round, id.split('-').next()?);
            round += 1;
        }
        ledger.check(round < ROUNDS, Invariant::Budget, || format!("the model is asked {} times", round + 1));
        let number = conversations.asked(&self.world, &script, round);
        let usage = json!({ "prompt_tokens": 3, "completion_tokens": 5 });
        let (message, reason) = match script.rounds.get(round) {
            Some(calls) => (Self::calls(&script, round, calls, &number), "tool_calls"),
            None => (json!({ "role": "assistant", "content": Self::text(messages, &number) }), "stop"),
        };
        Some(json!({ "choices": [{ "index": 0, "message": message, "finish_reason": reason }], "usage": usage }))
    }

    /// Returns a message that makes the calls of a round.
    fn calls(script: &Script, round: usize, calls: &[Part], number: &str) -> Value {
        let call = |id: String, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
        let Script { call: of, caller, owned, place, .. } = script;
        let of_part = |(nth, part): (usize, &Part)| {
            let (name, arguments) = match part {
                Part::Remote { server, number, asks } => {
                    let equal = script.remote.iter().find(|(at, known, _)| (at, known) == (server, number));
                    let most = equal.map_or(0, |(.., most)| *most);
                    let arguments = json!({ "call": of, "number": number, "asks": asks, "owned": owned, "most": most });
                    (format!("{}_work", upstream::name(*server)), arguments)
                }
                part => {
                    let (name, inner) = match part {
                        Part::Guarded(_, inner) => ("guarded", inner.as_slice()),
                        part => ("sub", std::slice::from_ref(part)),
                    };
                    let place = place_of_call(place, round, part);
                    (name.to_owned(), json!({ "caller": caller, "owned": owned, "place": place, "parts": inner }))
                }
            };
            call(format!("{number}-{nth}"), &name, &arguments.to_string())
        };
        let mut calls: Vec<_> = calls.iter().enumerate().map(of_part).collect();
        if script.is_noisy || calls.is_empty() {
            let arguments = if round == 0 { "{}" } else { "these are no arguments" };
            calls.push(call(format!("{number}-x"), if round == 0 { "nothing" } else { "sub" }, arguments));
        }
        json!({ "role": "assistant", "content": null, "tool_calls": calls })
    }

    /// Returns the final text: the results of all calls.
    fn text(messages: &[Value], number: &str) -> String {
        let results = messages.iter().filter(|message| message["role"] == "tool");
        let results = results.filter(|message| !message["tool_call_id"].as_str().unwrap_or_default().ends_with("-x"));
        let results = results.map(|message| {
            let text = message["content"].as_str().unwrap_or_default();
            // The library says so of an empty result.
            let text = if text == "(The result contains no text.)" { "" } else { text };
            let is_failure = ["The tool failed: ", "There is no tool "].iter().any(|failed| text.starts_with(failed));
            if is_failure { "(!)".to_owned() } else { format!("({text})") }
        });
        format!("<A{number}:{}>", results.collect::<String>())
    }
}

impl Service for Model {
    fn serve(&self, request: Sent, to: oneshot::Sender<Head>) {
        let faults = &self.world.faults;
        if request.is_cut {
            return;
        }
        let Some(reply) = self.reply(&request) else {
            let body = String::from_utf8_lossy(&request.body);
            return self
                .world
                .ledger
                .violate(Invariant::OneAnswer, format!("a request to the model is malformed: {body}"));
        };
        let (mut status, mut text) = (200, reply.to_string());
        if let Some(fault) = faults.at(Point::ModelFails) {
            (status, text) = ([500, 429, 503, 400][fault.size(4)], "{}".to_owned());
        } else if let Some(fault) = faults.at(Point::ModelAnswersNonsense) {
            let nonsense =
                ["{\"choices\":[]}", "I cannot answer", "{\"choices\":[{\"message\":{\"content\":\"\"}}]}", ""];
            nonsense[fault.size(4)].clone_into(&mut text);
        }
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let late = faults.at(Point::ModelIsLate).map_or(5, |fault| fault.ms(120_000));
        let schedule = self.world.schedule.clone();
        let work = async move {
            schedule.sleep(late).await;
            answer(to, status, headers, vec![text.into_bytes()]);
        };
        self.world.schedule.spawn(Owner::World, work.boxed_local());
    }
}
