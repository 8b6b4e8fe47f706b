//! The execution of a run: its tasks, its clock and its isolates. There is no thread, no real time and no I/O.
//!
//! Each turn polls one of the tasks that are ready, which a random number selects. If no task is ready, the clock advances to the next timer.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use edge_mcp_test_support::random::Random;
use futures::future::LocalBoxFuture;

use crate::digest;

/// The time at the start of a run, in milliseconds since 1970: 2027-01-15T08:00:00Z.
pub const START_MS: u64 = 1_800_000_000_000;

/// The owner of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// Callers, networks and other servers, which never end.
    World,
    /// An isolate of the program. A number is used once.
    Isolate(u32),
}

/// The tasks of a run, and its clock.
pub struct Schedule {
    now_ms: Cell<u64>,
    tasks: RefCell<BTreeMap<u64, Task>>,
    ready: Arc<Mutex<BTreeSet<u64>>>,
    timers: RefCell<BTreeMap<(u64, u64), Option<Waker>>>,
    dead: RefCell<BTreeSet<Owner>>,
    next: Cell<u64>,
    random: RefCell<Random>,
    /// A digest of everything that has happened, to compare two runs.
    digest: Cell<u64>,
    turns: Cell<u64>,
    /// The owner and the first task of the task that is being polled.
    current: Cell<(Owner, u64)>,
}

struct Task {
    owner: Owner,
    /// The task of the same isolate that has started this one, or that one's first task.
    first: u64,
    /// The work, unless it is being polled.
    work: Option<LocalBoxFuture<'static, ()>>,
    waker: Waker,
}

struct Ready {
    task: u64,
    ready: Arc<Mutex<BTreeSet<u64>>>,
}

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).insert(self.task);
    }
}

impl Schedule {
    /// Creates the schedule of a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            now_ms: Cell::new(START_MS),
            tasks: RefCell::default(),
            ready: Arc::default(),
            timers: RefCell::default(),
            dead: RefCell::default(),
            next: Cell::new(0),
            random: RefCell::new(Random::new(seed)),
            digest: Cell::new(digest::EMPTY),
            turns: Cell::new(0),
            current: Cell::new((Owner::World, 0)),
        }
    }

    pub fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Returns the time since the start of the run, in milliseconds.
    pub fn elapsed_ms(&self) -> u64 {
        self.now_ms() - START_MS
    }

    /// Returns the number of turns so far.
    pub fn turns(&self) -> u64 {
        self.turns.get()
    }

    /// Returns the number of the first task of the work that is being done: all tasks that an isolate has started for a request have the same.
    pub fn current(&self) -> u64 {
        self.current.get().1
    }

    /// Returns the number of tasks that have not ended.
    pub fn tasks(&self) -> usize {
        self.tasks.borrow().len()
    }

    /// Returns whether no isolate has work.
    pub fn is_idle(&self) -> bool {
        self.tasks.borrow().values().all(|task| task.owner == Owner::World)
    }

    /// Returns a digest of everything that has happened.
    pub fn digest(&self) -> u64 {
        self.digest.get()
    }

    /// Adds something that has happened to the digest.
    pub fn record(&self, bytes: &[u8]) {
        self.digest.set(digest::continued(self.digest.get(), bytes));
    }

    /// Starts a task. The task of an isolate that has ended never runs.
    pub fn spawn(&self, owner: Owner, work: LocalBoxFuture<'static, ()>) {
        if self.is_dead(owner) {
            return;
        }
        let id = self.number();
        let waker = Waker::from(Arc::new(Ready { task: id, ready: self.ready.clone() }));
        let (of_current, first) = self.current.get();
        let first = if owner != Owner::World && of_current == owner { first } else { id };
        self.tasks.borrow_mut().insert(id, Task { owner, first, work: Some(work), waker });
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    /// Ends an isolate: its tasks are dropped where they wait.
    pub fn kill(&self, owner: Owner) {
        if owner == Owner::World || !self.dead.borrow_mut().insert(owner) {
            return;
        }
        let of_owner = |(id, task): (&u64, &mut Task)| (task.owner == owner).then(|| (*id, task.work.take()));
        let dropped: Vec<_> = self.tasks.borrow_mut().iter_mut().filter_map(of_owner).collect();
        for (id, work) in dropped {
            drop(work);
            self.tasks.borrow_mut().remove(&id);
        }
    }

    /// Drops all tasks, which may refer to this schedule.
    pub fn stop(&self) {
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        self.dead.borrow_mut().extend(tasks.values().map(|task| task.owner));
        drop(tasks);
    }

    pub fn is_dead(&self, owner: Owner) -> bool {
        self.dead.borrow().contains(&owner)
    }

    /// Returns a future that is ready after this number of milliseconds.
    pub fn sleep(self: &Rc<Self>, ms: u64) -> Timer {
        Timer { key: (self.now_ms().saturating_add(ms), self.number()), schedule: self.clone() }
    }

    /// Advances the clock, as a clock that is corrected does. All timers that are due then ring.
    pub fn jump(&self, ms: u64) {
        self.set(self.now_ms().saturating_add(ms));
    }

    /// Polls one task, or advances the clock to the next timer. Returns the owner of the task, or `None` if nothing can happen any more.
    pub fn turn(&self) -> Option<Owner> {
        let id = loop {
            let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            ready.retain(|id| self.tasks.borrow().contains_key(id));
            let count = ready.len();
            if count > 0 {
                let nth = if count == 1 { 0 } else { self.random.borrow_mut().below(count) };
                let id = *ready.iter().nth(nth)?;
                ready.remove(&id);
                break id;
            }
            drop(ready);
            let next = self.timers.borrow().keys().map(|(at, _)| *at).find(|at| *at > self.now_ms())?;
            self.set(next);
        };
        self.turns.set(self.turns.get() + 1);
        self.record(&id.to_be_bytes());
        self.record(&self.now_ms().to_be_bytes());
        let (owner, mut work, waker) = {
            let mut tasks = self.tasks.borrow_mut();
            let task = tasks.get_mut(&id)?;
            self.current.set((task.owner, task.first));
            (task.owner, task.work.take()?, task.waker.clone())
        };
        let polled = work.as_mut().poll(&mut Context::from_waker(&waker));
        let mut tasks = self.tasks.borrow_mut();
        if polled.is_ready() || self.is_dead(owner) {
            let ended = tasks.remove(&id);
            drop(tasks);
            // The values of a task may start other tasks when they are dropped.
            drop((work, ended));
        } else if let Some(task) = tasks.get_mut(&id) {
            task.work = Some(work);
        }
        Some(owner)
    }

    fn set(&self, now_ms: u64) {
        self.now_ms.set(now_ms);
        let due = |((at, _), waker): (&(u64, u64), &mut Option<Waker>)| if *at <= now_ms { waker.take() } else { None };
        let due: Vec<Waker> = self.timers.borrow_mut().iter_mut().filter_map(due).collect();
        due.into_iter().for_each(Waker::wake);
    }

    fn number(&self) -> u64 {
        self.next.set(self.next.get() + 1);
        self.next.get()
    }
}

/// A future that is ready when its time is reached.
pub struct Timer {
    key: (u64, u64),
    schedule: Rc<Schedule>,
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if self.key.0 <= self.schedule.now_ms() {
            return Poll::Ready(());
        }
        self.schedule.timers.borrow_mut().insert(self.key, Some(task.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.schedule.timers.borrow_mut().remove(&self.key);
    }
}
