//! A case: everything that decides about a run. It can be written as JSON, so a run can be repeated exactly.

use edge_mcp_test_support::random::Random;
use serde::{Deserialize, Serialize};

use crate::batches::Batched;
use crate::faults::{FaultPlan, Point};
use crate::identities::{self, Accepted};
use crate::items::{Item, Kind};
use crate::numbers::Spelled;
use crate::once::{self, Act};
use crate::parts::{Generator, Part};
use crate::passages::{self, PassagesPlan, Question};
use crate::program::Era;
use crate::upstream_items::Hint;

/// A case.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Case {
    /// The seed of the schedule and of all random bytes.
    pub seed: u64,
    pub plan: Plan,
    pub faults: FaultPlan,
}

/// The systems of a case, and what the callers do.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Plan {
    /// The gateway that runs instead of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<crate::gateway_plan::GatewayPlan>,
    /// The number of isolates that serve requests.
    pub isolates: usize,
    /// Whether the server of the program is built once, so that callers share its lists.
    pub is_built_once: bool,
    /// Whether the program publishes the tools of the servers.
    pub has_source: bool,
    /// Whether some prompts and resources of the program need a scope, or are hidden from some callers.
    pub has_vault: bool,
    /// Whether the program lists items to callers without their scopes.
    pub lists_all: bool,
    /// The number of items of a page, or 0.
    pub page_size: usize,
    pub servers: Vec<ServerPlan>,
    pub passages: Option<PassagesPlan>,
    /// Whether the operator has registered the program at one of the authorization servers.
    #[serde(default)]
    pub has_own_client: bool,
    /// Whether there is a hostile server, if persons sign in to others.
    #[serde(default)]
    pub has_rogue: bool,
    /// Whether all callers do more after the run.
    #[serde(default)]
    pub is_thorough: bool,
    pub callers: Vec<CallerPlan>,
}

/// Another server.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ServerPlan {
    pub era: Era,
    /// Whether the program knows the era, and does not negotiate.
    pub is_known: bool,
    /// Whether each caller has a token of their own.
    pub has_tokens: bool,
    /// Whether its lists have pages.
    pub has_pages: bool,
    pub hint: Hint,
    /// If callers sign in to the server: the lifetime of their access tokens in seconds.
    #[serde(default)]
    pub sign_in: Option<u64>,
}

impl ServerPlan {
    /// Returns whether each caller has a token of their own.
    pub fn has_callers(&self) -> bool {
        self.has_tokens || self.sign_in.is_some()
    }
}

/// A caller, and what it does, one after the other.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct CallerPlan {
    pub name: String,
    /// The validator that accepts its token.
    #[serde(default)]
    pub accepted: Accepted,
    /// Its scopes: `work`, and perhaps `secret`.
    pub scopes: Vec<String>,
    /// Whether its client is of revision 2026-07-28.
    pub is_modern: bool,
    /// Whether its client has tasks.
    pub has_tasks: bool,
    /// Whether its client listens to its tasks, and does not poll them.
    pub listens: bool,
    /// Whether its client asks for progress, and so gets streams.
    pub has_progress: bool,
    /// Whether its client can open links.
    #[serde(default)]
    pub has_browser: bool,
    pub operations: Vec<Operation>,
}

/// What a caller does.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum Operation {
    /// Calls a tool that runs these parts.
    Call(String, Vec<Part>),
    /// Calls a tool, and cancels its task after this number of milliseconds.
    Cancel(u64, Vec<Part>),
    /// Makes a request for prompts, resources, completions or lists.
    Item(Item),
    /// Calls the tool of another server that the program publishes, and whether the server asks.
    Published(usize, bool),
    /// Sends a batch of revision 2025-03-26.
    Batch(Vec<Batched>),
    /// Sends the cancellation of a request of somebody.
    CancelOther,
    /// Searches with this tool.
    Search(String, Question),
    /// Waits for some milliseconds.
    Wait(u64),
    /// Signs in to a server.
    SignIn(usize),
    /// Removes the access to a server.
    Forget(usize),
    /// Calls the tool `direct` several times at once.
    Together(Vec<Vec<Part>>),
    /// Does the same, and removes the access to a server after this number of milliseconds.
    Leave(usize, u64, Vec<Vec<Part>>),
    /// Acts on a key of the tool `once`, at these times in milliseconds.
    Once(Vec<(u64, Act)>),
    /// Signs in to the hostile server, and calls it.
    TrustRogue,
    /// Calls the tool whose numbers have bounds.
    Measure(Spelled),
    /// After the run: calculates vectors until none is missing.
    Settle,
    /// After the run: calls a server without faults.
    Probe(usize),
}

/// The names of callers.
const CALLERS: [&str; 3] = ["ada", "bob", "eve"];

impl Case {
    /// Generates the case of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let faults = faults(seed, &mut random);
        if seed % 4 == 3 {
            return crate::gateway_plan::case(seed, faults, &mut random);
        }
        Self { seed, plan: plan(&mut random), faults }
    }
}

/// Most cases have some kinds of faults, so that the others happen in peace.
fn faults(seed: u64, random: &mut Random) -> FaultPlan {
    if random.once_in(12) {
        return FaultPlan::None;
    }
    let one_in = 1 + random.below(4);
    let never = Point::ALL.iter().map(|(point, ..)| *point).filter(|_| !random.once_in(one_in)).collect();
    FaultPlan::Random { seed, percent: [40, 100, 300][random.below(3)], never }
}

