//! The durable objects: their rows, their alarms, and the isolates in which they run.
//!
//! An object runs in one isolate at a time. All its changes between two waits take effect together, before anybody sees an answer. A wait
//! for nothing, after which the work goes on at once, is not one: if the isolate ends then, the changes are lost. An alarm whose isolate ends
//! rings again some times. Then the platform forgets it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use edge_mcp::host::{TaskObjects, TaskRows};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::LocalBoxFuture;

use crate::faults::Point;
use crate::program::Isolate;
use crate::schedule::Owner;
use crate::task_books;
use crate::world::World;

/// The time in milliseconds after which an alarm is not one for an attempt.
const LONG_MS: u64 = 300_000;

/// The number of times that an alarm rings again if its isolate ends.
const MOST_INTERRUPTIONS: u32 = 6;

/// Creates an isolate of the program.
type Start = dyn Fn() -> Rc<Isolate>;

/// The objects of the program.
#[expect(clippy::struct_field_names, reason = "the objects are what it has")]
pub struct Objects {
    world: Rc<World>,
    start: RefCell<Option<Box<Start>>>,
    objects: RefCell<BTreeMap<String, Rc<Object>>>,
}

/// An object.
#[derive(Default)]
pub struct Object {
    rows: RefCell<BTreeMap<String, Vec<u8>>>,
    alarm: Cell<Option<u64>>,
    is_ringing: Cell<bool>,
    /// The isolate in which the object runs.
    isolate: RefCell<Option<Rc<Isolate>>>,
    /// The number of times that the isolate has ended in a row while it answered the alarm.
    interruptions: Cell<u32>,
    /// The rows and the alarm before the changes since the last wait.
    before: RefCell<Option<Before>>,
    /// Whether the isolate ends at this write.
    ends: Cell<bool>,
}

/// The values of the changed rows, and the alarm.
struct Before {
    rows: Vec<(String, Option<Vec<u8>>)>,
    alarm: Option<u64>,
}

impl Objects {
    pub fn new(world: &Rc<World>) -> Rc<Self> {
        Rc::new(Self { world: world.clone(), start: RefCell::default(), objects: RefCell::default() })
    }

    /// Sets the program of the objects.
    pub fn run_in(&self, start: impl Fn() -> Rc<Isolate> + 'static) {
        self.start.replace(Some(Box::new(start)));
    }

    /// Releases the program, which refers to the objects.
    pub fn stop(&self) {
        self.start.replace(None);
        for object in self.objects.borrow().values() {
            object.isolate.replace(None);
        }
    }

    /// Returns the number of rows of all objects.
    pub fn rows(&self) -> usize {
        self.objects.borrow().values().map(|object| object.rows.borrow().len()).sum()
    }

    /// Returns the keys of the rows that are left, for a message.
    pub fn describe(&self) -> String {
        let objects = self.objects.borrow();
        let left = objects.iter().filter(|(_, object)| !object.rows.borrow().is_empty());
        let line = |(name, object): (&String, &Rc<Object>)| {
            format!("{name}: {:?}, alarm {:?}", object.rows.borrow().keys().collect::<Vec<_>>(), object.alarm.get())
        };
        left.map(line).collect::<Vec<_>>().join("; ")
    }

    /// Checks that each running task of a caller is counted. If `is_quiet`, nothing else may be counted.
    fn books(&self, is_quiet: bool) {
        let objects = self.objects.borrow();
        let all: Vec<_> = objects.iter().map(|(name, object)| (name.as_str(), object.rows.borrow())).collect();
        let all: Vec<_> = all.iter().map(|(name, rows)| (*name, &**rows)).collect();
        task_books::check(&self.world, &all, is_quiet);
    }

    fn check_books(&self) {
        self.books(false);
    }

    /// Checks the counts of tasks when nothing works.
    pub fn check_quiet_books(&self) {
        self.books(true);
    }

    fn object(&self, name: &str) -> Rc<Object> {
        self.objects.borrow_mut().entry(name.to_owned()).or_default().clone()
    }

    /// Returns the isolate of an object. If it has ended, the object continues in another one.
    fn isolate(&self, object: &Object) -> Option<Rc<Isolate>> {
        let mut isolate = object.isolate.borrow_mut();
        let schedule = &self.world.schedule;
        let number = self.world.deployments.current().number;
        if let Some(old) = isolate.take_if(|isolate| isolate.deployment != number) {
            schedule.kill(old.owner);
        }
        let is_dead = isolate.as_ref().is_none_or(|isolate| schedule.is_dead(isolate.owner));
        if is_dead {
            *isolate = Some(self.start.borrow().as_ref()?());
        }
        isolate.clone()
    }

