//! The cases with a gateway: its servers, one of which is hostile, its callers, one of whom is hostile, and what they request.

use edge_mcp_test_support::random::Random;
use serde::{Deserialize, Serialize};

use crate::case::{Case, Plan};
use crate::faults::FaultPlan;
use crate::hostile::Trick;
use crate::program::Era;

/// The gateway of a case.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct GatewayPlan {
    /// The party without whom the case runs a second time. The others must not notice the difference.
    pub without: Option<Party>,
    pub isolates: usize,
    pub mounts: Vec<MountPlan>,
    /// What the hostile server does.
    pub tricks: Vec<Trick>,
    /// The time at which the bank changes its definitions, in milliseconds since the start.
    pub change_at: Option<u64>,
    pub callers: Vec<GatewayCaller>,
    pub requests: Vec<Planned>,
}

/// A hostile party.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Party {
    /// The caller [`EVE`].
    Caller,
    /// The server [`Kind::Evil`], which does nothing but its work in the other run.
    Server,
}

/// A mounted server.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct MountPlan {
    pub kind: Kind,
    pub era: Era,
    /// Whether the gateway knows the era, and does not negotiate.
    pub is_known: bool,
    /// The time for which its lists can be kept, in milliseconds. 0 is no time.
    pub ttl: u64,
    /// The status with which the server, or the proxy before it, rejects a request.
    pub status: u16,
    /// Whether its apps are shown.
    pub has_apps: bool,
    pub pinning: Pinning,
    /// Whether a caller needs a scope, which is the name of the server.
    pub has_scope: bool,
    /// Whether its tools are found by search only.
    pub is_searched: bool,
}

/// What the program has pinned of a server.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Pinning {
    Nothing,
    /// Some tools. The others exist too.
    Some,
    /// Some tools. No other tools, resources and prompts exist.
    Only,
}

/// The kind of a server, which is also its name.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Kind {
    /// It has an app.
    Bank,
    /// Each caller has a token and a rate limit of their own.
    Shop,
    /// It asks its callers, and answers with tasks.
    Desk,
    /// Its answers are unusual, and permitted.
    Odd,
    /// It is hostile.
    Evil,
}

impl Kind {
    pub const HONEST: [Self; 4] = [Self::Bank, Self::Shop, Self::Desk, Self::Odd];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bank => "bank",
            Self::Shop => "shop",
            Self::Desk => "desk",
            Self::Odd => "odd",
            Self::Evil => "evil",
        }
    }

    pub fn origin(self) -> String {
        format!("https://{}.example", self.name())
    }

    /// Returns what the tool [`Tool::Work`] of the server does, which no other tool of an honest server does.
    pub fn work(self) -> &'static str {
        match self {
            Self::Bank => "Transfers money between accounts",
            Self::Shop => "Orders goods from the warehouse",
            Self::Desk => "Books a meeting room",
            Self::Odd => "Measures the temperature outside",
            Self::Evil => "Translates a sentence",
        }
    }

    /// Returns the tools of the server.
    pub fn tools(self) -> &'static [Tool] {
        match self {
            Self::Bank => &[Tool::Work, Tool::Long, Tool::Show, Tool::Pay],
            Self::Desk => &[Tool::Work, Tool::Ask, Tool::Job],
            Self::Shop | Self::Odd => &[Tool::Work],
            Self::Evil => &[Tool::Work, Tool::Long],
        }
    }

    /// Returns whether the server gets a token of each caller.
    pub fn has_callers(self) -> bool {
        self == Self::Shop
    }
}

/// A tool of a server.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Tool {
    Work,
    /// Its name is long, so callers know it by a name with a hash. That name is before this one in the alphabet.
    Long,
    /// It has a page, which calls [`Tool::Pay`].
    Show,
    /// Only pages may call it.
    Pay,
    /// It asks its caller.
    Ask,
    /// It answers with a task, if the caller has tasks.
    Job,
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Long => "listtheopenbookingsofeverybranchofficeofthecompany",
            Self::Show => "show",
            Self::Pay => "pay",
            Self::Ask => "ask",
            Self::Job => "job",
        }
    }
}

/// A caller. A caller has the scopes of some servers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct GatewayCaller {
    pub name: String,
    pub scopes: Vec<String>,
    pub is_modern: bool,
    pub has_tasks: bool,
}

