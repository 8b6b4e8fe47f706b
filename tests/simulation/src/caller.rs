//! A caller: a client of either era that calls tools, answers questions, polls tasks, and checks what it gets. Some callers are hostile.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;

use edge_mcp_test_support::random::Random;
use futures::StreamExt;
use futures::future::{Either, join, join_all, select};
use serde_json::{Map, Value, json};

use crate::browser::Browser;
use crate::case::{CallerPlan, Operation};
use crate::expiry::Kept;
use crate::faults::Point;
use crate::identities;
use crate::ledger::{Invariant, mark};
use crate::network::Sent;
use crate::numbers;
use crate::parts::{self, Part};
use crate::passages;
use crate::program;
use crate::upstream;
use crate::world::World;

/// The most rounds of a request. A sign-in that fails is asked for again.
pub const ROUNDS: usize = 40;
/// The most polls of a task.
const POLLS: usize = 400;
/// The faults after which an answer can be incomplete.
const INCOMPLETE: &[Point] = &[Point::AnswerCut, Point::AnswerEnds, Point::AnswerStalls, Point::IsolateEnds];

/// The faults after which a task can be stopped, because its attempts end without progress.
const STOPS: &[Point] = &[Point::ObjectEnds, Point::WriteFails, Point::WriteEnds, Point::ClockJumps];

/// What hostile callers can get of others: the parameters of a round, and the ids of tasks.
#[derive(Default)]
pub struct Overheard {
    rounds: RefCell<Vec<(String, Value)>>,
    tasks: RefCell<Vec<(String, String)>>,
    /// The id of the last request of a caller.
    id: Cell<usize>,
}

/// A caller.
pub struct Caller {
    world: Rc<World>,
    plan: CallerPlan,
    overheard: Rc<Overheard>,
    random: RefCell<Random>,
    browser: Rc<Browser>,
    /// The number of the call.
    number: RefCell<u32>,
    pub kept: RefCell<Vec<Kept>>,
}

/// A call: its tool and its parts.
pub struct Called<'c> {
    pub arguments: Value,
    pub parts: &'c [Part],
}

/// The answer of the program to a request, if it has arrived.
pub type Arrived = Option<Value>;

impl Caller {
    pub fn new(world: &Rc<World>, plan: &CallerPlan, overheard: &Rc<Overheard>, seed: u64) -> Self {
        Self {
            world: world.clone(),
            plan: plan.clone(),
            overheard: overheard.clone(),
            random: RefCell::new(Random::new(seed)),
            browser: Browser::new(world, &plan.name),
            number: RefCell::default(),
            kept: RefCell::default(),
        }
    }

    /// Does everything that the caller does.
    pub async fn run(self) {
        self.introduce().await;
        for operation in &self.plan.operations {
            self.browser.begin_operation();
            match operation {
                Operation::Call(tool, parts) => self.call(tool, parts, None).await,
                Operation::Cancel(ms, parts) => self.call("durable", parts, Some(*ms)).await,
                Operation::Item(item) => self.item(item).await,
                Operation::Published(server, asks) => self.published(*server, *asks).await,
                Operation::Batch(batch) => self.batch(batch).await,
                Operation::CancelOther => self.cancel_other().await,
                Operation::TrustRogue => self.trust_rogue().await,
                Operation::Once(acts) => self.once(acts).await,
                Operation::Measure(spelled) => self.measure(spelled).await,
                Operation::Search(tool, question) => passages::call(&self, tool, question).await,
                Operation::Wait(ms) => self.world.schedule.sleep(*ms).await,
                Operation::SignIn(server) => drop(self.browser.sign_in(*server).await),
                Operation::Forget(server) => self.browser.forget(*server).await,
                Operation::Together(calls) => {
                    join_all(calls.iter().map(|parts| self.call("direct", parts, None))).await;
                }
                Operation::Leave(server, ms, calls) => {
                    let leave = async {
                        self.world.schedule.sleep(*ms).await;
                        self.browser.forget(*server).await;
                    };
                    join(leave, join_all(calls.iter().map(|parts| self.call("direct", parts, None)))).await;
                }
                Operation::Probe(server) => self.probe(*server).await,
                Operation::Settle => self.settle().await,
            }
        }
        self.use_what_has_expired().await;
    }

