//! The objects of durable tasks in memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context as Waker, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::host::TestHost;
use super::running::Stalled;
use crate::host::{Host, TaskObjects, TaskRows};
use crate::http::Endpoint;
use crate::parallel::turn;

/// The objects of durable tasks in memory. The test decides when attempts run, and when they are interrupted.
///
/// While a client waits for the result of a call, the attempts of its task run. Otherwise, they run only in [`run`](Self::run) and
/// [`begin`](Self::begin). A clone is another handle of the same objects.
///
/// ```
/// use std::time::Duration;
///
/// use edge_mcp::tasks::Task;
/// use edge_mcp::testing::{self, Client, TestHost, TestTasks};
/// use edge_mcp::{Context, McpServer, Tool};
/// use serde_json::json;
///
/// async fn rest(cx: Context) -> &'static str {
///     cx.sleep(Duration::from_secs(60)).await;
///     "rested"
/// }
///
/// testing::run(async {
///     let (host, server) = (TestHost::new(), |_: &_| {
///         McpServer::builder("s", "1").tool(Tool::new("rest", "Rests for a minute.", rest).task(Task::new())).build()
///     });
///     let tasks = TestTasks::new(&host);
///     let endpoint = tasks.serve(testing::endpoint(server));
///     let client = Client::new(&endpoint).host(&host);
///     // The client waits for 20 s.
///     let running = client.call("rest", json!({})).await;
///     assert!(running.text().starts_with("The job is still running."));
///     let job = running.result()["_meta"]["edge-mcp/job"].clone();
///     host.advance(Duration::from_secs(40));
///     assert_eq!(client.call("job-result", json!({ "job": job })).await.text(), "rested");
/// });
/// ```
#[derive(Clone)]
pub struct TestTasks(Rc<TestObjects>);

struct TestObjects {
    host: TestHost,
    endpoint: RefCell<Option<Rc<Endpoint>>>,
    objects: RefCell<BTreeMap<String, Rc<TestObject>>>,
    /// The number of writes until a fault.
    writes_left: Cell<Option<u32>>,
    fault: Cell<Fault>,
    /// Whether a fault has ended the attempt or the message that is being polled.
    is_killed: Cell<bool>,
    /// The number of messages to objects.
    messages: Cell<usize>,
    /// The number of a message that arrives late or twice.
    disturbed: Cell<Option<(usize, Disturbance)>>,
}

/// The way in which a message is disturbed.
#[derive(Clone, Copy)]
enum Disturbance {
    /// It arrives after this time.
    Late(Duration),
    /// Its answer is lost, and it arrives again after this time.
    Twice(Duration),
}

/// The number of times that the platform repeats an alarm whose program ends, unless the object sets another alarm.
const REPETITIONS: u32 = 6;

/// The fault at a write.
#[derive(Clone, Copy)]
enum Fault {
    /// The write fails.
    Failure,
    /// The program ends.
    Kill,
}

/// An object: its rows, its alarm, and the attempt that runs.
#[derive(Default)]
struct TestObject {
    rows: RefCell<BTreeMap<String, Vec<u8>>>,
    /// The rows that the poll that runs has changed, with their values before.
    changed: RefCell<Vec<(String, Option<Vec<u8>>)>>,
    alarm: Cell<Option<u64>>,
    /// Whether the poll that ended last waits until its changes are stored.
    is_storing: Cell<bool>,
    /// The number of times that the alarm was repeated.
    repetitions: Cell<u32>,
    running: RefCell<Option<LocalBoxFuture<'static, ()>>>,
    /// Wakes the one who waits when the alarm is due.
    timer: RefCell<Option<LocalBoxFuture<'static, ()>>>,
}

impl TestTasks {
    /// Creates objects with the clock and the random bytes of `host`.
    pub fn new(host: &TestHost) -> Self {
        Self(Rc::new(TestObjects {
            host: host.clone(),
            endpoint: RefCell::default(),
            objects: RefCell::default(),
            writes_left: Cell::default(),
            fault: Cell::new(Fault::Failure),
            is_killed: Cell::default(),
            messages: Cell::default(),
            disturbed: Cell::default(),
        }))
    }

