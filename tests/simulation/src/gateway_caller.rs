//! The callers of the gateway: their requests, and the checks of what they get.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::StreamExt;
use futures::future::{FutureExt, LocalBoxFuture, join_all};
use serde_json::{Map, Value, json};

use crate::gateway;
use crate::gateway_names::{PAGE_TYPE, done, pinned, sent_to, shown_name, text_of};
use crate::gateway_narrow::{problem_of_list, problem_of_result};
use crate::gateway_plan::{Asks, Doing, EVE, GatewayCaller, GatewayPlan, Kind, Listed, MountPlan, Pinning, Tool, Uri};
use crate::gateway_server::{ARGUMENT, HIDDEN, PROMPT, TEMPLATE};
use crate::hostile::UNREVIEWED;
use crate::ledger::{Invariant, mark};
use crate::network::Sent;
use crate::program::token;
use crate::world::World;

/// The time between the beginnings of the same request, in milliseconds.
const AGAIN: u64 = 200;
/// The most rounds of a call, and the most polls of a task.
const ROUNDS: usize = 40;

/// What callers got, by the numbers of their requests.
pub type Outcomes = Rc<RefCell<BTreeMap<u32, Value>>>;

/// A caller of the gateway.
#[derive(Clone)]
pub struct GatewayClient {
    pub world: Rc<World>,
    pub gateway: Rc<GatewayPlan>,
    pub caller: GatewayCaller,
    pub outcomes: Outcomes,
    pub shared: Rc<Shared>,
}

/// What all callers of a run share.
#[derive(Default)]
pub struct Shared {
    /// The numbers of results that the hooks of the servers have seen.
    pub seen: RefCell<BTreeMap<Kind, usize>>,
    /// The numbers of results that callers got.
    got: RefCell<BTreeMap<Kind, usize>>,
    /// The ids of tasks with the names of their callers. The hostile caller overhears them.
    tasks: RefCell<Vec<(String, String)>>,
}