    /// Sends a request, so that the pages of the program know a person whom a validator knows only by a token.
    async fn introduce(&self) {
        for _ in 0..5 {
            if identities::is_listed(self.world.plan(), self.name())
                || self.world.known.principal(self.name()).is_some()
            {
                return;
            }
            self.post("tools/list", json!({}), None).await;
        }
    }

    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// Numbers calls from here on.
    pub fn number_from(self, number: u32) -> Self {
        self.number.replace(number);
        self
    }

    /// Returns the number of a new call.
    pub fn next_number(&self) -> u32 {
        *self.number.borrow_mut() += 1;
        *self.number.borrow()
    }

    /// Returns the id of the last request of a caller.
    pub fn overheard_id(&self) -> u64 {
        self.overheard.id.get() as u64
    }

    pub fn is_modern(&self) -> bool {
        self.plan.is_modern
    }

    pub fn world(&self) -> &Rc<World> {
        &self.world
    }

    pub fn has_scope(&self, scope: &str) -> bool {
        self.world.has_scope(&self.plan.name, scope)
    }

    fn once_in(&self, times: usize) -> bool {
        self.random.borrow_mut().once_in(times)
    }

    pub fn fires(&self, point: Point) -> bool {
        self.world.faults.at(point).is_some()
    }

    pub fn violate(&self, invariant: Invariant, text: String) {
        self.world.ledger.violate(invariant, format!("{}: {text}", self.plan.name));
    }

    /// Opens the links in questions.
    pub async fn open_links(&self, questions: &Value) {
        self.browser.open_links(questions).await;
    }

    /// Returns whether a server needs a sign-in, and the person was not signed in all the time since the operation began.
    pub fn is_out(&self, server: &str) -> bool {
        let servers = &self.world.plan().servers;
        let server = (0..servers.len()).find(|number| upstream::name(*number) == server);
        server.is_some_and(|server| servers[server].sign_in.is_some() && self.browser.is_out(server))
    }

    pub fn browser(&self) -> &Browser {
        &self.browser
    }

    /// Calls a tool, and follows the call to its end.
    async fn call(&self, tool: &str, parts: &[Part], cancel_after: Option<u64>) {
        let number = format!("{}-{}", self.plan.name, self.next_number());
        let owned = mark(&self.plan.name, &number);
        let called =
            Called { arguments: json!({ "caller": number, "owned": owned, "place": "", "parts": parts }), parts };
        let params = json!({ "name": tool, "arguments": called.arguments });
        let result = self.rounds(params, tool, &called).await;
        let Some(result) = result else { return };
        if tool.starts_with("guarded") && !self.has_scope("secret") {
            return self.violate(Invariant::OwnAccess, format!("{tool} is answered without its scope: {result}"));
        }
        if result["resultType"] == "task" {
            self.keep_task(&result);
            let Some(id) = result["taskId"].as_str() else {
                return self.violate(Invariant::OneAnswer, format!("a task has no id: {result}"));
            };
            return self.task(id, &called, cancel_after).await;
        }
        if let Some(job) = result["_meta"]["edge-mcp/job"].as_str() {
            return self.job(job, &called).await;
        }
        if result["isError"] == true {
            self.world.ledger.fail(&number, self.world.schedule.now_ms() + 2000);
        }
        self.ended(&result, &called);
    }

    /// Sends the rounds of a call, and returns its result.
    async fn rounds(&self, first: Value, tool: &str, called: &Called<'_>) -> Option<Value> {
        let mut params = first;
        let mut earlier: Vec<Value> = Vec::new();
        let mut answered = Vec::new();
        for _ in 0..ROUNDS {
            let answer = self.round(&params, tool).await?;
            let result = &answer["result"];
            if !result.is_object() {
                self.call_failed(&answer, tool, called);
                return None;
            }
            if result["resultType"] != "input_required" {
                return Some(result.clone());
            }
            self.check_answered(&answered, &result["inputRequests"]);
            self.open_links(&result["inputRequests"]).await;
            let mut next = params.clone();
            next["inputResponses"] = self.answers(&result["inputRequests"], false).into();
            next["requestState"] = result["requestState"].clone();
            answered = asked(&result["inputRequests"]);
            self.keep_state(&next);
            earlier.push(std::mem::replace(&mut params, next));
            if self.plan.is_modern {
                self.overheard.rounds.borrow_mut().push((self.plan.name.clone(), params.clone()));
            }
            if self.fires(Point::CallerReplays) {
                self.replay(&earlier, tool, called).await;
            }
            if self.fires(Point::CallerChanges) {
                self.change(&params).await;
            }
            if self.fires(Point::CallerMixes) {
                self.mix(&params).await;
            }
        }
        self.violate(Invariant::Budget, format!("a call has more than {ROUNDS} rounds: {:?}", called.parts));
        None
    }