/// The hostile caller.
pub const EVE: &str = "eve";

/// A request, and its time in milliseconds since the start.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Planned {
    pub at: u64,
    pub caller: String,
    pub asks: Asks,
}

/// What a caller requests.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum Asks {
    List(Listed),
    Call(Kind, Tool, Doing),
    /// Searches for the tool [`Tool::Work`] of a server.
    Find(Kind),
    /// Calls the tool [`Tool::Work`] with `call-tool`.
    CallFound(Kind),
    Read(Kind, Uri),
    Prompt(Kind),
    Complete(Kind),
    /// The page of a server calls [`Tool::Pay`].
    Page(Kind),
    /// Calls the hidden tool of a server, in upper case.
    Hidden(Kind),
    /// Asks for the tasks of other callers.
    OthersTask,
    /// Calls a tool with a name that no server has.
    Unknown(u32),
    /// Does the same several times, one after the other.
    Repeat(u32, Box<Asks>),
}

/// A list.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Listed {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Listed {
    pub const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::Templates, Self::Prompts];

    /// Returns the method, and the member of its result.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools/list", "tools"),
            Self::Resources => ("resources/list", "resources"),
            Self::Templates => ("resources/templates/list", "resourceTemplates"),
            Self::Prompts => ("prompts/list", "prompts"),
        }
    }
}

/// What the arguments of a call make its server do.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Doing {
    Work,
    /// The server never answers.
    Hang,
    /// The server, or the proxy before it, rejects the request with this status and a page in HTML.
    Page(u16),
    /// The server rejects the request with this status and a JSON-RPC error.
    Invalid(u16),
}

/// A resource of a server.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Uri {
    Note,
    Unknown,
    /// A URI that is too long for a header.
    Long,
    /// A file of a skill. No mount shows skills.
    Skill,
}

impl Uri {
    /// Returns the URI at the server.
    pub fn text(self) -> String {
        match self {
            Self::Note => "note://1".to_owned(),
            Self::Unknown => "note://unknown".to_owned(),
            Self::Long => format!("note://{}", "x".repeat(7000)),
            Self::Skill => "skill://notes/SKILL.md".to_owned(),
        }
    }
}

/// The statuses with which servers and proxies reject requests.
const REJECTIONS: [u16; 9] = [400, 403, 404, 405, 406, 413, 414, 415, 431];

/// Generates a case with a gateway. If it runs twice, nothing fails at random.
pub fn case(seed: u64, faults: FaultPlan, random: &mut Random) -> Case {
    let gateway = GatewayPlan::new(random);
    let faults = if gateway.without.is_some() { FaultPlan::None } else { faults };
    let plan = Plan { isolates: gateway.isolates, gateway: Some(gateway), ..Plan::default() };
    Case { seed, plan, faults }
}

impl GatewayPlan {
    fn new(random: &mut Random) -> Self {
        let without = [Some(Party::Caller), Some(Party::Server), None][random.below(3)];
        let mut kinds: Vec<Kind> = Kind::HONEST.into_iter().filter(|_| random.once_in(2)).collect();
        if kinds.is_empty() {
            kinds.push(Kind::HONEST[random.below(4)]);
        }
        let honest = kinds.clone();
        kinds.insert(random.below(kinds.len() + 1), Kind::Evil);
        let mounts = kinds.iter().map(|kind| mount(*kind, random)).collect();
        let tricks = Trick::ALL.iter().copied().filter(|trick| random.once_in(trick.rarity())).collect();
        let tricks = if without == Some(Party::Caller) { Vec::new() } else { tricks };
        let scopes = |random: &mut Random| {
            kinds.iter().filter(|_| !random.once_in(4)).map(|kind| kind.name().to_owned()).collect()
        };
        let callers = ["ada", "bob", EVE].map(|name| {
            let is_modern = !random.once_in(4);
            let has_tasks = is_modern && random.once_in(2);
            GatewayCaller { name: name.to_owned(), scopes: scopes(random), is_modern, has_tasks }
        });
        let mut requests = Vec::new();
        // The requests of honest callers do not overlap, so that their order is the same in both runs.
        for nth in 0..3 + random.below(5) as u64 {
            let caller = ["ada", "bob"][random.below(2)].to_owned();
            requests.push(Planned { at: nth * 8000 + random.below(900) as u64, caller, asks: asks(&kinds, random) });
        }
        let change_at = random.once_in(2).then(|| random.below(30_000) as u64);
        // The requests of the hostile caller decide which isolate answers the others, and so whether a list is older than the change.
        let change_at = change_at.filter(|_| without != Some(Party::Caller));
        let isolates = 1 + random.below(2);
        let mut plan = Self { without, isolates, mounts, tricks, change_at, callers: callers.into(), requests };
        if without != Some(Party::Caller) {
            plan.aim(random);
        }
        if without != Some(Party::Server) {
            for _ in 0..=random.below(4) {
                let asks = hostile_asks(&honest, random);
                plan.requests.push(Planned { at: random.below(30_000) as u64, caller: EVE.to_owned(), asks });
            }
        }
        plan
    }

