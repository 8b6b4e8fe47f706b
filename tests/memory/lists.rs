//! The memory of a list of many servers behind a gateway.

use std::rc::Rc;
use std::time::Duration;

use edge_mcp::McpServer;
use edge_mcp::client::{Transport, Upstream};
use edge_mcp::gateway::{Gateway, Mount};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::http::Body;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use edge_mcp_test_support::modern;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::json;

use crate::MEMORY;

/// A server that answers each request with this text after 50 ms.
#[derive(Clone)]
struct Slow(Rc<str>);

impl Transport for Slow {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let id = serde_json::from_str::<serde_json::Value>(&request.body).expect("JSON")["id"].to_string();
        let (result, pause) = (self.0.clone(), host.sleep(Duration::from_millis(50)));
        drop(request);
        let answer = pause.map(move |()| {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
            Ok(Opened::new(200, headers, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)))
        });
        answer.boxed_local()
    }
}

/// Returns the result with 50 tools of the usual size.
fn tools() -> Rc<str> {
    let tool = |nth: usize| {
        let property = |name: &str| json!({ "type": "string", "description": format!("The {name} of the repository, as its URL shows it.") });
        json!({
            "name": format!("tool_{nth}"),
            "description": format!("Does the thing with the number {nth}. {}", "It also does something else. ".repeat(10)),
            "inputSchema": {
                "type": "object",
                "properties": { "owner": property("owner"), "name": property("name"), "branch": property("branch") },
                "required": ["owner", "name"],
            },
            "annotations": { "readOnlyHint": true },
        })
    };
    let tools: Vec<_> = (0..50).map(tool).collect();
    json!({ "tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private" }).to_string().into()
}

/// The peak memory of a list of 1000 tools of 20 servers is at most 4 times the bytes of their lists.
pub fn the_lists_of_many_servers_take_bounded_memory() {
    let lists = tools();
    let bytes = 20 * lists.len();
    let gateway = (0..20).fold(Gateway::builder("edge", "1.0.0"), |gateway, nth| {
        let upstream = Upstream::via("https://m.example/mcp", Slow(lists.clone())).expect("a URL");
        gateway.mount(format!("m{nth}"), Mount::new(upstream.revision(Revision::V2026_07_28)))
    });
    let gateway = gateway.build().expect("a gateway");
    let endpoint = testing::endpoint(move |_| McpServer::builder("edge", "1.0.0").gateway(&gateway).build());
    let measure = || {
        let test_host = TestHost::new();
        let (ask, host): (_, Rc<dyn Host>) = (modern("tools/list", json!({})), Rc::new(test_host.clone()));
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let answer = testing::run(test_host.run(ask.raw(&endpoint, &host))).expect("an answer");
        let peak = MEMORY.peak_usage().saturating_sub(before);
        let Body::Bytes(answer) = answer.into_body() else { panic!("a stream") };
        let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
        assert_eq!(answer["result"]["tools"].as_array().map(Vec::len), Some(1000));
        peak
    };
    measure();
    let peak = measure();
    println!("a list of 1000 tools: {peak} bytes for lists of {bytes} bytes");
    assert!(peak <= 4 * bytes, "{peak} bytes for lists of {bytes} bytes");
}