    /// Runs `work` in the isolate of an object, and returns its output. Returns `None` if the isolate ends before.
    async fn work<T: 'static>(
        self: Rc<Self>,
        object: Rc<Object>,
        owner: Owner,
        work: LocalBoxFuture<'static, T>,
    ) -> Option<T> {
        let (sender, receiver) = oneshot::channel();
        let work = Atomic { objects: self.clone(), object, owner, work, answer: Some(sender) };
        self.world.schedule.spawn(owner, work.boxed_local());
        receiver.await.ok()
    }

    /// Rings the alarm of an object when it is due.
    fn wait_for_alarm(self: &Rc<Self>, name: String, object: Rc<Object>) {
        let this = self.clone();
        let alarm = async move {
            while let Some(at) = object.alarm.get() {
                let schedule = &this.world.schedule;
                let ms = at.saturating_sub(schedule.now_ms());
                schedule.sleep(ms).await;
                // A long time is that of a deletion.
                let point = if ms > LONG_MS { Point::DeletionIsLate } else { Point::AlarmIsLate };
                if let Some(fault) = this.world.faults.at(point) {
                    schedule.sleep(fault.ms(60_000)).await;
                }
                if object.alarm.get() != Some(at) || object.is_ringing.get() {
                    return;
                }
                object.is_ringing.set(true);
                object.alarm.set(None);
                let answered = this.clone().ring(&name, &object).await;
                object.is_ringing.set(false);
                let interruptions = if answered.is_none() { object.interruptions.get() + 1 } else { 0 };
                object.interruptions.set(interruptions);
                let is_forgotten = interruptions > MOST_INTERRUPTIONS;
                let repeats = answered != Some(true) || this.world.faults.at(Point::AlarmRepeats).is_some();
                if repeats && !is_forgotten && object.alarm.get().is_none() {
                    object.alarm.set(Some(schedule.now_ms() + (2000 << interruptions.saturating_sub(1))));
                }
            }
        };
        self.world.schedule.spawn(Owner::World, alarm.boxed_local());
    }

    /// Answers an alarm. Returns whether that succeeded, or `None` if the isolate has ended.
    async fn ring(self: Rc<Self>, name: &str, object: &Rc<Object>) -> Option<bool> {
        self.world.ledger.count();
        let Some(isolate) = self.isolate(object) else { return Some(true) };
        let (name, rows, owner) = (name.to_owned(), self.rows_of(name, object), isolate.owner);
        let ring = async move { isolate.endpoint().task_alarm(&name, rows, &isolate.host).await.is_ok() };
        self.work(object.clone(), owner, ring.boxed_local()).await
    }

    fn rows_of(self: &Rc<Self>, name: &str, object: &Rc<Object>) -> Rc<dyn TaskRows> {
        Rc::new(Rows { objects: Rc::downgrade(self), name: name.to_owned(), object: object.clone() })
    }
}

/// A handle of the objects for an endpoint.
pub struct Handle(pub Weak<Objects>);

impl TaskObjects for Handle {
    fn send(&self, name: &str, message: String) -> LocalBoxFuture<'static, Result<String, String>> {
        let (objects, name) = (self.0.clone(), name.to_owned());
        let answer = async move {
            let objects = objects.upgrade().ok_or("the run has ended")?;
            let World { faults, schedule, ledger, .. } = &*objects.world;
            ledger.count();
            schedule.sleep(1).await;
            if let Some(fault) = faults.at(Point::MessageDelayed) {
                schedule.sleep(fault.ms(5000)).await;
            }
            if faults.at(Point::MessageLost).is_some() {
                return Err("the object is not reachable".to_owned());
            }
            let object = objects.object(&name);
            let isolate = objects.isolate(&object).ok_or("the run has ended")?;
            let (rows, owner) = (objects.rows_of(&name, &object), isolate.owner);
            let message = async move { isolate.endpoint().task_message(&name, rows, &message, &isolate.host).await };
            let answer = objects.clone().work(object, owner, message.boxed_local()).await;
            schedule.sleep(1).await;
            if faults.at(Point::MessageAnswerLost).is_some() {
                return Err("the connection to the object has ended".to_owned());
            }
            answer.unwrap_or_else(|| Err("the object was reset".to_owned()))
        };
        answer.boxed_local()
    }
}

/// Work of an object, whose changes between two waits are atomic.
struct Atomic<T> {
    objects: Rc<Objects>,
    object: Rc<Object>,
    owner: Owner,
    work: LocalBoxFuture<'static, T>,
    answer: Option<oneshot::Sender<T>>,
}

impl<T> Unpin for Atomic<T> {}