    /// Aims some cases at something that a hostile server can only do if several things come together.
    fn aim(&mut self, random: &mut Random) {
        let at = self.requests.len() as u64 * 8000;
        let is_counted = self.without == Some(Party::Server);
        let (trick, requests) = match random.below(12) {
            // The tool of a page is held back, and another server has a tool with its name.
            0 => {
                self.change_at = Some(0);
                (Trick::TakesPages, vec![Asks::Page(Kind::Bank)])
            }
            1 => {
                let honest = self.mounts.iter().map(|mount| mount.kind).filter(|kind| *kind != Kind::Evil);
                (Trick::Floods, honest.map(Asks::Find).collect())
            }
            2 => {
                let call = Asks::Call(Kind::Evil, Tool::Long, Doing::Work);
                (Trick::TakesHash, vec![Asks::List(Listed::Tools), call])
            }
            // Something that is counted or cached can be full only after many requests.
            3 | 4 if is_counted => {
                self.change_at = Some(at + 7900);
                let call = Asks::Call(Kind::Evil, Tool::Work, Doing::Work);
                (Trick::Changes, vec![Asks::Repeat(36, Box::new(call)), Asks::List(Listed::Tools)])
            }
            5 | 6 if is_counted => {
                let list = Asks::List(Listed::ALL[random.below(4)]);
                (Trick::Notifies, vec![Asks::Repeat(36, Box::new(list)), Asks::List(Listed::Tools)])
            }
            _ => return,
        };
        self.tricks = vec![trick];
        for mount in &mut self.mounts {
            let has_pins = matches!(mount.kind, Kind::Bank | Kind::Evil) && trick != Trick::Notifies;
            mount.pinning = if has_pins { Pinning::Some } else { Pinning::Nothing };
            mount.has_apps = matches!(mount.kind, Kind::Bank | Kind::Evil) && trick == Trick::TakesPages;
            mount.is_searched |= trick == Trick::Floods;
            mount.has_scope = false;
        }
        for (nth, asks) in (0_u64..).zip(requests) {
            self.requests.push(Planned { at: at + nth * 8000, caller: "ada".to_owned(), asks });
        }
    }

    /// Returns whether the tools of a server are found by search, so that there are tools for it.
    pub fn is_searched(&self) -> bool {
        self.mounts.iter().any(|mount| mount.is_searched)
    }

    pub fn mount(&self, kind: Kind) -> Option<&MountPlan> {
        self.mounts.iter().find(|mount| mount.kind == kind)
    }
}

fn mount(kind: Kind, random: &mut Random) -> MountPlan {
    MountPlan {
        kind,
        era: [Era::Modern, Era::Modern, Era::WithSessions, Era::WithoutSessions][random.below(4)],
        is_known: random.once_in(4),
        ttl: [0, 20_000, 600_000][random.below(3)],
        status: REJECTIONS[random.below(REJECTIONS.len())],
        has_apps: matches!(kind, Kind::Bank | Kind::Evil) && random.once_in(2),
        pinning: match kind {
            Kind::Bank => [Pinning::Nothing, Pinning::Some][random.below(2)],
            Kind::Evil => [Pinning::Nothing, Pinning::Some, Pinning::Only][random.below(3)],
            Kind::Shop | Kind::Desk | Kind::Odd => Pinning::Nothing,
        },
        has_scope: random.once_in(3),
        is_searched: random.once_in(3),
    }
}

