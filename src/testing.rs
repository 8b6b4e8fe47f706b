//! A host for tests, on which nothing happens by itself, and [`call`], which sends a request to an endpoint on it.
//!
//! ```
//! use edge_mcp::testing::{TestHost, call};
//! use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo, Tool};
//!
//! fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
//!     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
//!     McpServer::builder("greeter", "1.0.0").tool(greet).build()
//! }
//!
//! let endpoint = Endpoint::new(server).without_auth().without_rate_limit();
//! let request = http::Request::post("http://localhost/mcp")
//!     .header("Content-Type", "application/json")
//!     .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}"#)?;
//! let response = call(&endpoint, request, &TestHost::new())?;
//! assert!(String::from_utf8_lossy(response.body()).contains("Hello"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::future::{LocalBoxFuture, ready};
use futures::{FutureExt, StreamExt};

use crate::host::{CannotCheck, FetchError, FetchLimits, Fetched, Host, Level, NoRandomness, PublicKey};
use crate::http::Endpoint;
use crate::http::stream::Body;

/// The time on the clock of a [`TestHost`], in milliseconds since 1970.
const NOW_MS: u64 = 1_800_000_000_000;

type Fetch = dyn Fn(http::Request<String>, FetchLimits) -> LocalBoxFuture<'static, Result<Fetched, FetchError>>;
type Verify = dyn Fn(PublicKey, Vec<u8>, Vec<u8>) -> LocalBoxFuture<'static, Result<bool, CannotCheck>>;

/// A host for tests. Each part can be replaced by a function.
///
/// The clock stands still, the timer never fires, tasks run in [`run`](Self::run), random bytes are the same in each test, the log is
/// kept, and there is no network. Clones share the log, the tasks and the random bytes.
///
/// ```
/// use edge_mcp::host::Fetched;
/// use edge_mcp::testing::TestHost;
///
/// let host = TestHost::new().fetch(|request, _limits| async move {
///     Ok(Fetched::new(200, format!("You asked for {}.", request.uri())))
/// });
/// ```
#[derive(Clone)]
pub struct TestHost {
    clock: Rc<dyn Fn() -> u64>,
    timer: Rc<dyn Fn(Duration) -> LocalBoxFuture<'static, ()>>,
    spawn: Option<Rc<dyn Fn(LocalBoxFuture<'static, ()>)>>,
    fetch: Option<Rc<Fetch>>,
    verify: Option<Rc<Verify>>,
    shared: Rc<Shared>,
}

#[derive(Default)]
struct Shared {
    tasks: RefCell<Vec<LocalBoxFuture<'static, ()>>>,
    log: RefCell<Vec<(Level, String)>>,
    random: Cell<u8>,
}

impl Default for TestHost {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHost {
    /// Creates a host on which nothing happens by itself.
    pub fn new() -> Self {
        Self {
            clock: Rc::new(|| NOW_MS),
            timer: Rc::new(|_| pending().boxed_local()),
            spawn: None,
            fetch: None,
            verify: None,
            shared: Rc::default(),
        }
    }

    /// Replaces the clock. It returns milliseconds since 1970.
    #[must_use]
    pub fn clock(mut self, now_ms: impl Fn() -> u64 + 'static) -> Self {
        self.clock = Rc::new(now_ms);
        self
    }

    /// Replaces the timer.
    #[must_use]
    pub fn timer<F: Future<Output = ()> + 'static>(mut self, sleep: impl Fn(Duration) -> F + 'static) -> Self {
        self.timer = Rc::new(move |time| sleep(time).boxed_local());
        self
    }

