//! The program under test: an endpoint in several isolates, whose tools run the parts of their arguments.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use edge_mcp::auth::StateKeys;
use edge_mcp::client::{McpClient, SignIn, Upstream};
use edge_mcp::host::{BodyError, Host, Request};
use edge_mcp::http::Body;
use edge_mcp::protocol::{LogLevel, Revision};
use edge_mcp::tasks::Task;
use edge_mcp::testing::STATE_KEY;
use edge_mcp::{Context, Endpoint, HandlerError, Limits, LogPolicy, McpServer, RequestInfo, StaticTokens, Tool};
use futures::channel::{mpsc, oneshot};
use futures::future::{pending, ready};
use futures::{FutureExt, StreamExt};
use http::response::Parts;
use serde_json::json;

use crate::admissions;
use crate::case::{CallerPlan, Plan, ServerPlan};
use crate::deployments;
use crate::faults::Point;
use crate::identities::{self, Accepted, EXPIRES, name_of};
use crate::items;
use crate::ledger::{Invariant, mark};
use crate::memory;
use crate::model;
use crate::network::{Head, Sent, Service, pump, reader};
use crate::numbers;
use crate::objects::{Handle, Objects};
use crate::once;
use crate::parts::{self, Outer, Program as Arguments, Running};
use crate::passages;
use crate::rogue;
use crate::schedule::Owner;
use crate::sign_in;
use crate::upstream;
use crate::upstream_items::Hint;
use crate::world::{IsolateHost, World};

/// The origin and the URL of the program.
pub const ORIGIN: &str = "https://program.example";
pub const URL: &str = "https://program.example/mcp";
/// The URL of another program with the same keys and tools, whose server has another name.
pub const OTHER_URL: &str = "https://other.example/mcp";

/// The longest time from the beginning of a request whose body stops to its answer, in milliseconds.
const BODY_MS: u64 = 40_000;

/// An isolate of the program. It shares no memory with others.
pub struct Isolate {
    pub owner: Owner,
    /// The number of its deployment.
    pub deployment: u32,
    pub host: Rc<dyn Host>,
    endpoint: Endpoint,
}

impl Isolate {
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn new(world: &Rc<World>, name: &'static str, plan: &Plan, objects: &Weak<Objects>) -> Rc<Self> {
        let owner = world.isolate();
        let host: Rc<dyn Host> = Rc::new(IsolateHost { world: world.clone(), owner });
        let deployment = world.deployments.current().number;
        Rc::new(Self { owner, deployment, host, endpoint: endpoint(world, name, plan, objects, owner) })
    }
}

/// The program, whose requests go to one of its isolates.
pub struct Program {
    world: Rc<World>,
    name: &'static str,
    plan: Rc<Plan>,
    objects: Rc<Objects>,
    isolates: RefCell<Vec<Rc<Isolate>>>,
    next: Cell<usize>,
}

impl Program {
    pub fn new(world: &Rc<World>, name: &'static str, plan: &Rc<Plan>) -> Rc<Self> {
        let objects = Objects::new(world);
        let handle = Rc::downgrade(&objects);
        let isolates = (0..plan.isolates).map(|_| Isolate::new(world, name, plan, &handle)).collect();
        let (of_world, of_plan) = (world.clone(), plan.clone());
        objects.run_in(move || Isolate::new(&of_world, name, &of_plan, &handle));
        Rc::new(Self {
            world: world.clone(),
            name,
            plan: plan.clone(),
            objects,
            isolates: RefCell::new(isolates),
            next: Cell::new(0),
        })
    }

    pub fn objects(&self) -> &Rc<Objects> {
        &self.objects
    }

    /// Returns whether these tasks belong to an isolate that serves requests.
    pub fn serves(&self, owner: Owner) -> bool {
        self.isolates.borrow().iter().any(|isolate| isolate.owner == owner)
    }

    /// Returns the isolate for the next request. An isolate that has ended is replaced.
    pub fn isolate(&self) -> Rc<Isolate> {
        let mut isolates = self.isolates.borrow_mut();
        let at = self.next.get() % isolates.len();
        self.next.set(self.next.get() + 1);
        let is_old = isolates[at].deployment != self.world.deployments.current().number;
        if is_old || self.world.schedule.is_dead(isolates[at].owner) {
            isolates[at] = Isolate::new(&self.world, self.name, &self.plan, &Rc::downgrade(&self.objects));
        }
        isolates[at].clone()
    }

    /// Releases everything that refers to the program.
    pub fn stop(&self) {
        self.objects.stop();
        self.isolates.borrow_mut().clear();
    }
}

