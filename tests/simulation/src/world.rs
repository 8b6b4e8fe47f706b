//! Everything that a run has: its schedule, faults, record, network, databases, durable objects, and the isolates of the program.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::Context;
use edge_mcp::host::{CannotCheck, FetchError, Host, Level, NoRandomness, Opened, Outbound, PublicKey};
use edge_mcp_test_support::random::Random;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::admissions::Admissions;
use crate::case::Plan;
use crate::deployments::Deployments;
use crate::faults::{Faults, Point};
use crate::identities::{self, Known, name_of};
use crate::ledger::{Invariant, Ledger};
use crate::model::Conversations;
use crate::network::{Sent, Services, exchange, lost};
use crate::once::Worked;
use crate::schedule::{Owner, Schedule};
use crate::shelf::Shelf;
use crate::sign_in::SignIns;
use crate::token_uses::Use;
use crate::upstream::RemoteCalls;

/// The faults after which a call can have two histories.
const FORKS: &[Point] =
    &[Point::RequestTwice, Point::IsolateEnds, Point::ObjectEnds, Point::WriteEnds, Point::WriteFails];

/// A run. All its parts are one value, because each of them can reach each other one.
pub struct World {
    pub schedule: Rc<Schedule>,
    pub faults: Faults,
    pub ledger: Ledger,
    pub services: Services,
    pub remote_calls: RemoteCalls,
    pub conversations: Conversations,
    pub sign_ins: SignIns,
    pub known: Known,
    pub admissions: Admissions,
    pub worked: Worked,
    pub deployments: Deployments,
    /// The passages, if the case has them.
    pub shelf: OnceCell<Rc<Shelf>>,
    /// The names of the callers.
    pub callers: Vec<String>,
    pub plan: OnceCell<Rc<Plan>>,
    /// Whether a call can have two histories: its isolate has ended, or its caller has sent a request again.
    is_forked: Cell<bool>,
    random: RefCell<Random>,
    /// Whether the work that is being polled ends its isolate.
    pub crashes: Cell<bool>,
    isolates: Cell<u32>,
    /// Whether the lines of the log are printed.
    pub is_verbose: bool,
}

impl World {
    pub fn new(seed: u64, faults: Faults, callers: Vec<String>, is_verbose: bool) -> Rc<Self> {
        Rc::new(Self {
            schedule: Rc::new(Schedule::new(seed)),
            faults,
            ledger: Ledger::default(),
            services: Services::default(),
            remote_calls: RemoteCalls::default(),
            conversations: Conversations::default(),
            sign_ins: SignIns::default(),
            known: Known::default(),
            admissions: Admissions::default(),
            worked: Worked::default(),
            deployments: Deployments::default(),
            shelf: OnceCell::new(),
            callers,
            plan: OnceCell::new(),
            is_forked: Cell::new(false),
            crashes: Cell::new(false),
            random: RefCell::new(Random::new(seed ^ 0x5eed)),
            isolates: Cell::new(0),
            is_verbose,
        })
    }

    /// Returns the owner of the tasks of a new isolate.
    pub fn isolate(&self) -> Owner {
        self.isolates.set(self.isolates.get() + 1);
        Owner::Isolate(self.isolates.get())
    }

    /// Returns the plan of the run.
    pub fn plan(&self) -> &Plan {
        self.plan.get().expect("a plan")
    }

    /// Returns the value of the header with the token of a caller.
    pub fn bearer(&self, caller: &str) -> String {
        identities::bearer(self.plan(), caller)
    }

    /// Returns whether a caller has a scope.
    pub fn has_scope(&self, caller: &str, scope: &str) -> bool {
        self.plan().callers.iter().any(|known| known.name == caller && known.scopes.iter().any(|known| known == scope))
    }

