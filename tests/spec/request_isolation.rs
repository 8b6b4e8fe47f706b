//! Isolation of requests: no request affects another one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_mcp::host::Level;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, Endpoint, LogPolicy, McpServer, RequestInfo, StaticTokens, Tool};
use futures::future::join;
use serde_json::json;

use crate::support::{Ask, endpoint, legacy, modern};

const TOKENS: &str = r#"[
    {"token": "ada-token", "subject": "ada", "scopes": []},
    {"token": "bob-token", "subject": "bob", "scopes": []}
]"#;

/// Yields once, so that another request can run.
async fn yield_once() {
    let mut has_yielded = false;
    std::future::poll_fn(move |cx| {
        if std::mem::replace(&mut has_yielded, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

/// CVE-2026-25536: two callers send concurrent requests with the same id. Each gets its own response.
#[test]
fn concurrent_requests_with_one_id_get_their_own_responses() {
    let running = Rc::new(Cell::new(0));
    let together = Rc::new(Cell::new(0));
    let (counts, most) = (running.clone(), together.clone());
    let server = move |_: &RequestInfo| {
        let (running, together) = (counts.clone(), most.clone());
        let whoami = move |cx: Context| {
            let (running, together) = (running.clone(), together.clone());
            async move {
                running.set(running.get() + 1);
                for _ in 0..3 {
                    yield_once().await;
                    together.set(together.get().max(running.get()));
                }
                running.set(running.get() - 1);
                cx.caller().map(|caller| caller.subject.clone()).unwrap_or_default()
            }
        };
        McpServer::builder("s", "1").tool(Tool::new("whoami", "Returns the caller.", whoami)).build()
    };
    let endpoint = Endpoint::new(server).auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"));
    let host = TestHost::new();
    let ask = |token| modern("tools/call", json!({ "name": "whoami" })).bearer(token).send(&endpoint, &host);
    let (ada, bob) = testing::run(join(ask("ada-token"), ask("bob-token")));
    assert_eq!((ada.tool_text().0, bob.tool_text().0), ("ada", "bob"));
    assert_eq!(together.get(), 2, "both requests ran at the same time");
}

/// The server is built for each request from that request, and dropped after it.
#[test]
fn a_server_is_built_and_dropped_with_its_request() {
    let built = Rc::new(RefCell::new(Vec::new()));
    let alive = Rc::new(());
    let (log, token) = (built.clone(), alive.clone());
    let server = move |request: &RequestInfo| {
        let tenant = request.header("X-Tenant").unwrap_or_default();
        log.borrow_mut().push(tenant.clone());
        let token = token.clone();
        let name = format!("tool-of-{tenant}");
        let answer = move || std::future::ready(format!("{tenant} {}", Rc::strong_count(&token)));
        McpServer::builder("s", "1").tool(Tool::new(name, "One tenant's tool.", answer)).build()
    };
    let endpoint = testing::endpoint(server);
    for tenant in ["a", "b", "a"] {
        let list = modern("tools/list", json!({})).header("X-Tenant", tenant).ask_at(&endpoint);
        let tools = list.result()["tools"].as_array().expect("tools").clone();
        assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!(format!("tool-of-{tenant}"))));
    }
    assert_eq!(*built.borrow(), ["a", "b", "a"]);
    let foreign = modern("tools/call", json!({ "name": "tool-of-a" })).header("X-Tenant", "b").ask_at(&endpoint);
    assert_eq!(foreign.refusal(), (200, -32602), "one tenant's tool is unknown to another");
    assert_eq!(Rc::strong_count(&alive), 2, "only the test and the endpoint still hold the value");
}

/// Rule 20: the client of an earlier request is not remembered.
#[test]
fn earlier_requests_are_not_remembered() {
    let endpoint = endpoint();
    let params = json!({ "protocolVersion": "2025-11-25", "clientInfo": { "name": "me", "version": "1" } });
    legacy("initialize", params).ask_at(&endpoint);
    let answer = legacy("tools/call", json!({ "name": "client" })).ask_at(&endpoint);
    assert_eq!(answer.tool_text(), ("unnamed", false));
}

/// Rules 21 and 22: every instance of the server gives every client the same response.
#[test]
fn every_instance_gives_every_client_the_same_response() {
    let ask = |client: &str| {
        let mut meta = crate::support::envelope();
        meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": client, "version": "1" });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
        let ask = crate::support::post(message.to_string()).header("MCP-Protocol-Version", crate::support::NEWEST);
        ask.header("Mcp-Method", "tools/list").ask_at(&endpoint()).body
    };
    assert_eq!(ask("one"), ask("another"));
}

/// A handler can read the URL and the `_meta` members of its request.
#[test]
fn handlers_can_read_the_url_and_meta() {
    let endpoint = testing::endpoint(|_| {
        let describe = |cx: Context| async move {
            format!(
                "{} {:?} {:?}",
                cx.url(),
                cx.meta("example.com/tenant").map(|meta| meta["name"].clone()),
                cx.meta("none")
            )
        };
        McpServer::builder("s", "1").tool(Tool::new("describe", "d", describe)).build()
    });
    for (meta, text) in [
        (json!({ "example.com/tenant": { "name": "acme\n" } }), "Some(String(\"acme\\n\")) None"),
        (json!({ "example.com/tenant": 7 }), "Some(Null) None"),
        (json!({}), "None None"),
        (json!(null), "None None"),
    ] {
        let params = json!({ "name": "describe", "_meta": meta });
        let answer = legacy("tools/call", params).at("/mcp?a=b").ask_at(&endpoint);
        assert_eq!(answer.tool_text(), (&*format!("http://localhost/mcp?a=b {text}"), false));
    }
}

/// The server function can add extensions to a request, and handlers read them by type. Other requests do not have these extensions.
#[test]
fn handlers_can_read_extensions_of_their_request() {
    struct Tenant(String);
    let endpoint = testing::endpoint(|request| {
        let given = request.header("X-Tenant");
        if let Some(tenant) = given {
            request.extend(Tenant("replaced".into()));
            request.extend(Tenant(tenant));
        }
        let tenant = |cx: Context| async move {
            assert!(cx.extension::<u8>().is_none());
            cx.extension::<Tenant>().map_or("none".to_owned(), |tenant| tenant.0.clone())
        };
        McpServer::builder("s", "1").tool(Tool::new("tenant", "d", tenant)).build()
    });
    let ask = || legacy("tools/call", json!({ "name": "tenant" }));
    assert_eq!(ask().header("X-Tenant", "a").ask_at(&endpoint).tool_text(), ("a", false));
    assert_eq!(ask().ask_at(&endpoint).tool_text(), ("none", false));
}

/// The host provides the request id in the log. Headers of the client do not change it. The id is truncated to 128 bytes.
#[test]
fn the_request_id_is_from_the_host_and_bounded() {
    let logged = |ask: Ask| {
        let host = TestHost::new();
        let ask = ask
            .address("127.0.0.77")
            .header("CF-Ray", "chosen")
            .header("X-Request-Id", "chosen")
            .header("Request-Id", "chosen");
        assert_eq!(ask.ask_on(&endpoint().log(LogPolicy::All), &host).status, 200);
        assert!(!host.log_text().contains("chosen") && !host.log_text().contains("127.0.0.77"), "{}", host.log_text());
        host.log()[0].get("request_id").cloned()
    };
    let ping = || legacy("ping", json!({}));
    assert_eq!(logged(ping()), None);
    for (id, expected) in [
        ("8f3b-AMS".to_owned(), "8f3b-AMS".to_owned()),
        ("x".repeat(128), "x".repeat(128)),
        ("x".repeat(129), "x".repeat(128)),
        (format!("{}é", "x".repeat(127)), "x".repeat(127)),
    ] {
        assert_eq!(logged(ping().request_id(&id)), Some(json!(expected)));
    }
}

/// Each request has one log line with its method and target. The line does not contain arguments, tokens or the caller.
#[test]
fn each_request_has_one_log_line_without_private_data() {
    let endpoint =
        Endpoint::new(crate::support::server).auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"));
    let endpoint = endpoint.without_rate_limit().log(LogPolicy::All);
    let secret = "sesame";
    let host = TestHost::new();
    let call = json!({ "name": "say", "arguments": { "text": secret } });
    modern("tools/call", call).bearer("ada-token").request_id("8f3b-AMS").ask_on(&endpoint, &host);
    let read = json!({ "uri": format!("test://items/{secret}") });
    modern("resources/read", read).bearer("bob-token").ask_on(&endpoint, &host);
    modern("tools/list", json!({})).bearer(secret).ask_on(&endpoint, &host);
    let note = json!({ "jsonrpc": "2.0", "method": "x" }).to_string();
    for version in ["2025-11-25", "2026-07-28"] {
        let ask = crate::support::post(note.clone()).header("MCP-Protocol-Version", version);
        ask.bearer("bob-token").ask_on(&endpoint, &host);
    }
    let batch = json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]).to_string();
    crate::support::post(batch).bearer("bob-token").ask_on(&endpoint, &host);
    let expected = [
        json!({ "event": "request", "method": "tools/call", "target": "say", "era": "modern", "status": 200, "ms": 0, "id": "1", "request_id": "8f3b-AMS" }),
        json!({ "event": "request", "method": "resources/read", "target": "test", "era": "modern", "status": 200, "ms": 0, "id": "1" }),
        json!({ "event": "request", "status": 401, "error": -32600, "refused": "invalid: it is not on the list", "ms": 0 }),
        json!({ "event": "request", "era": "legacy", "status": 202, "ms": 0 }),
        json!({ "event": "request", "era": "modern", "status": 202, "ms": 0 }),
        json!({ "event": "request", "method": "batch", "era": "legacy", "status": 200, "ms": 0 }),
    ];
    assert_eq!(host.log(), expected);
    assert_eq!(host.log_levels(), [Level::Info; 6]);
    assert!(!host.log_text().contains(secret) && !host.log_text().contains("token"), "{}", host.log_text());
}
