//! What a server publishes, compared with a file. A difference is a change that clients see: look at it, and if it is meant, run the
//! test with `UPDATE_GOLDEN=1`.

use std::path::Path;

use edge_mcp::Endpoint;
use edge_mcp::testing::{TestHost, call};
use serde_json::{Value, json};

/// A host on which each wait is over at once.
pub(crate) fn still() -> TestHost {
    TestHost::new().clock(|| 0).timer(|_| std::future::ready(()))
}

/// The answer of an endpoint that asks nobody who they are.
pub(crate) fn ask(endpoint: &Endpoint, method: &str, params: &Value) -> Value {
    ask_with(endpoint, &[], method, params)
}

/// The answer to a request with these headers.
pub(crate) fn ask_with(endpoint: &Endpoint, headers: &[(&str, &str)], method: &str, params: &Value) -> Value {
    ask_over(&still(), endpoint, headers, method, params)
}

/// The same, on this host.
pub(crate) fn ask_over(
    host: &TestHost,
    endpoint: &Endpoint,
    headers: &[(&str, &str)],
    method: &str,
    params: &Value,
) -> Value {
    let request = http::Request::post("http://localhost/mcp").header("Content-Type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let answer = call(endpoint, request.body(body).expect("a request"), host).expect("an answer");
    serde_json::from_slice(answer.body()).expect("JSON")
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