    /// Checks that the caller of a handler has the scope that it needs.
    pub fn reached(&self, cx: &Context, scope: Option<&str>, handler: &str) {
        let caller = cx.caller().map(name_of).unwrap_or_default();
        let may = scope.is_none_or(|scope| self.has_scope(&caller, scope));
        self.ledger.check(may, Invariant::OwnAccess, || format!("{caller} reaches {handler} without its scope"));
    }

    /// Records that a call can have two histories.
    pub fn fork(&self) {
        self.is_forked.set(true);
    }

    /// Returns whether each call has one history, so that nothing may be sent twice.
    pub fn is_strict(&self) -> bool {
        !self.is_forked.get() && !self.faults.has_fired(FORKS)
    }

    /// Checks that a call with an effect has not failed for its caller. If two messages to objects are lost, a task
    /// cannot be cancelled, and if the clock jumps, nobody knows when it was.
    pub fn check_end(&self, caller: &str) {
        let lost = self.faults.fired_at(Point::MessageLost) + self.faults.fired_at(Point::MessageAnswerLost);
        let is_known = lost < 2 && self.faults.fired_at(Point::ClockJumps) == 0;
        let goes_on = self.is_strict() && is_known && self.ledger.goes_on(caller, self.schedule.now_ms());
        self.ledger.check(!goes_on, Invariant::NothingLeft, || format!("the call {caller} has failed, and goes on"));
    }

    /// Returns a number less than `limit`, which must not be 0.
    pub fn below(&self, limit: usize) -> usize {
        self.random.borrow_mut().below(limit)
    }

    /// Prints a line if the run is shown, and adds it to the digest of the run.
    pub fn trace(&self, line: impl FnOnce() -> String) {
        if self.is_verbose {
            println!("{:>9} {}", self.schedule.elapsed_ms(), line());
        }
    }

    /// Sends a request to a service at its URL.
    pub fn send(self: &Rc<Self>, request: Sent) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        self.ledger.count();
        match self.services.at(&request.url) {
            Some(service) => exchange(self.clone(), service, request).boxed_local(),
            None => std::future::ready(Err(lost())).boxed_local(),
        }
    }
}

/// The host of an isolate.
pub struct IsolateHost {
    pub world: Rc<World>,
    pub owner: Owner,
}

impl IsolateHost {
    fn is_dead(&self) -> bool {
        self.world.schedule.is_dead(self.owner)
    }
}

impl Host for IsolateHost {
    fn now_ms(&self) -> u64 {
        self.world.schedule.now_ms()
    }

    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.world.schedule.sleep(ms).boxed_local()
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        self.world.schedule.spawn(self.owner, task);
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        for byte in bytes {
            *byte = self.world.random.borrow_mut().byte();
        }
        Ok(())
    }

    fn log(&self, level: Level, line: &str) {
        if self.is_dead() {
            return;
        }
        self.world.schedule.record(line.as_bytes());
        self.world.trace(|| format!("log {level:?} {line}"));
        self.world.ledger.scan(line.as_bytes(), &[], "the log");
        self.world
            .ledger
            .check(!line.contains("ticket="), Invariant::NoLeak, || format!("the log gets a link: {line}"));
        let is_json = serde_json::from_str::<serde_json::Value>(line).is_ok();
        self.world.ledger.check(is_json, Invariant::OneAnswer, || format!("a line of the log is not JSON: {line}"));
    }

    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        self.world.admissions.verified(&self.world);
        let is_signed = identities::is_signed(&key, &message, &signature);
        self.world.schedule.sleep(1).map(move |()| Ok(is_signed)).boxed_local()
    }

    fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        if self.is_dead() {
            return std::future::pending().boxed_local();
        }
        let headers = request.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        let sent = Sent {
            method: request.method.to_string(),
            headers: headers.collect(),
            body: request.body.clone().into_bytes(),
            url: request.url,
            is_cut: false,
            is_stalled: false,
            is_again: false,
        };
        let using = self.world.sign_ins.uses.begin(&self.world, self.owner, &sent);
        Use::watch(&self.world, using, self.world.send(sent))
    }
}
