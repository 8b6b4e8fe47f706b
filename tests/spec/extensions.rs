//! Extensions of the protocol with methods of their own.

use std::time::Duration;

use edge_mcp::auth::StateKeys;
use edge_mcp::cache::CacheHint;
use edge_mcp::extension::{Extension, ExtensionMethod, ExtensionResult};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Answer, Client, TestHost};
use edge_mcp::{
    Context, Endpoint, FormAnswer, HandlerError, Json, McpServer, McpServerBuilder, RequestInfo, StaticTokens,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const LEDGER: &str = "com.example/ledger";

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetEntry {
    #[schemars(range(max = 99))]
    entry_id: u32,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    euros: u32,
}

async fn get_entry(GetEntry { entry_id }: GetEntry) -> Result<Json<Entry>, HandlerError> {
    if entry_id == 13 {
        return Err(HandlerError::new("Entry 13 is locked. Ask for another one."));
    }
    Ok(Json(Entry { euros: entry_id * 2 }))
}

fn get() -> ExtensionMethod {
    ExtensionMethod::new("ledger/get", get_entry)
}

fn builder() -> McpServerBuilder {
    McpServer::builder("books", "1.0.0")
}

fn served(method: impl Fn() -> ExtensionMethod + 'static) -> Endpoint {
    testing::endpoint(move |_| {
        builder().serve(Extension::new(LEDGER, json!({ "currencies": ["EUR"] })).method(method())).build()
    })
}

fn call(client: &Client<'_>, method: &str, params: Value) -> Answer {
    testing::run(client.request(method, params))
}

fn declaring() -> Value {
    json!({ "extensions": { LEDGER: {} } })
}

fn code(answer: &Answer) -> Option<i64> {
    answer.error().map(|(code, _)| code)
}

fn problem(build: McpServerBuilder) -> String {
    build.build().err().map(|error| error.to_string()).unwrap_or_default()
}

/// E11, E13, E14, E16: a method in all revisions. Its parameters are checked. Only 2026-07-28 has result types, and no result has a cache
/// hint of its own.
#[test]
fn a_method_is_served_in_all_revisions() {
    let endpoint = served(get);
    for revision in Revision::ALL {
        let client = Client::new(&endpoint).revision(revision);
        let is_modern = revision == Revision::V2026_07_28;
        let answer = call(&client, "ledger/get", json!({ "entryId": 7 }));
        assert_eq!((&answer.result()["euros"], answer.status()), (&json!(14), 200), "{revision}");
        let result_type = if is_modern { json!("complete") } else { Value::Null };
        assert_eq!(
            (&answer.result()["resultType"], &answer.result()["ttlMs"]),
            (&result_type, &Value::Null),
            "{revision}"
        );
        for params in
            [json!({ "entryId": "x" }), json!({ "entryId": 100 }), json!({}), json!({ "entryId": 1, "other": 1 })]
        {
            let answer = call(&client, "ledger/get", params.clone());
            assert_eq!((code(&answer), answer.status()), (Some(-32602), 200), "{revision} {params}");
        }
        let failed = call(&client, "ledger/get", json!({ "entryId": 13 }));
        assert_eq!(failed.error(), Some((-32603, "Entry 13 is locked. Ask for another one.")), "{revision}");
        let unknown = call(&client, "ledger/put", json!({}));
        assert_eq!((code(&unknown), unknown.status()), (Some(-32601), if is_modern { 404 } else { 200 }), "{revision}");
    }
}

/// E4: the settings are declared in both eras, for all clients.
#[test]
fn an_extension_is_declared() {
    let endpoint = served(get);
    for (revision, method) in [(Revision::V2026_07_28, "server/discover"), (Revision::V2025_03_26, "initialize")] {
        let client = json!({ "name": "c", "version": "1" });
        let params = json!({ "protocolVersion": revision.name(), "capabilities": {}, "clientInfo": client });
        let answer = call(&Client::new(&endpoint).revision(revision), method, params);
        assert_eq!(
            answer.result()["capabilities"]["extensions"],
            json!({ LEDGER: { "currencies": ["EUR"] } }),
            "{method}"
        );
    }
}

/// E10: a method that needs the extension names it. Older revisions have no error code for that.
#[test]
fn a_method_can_require_the_extension() {
    let endpoint = served(|| get().requires_client());
    let params = || json!({ "entryId": 7 });
    for revision in Revision::ALL {
        let is_modern = revision == Revision::V2026_07_28;
        let without = call(&Client::new(&endpoint).revision(revision), "ledger/get", params());
        let client = Client::new(&endpoint).revision(revision).capabilities(declaring());
        let with = call(&client, "ledger/get", params());
        if is_modern {
            assert_eq!((code(&without), without.status()), (Some(-32021), 400));
            let data = json!({ "requiredCapabilities": { "extensions": { LEDGER: {} } } });
            assert_eq!(without.json()["error"]["data"], data);
            assert_eq!(with.result()["euros"], 14);
        } else {
            for answer in [without, with] {
                let expected = "The method ledger/get needs a client of 2026-07-28 that declares the extension com.example/ledger.";
                assert_eq!((answer.error(), answer.status()), (Some((-32601, expected)), 200), "{revision}");
            }
        }
    }
}

/// Extension case 5: in a batch, a method that needs the extension fails alone.
#[test]
fn a_batch_has_methods_of_extensions() {
    let endpoint = testing::endpoint(|_| {
        let ledger = Extension::new(LEDGER, json!({}));
        let strict = ExtensionMethod::new("ledger/strict", get_entry).requires_client();
        builder().serve(ledger.method(get()).method(strict)).build()
    });
    let message =
        |id: u32, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "entryId": 7 } });
    let batch = json!([message(1, "ledger/strict"), message(2, "ledger/get")]);
    let request = http::Request::post("http://localhost/mcp")
        .extension(std::net::IpAddr::from([127, 0, 0, 1]))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-03-26")
        .body(std::cell::Cell::new(batch.to_string().into_bytes()))
        .expect("a request");
    let answer = testing::run(Client::new(&endpoint).send(request));
    let codes: Vec<_> = (0..2).map(|nth| answer.json()[nth]["error"]["code"].clone()).collect();
    assert_eq!((answer.status(), codes), (200, vec![json!(-32601), Value::Null]));
    assert_eq!(answer.json()[1]["result"]["euros"], 14);
}

