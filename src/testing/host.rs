//! A host that a test controls.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, ready};
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::Request;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde_json::Value;

use super::clock::Clock;
use super::issuer::{self, TestIssuer};
use super::network::TestNetwork;
use super::spawned::SpawnedTasks;
use crate::host::{
    CannotCheck, CannotSign, FetchError, FetchLimits, Fetched, Host, Level, NoRandomness, Opened, Outbound, PrivateKey,
    PublicKey, in_time,
};
use crate::parallel::turn;

type Spawn = dyn Fn(LocalBoxFuture<'static, ()>);
type Fetch = dyn Fn(Request<String>, FetchLimits) -> LocalBoxFuture<'static, Result<Fetched, FetchError>>;
type Verify = dyn Fn(PublicKey, Vec<u8>, Vec<u8>) -> LocalBoxFuture<'static, Result<bool, CannotCheck>>;
type Sign = dyn Fn(PrivateKey, Vec<u8>) -> Result<Vec<u8>, CannotSign>;

/// A host for tests: the test advances its clock, prepares the responses of its network, and reads its log.
///
/// Random bytes are the same in each test. Warnings and errors of the log are also printed, so a test that fails shows them. A clone is
/// another handle of the same host.
///
/// ```
/// use std::time::Duration;
///
/// use edge_mcp::testing::TestHost;
///
/// let host = TestHost::new().respond("GET", "https://api.example.com/rates", 200, r#"{"chf": 0.93}"#);
/// host.advance(Duration::from_secs(60));
/// assert!(host.requests().is_empty() && host.log().is_empty());
/// ```
#[derive(Clone)]
#[must_use]
pub struct TestHost(Rc<HostState>);

struct HostState {
    clock: Rc<Clock>,
    tasks: SpawnedTasks,
    spawn: RefCell<Option<Rc<Spawn>>>,
    network: TestNetwork,
    fetch: RefCell<Option<Rc<Fetch>>>,
    verify: RefCell<Option<Rc<Verify>>>,
    sign: RefCell<Option<Rc<Sign>>>,
    random: Cell<u8>,
    log: RefCell<Vec<(Level, String)>>,
}

impl Default for TestHost {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHost {
    /// Creates a host. The time of its clock is 2027-01-15T08:00:00Z.
    pub fn new() -> Self {
        Self(Rc::new(HostState {
            clock: Rc::new(Clock::new()),
            tasks: SpawnedTasks::new(),
            spawn: RefCell::default(),
            network: TestNetwork::default(),
            fetch: RefCell::default(),
            verify: RefCell::default(),
            sign: RefCell::default(),
            random: Cell::new(0),
            log: RefCell::default(),
        }))
    }

    /// Sets the clock, in milliseconds since 1970.
    pub fn clock(self, now_ms: u64) -> Self {
        self.0.clock.set(now_ms);
        self
    }

    /// Advances the clock.
    pub fn advance(&self, time: Duration) {
        self.0.clock.advance(time);
    }

    /// Returns the steps by which [`run`](Self::run) has advanced the clock, in order. These steps take no real time.
    pub fn waits(&self) -> Vec<Duration> {
        self.0.clock.waits()
    }

    /// Prepares the response to requests with this method and URL. If there are several responses, the host returns each of them once, in
    /// order, and then repeats the last one. A request without a prepared response fails, and the error names the request.
    ///
    /// A request waits once before its response arrives, as each request on a network does.
    pub fn respond(
        self,
        method: impl Into<String>,
        url: impl Into<String>,
        status: u16,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        self.respond_with(method, url, Fetched::new(status, body))
    }

    /// Prepares a response like [`respond`](Self::respond), which can have a `Retry-After`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use edge_mcp::host::Fetched;
    /// use edge_mcp::testing::TestHost;
    ///
    /// let busy = Fetched::new(429, "").retry_after(Duration::from_secs(30));
    /// let host = TestHost::new().respond_with("GET", "https://api.example.com/rates", busy);
    /// ```
    pub fn respond_with(self, method: impl Into<String>, url: impl Into<String>, response: Fetched) -> Self {
        self.0.network.prepare(method.into(), url.into(), response);
        self
    }

    /// Prepares the response with the keys of an issuer. The host checks the signatures of each [`TestIssuer`].
    pub fn issuer(self, issuer: &TestIssuer) -> Self {
        self.respond("GET", issuer.keys_url(), 200, issuer.keys())
    }

    /// Makes a server unreachable: each request to this origin fails, whatever is prepared for it. Workers report such a failure in the same
    /// way, also if the server closes the connection before it answers.
    ///
    /// ```
    /// use edge_mcp::testing::TestHost;
    ///
    /// let host = TestHost::new().unreachable("https://api.example.com");
    /// ```
    pub fn unreachable(self, origin: impl Into<String>) -> Self {
        self.0.network.block(origin.into());
        self
    }

    /// Replaces the prepared responses with a function. The limits on time and bytes also apply to its responses.
    ///
    /// ```
    /// use edge_mcp::host::Fetched;
    /// use edge_mcp::testing::TestHost;
    ///
    /// let host = TestHost::new().fetch(|request, _limits| async move {
    ///     Ok(Fetched::new(200, format!("You asked for {}.", request.uri())))
    /// });
    /// ```
    pub fn fetch<F>(self, fetch: impl Fn(Request<String>, FetchLimits) -> F + 'static) -> Self
    where
        F: Future<Output = Result<Fetched, FetchError>> + 'static,
    {
        self.0.fetch.replace(Some(Rc::new(move |request, limits| fetch(request, limits).boxed_local())));
        self
    }

    /// Returns the requests to other servers, in order. Each has its [`FetchLimits`] as an extension.
    pub fn requests(&self) -> Vec<Request<String>> {
        self.0.network.requests()
    }

    /// Sets the function that checks signatures. Its parameters are a key, a message and a signature. Without it, the host
    /// checks the signatures of each [`TestIssuer`], and the check of any other one fails.
    pub fn verify<F>(self, verify: impl Fn(PublicKey, Vec<u8>, Vec<u8>) -> F + 'static) -> Self
    where
        F: Future<Output = Result<bool, CannotCheck>> + 'static,
    {
        self.0
            .verify
            .replace(Some(Rc::new(move |key, message, signature| verify(key, message, signature).boxed_local())));
        self
    }

    /// Sets the function that signs. Its parameters are a key and a message. Without it, nothing can be signed.
    pub fn sign(self, sign: impl Fn(PrivateKey, Vec<u8>) -> Result<Vec<u8>, CannotSign> + 'static) -> Self {
        self.0.sign.replace(Some(Rc::new(sign)));
        self
    }

    /// Sets the function that starts tasks. It is for tests that poll the tasks themselves.
    pub fn spawner(self, spawn: impl Fn(LocalBoxFuture<'static, ()>) + 'static) -> Self {
        self.0.spawn.replace(Some(Rc::new(spawn)));
        self
    }

    /// Returns the lines of the log. Each is a JSON object.
    pub fn log(&self) -> Vec<Value> {
        let log = self.0.log.borrow();
        log.iter().map(|(_, line)| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line.as_str()))).collect()
    }

    /// Returns the lines of the log as one text.
    pub fn log_text(&self) -> String {
        self.0.log.borrow().iter().flat_map(|(_, line)| [line.as_str(), "\n"]).collect()
    }

    /// Returns the severity of each line of the log.
    pub fn log_levels(&self) -> Vec<Level> {
        self.0.log.borrow().iter().map(|(level, _)| *level).collect()
    }

    pub(super) fn tasks(&self) -> &SpawnedTasks {
        &self.0.tasks
    }

    pub(super) fn timer(&self) -> &Clock {
        &self.0.clock
    }
}

impl Host for TestHost {
    fn now_ms(&self) -> u64 {
        self.0.clock.now_ms()
    }

    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        self.0.clock.sleep(time).boxed_local()
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        let spawn = self.0.spawn.borrow().clone();
        match spawn {
            Some(spawn) => spawn(task),
            None => self.0.tasks.spawn(task),
        }
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        let next = self.0.random.get().wrapping_add(1);
        self.0.random.set(next);
        bytes.fill(next);
        Ok(())
    }

    fn log(&self, level: Level, line: &str) {
        if level != Level::Info {
            eprintln!("{line}");
        }
        self.0.log.borrow_mut().push((level, line.to_owned()));
    }

    fn fetch(
        &self,
        request: Request<String>,
        limits: FetchLimits,
    ) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> {
        self.0.network.record(&request, limits);
        let fetch = self.0.fetch.borrow().clone();
        let answer = match fetch {
            _ if self.0.network.is_blocked(&request) => {
                ready(Err(FetchError::Failed("Network connection lost.".into()))).boxed_local()
            }
            Some(fetch) => fetch(request, limits),
            None => {
                let response = self.0.network.respond(&request);
                async move {
                    turn().await;
                    response
                }
                .boxed_local()
            }
        };
        let late = self.sleep(limits.time);
        let bounded = async move {
            let fetched = in_time(answer, late).await?;
            if fetched.body.len() > limits.bytes { Err(FetchError::TooLarge) } else { Ok(fetched) }
        };
        bounded.boxed_local()
    }

    /// Answers as [`fetch`](Self::fetch) does, with the media type of JSON.
    fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let answer = Request::try_from(request).map(|request| self.fetch(request, FetchLimits::default()));
        let opened = async move {
            let Fetched { status, body, retry_after } = answer?.await?;
            let json = HeaderValue::from_static("application/json");
            let retry_after = retry_after.map(|time| (RETRY_AFTER, HeaderValue::from(time.as_secs())));
            Ok(Opened::new(status, retry_after.into_iter().chain([(CONTENT_TYPE, json)]).collect(), body))
        };
        opened.boxed_local()
    }

    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        let verify = self.0.verify.borrow().clone();
        if let Some(verify) = verify {
            return verify(key, message, signature);
        }
        let unset = || CannotCheck("set a check of signatures with TestHost::verify".into());
        ready(issuer::verify(&key, &message, &signature).ok_or_else(unset)).boxed_local()
    }

    fn sign(&self, key: PrivateKey, message: Vec<u8>) -> LocalBoxFuture<'static, Result<Vec<u8>, CannotSign>> {
        let sign = self.0.sign.borrow().clone();
        let unset = || Err(CannotSign("set a signature with TestHost::sign".into()));
        ready(sign.map_or_else(unset, |sign| sign(key, message))).boxed_local()
    }
}

impl fmt::Debug for TestHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestHost").field("log", &self.0.log).finish_non_exhaustive()
    }
}