    /// Runs the tasks of `endpoint` in these objects. A second call replaces the endpoint, as a deployment does.
    #[must_use]
    pub fn serve(&self, endpoint: Endpoint) -> Rc<Endpoint> {
        let endpoint = Rc::new(endpoint.task_objects(self.clone()));
        self.0.endpoint.replace(Some(endpoint.clone()));
        endpoint
    }

    /// Runs the attempts that are due to their ends. The clock advances only for waits within an attempt.
    ///
    /// # Errors
    /// [`Stalled`] if an attempt waits for something that never comes.
    pub async fn run(&self) -> Result<(), Stalled> {
        let runs = poll_fn(|task| {
            let mut is_idle = true;
            for (name, object) in self.objects() {
                while self.is_due(&object) || object.running.borrow().is_some() {
                    if self.poll(&name, &object, task).is_pending() {
                        is_idle = false;
                        break;
                    }
                }
            }
            if is_idle { Poll::Ready(()) } else { Poll::Pending }
        });
        self.0.host.run(runs).await
    }

    /// Begins the attempts that are due, and polls their handlers once.
    ///
    /// # Errors
    /// Never: the method only has the form of [`run`](Self::run).
    pub async fn begin(&self) -> Result<(), Stalled> {
        let begins = poll_fn(|task| {
            for (name, object) in self.objects() {
                if self.is_due(&object) || object.running.borrow().is_some() {
                    let _is_over = self.poll(&name, &object, task);
                }
                // The handler is polled when the count of its attempt is stored.
                while object.is_storing.take() {
                    let _is_over = self.poll(&name, &object, task);
                }
            }
            Poll::Ready(())
        });
        self.0.host.run(begins).await
    }

    /// Drops the attempts that run, as the end of an isolate does. Their alarms are due at once.
    pub fn interrupt(&self) {
        for (_, object) in self.objects() {
            if object.running.take().is_some() {
                object.alarm.set(Some(self.0.host.now_ms()));
            }
        }
    }

    /// Makes the `nth` write from now fail, counted from 1.
    pub fn fail_write(&self, nth: u32) {
        self.0.fault.set(Fault::Failure);
        self.0.writes_left.set(Some(nth));
    }

    /// Ends the program at the `nth` write from now, counted from 1: the attempt or the message is dropped, and its changes since its last wait
    /// are lost. The attempt runs again at once. The sender of the message gets an error.
    pub fn kill_at_write(&self, nth: u32) {
        self.0.fault.set(Fault::Kill);
        self.0.writes_left.set(Some(nth));
    }

    /// Ends the program in the poll that runs, as a crash of the handler does: the changes since the last wait of the attempt or the message are
    /// lost. A handler that calls this method must then wait forever. The alarm rings again at once. If the program ends seven times before the
    /// attempt has stored another alarm, the platform forgets the alarm.
    ///
    /// ```
    /// use edge_mcp::tasks::Task;
    /// use edge_mcp::testing::{self, Client, TestHost, TestTasks};
    /// use edge_mcp::{McpServer, Tool};
    /// use serde_json::json;
    ///
    /// testing::run(async {
    ///     let host = TestHost::new();
    ///     let tasks = TestTasks::new(&host);
    ///     let program = tasks.clone();
    ///     let crash = move || {
    ///         program.kill();
    ///         std::future::pending::<String>()
    ///     };
    ///     let crash = Tool::new("crash", "Crashes.", crash).task(Task::new());
    ///     let server = McpServer::builder("s", "1").tool(crash).build().expect("a valid server");
    ///     let endpoint = tasks.serve(testing::endpoint(move |_| Ok(server.clone())));
    ///     let client = Client::new(&endpoint).host(&host);
    ///     assert!(client.call("crash", json!({})).await.text().starts_with("The task was stopped."));
    /// });
    /// ```
    pub fn kill(&self) {
        self.0.is_killed.set(true);
    }

    /// Delivers the `nth` message to an object from now after this time, counted from 1.
    pub fn delay_message(&self, nth: usize, time: Duration) {
        self.disturb(nth, Disturbance::Late(time));
    }

    /// Loses the answer to the `nth` message from now, counted from 1. The message arrives again after this time.
    pub fn repeat_message(&self, nth: usize, time: Duration) {
        self.disturb(nth, Disturbance::Twice(time));
    }

    fn disturb(&self, nth: usize, disturbed: Disturbance) {
        self.0.disturbed.set(Some((self.messages().saturating_add(nth), disturbed)));
    }