impl GatewayClient {
    /// Makes a request, and checks its outcome. `number` is the number of the request.
    pub fn ask(self, asks: Asks, number: u32) -> LocalBoxFuture<'static, ()> {
        async move {
            if let Asks::Repeat(count, asks) = asks {
                let again = |nth: u32| {
                    let (client, asks) = (self.clone(), (*asks).clone());
                    async move {
                        client.world.schedule.sleep(AGAIN * u64::from(nth)).await;
                        client.ask(asks, number + nth).await;
                    }
                };
                join_all((0..count).map(again)).await;
                return;
            }
            let outcome = self.outcome(&asks, number).await;
            let problem = match &outcome {
                Ok(_) => None,
                Err(problem) => self.must_succeed(&asks).then_some(problem),
            };
            if let Some(problem) = problem {
                let text = format!("{asks:?} of {} fails: {problem}", self.caller.name);
                self.world.ledger.violate(Invariant::Success, text);
            }
            let outcome = outcome.unwrap_or_else(|problem| json!({ "failed": problem }));
            self.outcomes.borrow_mut().insert(number, outcome);
        }
        .boxed_local()
    }

    /// Makes a request. Returns what the caller gets of it, as far as it does not concern the hostile server, or the reason why it fails.
    pub async fn outcome(&self, asks: &Asks, number: u32) -> Result<Value, String> {
        let arguments =
            |kind: Kind| json!({ "number": number, "owned": mark(&sent_to(&self.caller.name, kind), "argument") });
        match asks {
            Asks::List(listed) => self.list(*listed).await,
            Asks::Call(kind, tool, doing) => {
                let mut arguments = arguments(*kind);
                match doing {
                    Doing::Work => {}
                    Doing::Hang => arguments["do"] = json!("hang"),
                    Doing::Page(status) => arguments["page"] = json!(status),
                    Doing::Invalid(status) => arguments["invalid"] = json!(status),
                }
                self.call(*kind, *tool, &shown_name(*kind, tool.name()), arguments, number).await
            }
            Asks::CallFound(_) | Asks::Find(_) if !self.gateway.is_searched() => Err("nothing is searched".to_owned()),
            Asks::CallFound(kind) => {
                let name = shown_name(*kind, Tool::Work.name());
                let found = json!({ "name": name, "arguments": arguments(*kind) });
                self.call(*kind, Tool::Work, "call-tool", found, number).await
            }
            Asks::Page(kind) if !self.gateway.mount(*kind).is_some_and(|mount| mount.has_apps) => {
                Err("there is no page".to_owned())
            }
            Asks::Page(kind) => self.call(*kind, Tool::Pay, Tool::Pay.name(), arguments(*kind), number).await,
            Asks::Hidden(kind) => {
                let name = format!("{}_{}", kind.name(), HIDDEN.to_uppercase());
                self.call(*kind, Tool::Work, &name, arguments(*kind), number).await
            }
            Asks::OthersTask => {
                let tasks = self.shared.tasks.borrow().clone();
                for (_, id) in tasks.into_iter().filter(|(owner, _)| *owner != self.caller.name) {
                    let answer = self.post("tasks/get", json!({ "taskId": id }), Some(Kind::Desk)).await?;
                    self.world.ledger.check(answer["error"].is_object(), Invariant::OwnResult, || {
                        format!("{} knows the task of another caller: {answer}", self.caller.name)
                    });
                }
                Err("no task is known".to_owned())
            }
            Asks::Unknown(nth) => {
                let params = json!({ "name": format!("unknown{nth}"), "arguments": {} });
                let answer = self.post("tools/call", params, None).await?;
                Err(format!("{answer}"))
            }
            Asks::Find(kind) => {
                let params = json!({ "name": "find-tools", "arguments": { "query": kind.work(), "limit": 10 } });
                let result = self.result("tools/call", params, None).await?;
                let text = result["content"][0]["text"].as_str().unwrap_or_default();
                let name = format!("\"name\":\"{}\"", shown_name(*kind, Tool::Work.name()));
                if text.contains(&name) { Ok(json!("found")) } else { Err(format!("no result is {name}")) }
            }
            Asks::Read(kind, uri) => {
                let uri = match uri {
                    Uri::Skill => format!("skill://{}/notes/SKILL.md", kind.name()),
                    uri => format!("{}+{}", kind.name(), uri.text()),
                };
                let result = self.result("resources/read", json!({ "uri": uri }), Some(*kind)).await?;
                Ok(result["contents"][0]["text"].clone())
            }
            Asks::Prompt(kind) => {
                let params = json!({ "name": shown_name(*kind, PROMPT), "arguments": { ARGUMENT: "1" } });
                let result = self.result("prompts/get", params, Some(*kind)).await?;
                Ok(result["messages"][0]["content"]["text"].clone())
            }
            Asks::Complete(kind) => {
                let reference = json!({ "type": "ref/resource", "uri": format!("{}+{TEMPLATE}", kind.name()) });
                let params = json!({ "ref": reference, "argument": { "name": ARGUMENT, "value": "" } });
                let result = self.result("completion/complete", params, Some(*kind)).await?;
                Ok(result["completion"]["values"].clone())
            }
            Asks::Repeat(..) => Ok(Value::Null),
        }
    }

    /// Returns whether a request of an honest caller has to succeed, because nothing has failed at random.
    fn must_succeed(&self, asks: &Asks) -> bool {
        self.caller.name != EVE && !self.world.faults.has_failed() && self.may_succeed(asks)
    }

    /// Returns whether a request succeeds, whatever the hostile caller and the hostile server do.
    pub fn may_succeed(&self, asks: &Asks) -> bool {
        let is_honest = |kind: &Kind| {
            let mount = self.gateway.mount(*kind);
            *kind != Kind::Evil && mount.is_some_and(|mount| self.sees(mount))
        };
        match asks {
            Asks::List(_) => true,
            Asks::Call(kind, tool, _) => is_honest(kind) && self.exists(*kind, *tool) && *tool != Tool::Pay,
            Asks::Find(kind) | Asks::CallFound(kind) => is_honest(kind) && self.gateway.is_searched(),
            Asks::Read(kind, uri) => is_honest(kind) && *uri == Uri::Note,
            Asks::Prompt(kind) | Asks::Complete(kind) => is_honest(kind),
            // A server with apps whose list fails, or that has a tool of this name, stops the calls of the pages of others.
            Asks::Page(kind) => {
                let has_rival = self.gateway.mount(Kind::Evil).is_some_and(|mount| mount.has_apps);
                is_honest(kind) && self.exists(*kind, Tool::Pay) && (!has_rival || self.gateway.tricks.is_empty())
            }
            Asks::Hidden(_) | Asks::OthersTask | Asks::Unknown(_) | Asks::Repeat(..) => false,
        }
    }

    /// Returns whether the caller can use a server.
    fn sees(&self, mount: &MountPlan) -> bool {
        !mount.has_scope || self.caller.scopes.iter().any(|scope| scope == mount.kind.name())
    }

    /// Returns whether a tool of an honest server exists all the time.
    fn exists(&self, kind: Kind, tool: Tool) -> bool {
        let Some(mount) = self.gateway.mount(kind) else { return false };
        let has_changed = self.gateway.change_at.is_some() && mount.pinning != Pinning::Nothing;
        match tool {
            Tool::Pay => mount.has_apps && !has_changed,
            Tool::Long => !has_changed,
            _ => true,
        }
    }

    /// Calls a tool of a server, and follows the call to its end.
    async fn call(&self, kind: Kind, tool: Tool, shown: &str, arguments: Value, number: u32) -> Result<Value, String> {
        let mut params = json!({ "name": shown, "arguments": arguments });
        for _ in 0..ROUNDS {
            let mut result = self.result("tools/call", params.clone(), Some(kind)).await?;
            if result["resultType"] == "task" {
                result = self.task(result["taskId"].as_str().unwrap_or_default(), kind).await?;
            }
            if result["resultType"] != "input_required" {
                if let Some(problem) = problem_of_result(&result, self.caller.is_modern) {
                    self.world.ledger.violate(Invariant::NarrowClient, format!("the result of {shown}: {problem}"));
                }
                let text = result["content"][0]["text"].as_str().unwrap_or_default();
                if result["isError"] == true {
                    return Err(text.to_owned());
                }
                self.check_hooks(kind);
                let is_own = kind == Kind::Evil || text == done(kind, tool.name(), number);
                self.world.ledger.check(is_own, Invariant::OwnResult, || {
                    format!("{} calls {shown} with the number {number}, and gets {text}", self.caller.name)
                });
                return Ok(if kind == Kind::Evil { Value::Null } else { json!(text) });
            }
            let mut answers = Map::new();
            for (key, question) in result["inputRequests"].as_object().into_iter().flatten() {
                let message = question["params"]["message"].as_str().unwrap_or_default();
                let is_labelled = message.lines().all(|line| line.starts_with(&format!("[{}] ", kind.name())));
                self.world.ledger.check(is_labelled, Invariant::OwnResult, || {
                    format!("the question {message:?} does not name {}", kind.name())
                });
                let reply = format!("yes {number}");
                answers.insert(key.clone(), json!({ "action": "accept", "content": { "reply": reply } }));
            }
            params["inputResponses"] = answers.into();
            params["requestState"] = result["requestState"].clone();
        }
        Err(format!("{shown} asks {ROUNDS} times"))
    }

    /// Checks that the hook of a server has seen each result of it.
    fn check_hooks(&self, kind: Kind) {
        let (mut seen, got) = (self.shared.seen.borrow_mut(), &self.shared.got);
        let seen = *seen.entry(kind).or_default();
        let mut got = got.borrow_mut();
        let got = got.entry(kind).or_default();
        *got += 1;
        self.world.ledger.check(*got <= seen, Invariant::OwnAccess, || {
            format!("callers got {got} results of {}, and its hook has seen {seen}", kind.name())
        });
    }

    /// Polls a task to its end.
    async fn task(&self, id: &str, kind: Kind) -> Result<Value, String> {
        self.shared.tasks.borrow_mut().push((self.caller.name.clone(), id.to_owned()));
        for _ in 0..ROUNDS {
            let task = self.result("tasks/get", json!({ "taskId": id }), Some(kind)).await?;
            match task["status"].as_str() {
                Some("completed") => return Ok(task["result"].clone()),
                Some("working") => self.world.schedule.sleep(task["pollIntervalMs"].as_u64().unwrap_or(1000)).await,
                _ => return Err(task.to_string()),
            }
        }
        Err(format!("the task {id} does not end"))
    }

    /// Requests a list, and checks it. Returns the items of honest servers.
    async fn list(&self, listed: Listed) -> Result<Value, String> {
        let (method, member) = listed.names();
        let result = self.result(method, json!({}), None).await?;
        let ledger = &self.world.ledger;
        if let Some(problem) = problem_of_list(listed, &result, self.caller.is_modern) {
            ledger.violate(Invariant::NarrowClient, format!("{method}: {problem}"));
        }
        let items = result[member].as_array().cloned().unwrap_or_default();
        self.check_tools(&items);
        let key = match listed {
            Listed::Resources => "uri",
            Listed::Templates => "uriTemplate",
            Listed::Tools | Listed::Prompts => "name",
        };
        let name = |item: &Value| item[key].as_str().unwrap_or_default().to_owned();
        let names: Vec<String> = items.iter().map(name).collect();
        let skill = names.iter().find(|name| name.starts_with("skill://"));
        ledger.check(skill.is_none(), Invariant::OwnAccess, || format!("{skill:?} is listed, and no skills are shown"));
        for mount in self.gateway.mounts.iter().filter(|mount| mount.kind != Kind::Evil && self.sees(mount)) {
            let lost = self.expected(mount, listed).into_iter().find(|name| !names.contains(name));
            if let Some(lost) = lost {
                return Err(format!("{lost} is not in the list {names:?}: {}", result["_meta"]));
            }
        }
        let is_of_evil = |name: &str| {
            ["evil_", "evil+", "ui://evil/", "skill://evil/"].iter().any(|prefix| name.starts_with(prefix))
        };
        Ok(items.into_iter().filter(|item| !is_of_evil(&name(item))).collect())
    }

    /// Returns the names of the items of an honest server that a list must have.
    fn expected(&self, mount: &MountPlan, listed: Listed) -> Vec<String> {
        let kind = mount.kind;
        let is_listed = |tool: &Tool| match tool {
            Tool::Pay => true,
            Tool::Show => mount.has_apps || !mount.is_searched,
            _ => !mount.is_searched,
        };
        match listed {
            Listed::Tools => {
                let tools = kind.tools().iter().filter(|tool| self.exists(kind, **tool) && is_listed(tool));
                tools.map(|tool| shown_name(kind, tool.name())).collect()
            }
            Listed::Resources => vec![format!("{}+{}", kind.name(), Uri::Note.text())],
            Listed::Templates => vec![format!("{}+{TEMPLATE}", kind.name())],
            Listed::Prompts => vec![shown_name(kind, PROMPT)],
        }
    }

    /// Checks that pinned tools have the definitions that the program has pinned, and that pages cannot call tools of servers without pages.
    fn check_tools(&self, items: &[Value]) {
        let has_apps = self.gateway.mounts.iter().any(|mount| mount.has_apps);
        for mount in &self.gateway.mounts {
            let tools = if mount.pinning == Pinning::Nothing { &[] } else { pinned(mount.kind) };
            let pinned: Vec<String> = tools.iter().map(|tool| shown_name(mount.kind, tool.name())).collect();
            let prefix = format!("{}_", mount.kind.name());
            for item in items {
                let name = item["name"].as_str().unwrap_or_default();
                if !name.starts_with(&prefix) || item.get("inputSchema").is_none() {
                    continue;
                }
                let is_reviewed = !pinned.iter().any(|pinned| pinned == name) || {
                    let text = item.to_string();
                    !text.contains(UNREVIEWED) && !text.contains("Version 2")
                };
                self.world.ledger.check(is_reviewed, Invariant::OwnAccess, || {
                    format!("the pinned tool {name} has another definition: {item}")
                });
                let visibility = &item["_meta"]["ui"]["visibility"];
                let is_open = visibility.as_array().is_none_or(|all| all.iter().any(|one| *one == "app"));
                self.world.ledger.check(!(has_apps && !mount.has_apps && is_open), Invariant::OwnAccess, || {
                    format!("the pages of other servers can call {name}")
                });
            }
        }
    }

    /// Returns the owners of the texts that an answer may have. `of` is the server of the request.
    fn allowed(&self, of: Option<Kind>) -> Vec<String> {
        let mut allowed = vec![self.caller.name.clone()];
        for mount in self.gateway.mounts.iter().filter(|mount| self.sees(mount)) {
            if of.is_none_or(|of| of == mount.kind) {
                allowed.push(text_of(mount.kind));
                if mount.kind == Kind::Evil && mount.pinning != Pinning::Only {
                    allowed.push(UNREVIEWED.to_owned());
                }
            }
        }
        allowed
    }

    /// Sends a request, and returns its result.
    async fn result(&self, method: &str, params: Value, of: Option<Kind>) -> Result<Value, String> {
        let mut answer = self.post(method, params, of).await?;
        if answer["result"].is_object() { Ok(answer["result"].take()) } else { Err(answer["error"].to_string()) }
    }

    /// Sends a request, and returns its answer. `of` is the server that the request concerns, unless it concerns all.
    async fn post(&self, method: &str, mut params: Value, of: Option<Kind>) -> Result<Value, String> {
        let id = self.world.below(1_000_000);
        let target = ["name", "uri", "taskId"].iter().find_map(|name| params[name].as_str()).map(str::to_owned);
        let mut request = Sent::post(gateway::URL, Vec::new())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", &format!("Bearer {}", token(&self.caller.name)));
        if self.caller.is_modern {
            let mut extensions = json!({ "io.modelcontextprotocol/ui": { "mimeTypes": [PAGE_TYPE] } });
            if self.caller.has_tasks {
                extensions["io.modelcontextprotocol/tasks"] = json!({});
            }
            let capabilities = json!({ "elicitation": { "form": {} }, "extensions": extensions });
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
            request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
            if let Some(target) = &target {
                request = request.header("mcp-name", target);
            }
        } else {
            request = request.header("mcp-protocol-version", "2025-11-25");
        }
        request.body =
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string().into_bytes();
        request.headers[0].1 = request.body.len().to_string();
        self.world.trace(|| format!("{} sends {}", self.caller.name, String::from_utf8_lossy(&request.body)));
        let mut opened = self.world.send(request).await.map_err(|_| "there is no answer".to_owned())?;
        let mut body = Vec::new();
        while let Some(chunk) = opened.body.next().await {
            body.extend(chunk.map_err(|_| "the answer is not complete".to_owned())?);
        }
        self.world.schedule.record(&body);
        self.world.ledger.count();
        self.world.trace(|| {
            let text = String::from_utf8_lossy(&body[..body.len().min(3000)]).into_owned();
            format!("{} gets {} {text}", self.caller.name, opened.status)
        });
        let allowed = self.allowed(of);
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        self.world.ledger.scan(&body, &allowed, &format!("{}, who sends {method},", self.caller.name));
        let answer = serde_json::from_slice::<Value>(&body).map_err(|_| {
            let text = String::from_utf8_lossy(&body).into_owned();
            if !self.world.faults.has_failed() {
                self.world.ledger.violate(Invariant::OneAnswer, format!("{method} is answered with {text}"));
            }
            text
        })?;
        let is_answer = answer["id"] == id || (answer["id"].is_null() && answer["error"].is_object());
        self.world.ledger.check(is_answer, Invariant::OneAnswer, || format!("{method} is answered with {answer}"));
        Ok(answer)
    }
}

/// Returns whether the outcome of a request can depend on the hostile server. A server with apps can stop the calls of the pages of others, because
/// such a call does not name its server.
pub fn depends_on_evil(gateway: &GatewayPlan, asks: &Asks) -> bool {
    let has_rival = gateway.mount(Kind::Evil).is_some_and(|mount| mount.has_apps);
    asks.server() == Some(Kind::Evil) || (matches!(asks, Asks::Page(_)) && has_rival)
}