    /// Checks that no question of the last round is asked again: its answer was sent.
    fn check_answered(&self, answered: &[(String, String)], questions: &Value) {
        if let Some(again) = asked(questions).iter().find(|question| answered.contains(question)) {
            self.violate(Invariant::OwnResult, format!("the question {again:?} is asked again after its answer"));
        }
    }

    /// Sends a round, and sends it again if its answer is lost.
    pub async fn round(&self, params: &Value, tool: &str) -> Arrived {
        for _ in 0..3 {
            let answer = if self.fires(Point::CallerRepeats) {
                self.world.fork();
                let again = self.post("tools/call", params.clone(), Some(tool));
                join(self.post("tools/call", params.clone(), Some(tool)), again).await.0
            } else {
                self.post("tools/call", params.clone(), Some(tool)).await
            };
            if answer.is_some() || self.once_in(3) {
                return answer;
            }
            self.world.fork();
        }
        None
    }

    /// Sends an earlier round with other answers. Its result must be one of the same call.
    async fn replay(&self, earlier: &[Value], tool: &str, called: &Called<'_>) {
        self.world.fork();
        let mut params = earlier[self.world.below(earlier.len())].clone();
        if let Some(answers) = params["inputResponses"].as_object_mut() {
            for answer in answers.values_mut() {
                if let Some(reply) = answer["content"]["reply"].as_str() {
                    answer["content"]["reply"] = json!(format!("{reply}again"));
                }
            }
        }
        let Some(answer) = self.post("tools/call", params, Some(tool)).await else { return };
        let result = &answer["result"];
        if result["resultType"] == "complete" && result["_meta"]["edge-mcp/job"].is_null() {
            self.ended(result, called);
        }
    }

    /// Sends a state with other arguments, or to another server. It must be refused.
    async fn change(&self, own: &Value) {
        let mut params = own.clone();
        let tool = params["name"].as_str().unwrap_or_default().to_owned();
        let answer = if self.once_in(2) {
            if let Some(parts) = params["arguments"]["parts"].as_array_mut() {
                parts.push(json!("Progress"));
            }
            self.post("tools/call", params, Some(&tool)).await
        } else {
            self.post_to(program::OTHER_URL, "tools/call", params, Some(&tool)).await
        };
        self.refused(answer, "a state of another call");
    }

    /// Checks that a request was refused, if it was answered.
    pub fn refused(&self, answer: Arrived, what: &str) {
        let is_refused = answer.as_ref().is_none_or(|answer| {
            answer["error"]["code"] == -32_602 || (answer["error"].is_object() && self.has_faults())
        });
        if !is_refused {
            self.violate(Invariant::OwnResult, format!("{what} is accepted: {answer:?}"));
        }
    }

    /// Sends the state of another caller, and the id of another caller's task. Both must be refused.
    async fn mix(&self, own: &Value) {
        self.world.fork();
        let others: Vec<Value> = {
            let rounds = self.overheard.rounds.borrow();
            rounds.iter().filter(|(owner, _)| *owner != self.plan.name).map(|(_, params)| params.clone()).collect()
        };
        if !others.is_empty() {
            let other = &others[self.world.below(others.len())];
            let mut params = other.clone();
            if self.once_in(2) {
                params = own.clone();
                params["requestState"] = other["requestState"].clone();
            }
            let tool = params["name"].as_str().unwrap_or_default().to_owned();
            let answer = self.post("tools/call", params, Some(&tool)).await;
            self.refused(answer, "the state of another caller");
        }
        let tasks: Vec<String> = {
            let tasks = self.overheard.tasks.borrow();
            tasks.iter().filter(|(owner, _)| *owner != self.plan.name).map(|(_, id)| id.clone()).collect()
        };
        if !tasks.is_empty() && self.plan.has_tasks {
            let id = &tasks[self.world.below(tasks.len())];
            for method in ["tasks/get", "tasks/cancel"] {
                let answer = self.post(method, json!({ "taskId": id }), Some(id)).await;
                if answer.as_ref().is_some_and(|answer| answer["error"].is_null()) {
                    self.violate(Invariant::OwnResult, format!("the task of another caller is known: {answer:?}"));
                }
            }
        }
    }