/// E12, extension case 4: the header `Mcp-Name` repeats the target, if the method has one. Without a target it is ignored.
#[test]
fn the_name_header_repeats_the_target() {
    let target = served(|| {
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        struct Named {
            #[allow(dead_code)]
            entry_name: String,
        }
        ExtensionMethod::new("ledger/find", |_: Named| async {}).target("entryName")
    });
    let without = served(get);
    for (headers, expected) in [
        (vec![], Some(-32020)),
        (vec!["ledger-7"], None),
        (vec!["other"], Some(-32020)),
        (vec!["=?base64?bGVkZ2VyLTc=?="], None),
        (vec!["=?base64?b3RoZXI=?="], Some(-32020)),
        (vec!["=?base64?!?="], Some(-32020)),
        (vec!["ledger-7", "ledger-7"], Some(-32020)),
    ] {
        let client =
            |endpoint| headers.iter().fold(Client::new(endpoint), |client, value| client.header("Mcp-Name", *value));
        let answer = call(&client(&target), "ledger/find", json!({ "entryName": "ledger-7" }));
        assert_eq!(
            (code(&answer), answer.status()),
            (expected, if expected.is_some() { 400 } else { 200 }),
            "{headers:?}"
        );
        assert_eq!(code(&call(&client(&without), "ledger/get", json!({ "entryId": 7 }))), None, "{headers:?}");
        let legacy = client(&target).revision(Revision::V2025_11_25);
        let expected = expected.filter(|_| !headers.is_empty());
        assert_eq!(code(&call(&legacy, "ledger/find", json!({ "entryName": "ledger-7" }))), expected, "{headers:?}");
    }
}