/// Returns what an honest caller requests. The hostile server is one of the servers.
fn asks(kinds: &[Kind], random: &mut Random) -> Asks {
    let kind = kinds[random.below(kinds.len())];
    let tools = kind.tools();
    match random.below(13) {
        0..=2 => Asks::List(Listed::ALL[random.below(4)]),
        3 => Asks::Find(kind),
        4 => Asks::CallFound(kind),
        5 => Asks::Read(kind, Uri::Note),
        6 => Asks::Prompt(kind),
        7 => Asks::Complete(kind),
        8 => Asks::Page(Kind::Bank),
        _ => Asks::Call(kind, tools[random.below(tools.len())], Doing::Work),
    }
}

/// Returns what the hostile caller requests of honest servers.
fn hostile_asks(kinds: &[Kind], random: &mut Random) -> Asks {
    let kind = kinds[random.below(kinds.len())];
    let status = REJECTIONS[random.below(REJECTIONS.len())];
    let doing = match random.below(4) {
        0 => Doing::Hang,
        1 => Doing::Page([status, 500][random.below(2)]),
        2 => Doing::Invalid(status),
        _ => Doing::Work,
    };
    let asks = match random.below(10) {
        0 => Asks::Read(kind, Uri::Long),
        1 => Asks::Read(kind, Uri::Unknown),
        2 => Asks::Read(Kind::Evil, Uri::Skill),
        3 => Asks::Unknown(0),
        4 => Asks::List(Listed::ALL[random.below(4)]),
        5 => Asks::Hidden(kind),
        6 => Asks::OthersTask,
        _ => Asks::Call(kind, Tool::Work, doing),
    };
    match random.below(3) {
        0 => asks,
        1 => Asks::Repeat(3, Box::new(asks)),
        _ => Asks::Repeat(14, Box::new(asks)),
    }
}

/// Returns the cases that are a bit smaller.
pub fn smaller(case: &Case) -> Vec<Case> {
    let Some(gateway) = &case.plan.gateway else { return Vec::new() };
    let mut found = Vec::new();
    let mut with = |change: &dyn Fn(&mut GatewayPlan)| {
        let mut smaller = case.clone();
        if let Some(gateway) = &mut smaller.plan.gateway {
            change(gateway);
        }
        if smaller != *case {
            found.push(smaller);
        }
    };
    for nth in 0..gateway.mounts.len() {
        let kind = gateway.mounts[nth].kind;
        with(&|gateway| {
            gateway.mounts.remove(nth);
            gateway.requests.retain(|request| request.asks.server() != Some(kind));
        });
    }
    for nth in 0..gateway.requests.len() {
        with(&|gateway| drop(gateway.requests.remove(nth)));
        with(&|gateway| {
            if let Asks::Repeat(count, asks) = &mut gateway.requests[nth].asks {
                let smaller = *count / 2;
                gateway.requests[nth].asks =
                    if smaller > 1 { Asks::Repeat(smaller, asks.clone()) } else { (**asks).clone() };
            }
        });
    }
    for nth in 0..gateway.tricks.len() {
        with(&|gateway| gateway.tricks = [&gateway.tricks[..nth], &gateway.tricks[nth + 1..]].concat());
    }
    with(&|gateway| gateway.isolates = 1);
    with(&|gateway| gateway.change_at = None);
    with(&|gateway| gateway.without = None);
    for nth in 0..gateway.mounts.len() {
        with(&|gateway| gateway.mounts[nth].has_apps = false);
        with(&|gateway| gateway.mounts[nth].has_scope = false);
        with(&|gateway| gateway.mounts[nth].is_searched = false);
        with(&|gateway| gateway.mounts[nth].pinning = Pinning::Nothing);
        with(&|gateway| gateway.mounts[nth].ttl = 0);
        with(&|gateway| gateway.mounts[nth].era = Era::Modern);
    }
    found
}

impl Asks {
    /// Returns the server that a request names.
    pub fn server(&self) -> Option<Kind> {
        match self {
            Self::Call(kind, ..)
            | Self::Find(kind)
            | Self::CallFound(kind)
            | Self::Read(kind, _)
            | Self::Prompt(kind)
            | Self::Complete(kind)
            | Self::Page(kind)
            | Self::Hidden(kind) => Some(*kind),
            Self::Repeat(_, asks) => asks.server(),
            Self::List(_) | Self::OthersTask | Self::Unknown(_) => None,
        }
    }
}
