//! A program that is a gateway: several servers, one of which is hostile, and several callers, one of whom is hostile.
//!
//! Most cases run twice, once without the hostile party. What the others get, and what the other servers are asked, must be the same.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::auth::StateKeys;
use edge_mcp::call::ToolEvent;
use edge_mcp::client::Upstream;
use edge_mcp::gateway::{Catalogue, Gateway, Mount};
use edge_mcp::host::{FetchError, Host, Level, NoRandomness, Opened, Outbound};
use edge_mcp::testing::STATE_KEY;
use edge_mcp::{Context, Endpoint, HandlerError, LogPolicy, McpServer, StaticTokens};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::LocalBoxFuture;
use serde_json::{Value, json};

use crate::case::Case;
use crate::faults::Faults;
use crate::gateway_caller::{GatewayClient, Outcomes, Shared, depends_on_evil};
use crate::gateway_names::{definition, digest, pinned, shared_token, text_of, token};
use crate::gateway_plan::{
    Asks, Doing, EVE, GatewayCaller, GatewayPlan, Kind, Listed, MountPlan, Party, Pinning, Planned, Tool,
};
use crate::gateway_server::{HIDDEN, MountedServer};
use crate::hostile::UNREVIEWED;
use crate::ledger::{Invariant, Violation};
use crate::network::{Head, Sent, Service};
use crate::program::{Received, send, token as token_of};
use crate::run::{Isolates, Outcome, turns};
use crate::schedule::Owner;
use crate::world::{IsolateHost, World};

pub const ORIGIN: &str = "https://gateway.example";
pub const URL: &str = "https://gateway.example/mcp";

/// The time after the last request in which each pause of the gateway has ended, in milliseconds.
const QUIET: u64 = 700_000;
/// The tries after which a request must succeed when nothing fails any more.
const TRIES: usize = 3;

/// What a run of a case has shown.
struct Record {
    outcome: Outcome,
    outcomes: BTreeMap<u32, Value>,
    /// The requests that each honest server got.
    requests: BTreeMap<Kind, Vec<String>>,
    /// The lines of the log that name an honest server.
    log: BTreeSet<String>,
}

/// Runs a case with a gateway.
pub fn run(case: &Case, gateway: &GatewayPlan, is_verbose: bool) -> Outcome {
    let mut record = run_once(case, gateway, None, is_verbose);
    let Some(party) = gateway.without.filter(|_| record.outcome.violation.is_none()) else { return record.outcome };
    // Some values of the library belong to a thread.
    let (of_case, of_gateway) = (case.clone(), gateway.clone());
    let other = std::thread::Builder::new().stack_size(4 << 20);
    let other = other.spawn(move || run_once(&of_case, &of_gateway, Some(party), false)).expect("a thread");
    let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    record.outcome.events += other.outcome.events;
    record.outcome.violation = other.outcome.violation.clone().or_else(|| {
        let text = difference(gateway, party, &record, &other)?;
        Some(Violation { invariant: Invariant::Isolation, text: format!("without the hostile {party:?}, {text}") })
    });
    record.outcome
}

/// Returns a difference between the run with a hostile party and the one without it.
fn difference(gateway: &GatewayPlan, party: Party, with: &Record, without: &Record) -> Option<String> {
    for (number, outcome) in &without.outcomes {
        let planned = &gateway.requests[*number as usize / 100];
        if !depends_on_evil(gateway, &planned.asks) && with.outcomes.get(number) != Some(outcome) {
            let with = with.outcomes.get(number);
            return Some(format!("{planned:?} ends with {outcome}, and otherwise with {with:?}"));
        }
    }
    let is_stopped =
        |planned: &Planned| matches!(planned.asks, Asks::Page(_)) && depends_on_evil(gateway, &planned.asks);
    if party == Party::Caller || gateway.requests.iter().any(is_stopped) {
        return None;
    }
    for (kind, requests) in &without.requests {
        let with = &with.requests[kind];
        if with != requests {
            let at = requests.iter().zip(with).take_while(|(one, other)| one == other).count();
            return Some(format!(
                "{} gets {} requests, and otherwise {}; the first difference is {:?}, and {:?}",
                kind.name(),
                requests.len(),
                with.len(),
                requests.get(at),
                with.get(at)
            ));
        }
    }
    let line = without.log.difference(&with.log).next();
    line.map(|line| format!("the log has the line {line}, and otherwise it does not"))
}