    /// Returns whether the fault that was set has happened.
    pub fn has_failed(&self) -> bool {
        self.0.writes_left.get().is_none()
    }

    /// Returns the number of messages that objects have got. A request with the id of another caller does not reach an object.
    pub fn messages(&self) -> usize {
        self.0.messages.get()
    }

    /// Returns the time of the next alarm, in milliseconds since 1970.
    pub fn next_alarm(&self) -> Option<u64> {
        self.objects().iter().filter_map(|(_, object)| object.alarm.get()).min()
    }

    /// Returns the rows of all objects: the name of the object and the key, and the value.
    pub fn rows(&self) -> Vec<(String, Vec<u8>)> {
        let rows = |(name, object): (String, Rc<TestObject>)| {
            let rows = object.rows.borrow();
            rows.iter().map(|(key, value)| (format!("{name}/{key}"), value.clone())).collect::<Vec<_>>()
        };
        self.objects().into_iter().flat_map(rows).collect()
    }

    /// Replaces the value of a row. `key` is a key of [`rows`](Self::rows). A key of another object is ignored.
    pub fn write_row(&self, key: &str, value: &[u8]) {
        let object =
            key.split_once('/').and_then(|(name, key)| Some((self.0.objects.borrow().get(name)?.clone(), key)));
        if let Some((object, key)) = object {
            object.rows.borrow_mut().insert(key.to_owned(), value.to_vec());
        }
    }

    fn objects(&self) -> Vec<(String, Rc<TestObject>)> {
        self.0.objects.borrow().iter().map(|(name, object)| (name.clone(), object.clone())).collect()
    }

    fn object(&self, name: &str) -> Rc<TestObject> {
        self.0.objects.borrow_mut().entry(name.to_owned()).or_default().clone()
    }

    fn is_due(&self, object: &TestObject) -> bool {
        object.alarm.get().is_some_and(|at| at <= self.0.host.now_ms())
    }

    /// Polls the attempt of an object, which begins if none runs.
    fn poll(&self, name: &str, object: &Rc<TestObject>, task: &mut Waker<'_>) -> Poll<()> {
        object.is_storing.set(false);
        let running = object.running.take();
        let Some(mut running) = running.or_else(|| self.alarm(name, object)) else { return Poll::Ready(()) };
        let Some(polled) = self.with_fault(object, || running.poll_unpin(task)) else {
            let repetitions = object.alarm.get().map_or(object.repetitions.get().saturating_add(1), |_| 0);
            object.repetitions.set(repetitions);
            object.alarm.set(Some(self.0.host.now_ms()).filter(|_| repetitions <= REPETITIONS));
            return Poll::Ready(());
        };
        if polled.is_pending() {
            object.running.replace(Some(running));
        } else {
            object.repetitions.set(0);
        }
        polled
    }

    /// Runs `poll`, which changes the rows of an object. Returns `None` if a fault ended the program: the changes are then lost.
    fn with_fault<T>(&self, object: &TestObject, poll: impl FnOnce() -> T) -> Option<T> {
        let alarm = object.alarm.get();
        object.changed.take();
        let polled = poll();
        let changed = object.changed.take();
        if !self.0.is_killed.replace(false) {
            return Some(polled);
        }
        for (key, before) in changed.into_iter().rev() {
            object.set(&key, before);
        }
        object.changed.take();
        object.alarm.set(alarm);
        None
    }

    /// Rings the alarm of an object.
    fn alarm(&self, name: &str, object: &Rc<TestObject>) -> Option<LocalBoxFuture<'static, ()>> {
        let endpoint = self.0.endpoint.borrow().clone()?;
        object.alarm.set(None);
        let (this, name, rows) = (self.clone(), name.to_owned(), self.rows_of(object));
        let ring = async move {
            let host: Rc<dyn Host> = Rc::new(this.0.host.clone());
            if endpoint.task_alarm(&name, rows.clone(), &host).await.is_err() {
                // The storage has recovered by then.
                let _is_set = rows.set_alarm(host.now_ms().saturating_add(1000));
            }
        };
        Some(ring.boxed_local())
    }

    fn rows_of(&self, object: &Rc<TestObject>) -> Rc<dyn TaskRows> {
        Rc::new(TestRows { tasks: self.clone(), object: object.clone() })
    }

    /// Runs the attempts of an object while a message to it waits.
    fn drive(&self, name: &str, object: &Rc<TestObject>, task: &mut Waker<'_>) {
        while self.is_due(object) || object.running.borrow().is_some() {
            if self.poll(name, object, task).is_pending() {
                return;
            }
        }
        if let Some(at) = object.alarm.get() {
            let time = Duration::from_millis(at.saturating_sub(self.0.host.now_ms()));
            let mut timer = self.0.host.sleep(time);
            let _is_due = timer.poll_unpin(task);
            object.timer.replace(Some(timer));
        }
    }
}