    /// Replaces the way in which tasks are started, for tests with an executor of their own.
    #[must_use]
    pub fn spawn(mut self, spawn: impl Fn(LocalBoxFuture<'static, ()>) + 'static) -> Self {
        self.spawn = Some(Rc::new(spawn));
        self
    }

    /// Replaces the network.
    #[must_use]
    pub fn fetch<F>(mut self, fetch: impl Fn(http::Request<String>, FetchLimits) -> F + 'static) -> Self
    where
        F: Future<Output = Result<Fetched, FetchError>> + 'static,
    {
        self.fetch = Some(Rc::new(move |request, limits| fetch(request, limits).boxed_local()));
        self
    }

    /// Replaces the check of signatures, of a key, a message and a signature.
    #[must_use]
    pub fn verify<F>(mut self, verify: impl Fn(PublicKey, Vec<u8>, Vec<u8>) -> F + 'static) -> Self
    where
        F: Future<Output = Result<bool, CannotCheck>> + 'static,
    {
        self.verify = Some(Rc::new(move |key, message, signature| verify(key, message, signature).boxed_local()));
        self
    }

    /// Returns all lines of the log.
    pub fn log_lines(&self) -> Vec<(Level, String)> {
        self.shared.log.borrow().clone()
    }

    /// Runs `future` and the tasks that it starts until none of them can continue.
    ///
    /// # Errors
    /// [`Stalled`] if the future waits for something that cannot happen any more.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> Result<T, Stalled> {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(woken.clone());
        let mut task = Context::from_waker(&waker);
        let mut future = pin!(future);
        let mut output = None;
        let mut tasks = Vec::new();
        while woken.0.swap(false, Ordering::Relaxed) || !self.shared.tasks.borrow().is_empty() {
            if output.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(&mut task)
            {
                output = Some(ready);
            }
            tasks.append(&mut self.shared.tasks.borrow_mut());
            tasks.retain_mut(|running: &mut LocalBoxFuture<'static, ()>| running.as_mut().poll(&mut task).is_pending());
        }
        output.ok_or(Stalled)
    }
}

impl Host for TestHost {
    fn now_ms(&self) -> u64 {
        (self.clock)()
    }

    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        (self.timer)(time)
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        match &self.spawn {
            Some(spawn) => spawn(task),
            None => self.shared.tasks.borrow_mut().push(task),
        }
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        let next = self.shared.random.get().wrapping_add(1);
        self.shared.random.set(next);
        bytes.fill(next);
        Ok(())
    }

    fn log(&self, level: Level, line: &str) {
        self.shared.log.borrow_mut().push((level, line.to_owned()));
    }

    fn fetch(
        &self,
        request: http::Request<String>,
        limits: FetchLimits,
    ) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> {
        match &self.fetch {
            Some(fetch) => fetch(request, limits),
            None => ready(Err(FetchError::Failed("the test has no network".into()))).boxed_local(),
        }
    }

    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        match &self.verify {
            Some(verify) => verify(key, message, signature),
            None => ready(Err(CannotCheck("the test has no signature algorithms".into()))).boxed_local(),
        }
    }
}

impl fmt::Debug for TestHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestHost").field("log", &self.shared.log).finish_non_exhaustive()
    }
}

/// A future waits for something that cannot happen any more: no task is left that could wake it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled;

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the future waits, and no task is left that could wake it")
    }
}

impl std::error::Error for Stalled {}

/// Notes that a future was woken.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends `request` to `endpoint`, and returns the response after the tasks that it started. An event stream is returned as a whole.
///
/// # Errors
/// [`Stalled`] if a handler waits for something that cannot happen, such as the timer of a [`TestHost`].
pub fn call(
    endpoint: &Endpoint,
    request: http::Request<impl Into<Vec<u8>>>,
    host: &TestHost,
) -> Result<http::Response<Vec<u8>>, Stalled> {
    let machine: Rc<dyn Host> = Rc::new(host.clone());
    host.run(async {
        let (head, body) = endpoint.handle(request.map(|body| Cell::new(body.into())), &machine).await.into_parts();
        let body = match body {
            Body::Bytes(bytes) => bytes,
            Body::Stream(events) => events.concat().await,
        };
        http::Response::from_parts(head, body)
    })
}
