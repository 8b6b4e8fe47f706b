//! What a server publishes, compared with a file. A difference is a change that clients see: look at it, and if it is meant, run the
//! test with `UPDATE_GOLDEN=1`.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::{Clock, Fetch, Host, Level, Log, NoRandomness, Offline, Randomness, Tasks, Timer};
use edge_mcp::http::Endpoint;
use edge_mcp::http::stream::Body;
use futures::executor::block_on;
use futures::future::LocalBoxFuture;
use serde_json::{Value, json};

/// A machine on which nobody waits and nothing goes on beside a request.
struct Still;

impl Clock for Still {
    fn now_ms(&self) -> u64 {
        0
    }
}

impl Timer for Still {
    fn sleep(&self, _: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Tasks for Still {
    fn spawn(&self, _: LocalBoxFuture<'static, ()>) {
        panic!("nobody asked for a stream");
    }
}

impl Randomness for Still {
    fn fill(&self, _: &mut [u8]) -> Result<(), NoRandomness> {
        Err(NoRandomness)
    }
}

impl Log for Still {
    fn write(&self, _: Level, _: &str) {}
}

/// The answer of an endpoint that asks nobody who they are.
pub(crate) fn ask(endpoint: &Endpoint, method: &str, params: &Value) -> Value {
    ask_over(Rc::new(Offline), endpoint, method, params)
}

/// The same, on a machine with this network.
pub(crate) fn ask_over(network: Rc<dyn Fetch>, endpoint: &Endpoint, method: &str, params: &Value) -> Value {
    let request = http::Request::post("http://localhost/mcp").header("Content-Type", "application/json");
    let (head, ()) = request.body(()).expect("a request").into_parts();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string().into_bytes();
    let still = Rc::new(Still);
    let host = Host {
        clock: still.clone(),
        timer: still.clone(),
        tasks: still.clone(),
        randomness: still.clone(),
        log: still,
        fetch: network,
        signatures: Rc::new(Offline),
    };
    match block_on(endpoint.handle(Rc::new(head), body, &host)).into_body() {
        Body::Bytes(bytes) => serde_json::from_slice(&bytes).expect("JSON"),
        Body::Stream(_) => panic!("nobody asked for a stream"),
    }
}

/// Compares the tools that `endpoint` lists with those in `file`.
pub(crate) fn compare_tools(endpoint: &Endpoint, file: &Path) {
    let tools = ask(endpoint, "tools/list", &json!({}))["result"]["tools"].take();
    let text = serde_json::to_string_pretty(&tools).expect("JSON") + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file, &text).expect("the file can be written");
    }
    let known = std::fs::read_to_string(file).expect("the file is there: UPDATE_GOLDEN=1 writes it");
    for (nth, (now, before)) in (1..).zip(text.lines().zip(known.lines())) {
        assert_eq!(now, before, "{}, line {nth}", file.display());
    }
    assert_eq!(text.lines().count(), known.lines().count(), "{}", file.display());
}