fn plan(random: &mut Random) -> Plan {
    let era = [Era::Modern, Era::Modern, Era::WithSessions, Era::WithoutSessions];
    let server = |random: &mut Random| ServerPlan {
        era: era[random.below(4)],
        is_known: random.once_in(3),
        has_tokens: !random.once_in(3),
        has_pages: random.once_in(3),
        hint: [Hint::Nothing, Hint::Private, Hint::Public][random.below(3)],
        sign_in: random.once_in(2).then(|| [4, 8, 60][random.below(3)]),
    };
    let servers: Vec<_> = (0..random.below(4)).map(|_| server(random)).collect();
    let has_source = random.once_in(3);
    let count = 1 + random.below(CALLERS.len());
    let passages = PassagesPlan::random(random);
    let mut callers: Vec<_> =
        CALLERS.iter().take(count).map(|name| caller(name, &servers, has_source, random)).collect();
    if passages.is_some() {
        for caller in &mut callers {
            passages::add_operations(caller, random);
        }
    }
    identities::add(&mut callers, random);
    Plan {
        gateway: None,
        isolates: 1 + random.below(3),
        is_built_once: random.once_in(2),
        has_source,
        has_vault: !random.once_in(3),
        lists_all: random.once_in(3),
        page_size: random.below(4),
        servers,
        passages,
        has_own_client: random.once_in(2),
        has_rogue: random.once_in(3),
        is_thorough: random.once_in(3),
        callers,
    }
}

fn caller(name: &str, servers: &[ServerPlan], has_source: bool, random: &mut Random) -> CallerPlan {
    let is_modern = !random.once_in(5);
    let scopes: &[&str] = if random.once_in(2) { &["work", "secret"] } else { &["work"] };
    let scopes: Vec<_> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    let has_secret = scopes.len() > 1;
    let with_sign_in = servers.iter().enumerate().filter(|(_, server)| server.sign_in.is_some());
    let with_sign_in: Vec<usize> = with_sign_in.map(|(number, _)| number).collect();
    let signed_in: Vec<usize> = with_sign_in.iter().copied().filter(|_| !random.once_in(4)).collect();
    let mut operations: Vec<_> = (0..=random.below(3))
        .map(|_| operation(servers.len(), &with_sign_in, is_modern, has_source, has_secret, random))
        .collect();
    let has_tasks = is_modern && random.once_in(2);
    if has_tasks && random.once_in(3) {
        operations.push(Operation::Once(once::acts(random)));
    }
    CallerPlan {
        name: name.to_owned(),
        accepted: Accepted::Listed,
        scopes,
        is_modern,
        has_tasks,
        listens: random.once_in(2),
        has_progress: random.once_in(2),
        has_browser: random.once_in(2),
        operations: signed_in.into_iter().map(Operation::SignIn).chain(operations).collect(),
    }
}

fn operation(
    servers: usize,
    with_sign_in: &[usize],
    is_modern: bool,
    has_source: bool,
    has_secret: bool,
    random: &mut Random,
) -> Operation {
    let parts = |random: &mut Random| {
        let left = 4 + random.below(10);
        Generator { random, left, servers, has_secret, keys: 0 }.parts(0)
    };
    if !with_sign_in.is_empty() && random.once_in(2) {
        let server = with_sign_in[random.below(with_sign_in.len())];
        return match random.below(8) {
            0 => Operation::SignIn(server),
            1 => Operation::Forget(server),
            2 => Operation::TrustRogue,
            3 => Operation::Leave(server, random.below(20_000) as u64, together(server, random)),
            _ => Operation::Together(together(server, random)),
        };
    }
    match random.below(24) {
        0 | 10..=14 => Operation::Item(Item::new(random)),
        16..=18 if has_source && servers > 0 => Operation::Published(random.below(servers), random.once_in(3)),
        19 if has_source => Operation::Item(Item::List(Kind::Tools, 3)),
        4..=9 if !is_modern && random.once_in(2) => {
            Operation::Batch((0..=random.below(7)).map(|_| Batched::new(random, parts)).collect())
        }
        20 if random.once_in(2) => Operation::Measure(Spelled::new(random)),
        20 => Operation::CancelOther,
        15 => Operation::Call(random.one(&["guarded", "guarded-durable"]).to_owned(), parts(random)),
        1 => Operation::Wait(random.below(60_000) as u64),
        2 if random.once_in(4) => {
            let step = Part::Step("a".to_owned(), Vec::new());
            let parts = if random.once_in(2) { vec![Part::Crash] } else { vec![step, Part::Crash] };
            Operation::Call("durable".to_owned(), parts)
        }
        2 => Operation::Cancel(random.below(20_000) as u64, parts(random)),
        3 | 21..=23 => {
            let mut before = parts(random);
            before.push(Part::Start);
            before.extend(parts(random));
            Operation::Call("later".to_owned(), before)
        }
        4 | 5 => Operation::Call("durable".to_owned(), parts(random)),
        _ => Operation::Call("direct".to_owned(), parts(random)),
    }
}

/// Returns calls of a server that happen at the same time, and again when its access token has expired.
fn together(server: usize, random: &mut Random) -> Vec<Vec<Part>> {
    let remote = |number| Part::Remote { server, number, asks: false };
    let sleep = Part::Sleep(random.below(12) as u64);
    let count = 2 + random.below(4);
    let mut later = || Part::Sleep(random.below(16) as u64);
    (0..count).map(|_| vec![remote(1), sleep.clone(), remote(2), later(), remote(3)]).collect()
}