impl TestObject {
    /// Replaces the value of a row. `None` deletes the row.
    fn set(&self, key: &str, value: Option<Vec<u8>>) {
        let mut rows = self.rows.borrow_mut();
        let before = match value {
            Some(value) => rows.insert(key.to_owned(), value),
            None => rows.remove(key),
        };
        self.changed.borrow_mut().push((key.to_owned(), before));
    }
}

impl TaskObjects for TestTasks {
    fn send(&self, name: &str, message: String) -> LocalBoxFuture<'static, Result<String, String>> {
        let (this, name, object) = (self.clone(), name.to_owned(), self.object(name));
        let number = this.0.messages.get().saturating_add(1);
        this.0.messages.set(number);
        let answer = async move {
            match this.0.disturbed.get().filter(|(disturbed, _)| *disturbed == number) {
                None => {}
                Some((_, Disturbance::Late(time))) => this.0.host.sleep(time).await,
                Some((_, Disturbance::Twice(time))) => {
                    let _lost = this.deliver(&name, &object, &message).await;
                    this.0.host.sleep(time).await;
                }
            }
            this.deliver(&name, &object, &message).await
        };
        answer.boxed_local()
    }
}

impl TestTasks {
    /// Delivers a message to an object. While it waits, the attempts of the object run.
    async fn deliver(&self, name: &str, object: &Rc<TestObject>, message: &str) -> Result<String, String> {
        let endpoint = self.0.endpoint.borrow().clone().ok_or("no endpoint is served")?;
        let (host, rows): (Rc<dyn Host>, _) = (Rc::new(self.0.host.clone()), self.rows_of(object));
        let mut answer = pin!(endpoint.task_message(name, rows, message, &host));
        poll_fn(|task| {
            let mut poll = |task: &mut Waker<'_>| {
                let polled = self.with_fault(object, || answer.as_mut().poll(task));
                polled.unwrap_or_else(|| Poll::Ready(Err("the program has ended".to_owned())))
            };
            if let Poll::Ready(answer) = poll(task) {
                object.timer.take();
                return Poll::Ready(answer);
            }
            self.drive(name, object, task);
            poll(task)
        })
        .await
    }
}

/// The rows of an object, with the faults of the test.
struct TestRows {
    tasks: TestTasks,
    object: Rc<TestObject>,
}

impl TestRows {
    /// Returns the fault of this write.
    fn fault(&self) -> Result<(), String> {
        let state = &self.tasks.0;
        if state.is_killed.get() {
            return Err("the program has ended".to_owned());
        }
        match state.writes_left.get() {
            Some(0 | 1) => {
                state.writes_left.set(None);
                state.is_killed.set(matches!(state.fault.get(), Fault::Kill));
                Err("the test lets this write fail".to_owned())
            }
            Some(left) => {
                state.writes_left.set(Some(left.saturating_sub(1)));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl TaskRows for TestRows {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(self.object.rows.borrow().get(key).cloned())
    }

    fn put(&self, key: &str, value: &[u8]) -> Result<(), String> {
        self.fault()?;
        self.object.set(key, Some(value.to_vec()));
        Ok(())
    }

    fn delete(&self, key: &str) -> Result<(), String> {
        self.fault()?;
        self.object.set(key, None);
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
            self.object.set(key, None);
        }
        self.object.alarm.set(None);
        Ok(())
    }

    fn set_alarm(&self, at_ms: u64) -> Result<(), String> {
        self.fault()?;
        self.object.alarm.set(Some(at_ms));
        Ok(())
    }

    /// The changes are stored at the end of each poll.
    fn sync(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        self.object.is_storing.set(true);
        turn().map(Ok).boxed_local()
    }
}