/// E13: another result type is sent only if the method declares it, and never to a client that does not know the extension.
#[test]
fn result_types_are_declared_and_known() {
    async fn watch() -> Result<ExtensionResult, HandlerError> {
        let result = ExtensionResult::new(&json!({ "id": 7 }))?.result_type("watch");
        Ok(result.meta("example.com/cost", 3))
    }
    let declared = served(|| ExtensionMethod::new("ledger/watch", watch).result_type("watch"));
    let undeclared = served(|| ExtensionMethod::new("ledger/watch", watch));
    for revision in Revision::ALL {
        let is_modern = revision == Revision::V2026_07_28;
        let client = |endpoint| Client::new(endpoint).revision(revision).capabilities(declaring());
        let answer = call(&client(&declared), "ledger/watch", json!({}));
        if is_modern {
            let (result_type, id) = (&answer.result()["resultType"], &answer.result()["id"]);
            assert_eq!((result_type, id), (&json!("watch"), &json!(7)));
            assert_eq!(answer.result()["_meta"]["example.com/cost"], 3);
        } else {
            // Results have no type, and the extensions of the client are not known.
            assert_eq!(code(&answer), Some(-32603), "{revision}");
        }
        let host = TestHost::new();
        let answer = call(&client(&undeclared).host(&host), "ledger/watch", json!({}));
        assert_eq!(code(&answer), Some(-32603), "{revision}");
        assert!(host.log_text().contains("the method does not declare"), "{}", host.log_text());
    }
    let host = TestHost::new();
    let answer = call(&Client::new(&declared).host(&host), "ledger/watch", json!({}));
    assert_eq!((code(&answer), host.log_text().contains("the client does not know")), (Some(-32603), true));
}

/// E14: a cache hint is sent to modern clients. It is private if the result depends on the caller.
#[test]
fn a_result_can_have_a_cache_hint() {
    async fn rate() -> Result<ExtensionResult, HandlerError> {
        Ok(ExtensionResult::new(&json!({ "rate": 2 }))?.cache(CacheHint::public(Duration::from_mins(1))))
    }
    let public = served(|| ExtensionMethod::new("ledger/rate", rate));
    let private = served(|| ExtensionMethod::new("ledger/rate", rate).visible_if(|_| true));
    for revision in Revision::ALL {
        let is_modern = revision == Revision::V2026_07_28;
        for (endpoint, scope) in [(&public, "public"), (&private, "private")] {
            let answer = call(&Client::new(endpoint).revision(revision), "ledger/rate", json!({}));
            let expected = if is_modern { (json!(60_000), json!(scope)) } else { (Value::Null, Value::Null) };
            assert_eq!(
                (answer.result()["ttlMs"].clone(), answer.result()["cacheScope"].clone()),
                expected,
                "{revision}"
            );
        }
    }
}

/// E15: only a method that says so may ask the client or send notifications.
#[test]
fn methods_can_ask_and_notify() {
    #[derive(Deserialize, JsonSchema)]
    struct Name {
        name: String,
    }
    async fn ask(cx: Context) -> Result<Json<Value>, HandlerError> {
        cx.progress(1.0, None, "asking");
        Ok(Json(match cx.elicit::<Name>("name", "Which name?").await? {
            FormAnswer::Accepted(Name { name }) => json!({ "name": name }),
            _ => json!({}),
        }))
    }
    for asks in [true, false] {
        let method = move || {
            let method = ExtensionMethod::new("ledger/ask", ask);
            if asks { method.asks().notifies() } else { method }
        };
        let keys = StateKeys::from_text("K", Some("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")).expect("keys");
        let endpoint = served(method).state_keys(keys);
        let client = Client::new(&endpoint).answer("name", json!({ "name": "Ada" })).meta("progressToken", json!("p"));
        let answer = call(&client, "ledger/ask", json!({}));
        if asks {
            assert_eq!((&answer.result()["name"], answer.notifications().len()), (&json!("Ada"), 1), "{answer:?}");
        } else {
            assert_eq!((code(&answer), answer.notifications().len()), (Some(-32603), 0), "{answer:?}");
        }
    }
}

