//! The hostile behavior of servers that other tests of this folder do not have, beside a server that works.

use std::time::Duration;

use edge_mcp::gateway::Catalogue;
use edge_mcp::testing::{self, TestHost};
use serde_json::{Value, json};

use crate::peer::{Answer, End};
use crate::servers::{Server, call, caller, complete, endpoint, names, tool};

/// C56, C93: each hostile answer to a list is bounded, and the server beside it is not affected.
#[test]
fn hostile_lists_are_bounded() {
    let page = |tools: Value, cursor: Value| complete(json!({ "tools": tools, "nextCursor": cursor }));
    let many: Vec<_> = (0..3000).map(|nth| tool(&format!("t{nth}"))).collect();
    let counter = std::cell::Cell::new(0);
    let servers: Vec<(&str, Server)> = vec![
        ("the same cursor", Server::new(move |_| page(json!([tool("a")]), json!("c")))),
        (
            "a cursor for ever",
            Server::new(move |_| {
                counter.set(counter.get() + 1);
                page(json!([tool(&format!("t{}", counter.get()))]), json!(counter.get().to_string()))
            }),
        ),
        ("many tools", Server::with(json!({ "tools": many }))),
        ("one tool many times", Server::with(json!({ "tools": vec![tool("a"); 900] }))),
        (
            "a long description",
            Server::with(json!({ "tools": [{ "name": "a", "inputSchema": {}, "description": "x".repeat(60_000) }] })),
        ),
        ("deep schemas", Server::with(json!({ "tools": [{ "name": "a", "inputSchema": nested(90) }] }))),
        (
            "references",
            Server::with(json!({ "tools": [{ "name": "a", "inputSchema": { "$ref": "http://localhost/mcp" } }] })),
        ),
        ("comments for ever", Server::new(|_| Answer::new(200, "text/event-stream", ": x\n\n").end(End::Endless))),
        ("1 byte a second", Server::tools(["a"]).slow(Duration::from_secs(6))),
        (
            "a question",
            Server::new(|_| crate::questions::asks(json!({ "q": crate::questions::form("?", json!({})) }), json!("s"))),
        ),
    ];
    for (label, server) in servers {
        let (endpoint, host) =
            (endpoint([("bad", server.mount()), ("well", Server::tools(["t"]).mount())]), TestHost::new());
        let answer = testing::run(caller(&endpoint, &host).list("tools"));
        assert!(answer.names().contains(&"well_t"), "{label}: {answer:?}");
        assert!(answer.names().len() <= 1001, "{label}");
        assert!(host.waits().iter().sum::<Duration>() <= Duration::from_secs(8), "{label}: {:?}", host.waits());
        assert!(server.take().len() <= 40, "{label}");
        assert_eq!(call(&endpoint, "well_t", json!({})).text(), "t {}");
    }
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |schema, _| json!({ "not": schema }))
}

/// The hostile case 61: a tool that appears only for calls, or that only some lists have, is called as the list of the call says.
#[test]
fn a_list_that_changes_between_two_requests_does_no_harm() {
    let long = "delete-".repeat(10);
    let count = std::cell::Cell::new(0);
    let tools = [json!([tool(&long)]), json!([tool("other")]), json!("no list")];
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/list") => {
            count.set(count.get() + 1);
            complete(json!({ "tools": tools[(count.get() - 1).min(2)] }))
        }
        _ => crate::servers::answer_of(&json!({}), message),
    });
    let endpoint = endpoint([("m", server.mount())]);
    let shown = names(&endpoint).pop().expect("a name");
    for _ in 0..2 {
        let answer = call(&endpoint, &shown, json!({}));
        assert!(answer.is_error(), "{answer:?}");
    }
    assert!(server.methods().iter().all(|method| method == "tools/list"));
}

/// The hostile case 64: a server that sends a text like a token does not get it into the log.
#[test]
fn texts_of_a_server_do_not_reach_the_log() {
    let secret = "Bearer SECRET-4711";
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/list") => complete(
            json!({ "tools": [{ "name": secret, "description": secret, "inputSchema": { "title": secret } }] }),
        ),
        _ => complete(json!({ "content": [{ "type": "text", "text": secret }], "isError": true })),
    });
    let (endpoint, host) = (endpoint([("m", server.mount().catalogue(Catalogue::Search))]), TestHost::new());
    testing::run(async {
        let client = caller(&endpoint, &host);
        client.list("tools").await;
        client.call("m_t", json!({ "a": "ARGUMENT-4711" })).await;
        client.call("find-tools", json!({ "query": "QUERY-4711" })).await;
        client.call("call-tool", json!({ "name": "m_t", "arguments": { "a": "ARGUMENT-4711" } })).await;
    });
    let log = host.log_text();
    assert!(!log.contains("4711") && !log.contains(crate::servers::TOKEN), "{log}");
}