    /// Polls a task to its end.
    async fn task(&self, id: &str, called: &Called<'_>, cancel_after: Option<u64>) {
        self.overheard.tasks.borrow_mut().push((self.plan.name.clone(), id.to_owned()));
        let began = self.world.schedule.now_ms();
        let mut lost = 0;
        if self.plan.listens && cancel_after.is_none() {
            let others: Vec<String> = {
                let tasks = self.overheard.tasks.borrow();
                tasks.iter().filter(|(owner, _)| *owner != self.plan.name).map(|(_, id)| id.clone()).collect()
            };
            if let Some(task) = self.listen(id, &others).await {
                return match task["status"].as_str() {
                    Some("completed") => self.ended(&task["result"], called),
                    _ => self.call_failed(&task, "a task", called),
                };
            }
        }
        for _ in 0..POLLS {
            let now = self.world.schedule.now_ms();
            if cancel_after.is_some_and(|ms| now >= began + ms) && self.once_in(2) {
                self.post("tasks/cancel", json!({ "taskId": id }), Some(id)).await;
            }
            let Some(answer) = self.post("tasks/get", json!({ "taskId": id }), Some(id)).await else {
                lost += 1;
                if lost > 20 {
                    return;
                }
                self.world.schedule.sleep(2000).await;
                continue;
            };
            let task = &answer["result"];
            match task["status"].as_str() {
                Some("working") => {
                    let pause = task["pollIntervalMs"].as_u64().unwrap_or(1000);
                    self.world.schedule.sleep(pause).await;
                }
                Some("input_required") => {
                    let has_questions = task["inputRequests"].as_object().is_some_and(|open| !open.is_empty());
                    self.world.ledger.check(has_questions, Invariant::OneAnswer, || {
                        format!("{}: a task waits for answers, and has no question: {task}", self.plan.name)
                    });
                    self.open_links(&task["inputRequests"]).await;
                    let answers = self.answers(&task["inputRequests"], true);
                    let params = json!({ "taskId": id, "inputResponses": answers });
                    self.post("tasks/update", params, Some(id)).await;
                    self.world.schedule.sleep(500).await;
                }
                Some("completed") => return self.ended(&task["result"], called),
                Some("cancelled") if cancel_after.is_some() => return,
                Some("failed") if self.is_stopped(task, called) => {
                    return self.violate(Invariant::Progress, format!("a broken deployment stops a task: {task}"));
                }
                Some("failed" | "cancelled") if self.has_faults() => return,
                None if self.world.deployments.current().is_broken => self.world.schedule.sleep(2000).await,
                _ => return self.call_failed(&answer, "a task", called),
            }
        }
        self.violate(Invariant::Budget, format!("a task does not end in {POLLS} polls: {:?}", called.parts));
    }

    /// Returns whether a task was stopped, and only a broken deployment can be the reason.
    fn is_stopped(&self, task: &Value, called: &Called<'_>) -> bool {
        let World { faults, .. } = &*self.world;
        let message = task["error"]["message"].as_str().unwrap_or_default();
        let has_reason = has_time_limit(called.parts) || parts::all(called.parts).contains(&&Part::Crash);
        let is_broken = faults.fired_at(Point::ProgramIsBroken) > 0 && !faults.has_fired(STOPS);
        message.contains("The task was stopped") && is_broken && !has_reason
    }

    /// Asks for the result of a job until it has ended.
    async fn job(&self, job: &str, called: &Called<'_>) {
        for _ in 0..60 {
            let params = json!({ "name": "job-result", "arguments": { "job": job } });
            let Some(result) = self.rounds(params, "job-result", called).await else { return };
            if result["_meta"]["edge-mcp/job"].is_null() {
                return self.ended(&result, called);
            }
        }
        self.violate(Invariant::Budget, format!("a job does not end: {:?}", called.parts));
    }