/// E16: scopes, visibility, the first revision and the deadline hold as for tools. A hidden method is unknown.
#[test]
fn access_rules_hold_for_methods() {
    let tokens = r#"[{"token": "ada", "subject": "ada", "scopes": ["ledger:read"]}, {"token": "bob", "subject": "bob", "scopes": []}]"#;
    let scoped =
        served(|| get().scopes(["ledger:read"])).auth(StaticTokens::from_json("T", Some(tokens)).expect("tokens"));
    for (token, status) in [("ada", 200), ("bob", 403)] {
        let client = Client::new(&scoped).token(token);
        assert_eq!(call(&client, "ledger/get", json!({ "entryId": 7 })).status(), status, "{token}");
    }
    let hidden = served(|| get().visible_if(|request: &RequestInfo| request.header("x-shown").is_some()));
    let answer = call(&Client::new(&hidden), "ledger/get", json!({ "entryId": 7 }));
    let unknown = call(&Client::new(&hidden), "ledger/got", json!({ "entryId": 7 }));
    assert_eq!((answer.status(), code(&answer), unknown.status()), (404, code(&unknown), 404));
    assert_eq!(call(&Client::new(&hidden).header("X-Shown", "1"), "ledger/get", json!({ "entryId": 7 })).status(), 200);
    let newest = served(|| get().since(Revision::V2025_06_18));
    for revision in Revision::ALL {
        let answer = call(&Client::new(&newest).revision(revision), "ledger/get", json!({ "entryId": 7 }));
        assert_eq!(code(&answer).is_none(), revision >= Revision::V2025_06_18, "{revision}");
    }
    let slow =
        served(|| ExtensionMethod::new("ledger/slow", std::future::pending::<()>).deadline(Duration::from_secs(5)));
    let answer = call(&Client::new(&slow), "ledger/slow", json!({}));
    assert!(answer.error().is_some_and(|(code, text)| code == -32603 && text.contains("within 5 s")), "{answer:?}");
}

/// E1, E2, E11, extension case 3: identifiers and methods that the protocol does not allow are refused.
#[test]
fn invalid_extensions_are_refused() {
    for id in [
        "ledger",
        "/ledger",
        "com.example/",
        "com..example/x",
        "1com/x",
        "com.-a/x",
        "com.example/-x",
        "com.example/x.",
        "com.example/a b",
        "com.exämple/x",
        "",
    ] {
        let words = "must have a prefix and a name";
        assert!(problem(builder().serve(Extension::new(id, json!({})))).contains(words), "{id}");
        assert!(problem(builder().extension(id, json!({}))).contains(words), "{id}");
    }
    for id in ["com.example/x", "com.example/a_b.c-d", "example/x", "a-b.c1/x"] {
        assert_eq!(problem(builder().serve(Extension::new(id, json!({})))), "", "{id}");
    }
    for id in ["io.modelcontextprotocol/x", "dev.mcp/x", "com.MCP.tools/x"] {
        assert!(problem(builder().serve(Extension::new(id, json!({})))).contains("reserved"), "{id}");
        assert_eq!(problem(builder().extension(id, json!({}))), "", "{id} may be declared");
    }
    assert!(problem(builder().serve(Extension::new(LEDGER, json!([])))).contains("object of settings"));
    let method = |name: String| {
        problem(builder().serve(Extension::new(LEDGER, json!({})).method(ExtensionMethod::new(name, get_entry))))
    };
    for name in [
        "tools/call",
        "server/discover",
        "resources/subscribe",
        "tasks/get",
        "tasks/update",
        "tasks/new",
        "notifications/x",
        "rpc./x",
        "skills/list",
        "skills/new",
        "resources/directory/read",
    ] {
        assert!(method(name.to_owned()).contains("is a method of the protocol"), "{name}");
    }
    for name in ["ledger", "a b/c", "a/\n", "ä/b", "", &format!("a/{}", "x".repeat(127))] {
        assert!(method(name.to_owned()).contains("visible ASCII"), "{name:?}");
    }
    assert_eq!(method(format!("a/{}", "x".repeat(126))), "");
    let twice = Extension::new(LEDGER, json!({})).method(get()).method(get());
    assert!(problem(builder().serve(twice)).contains("`ledger/get`, which is added twice"));
    let other = |id: &'static str| Extension::new(id, json!({})).method(get());
    assert!(problem(builder().serve(other(LEDGER)).serve(other("com.example/two"))).contains("which is added twice"));
    let endpoint = served(get);
    for name in ["tools/cal", "notifications/x", "a b"] {
        let answer = call(&Client::new(&endpoint).header("Mcp-Name", "x"), name, json!({}));
        assert!(answer.error().is_some() && answer.status() >= 400, "{name:?}: {answer:?}");
    }
}