fn run_once(case: &Case, gateway: &GatewayPlan, without: Option<Party>, is_verbose: bool) -> Record {
    let gateway = Rc::new(gateway.clone());
    let callers = gateway.callers.iter().map(|caller| caller.name.clone()).collect();
    let world = World::new(case.seed, Faults::new(case.faults.clone()), callers, is_verbose);
    world.plan.set(Rc::new(case.plan.clone())).expect("no plan");
    world.trace(|| format!("{gateway:?}"));
    let mut servers = Vec::new();
    for mount in &gateway.mounts {
        let is_hostile = mount.kind == Kind::Evil && without != Some(Party::Server);
        let server = MountedServer::new(&world, &gateway, mount, is_hostile);
        world.services.add(&mount.kind.origin(), server.clone());
        servers.push(server);
    }
    let watched = Watched::default();
    let program = Program::new(&world, &gateway, &watched);
    world.services.add(ORIGIN, program.clone());
    let outcomes = Outcomes::default();
    let client = |name: &str| {
        let caller = gateway.callers.iter().find(|caller| caller.name == name).expect("a caller").clone();
        GatewayClient {
            world: world.clone(),
            gateway: gateway.clone(),
            caller,
            outcomes: outcomes.clone(),
            shared: watched.shared.clone(),
        }
    };
    let mut end = 0;
    for (number, planned) in (0_u32..).zip(&gateway.requests) {
        if without == Some(Party::Caller) && planned.caller == EVE {
            continue;
        }
        end = end.max(planned.at);
        let (client, asks, at) = (client(&planned.caller), planned.asks.clone(), planned.at);
        let request = async move {
            client.world.schedule.sleep(at).await;
            client.ask(asks, number * 100).await;
        };
        world.schedule.spawn(Owner::World, request.boxed_local());
    }
    turns(&world, &program);
    let found = outcomes.take();
    let honest = servers.iter().filter(|server| server.kind() != Kind::Evil);
    let requests = honest.map(|server| (server.kind(), server.requests())).collect();
    let log = watched.log.take();
    if without.is_none() && !world.ledger.is_violated() {
        world.faults.stop();
        let left = (end + QUIET).saturating_sub(world.schedule.elapsed_ms());
        for (nth, name) in ["ada", "bob"].into_iter().enumerate() {
            let probe = probe(client(name), left + nth as u64 * 1000);
            world.schedule.spawn(Owner::World, probe.boxed_local());
        }
        turns(&world, &program);
    }
    if !world.ledger.is_violated() {
        let tasks = world.schedule.tasks();
        world.ledger.check(tasks == 0, Invariant::NothingLeft, || format!("{tasks} tasks never end"));
    }
    let outcome = Outcome {
        violation: world.ledger.violation(),
        events: world.ledger.events(),
        counts: world.faults.counts(),
        fired: world.faults.fired(),
        digest: world.schedule.digest(),
    };
    world.schedule.stop();
    world.services.stop();
    program.isolates.borrow_mut().clear();
    Record { outcome, outcomes: found, requests, log }
}

/// Calls each honest server, and requests a list, after some time in which nothing fails.
async fn probe(client: GatewayClient, after: u64) {
    client.world.schedule.sleep(after).await;
    let kinds = client.gateway.mounts.iter().map(|mount| mount.kind).filter(|kind| *kind != Kind::Evil);
    let mut probes: Vec<Asks> = kinds.map(|kind| Asks::Call(kind, Tool::Work, Doing::Work)).collect();
    probes.push(Asks::List(Listed::Tools));
    for (number, asks) in (1_000_000..).zip(probes) {
        if !client.may_succeed(&asks) {
            continue;
        }
        let mut problem = String::new();
        for _ in 0..TRIES {
            match client.outcome(&asks, number).await {
                Ok(_) => problem.clear(),
                Err(text) => problem = text,
            }
            if problem.is_empty() {
                break;
            }
            client.world.schedule.sleep(1000).await;
        }
        client.world.ledger.check(problem.is_empty(), Invariant::Success, || {
            format!("{} cannot do {asks:?} long after the last fault: {problem}", client.caller.name)
        });
    }
}

/// The isolates of the gateway.
struct Program {
    world: Rc<World>,
    plan: Rc<GatewayPlan>,
    watched: Watched,
    isolates: RefCell<Vec<Rc<Isolate>>>,
    next: Cell<usize>,
}

struct Isolate {
    owner: Owner,
    host: Rc<dyn Host>,
    endpoint: Endpoint,
}

/// What the isolates of a run record.
#[derive(Clone, Default)]
struct Watched {
    /// The lines of the log that name an honest server.
    log: Rc<RefCell<BTreeSet<String>>>,
    shared: Rc<Shared>,
}

impl Program {
    fn new(world: &Rc<World>, plan: &Rc<GatewayPlan>, watched: &Watched) -> Rc<Self> {
        let isolates = (0..plan.isolates).map(|_| Isolate::new(world, plan, watched)).collect();
        Rc::new(Self {
            world: world.clone(),
            plan: plan.clone(),
            watched: watched.clone(),
            isolates: RefCell::new(isolates),
            next: Cell::new(0),
        })
    }

    /// Returns the isolate for the next request. An isolate that has ended is replaced.
    fn isolate(&self) -> Rc<Isolate> {
        let mut isolates = self.isolates.borrow_mut();
        let at = self.next.get() % isolates.len();
        self.next.set(self.next.get() + 1);
        if self.world.schedule.is_dead(isolates[at].owner) {
            isolates[at] = Isolate::new(&self.world, &self.plan, &self.watched);
        }
        isolates[at].clone()
    }
}