    /// Checks the result of a call.
    pub fn ended(&self, result: &Value, called: &Called<'_>) {
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result["isError"] == true {
            return self.call_failed(result, "a call", called);
        }
        let Some((call, text)) = text.split_once('|') else {
            return self.violate(Invariant::OneAnswer, format!("a result has no text: {result}"));
        };
        if parts::result(called.parts, text) != Some("") {
            return self.violate(Invariant::OwnResult, format!("{text} is not the result of {:?}", called.parts));
        }
        let sent = parts::all(called.parts);
        let is_refused = sent.iter().any(|part| match part {
            Part::Guarded(is_allowed, _) => !is_allowed,
            Part::Remote { server, .. } | Part::ReadRemote { server, .. } => self.is_out(&upstream::name(*server)),
            _ => false,
        });
        // A call of another server that a time limit interrupts is not sent again.
        let is_explained = is_refused || has_time_limit(called.parts) || !self.plan.is_modern;
        if text.contains("(!)") && !self.has_faults() && !is_explained {
            self.violate(Invariant::Success, format!("a tool of an agent fails without a fault: {text}"));
        }
        let can_fail = |part: &&Part| matches!(part, Part::Attempt(..) | Part::Agent { .. } | Part::Guarded(false, _));
        let can_fail = sent.iter().any(can_fail);
        let parts::Outer { steps, remote, .. } = parts::Outer::new(String::new(), called.parts);
        for (place, step) in steps {
            let (effects, runs) = self.world.ledger.effects_at(call, &place);
            let problem =
                || format!("{place} of {call} has {effects} effects of {}, which ran {runs} times", step.count);
            let is_lost = step.is_certain && effects != step.count;
            self.world.ledger.check(!is_lost, Invariant::NoLostEffect, problem);
            let is_repeated = step.is_leaf && !can_fail && self.world.is_strict() && runs > step.count;
            self.world.ledger.check(!is_repeated, Invariant::NoRepeatedEffect, problem);
        }
        if !can_fail {
            passages::ended(self, called);
        }
        for ((server, number), count) in remote {
            let executions = self.world.remote_calls.executions(call, server, number);
            let shown = text.matches(&upstream::done(server, number)).count();
            let least = if can_fail { shown } else { count };
            if executions < least {
                self.violate(
                    Invariant::NoLostEffect,
                    format!("call {number} of {call} was executed {executions} times by server {server}, of {least}"),
                );
            }
        }
    }

    pub fn has_faults(&self) -> bool {
        self.world.faults.has_failed()
    }

    /// Records the failure of a call. If the clock decides whether a step runs, the next attempt of a task may begin other steps. The library
    /// stops such a task, because it may be the task of a program that has changed.
    fn call_failed(&self, answer: &Value, what: &str, called: &Called<'_>) {
        let is_explained = has_time_limit(called.parts) || parts::all(called.parts).contains(&&Part::Crash);
        if !is_explained {
            self.failed(answer, what);
        }
    }

    /// Records the failure of a request, which needs a reason.
    pub fn failed(&self, answer: &Value, what: &str) {
        self.world.trace(|| format!("{} {what} fails: {answer}", self.plan.name));
        let is_out = self.browser.explains(&answer.to_string());
        // The clients of older revisions cannot be asked, so their calls may fail.
        let is_refused = what.starts_with("guarded") && !self.has_scope("secret");
        if self.plan.is_modern && !self.has_faults() && !is_refused && !is_out {
            self.violate(Invariant::Success, format!("{what} fails without a fault: {answer}"));
        }
    }

    /// Answers questions. If `some`, it may leave some of them open.
    pub fn answers(&self, questions: &Value, some: bool) -> Map<String, Value> {
        let mut answers = Map::new();
        for (key, question) in questions.as_object().into_iter().flatten() {
            if some && self.once_in(3) {
                continue;
            }
            if question["params"]["mode"] == "url" && self.once_in(8) {
                answers.insert(key.clone(), json!({ "action": "decline" }));
                continue;
            }
            let message = question["params"]["message"].as_str().unwrap_or_default();
            let own = mark(&self.plan.name, "answer");
            let reply = format!("{message}#{}{own}", self.world.below(10));
            let is_form = !question["params"]["requestedSchema"]["properties"]["reply"].is_null();
            let content = if is_form { json!({ "reply": reply }) } else { json!({}) };
            answers.insert(key.clone(), json!({ "action": "accept", "content": content }));
        }
        answers
    }

    /// Sends a request, and reads its answer. Returns `None` if no answer arrives.
    pub async fn post(&self, method: &str, params: Value, target: Option<&str>) -> Arrived {
        self.post_to(program::URL, method, params, target).await
    }