impl Service for Program {
    fn serve(&self, request: Sent, answer: oneshot::Sender<Head>) {
        let isolate = self.isolate();
        let owner = isolate.owner;
        let (world, is_stalled) = (self.world.clone(), request.is_stalled);
        let began = world.schedule.now_ms();
        let work = async move {
            let response = isolate.endpoint.handle(Received(request), &isolate.host).await;
            let ms = world.schedule.now_ms() - began;
            let waits_on = is_stalled && ms > BODY_MS && world.faults.fired_at(Point::ClockJumps) == 0;
            world.ledger.check(!waits_on, Invariant::Budget, || format!("a body that stops is awaited for {ms} ms"));
            let (head, body) = response.into_parts();
            send(head, body, answer).await;
        };
        self.world.schedule.spawn(owner, work.boxed_local());
    }
}

/// Sends an answer of a program, until nobody reads it any more.
pub async fn send(head: Parts, body: Body, answer: oneshot::Sender<Head>) {
    let (reader, left) = reader();
    let (sender, receiver) = mpsc::unbounded();
    if answer.send(Head { status: head.status.as_u16(), headers: head.headers, body: receiver, reader }).is_err() {
        return;
    }
    match body {
        Body::Bytes(bytes) => pump(futures::stream::iter([bytes]), sender, left).await,
        Body::Stream(events) => pump(events.map(|event| event.clone()), sender, left).await,
    }
}

/// A request that has reached the program.
pub struct Received(pub Sent);

impl Request for Received {
    fn method(&self) -> String {
        self.0.method.clone()
    }

    fn url(&self) -> String {
        self.0.url.clone()
    }

    fn header(&self, name: &str) -> Option<String> {
        self.0.value(name).map(str::to_owned)
    }

    fn body(&self, limit: usize) -> impl Future<Output = Result<Vec<u8>, BodyError>> {
        if self.0.is_stalled {
            return pending().left_future();
        }
        ready(match &self.0 {
            Sent { is_cut: true, .. } => Err(BodyError::Broken("the connection has ended".into())),
            Sent { body, .. } if body.len() > limit => Err(BodyError::TooLarge),
            Sent { body, .. } => Ok(body.clone()),
        })
        .right_future()
    }
}

/// The token of a caller.
pub fn token(caller: &str) -> String {
    mark(&format!("{caller}-key"), "token")
}

fn endpoint(world: &Rc<World>, name: &'static str, plan: &Plan, objects: &Weak<Objects>, owner: Owner) -> Endpoint {
    let sign_in = sign_in::settings(world, plan, owner);
    let client = client(plan, sign_in.as_ref());
    let keys = StateKeys::from_text("MCP_STATE_KEY", Some(STATE_KEY)).expect("a key");
    let server = server(world, name, plan, &client);
    let mut limits = Limits::default();
    (limits.body, limits.in_flight) = (memory::IN_FLIGHT, memory::IN_FLIGHT);
    let endpoint = if world.deployments.current().is_broken {
        Endpoint::new(move |_: &RequestInfo| Err(deployments::error()))
    } else if plan.is_built_once {
        Endpoint::of(server)
    } else {
        Endpoint::new(move |_: &RequestInfo| Ok(server.clone()))
    };
    let of_each = world.clone();
    let endpoint = endpoint.each(move |request| {
        request.caller().into_iter().for_each(|caller| of_each.known.record(caller));
        passages::set_space(request);
        Ok(())
    });
    let endpoint = passages::with_store(endpoint, world)
        .auth(identities::validators(plan))
        .rate_limit(admissions::limit(world))
        .state_keys(keys)
        .log(LogPolicy::All)
        .limits(limits)
        .task_objects(Handle(objects.clone()));
    sign_in::pages(world, endpoint, sign_in, &client, plan)
}

/// Returns the tokens of the callers.
pub fn tokens(plan: &Plan) -> StaticTokens {
    let callers = plan.callers.iter().filter(|caller| caller.accepted == Accepted::Listed);
    let entry = |CallerPlan { name, scopes, .. }: &CallerPlan| json!({ "token": token(name), "subject": name, "scopes": scopes, "expires": EXPIRES });
    let tokens: Vec<_> = callers.map(entry).collect();
    StaticTokens::from_json("MCP_STATIC_TOKENS", Some(&json!(tokens).to_string())).expect("tokens")
}