impl Isolates for Rc<Program> {
    fn serves(&self, owner: Owner) -> bool {
        self.isolates.borrow().iter().any(|isolate| isolate.owner == owner)
    }
}

impl Isolate {
    fn new(world: &Rc<World>, plan: &GatewayPlan, watched: &Watched) -> Rc<Self> {
        let owner = world.isolate();
        let inner = IsolateHost { world: world.clone(), owner };
        let host = Rc::new(GatewayHost { inner, log: watched.log.clone() });
        Rc::new(Self { owner, host, endpoint: endpoint(plan, &watched.shared) })
    }
}

impl Service for Program {
    fn serve(&self, request: Sent, answer: oneshot::Sender<Head>) {
        let isolate = self.isolate();
        let owner = isolate.owner;
        let work = async move {
            let (head, body) = isolate.endpoint.handle(Received(request), &isolate.host).await.into_parts();
            send(head, body, answer).await;
        };
        self.world.schedule.spawn(owner, work.boxed_local());
    }
}

fn endpoint(plan: &GatewayPlan, shared: &Rc<Shared>) -> Endpoint {
    let mounts = plan.mounts.iter();
    let gateway = mounts
        .fold(Gateway::builder("edge", "1.0.0"), |gateway, plan| gateway.mount(plan.kind.name(), mount(plan, shared)));
    let gateway = gateway.build().expect("a gateway");
    let token = |caller: &GatewayCaller| json!({ "token": token_of(&caller.name), "subject": caller.name, "scopes": caller.scopes });
    let tokens: Vec<_> = plan.callers.iter().map(token).collect();
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(&json!(tokens).to_string())).expect("tokens");
    Endpoint::new(move |_| McpServer::builder("edge", "1.0.0").gateway(&gateway).pass_tasks().build())
        .auth(tokens)
        .without_rate_limit()
        .state_keys(StateKeys::from_text("MCP_STATE_KEY", Some(STATE_KEY)).expect("a key"))
        .log(LogPolicy::Failures)
}

fn mount(plan: &MountPlan, shared: &Rc<Shared>) -> Mount {
    let kind = plan.kind;
    let upstream = Upstream::at(&format!("{}/mcp", kind.origin())).expect("a URL");
    let upstream = if plan.is_known { upstream.revision(plan.era.revision()) } else { upstream };
    let upstream = if kind.has_callers() {
        upstream.bearer_with(move |cx: Context| async move {
            Ok::<_, HandlerError>(Some(token(kind, &cx.caller()?.subject)))
        })
    } else {
        upstream.bearer(&shared_token(kind)).expect("a token")
    };
    let shared = shared.clone();
    let mut mount = Mount::new(upstream).without([HIDDEN]).each_tool(move |tool| {
        let shared = shared.clone();
        tool.hook(move |event, _| {
            if let ToolEvent::Output(_) = event {
                *shared.seen.borrow_mut().entry(kind).or_default() += 1;
            }
            async { Ok(()) }
        })
    });
    if plan.pinning != Pinning::Nothing {
        for tool in pinned(kind) {
            mount = mount.pin(tool.name(), digest(&definition(kind, *tool, 1)));
        }
    }
    if plan.pinning == Pinning::Only {
        mount = mount.pins_only().without_resources().without_prompts();
    }
    if plan.has_apps {
        mount = mount.apps();
    }
    if plan.has_scope {
        mount = mount.scopes([kind.name()]);
    }
    if plan.is_searched { mount.catalogue(Catalogue::Search) } else { mount }
}

/// The host of an isolate of the gateway. A line of the log may have the texts of the servers that it names.
struct GatewayHost {
    inner: IsolateHost,
    log: Rc<RefCell<BTreeSet<String>>>,
}

impl Host for GatewayHost {
    fn now_ms(&self) -> u64 {
        self.inner.now_ms()
    }

    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        self.inner.sleep(time)
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        self.inner.spawn(task);
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        self.inner.fill_random(bytes)
    }

    fn log(&self, level: Level, line: &str) {
        let world = &self.inner.world;
        if world.schedule.is_dead(self.inner.owner) {
            return;
        }
        world.schedule.record(line.as_bytes());
        world.trace(|| format!("log {level:?} {line}"));
        let named: Vec<Kind> =
            [Kind::Evil].into_iter().chain(Kind::HONEST).filter(|kind| line.contains(kind.name())).collect();
        let mut allowed: Vec<String> = named.iter().map(|kind| text_of(*kind)).collect();
        if named.contains(&Kind::Evil) {
            allowed.push(UNREVIEWED.to_owned());
        } else if named.iter().any(|kind| line.contains(&format!("`{}`", kind.name()))) {
            self.log.borrow_mut().insert(line.to_owned());
        }
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        world.ledger.scan(line.as_bytes(), &allowed, "the log");
    }

    fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        self.inner.open(request)
    }
}