impl<T> Future for Atomic<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let (objects, object, owner) = (self.objects.clone(), self.object.clone(), self.owner);
        let unchanged = || Before { rows: Vec::new(), alarm: object.alarm.get() };
        object.before.borrow_mut().get_or_insert_with(unchanged);
        let woken = Arc::new(Woken { waker: task.waker().clone(), is_woken: AtomicBool::new(false) });
        let polled = self.work.as_mut().poll(&mut Context::from_waker(&Waker::from(woken.clone())));
        let crashes = objects.world.crashes.take();
        if object.ends.take() || crashes {
            // The changes since the last wait are lost, and so is the answer.
            if let Some(Before { rows, alarm }) = object.before.take() {
                let mut stored = object.rows.borrow_mut();
                for (key, value) in rows.into_iter().rev() {
                    match value {
                        Some(value) => stored.insert(key, value),
                        None => stored.remove(&key),
                    };
                }
                object.alarm.set(alarm);
            }
            objects.world.trace(|| format!("{owner:?} of an object ends at a write"));
            objects.world.schedule.kill(owner);
            self.answer = None;
            return Poll::Ready(());
        }
        let goes_on = polled.is_pending() && woken.is_woken.load(Ordering::Relaxed);
        let before = if goes_on { None } else { object.before.take() };
        if before.is_some_and(|before| before.rows.iter().any(|(key, _)| task_books::counts(key))) {
            objects.check_books();
        }
        let polled = polled.map(|output| {
            if let Some(answer) = self.answer.take() {
                // Nobody may wait for the answer any more.
                let _sent = answer.send(output);
            }
        });
        if objects.world.faults.at(Point::ObjectEnds).is_some() {
            objects.world.trace(|| format!("{owner:?} of an object ends"));
            objects.world.schedule.kill(owner);
        }
        polled
    }
}

/// Tells whether work is woken while it is polled, and so goes on at once.
struct Woken {
    waker: Waker,
    is_woken: AtomicBool,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Relaxed);
        self.waker.wake_by_ref();
    }
}

/// The rows of an object.
struct Rows {
    objects: Weak<Objects>,
    name: String,
    object: Rc<Object>,
}

impl Rows {
    fn objects(&self) -> Result<Rc<Objects>, String> {
        self.objects.upgrade().ok_or_else(|| "the run has ended".to_owned())
    }

    /// Fails if there is a fault at this write.
    fn fault(&self) -> Result<(), String> {
        let objects = self.objects()?;
        if self.object.ends.get() {
            return Err("the object was reset".to_owned());
        }
        if objects.world.faults.at(Point::WriteEnds).is_some() {
            self.object.ends.set(true);
            return Err("the object was reset".to_owned());
        }
        match objects.world.faults.at(Point::WriteFails) {
            Some(_) => Err("the storage does not answer".to_owned()),
            None => Ok(()),
        }
    }

    /// Replaces a row. `None` deletes it.
    fn set(&self, key: &str, value: Option<Vec<u8>>) {
        let mut rows = self.object.rows.borrow_mut();
        let old = match value {
            Some(value) => rows.insert(key.to_owned(), value),
            None => rows.remove(key),
        };
        if let Some(before) = &mut *self.object.before.borrow_mut() {
            before.rows.push((key.to_owned(), old));
        }
    }
}

impl TaskRows for Rows {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(self.object.rows.borrow().get(key).cloned())
    }

    fn put(&self, key: &str, value: &[u8]) -> Result<(), String> {
        self.fault()?;
        self.set(key, Some(value.to_vec()));
        Ok(())
    }

    fn delete(&self, key: &str) -> Result<(), String> {
        self.fault()?;
        self.set(key, None);
        Ok(())
    }

    fn list(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
        let rows = self.object.rows.borrow();
        let rows = rows.iter().filter(|(key, _)| key.starts_with(prefix));
        Ok(rows.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn clear(&self) -> Result<(), String> {
        self.fault()?;
        let keys: Vec<_> = self.object.rows.borrow().keys().cloned().collect();
        for key in &keys {
            self.set(key, None);
        }
        self.object.alarm.set(None);
        Ok(())
    }

    fn set_alarm(&self, at_ms: u64) -> Result<(), String> {
        self.fault()?;
        self.object.alarm.set(Some(at_ms));
        self.objects()?.wait_for_alarm(self.name.clone(), self.object.clone());
        Ok(())
    }

    /// The changes are stored before the next poll.
    fn sync(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let objects = self.objects();
        let stored = async move {
            objects?.world.schedule.sleep(1).await;
            Ok(())
        };
        stored.boxed_local()
    }
}
