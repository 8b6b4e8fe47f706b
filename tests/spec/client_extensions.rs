//! The extensions that a client declares.

use std::time::Duration;

use edge_mcp::cache::CacheHint;
use edge_mcp::call::ClientSupport;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client};
use edge_mcp::{Context, Endpoint, McpServer, RequestInfo, Tool};
use serde_json::{Value, json};

const LEDGER: &str = "com.example/ledger";

fn shown(support: &ClientSupport) -> String {
    match support {
        ClientSupport::Yes(settings) => settings.get().to_owned(),
        ClientSupport::No => "no".to_owned(),
        ClientSupport::Unknown => "unknown".to_owned(),
    }
}

/// Builds a server whose instructions and tool say whether the client supports the extension.
fn server() -> Endpoint {
    testing::endpoint(|request: &RequestInfo| {
        let ask = |cx: Context| async move { shown(&cx.client_supports(LEDGER)) };
        let not_no = |request: &RequestInfo| !matches!(request.client_supports(LEDGER), ClientSupport::No);
        McpServer::builder("books", "1.0.0")
            .instructions(shown(&request.client_supports(LEDGER)))
            .tool(Tool::new("ask", "Says it.", ask))
            .tool(Tool::new("watch", "Watches.", || async { "watching" }).visible_if(not_no))
            .build()
    })
}

fn declaring(extensions: &Value) -> Value {
    json!({ "extensions": extensions })
}

/// E6, extension case 1: only an object declares an extension. More than 64 extensions declare none.
#[test]
fn only_an_object_of_settings_declares_an_extension() {
    let others = |count: usize| -> serde_json::Map<String, Value> {
        (0..count).map(|nth| (format!("com.example/x{nth}"), json!({}))).collect()
    };
    let with = |count: usize| {
        let mut extensions = others(count);
        extensions.insert(LEDGER.to_owned(), json!({}));
        declaring(&extensions.into())
    };
    let endpoint = server();
    for (capabilities, expected) in [
        (declaring(&json!({ LEDGER: { "currencies": ["EUR"] } })), r#"{"currencies":["EUR"]}"#),
        (declaring(&json!({ LEDGER: {} })), "{}"),
        (declaring(&json!({ LEDGER: null })), "no"),
        (declaring(&json!({ LEDGER: [] })), "no"),
        (declaring(&json!({ "com.example/other": {} })), "no"),
        (declaring(&json!([])), "no"),
        (declaring(&json!("x")), "no"),
        (json!({}), "no"),
        (with(63), "{}"),
        (with(10_000), "no"),
    ] {
        let client = Client::new(&endpoint).capabilities(capabilities.clone());
        let answer = testing::run(client.call("ask", json!({})));
        assert_eq!(answer.text(), expected, "{:.80}", capabilities.to_string());
    }
}

/// E7, E8: a legacy server without sessions does not know the extensions of a client. The handler, the server function and `visible_if` get
/// the same answer.
#[test]
fn the_support_of_legacy_clients_is_not_known() {
    let endpoint = server();
    for revision in Revision::ALL {
        for (extensions, known) in [(json!({ LEDGER: {} }), "{}"), (json!({}), "no")] {
            let client = Client::new(&endpoint).revision(revision).capabilities(declaring(&extensions));
            let expected = if revision == Revision::V2026_07_28 { known } else { "unknown" };
            testing::run(async {
                assert_eq!(client.call("ask", json!({})).await.text(), expected, "{revision}");
                let list = client.request("tools/list", json!({})).await;
                assert_eq!(list.names().len(), if expected == "no" { 1 } else { 2 }, "{revision}");
            });
        }
    }
}

/// E7: `initialize` has the capabilities of a legacy client, and `server/discover` those of a newer one.
#[test]
fn the_handshake_has_the_extensions_of_a_client() {
    let endpoint = server();
    for (extensions, expected) in [(json!({ LEDGER: { "a": 1 } }), r#"{"a":1}"#), (json!({}), "no")] {
        let capabilities = declaring(&extensions);
        let client = json!({ "name": "c", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
        let client = Client::new(&endpoint).revision(Revision::V2025_11_25);
        let answer = testing::run(client.request("initialize", params));
        assert_eq!(answer.result()["instructions"], expected);
        let answer =
            testing::run(Client::new(&endpoint).capabilities(capabilities).request("server/discover", json!({})));
        assert_eq!(answer.result()["instructions"], expected);
    }
}

/// E9, extension case 6: an answer that depends on the extensions of the client is private, and a list of one client is never sent to another.
#[test]
fn an_answer_that_depends_on_extensions_is_private() {
    let not_no = |request: &RequestInfo| !matches!(request.client_supports(LEDGER), ClientSupport::No);
    let watch = Tool::new("watch", "Watches.", || async { "watching" }).visible_if(not_no);
    let hint = CacheHint::private(Duration::from_mins(1));
    let server = McpServer::builder("books", "1.0.0")
        .tool(Tool::new("add", "Adds.", || async { "added" }))
        .tool(watch)
        .cache(hint)
        .build()
        .expect("a server");
    let endpoint = Endpoint::of(server).open_to_the_public();
    for _ in 0..2 {
        for (extensions, names) in [(json!({ LEDGER: {} }), vec!["add", "watch"]), (json!({}), vec!["add"])] {
            let client = Client::new(&endpoint).capabilities(declaring(&extensions));
            let list = testing::run(client.request("tools/list", json!({})));
            assert_eq!(list.names(), names);
            assert_eq!(list.result()["cacheScope"], "private");
        }
    }
}