    async fn post_to(&self, url: &str, method: &str, mut params: Value, target: Option<&str>) -> Arrived {
        let id = self.world.below(1_000_000);
        self.overheard.id.set(id);
        let mut meta = Map::new();
        if self.plan.has_progress {
            meta.insert("progressToken".into(), json!(id));
        }
        if self.plan.has_progress && self.plan.is_modern {
            meta.insert("io.modelcontextprotocol/logLevel".into(), json!("info"));
        }
        if self.plan.is_modern {
            let tasks = if self.plan.has_tasks { json!({ "io.modelcontextprotocol/tasks": {} }) } else { json!({}) };
            let elicitation =
                if self.plan.has_browser { json!({ "form": {}, "url": {} }) } else { json!({ "form": {} }) };
            meta.insert("io.modelcontextprotocol/protocolVersion".into(), json!("2026-07-28"));
            meta.insert(
                "io.modelcontextprotocol/clientCapabilities".into(),
                json!({ "elicitation": elicitation, "extensions": tasks }),
            );
        }
        params["_meta"] = meta.into();
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut request = Sent::post(url, numbers::spelled(message.to_string()).into_bytes())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", &self.world.bearer(&self.plan.name));
        if self.plan.is_modern {
            request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
            if let Some(target) = target {
                request = request.header("mcp-name", target);
            }
        } else {
            request = request.header("mcp-protocol-version", "2025-11-25");
        }
        let patience = self.world.faults.at(Point::CallerLeaves).map_or(300_000, |fault| fault.ms(10_000));
        if patience < 300_000 {
            self.world.fork();
        }
        let answer = pin!(self.exchange(request, id, method));
        let late = self.world.schedule.sleep(patience);
        match select(answer, late).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => None,
        }
    }

    async fn exchange(&self, request: Sent, id: usize, method: &str) -> Arrived {
        self.world.trace(|| format!("{} sends {}", self.plan.name, String::from_utf8_lossy(&request.body)));
        let mut opened = self.world.send(request).await.ok()?;
        let mut body = Vec::new();
        let mut is_complete = true;
        while let Some(chunk) = opened.body.next().await {
            let Ok(chunk) = chunk else {
                is_complete = false;
                break;
            };
            body.extend(chunk);
        }
        let name = &self.plan.name;
        self.world.schedule.record(&body);
        self.world.ledger.count();
        self.world.trace(|| format!("{name} gets {} {}", opened.status, String::from_utf8_lossy(&body)));
        self.world.ledger.scan(&body, &[name], name);
        for (_, value) in &opened.headers {
            self.world.ledger.scan(value.as_bytes(), &[], name);
        }
        if !is_complete || self.world.faults.has_fired(INCOMPLETE) && serde_json::from_slice::<Value>(&body).is_err() {
            return Self::complete_stream(&body, id);
        }
        let kind = opened.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind != "text/event-stream" {
            let answer: Option<Value> = serde_json::from_slice(&body).ok();
            let is_answer = answer
                .as_ref()
                .is_some_and(|answer| answer["id"] == id || (answer["id"].is_null() && answer["error"].is_object()));
            if !is_answer {
                let body = String::from_utf8_lossy(&body);
                self.violate(Invariant::OneAnswer, format!("{method} is answered with {} {body}", opened.status));
            }
            return answer;
        }
        let messages = messages(&body);
        self.check_stream(&messages, id);
        let answers: Vec<Value> = messages.into_iter().filter(|message| message.get("id").is_some()).collect();
        if answers.len() != 1 || answers[0]["id"] != id {
            let body = String::from_utf8_lossy(&body);
            self.violate(Invariant::OneAnswer, format!("the stream of {method} has {} answers: {body}", answers.len()));
        }
        answers.into_iter().next()
    }

    /// Returns the answer of a stream that may have ended early.
    fn complete_stream(body: &[u8], id: usize) -> Arrived {
        messages(body).into_iter().find(|message| message["id"] == id && message.get("method").is_none())
    }
}

/// Returns the keys and the messages of the forms of these questions.
fn asked(questions: &Value) -> Vec<(String, String)> {
    let forms = questions.as_object().into_iter().flatten().filter(|(_, question)| question["params"]["mode"] != "url");
    forms.map(|(key, question)| (key.clone(), question["params"]["message"].to_string())).collect()
}

/// Returns the messages of an event stream.
fn messages(stream: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(stream);
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// Returns whether a part has a time limit, so that the clock decides what is done.
fn has_time_limit(parts: &[Part]) -> bool {
    parts::all(parts).iter().any(|part| matches!(part, Part::Attempt(ms, _) if *ms > 0))
}