fn server(world: &Rc<World>, name: &'static str, plan: &Plan, client: &McpClient) -> McpServer {
    let tool = |name: &'static str| {
        let (world, client) = (world.clone(), client.clone());
        let handler = move |program: Arguments, cx: Context| {
            world.reached(&cx, scope_of(name), name);
            handle(world.clone(), client.clone(), program, cx)
        };
        Tool::new(name, "Runs parts.", handler).deadline(Duration::from_secs(280))
    };
    let approved = tool("approved").requires_approval(|program: Arguments, _: Context| async move {
        Ok(Some(format!("Run {} parts for {}?", program.parts.len(), program.owned).into()))
    });
    let task = Task::new().ttl(Duration::from_hours(2));
    let server = McpServer::builder(name, "1.0.0")
        .tool(tool("direct").scopes(["work"]))
        .tool(tool("sub"))
        .tool(approved)
        .tool(tool("guarded").scopes(["secret"]))
        .tool(tool("guarded-durable").scopes(["secret"]).task(task.clone()))
        .agent(model::agent(plan, client))
        .tool(tool("durable").task(task.clone()))
        .tool(tool("later").task(task.starts_later()));
    let server = passages::with_tools(server, world);
    let server = rogue::with_tool(once::add(numbers::add(server, world), world), plan, client);
    let mut server = items::add(server, world, plan).logging(LogLevel::Info);
    if plan.has_source {
        let names = (0..plan.servers.len()).map(|server| format!("{}_work", upstream::name(server)));
        server = server.source(client.tools(names));
    }
    server.build().expect("a server")
}

/// Returns the scope that a tool needs.
fn scope_of(tool: &str) -> Option<&'static str> {
    match tool {
        "direct" => Some("work"),
        "guarded" | "guarded-durable" => Some("secret"),
        _ => None,
    }
}

fn client(plan: &Plan, sign_in: Option<&SignIn>) -> McpClient {
    let mut client = McpClient::builder("program", "1.0.0");
    for (number, server) in plan.servers.iter().enumerate() {
        client = client.server(upstream::name(number), upstream_of(number, server, sign_in));
    }
    rogue::with_upstream(client, plan, sign_in).build().expect("a client")
}

fn upstream_of(number: usize, plan: &ServerPlan, sign_in: Option<&SignIn>) -> Upstream {
    let upstream = Upstream::at(&upstream::url(number)).expect("a URL");
    let upstream = if plan.is_known { upstream.revision(plan.era.revision()) } else { upstream };
    // A server of an older revision cannot say how long its lists can be kept.
    let upstream = if plan.hint == Hint::Nothing { upstream } else { upstream.list_ttl(Duration::from_secs(30)) };
    if let (Some(_), Some(sign_in)) = (plan.sign_in, sign_in) {
        upstream.sign_in(sign_in)
    } else if plan.has_tokens {
        // Each caller has a token of their own.
        let token = move |cx: Context| async move {
            let caller = name_of(cx.caller()?);
            Ok::<_, HandlerError>(Some(upstream::token(number, &caller)))
        };
        upstream.bearer_with(token)
    } else {
        upstream.bearer(&mark(&upstream::name(number), "token")).expect("a token")
    }
}

/// The outermost calls of an HTTP request, by the names and numbers of their callers. A batch has several.
#[derive(Default)]
struct Outers(Rc<RefCell<BTreeMap<String, Rc<Outer>>>>);

async fn handle(world: Rc<World>, client: McpClient, program: Arguments, cx: Context) -> Result<String, HandlerError> {
    let is_outermost = program.place.is_empty();
    if is_outermost {
        if cx.task().is_none() {
            world.admissions.started(&world, &program.caller);
        }
        let outer = Rc::new(Outer::new(cx.idempotency_key()?, &program.parts));
        let outers = cx.extension::<Outers>().unwrap_or_default();
        outers.0.borrow_mut().insert(program.caller.clone(), outer);
        cx.request().extend(Outers(outers.0.clone()));
    }
    let outer = cx.extension::<Outers>().and_then(|outers| outers.0.borrow().get(&program.caller).cloned());
    let outer = outer.ok_or_else(|| HandlerError::new("There is no outer call."))?;
    let program = Rc::new(program);
    let running = Running { world, client, cx, program: program.clone(), outer: outer.clone() };
    let text = parts::run(&running, &program.parts, program.place.clone()).await?;
    Ok(if is_outermost { format!("{}|{text}", outer.call) } else { text })
}

/// The era of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub enum Era {
    Modern,
    /// An older revision, with sessions.
    WithSessions,
    /// An older revision, without sessions.
    WithoutSessions,
}

impl Era {
    pub fn revision(self) -> Revision {
        if self == Self::Modern { Revision::V2026_07_28 } else { Revision::V2025_11_25 }
    }
}
