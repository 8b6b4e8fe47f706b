//! A run of a case.

use std::rc::Rc;

use futures::FutureExt;
use futures::channel::mpsc;

use crate::authorization;
use crate::caller::Caller;
use crate::case::{Case, Plan};
use crate::deployments;
use crate::embeddings::{self, Embeddings};
use crate::faults::{Count, Faults, Point};
use crate::identities;
use crate::ledger::{Invariant, Violation};
use crate::memory;
use crate::model::{self, Model};
use crate::program::{self, Program};
use crate::rogue;
use crate::schedule::Owner;
use crate::shelf::Shelf;
use crate::upstream::{self, Server};
use crate::world::World;
use crate::{admissions, afterwards, sign_in_rows};

/// The most turns of a run.
const TURNS: u64 = 400_000;

/// What a run has shown.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub violation: Option<Violation>,
    pub events: u64,
    /// The counts of the points, in the order of [`Point::ALL`].
    pub counts: Vec<Count>,
    /// The faults, in order.
    pub fired: Vec<(Point, u64)>,
    /// A digest of everything that has happened. It is the same if the case runs again.
    pub digest: u64,
}

/// Runs a case on a thread of its own, because some values of the library belong to a thread, as they belong to an isolate on Workers.
pub fn run(case: &Case, is_verbose: bool) -> Outcome {
    let of_thread = case.clone();
    let thread = std::thread::Builder::new().stack_size(4 << 20);
    let running = thread.spawn(move || run_here(&of_thread, is_verbose)).expect("a thread");
    running.join().unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default();
        let violation = Some(Violation { invariant: Invariant::NoPanic, text });
        let counts = vec![Count::default(); Point::ALL.len()];
        Outcome { violation, events: 0, counts, fired: Vec::new(), digest: 0 }
    })
}

/// Runs a case from its JSON, as a test that [`test_of`](crate::shrink::test_of) has printed does.
///
/// # Panics
/// The run violates an invariant.
pub fn repeat(json: &str) {
    let outcome = run(&serde_json::from_str(json).expect("a case"), false);
    if let Some(violation) = outcome.violation {
        panic!("{violation}");
    }
}

fn run_here(case: &Case, is_verbose: bool) -> Outcome {
    if let Some(gateway) = &case.plan.gateway {
        return crate::gateway::run(case, gateway, is_verbose);
    }
    let plan = Rc::new(case.plan.clone());
    let callers = plan.callers.iter().map(|caller| caller.name.clone()).collect();
    let world = World::new(case.seed, Faults::new(case.faults.clone()), callers, is_verbose);
    for (number, server) in plan.servers.iter().enumerate() {
        world.services.add(&upstream::origin(number), Server::new(&world, number, server));
    }
    world.plan.set(plan.clone()).expect("no plan");
    world.services.add(model::ORIGIN, Model::new(&world));
    if let Some(passages) = &plan.passages {
        world.shelf.get_or_init(|| Shelf::new(&world, passages));
        world.services.add(embeddings::URL, Embeddings::new(&world));
    }
    let program = Program::new(&world, "program", &plan);
    world.services.add(program::ORIGIN, program.clone());
    let other = Program::new(&world, "other", &Rc::new(Plan { isolates: 1, servers: Vec::new(), ..case.plan.clone() }));
    world.services.add(program::OTHER_URL, other.clone());
    authorization::add(&world, &plan);
    identities::add_services(&world, &plan);
    rogue::add(&world, &plan);
    world.schedule.spawn(Owner::World, deployments::run(world.clone()).boxed_local());
    let overheard = Rc::default();
    let (callers, ended) = mpsc::unbounded();
    for (number, caller) in (0_u64..).zip(&plan.callers) {
        let caller = Caller::new(&world, caller, &overheard, case.seed ^ (number << 32));
        let alive = callers.clone();
        world.schedule.spawn(Owner::World, caller.run().map(move |()| drop(alive)).boxed_local());
    }
    drop(callers);
    let (quiet, objects) = (memory::check(world.clone(), ended), program.objects().clone());
    world.schedule.spawn(Owner::World, quiet.map(move |()| objects.check_quiet_books()).boxed_local());
    turns(&world, &program);
    if !world.ledger.is_violated() {
        afterwards::begin(&world, &plan);
        turns(&world, &program);
        sign_in_rows::check_end(&world);
        authorization::check_end(&world);
        admissions::flood(&world, &plan);
        turns(&world, &program);
    }
    if !world.ledger.is_violated() {
        check_end(&world, &program);
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
    program.stop();
    other.stop();
    outcome
}

/// A program whose isolates serve requests.
pub trait Isolates {
    /// Returns whether these tasks belong to an isolate that serves requests.
    fn serves(&self, owner: Owner) -> bool;
}

impl Isolates for Rc<Program> {
    fn serves(&self, owner: Owner) -> bool {
        Program::serves(self, owner)
    }
}

/// Runs the tasks of a run until nothing can happen any more.
pub fn turns(world: &World, program: &impl Isolates) {
    while let Some(owner) = world.schedule.turn() {
        if world.ledger.is_violated() {
            return;
        }
        if program.serves(owner) && world.faults.at(Point::IsolateEnds).is_some() {
            world.trace(|| format!("{owner:?} ends"));
            world.schedule.kill(owner);
        }
        if let Some(fault) = world.faults.at(Point::ClockJumps) {
            world.schedule.jump(fault.ms(600_000));
        }
        if world.schedule.turns() > TURNS {
            return world.ledger.violate(Invariant::Budget, format!("the run does not end in {TURNS} turns"));
        }
    }
}

/// Checks that nothing is left.
fn check_end(world: &World, program: &Program) {
    let tasks = world.schedule.tasks();
    world.ledger.check(tasks == 0, Invariant::NothingLeft, || format!("{tasks} tasks never end"));
    if let Some(shelf) = world.shelf.get() {
        shelf.check_others(world);
    }
    let rows = program.objects().rows();
    world
        .ledger
        .check(rows == 0, Invariant::NothingLeft, || format!("{rows} rows are left: {}", program.objects().describe()));
}
