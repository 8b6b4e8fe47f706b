//! Extensions of the protocol: their declaration to a server, and requests with their methods.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::call::ClientSupport;
use edge_mcp::client::{ClientError, Executed, Failure, InProcess, Request, Upstream};
use edge_mcp::extension::{Extension, ExtensionMethod, ExtensionResult};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, Json, McpServer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::calls::{at, client, context};
use crate::peer::{Answer, End, Peer, json_answer, result};

const LEDGER: &str = "com.example/ledger";

fn pinned(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2026_07_28)
}

/// Sends a request, and returns the text of its result.
fn ask(upstream: Upstream, set: impl FnOnce(Request) -> Request) -> Result<String, ClientError> {
    ask_with(upstream, "ledger/get", json!({ "entryId": "rent" }), set)
}

fn ask_with(
    upstream: Upstream,
    method: &'static str,
    params: Value,
    set: impl FnOnce(Request) -> Request,
) -> Result<String, ClientError> {
    let host = TestHost::new();
    let peer = client(upstream).connect(&context(&host)).server("parcels").expect("a server");
    let request = set(peer.request(method, params));
    let work = async move { request.await.map(|result| format!("{} {}", result.result_type(), result.raw())) };
    testing::run(host.run(work)).expect("the request ends")
}

fn body(peer: &Peer, nth: usize) -> Value {
    serde_json::from_str(peer.requests()[nth].body()).expect("a message")
}

fn done(members: Value) -> Answer {
    let mut members = members;
    members["resultType"] = json!("complete");
    result(members)
}

/// E18, A27: a modern server gets the declared extensions with each request, and a legacy server in `initialize`. Without a declaration, there
/// is none.
#[test]
fn only_declared_extensions_are_declared() {
    let declared = |message: &Value| {
        let params = &message["params"];
        match &params["_meta"]["io.modelcontextprotocol/clientCapabilities"] {
            Value::Null => params["capabilities"]["extensions"].clone(),
            modern => modern["extensions"].clone(),
        }
    };
    let settings = json!({ "currencies": ["EUR"] });
    for is_declared in [true, false] {
        let with = |upstream: Upstream| {
            if !is_declared {
                return upstream;
            }
            let twice = upstream.extension(LEDGER, json!({})).expect("an identifier");
            twice.extension(LEDGER, settings.clone()).expect("an identifier")
        };
        let expected = if is_declared { json!({ LEDGER: settings }) } else { Value::Null };
        let peer = Peer::new([done(json!({ "capabilities": {} })), done(json!({})), done(json!({}))]);
        ask(with(at(&peer)), |it| it).expect("a result");
        assert_eq!(peer.methods(), ["server/discover", "ledger/get"]);
        assert_eq!((declared(&body(&peer, 0)), declared(&body(&peer, 1))), (expected.clone(), expected.clone()));
        for revision in ["2025-11-25", "2024-11-05"] {
            let initialized = result(json!({ "protocolVersion": revision, "capabilities": {}, "serverInfo": {} }));
            let peer = Peer::new([initialized, Answer::new(202, "", ""), result(json!({}))]);
            ask(with(at(&peer).revision(Revision::named(revision).expect("a revision"))), |it| it).expect("a result");
            assert_eq!(peer.methods(), ["initialize", "notifications/initialized", "ledger/get"]);
            assert_eq!((declared(&body(&peer, 0)), declared(&body(&peer, 2))), (expected.clone(), Value::Null));
        }
    }
}

/// E1: the identifier has a prefix and a name, and the settings are an object.
#[test]
fn an_invalid_declaration_is_rejected() {
    let upstream = || Upstream::at("https://parcels.example/mcp").expect("a URL");
    for (id, settings) in [
        ("ledger", json!({})),
        ("com..example/ledger", json!({})),
        ("com.example/", json!({})),
        ("com.example/a b", json!({})),
        (LEDGER, json!([])),
        (LEDGER, Value::Null),
    ] {
        let error = upstream().extension(id, settings).expect_err("an error").to_string();
        assert!(error.starts_with("an extension for an MCP server must have") && error.contains(id), "{error}");
    }
    assert!(upstream().extension("io.modelcontextprotocol/ui", json!({})).is_ok());
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Get {
    entry_id: String,
}

#[derive(Serialize)]
struct Entry {
    euros: u32,
}

fn ledger() -> Endpoint {
    testing::endpoint(|_| {
        let get = async |Get { entry_id }: Get| match entry_id.as_str() {
            "rent" => Ok(Json(Entry { euros: 900 })),
            _ => Err(HandlerError::not_found("There is no such entry.")),
        };
        let watch = async |_: Get, cx: Context| {
            let is_known = matches!(cx.client_supports(LEDGER), ClientSupport::Yes(_));
            Ok::<_, HandlerError>(ExtensionResult::new(&json!({ "isKnown": is_known }))?.result_type("watch"))
        };
        let ledger = Extension::new(LEDGER, json!({}))
            .method(ExtensionMethod::new("ledger/get", get).target("entryId"))
            .method(ExtensionMethod::new("ledger/watch", watch).requires_client().result_type("watch"));
        McpServer::builder("books", "1.0.0").serve(ledger).build()
    })
}

fn books() -> Upstream {
    Upstream::via("http://localhost/mcp", InProcess::new(ledger())).expect("a URL")
}

/// E12, E18: a method of an extension is called in each revision. In 2026-07-28, the program names the value of `Mcp-Name`.
#[test]
fn a_method_is_called_in_each_revision() {
    for revision in Revision::ALL {
        let answer = ask(books().revision(revision), |it| it.target("rent")).expect("a result");
        assert!(answer.starts_with("complete {") && answer.contains("\"euros\":900"), "{revision}: {answer}");
        let error = ask_with(books().revision(revision), "ledger/get", json!({ "entryId": "x" }), |it| it.target("x"));
        assert!(matches!(error.expect_err("an error").failure(), Failure::Rpc { .. }), "{revision}");
    }
    let error = ask(books(), |it| it).expect_err("no header");
    assert_eq!((error.failure(), error.executed()), (&Failure::HeaderMismatch, Executed::No));
    let error = ask_with(books(), "ledger/put", json!({}), |it| it).expect_err("no such method");
    assert!(matches!(error.failure(), Failure::Rpc { code: -32_601, .. }), "{error}");
    assert_eq!(error.executed(), Executed::No);
}

/// E10: the error of a server that requires the extension names it. Identifiers that are not valid are not shown.
#[test]
fn a_required_extension_is_named() {
    let watch = |upstream: Upstream| {
        ask_with(upstream, "ledger/watch", json!({ "entryId": "rent" }), |it| it.result_type("watch"))
    };
    let error = watch(books()).expect_err("an undeclared extension");
    assert_eq!(*error.failure(), Failure::ExtensionRequired { extensions: vec![LEDGER.into()] });
    let expected = "The server `parcels` requires the extension `com.example/ledger` of the protocol, which this program does not declare.";
    assert!(error.to_string().starts_with(expected), "{error}");
    let declared = watch(books().extension(LEDGER, json!({})).expect("an identifier")).expect("a result");
    assert!(declared.starts_with("watch {") && declared.contains("\"isKnown\":true"), "{declared}");

    let many: serde_json::Map<_, _> = (0..1000).map(|nth| (format!("com.example/x{nth}"), json!({}))).collect();
    for (required, expected) in [
        (json!({ "extensions": { "a b": {}, "x": {}, "com.example/x\u{202e}": {} } }), 0),
        (json!({ "extensions": [LEDGER] }), 0),
        (json!({ "elicitation": {} }), 0),
        (json!({ "extensions": many }), 8),
    ] {
        let error = json!({ "code": -32_021, "message": "no", "data": { "requiredCapabilities": required } });
        let answer = json_answer(400, json!({ "jsonrpc": "2.0", "id": "$id", "error": error }));
        let error = ask(pinned(&Peer::new([answer])), |it| it).expect_err("an error");
        match error.failure() {
            Failure::CapabilityRequired => assert_eq!(expected, 0),
            Failure::ExtensionRequired { extensions } => assert_eq!(extensions.len(), expected),
            other => panic!("{other:?}"),
        }
    }
}

/// E13, E18: a result of another type than `complete` is an error, unless the program names the type. A legacy server cannot send one by mistake.
#[test]
fn the_type_of_a_result_is_checked() {
    let watching = || result(json!({ "resultType": "watch", "euros": 7 }));
    let legacy = || {
        let initialized = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} });
        Peer::new([result(initialized), Answer::new(202, "", ""), watching()])
    };
    let malformed = Failure::Malformed("has an unknown `resultType`");
    for is_legacy in [false, true] {
        let upstream = || {
            if is_legacy { at(&legacy()).revision(Revision::V2025_11_25) } else { pinned(&Peer::new([watching()])) }
        };
        assert_eq!(*ask(upstream(), |it| it).expect_err("an error").failure(), malformed);
        assert_eq!(*ask(upstream(), |it| it.result_type("done")).expect_err("an error").failure(), malformed);
        assert!(ask(upstream(), |it| it.result_type("watch")).expect("a result").starts_with("watch {"));
    }
    for answer in [result(json!([1])), result(json!("x")), result(Value::Null)] {
        let error = ask(pinned(&Peer::new([answer])), |it| it).expect_err("no object");
        assert!(matches!(error.failure(), Failure::Malformed(_)), "{error}");
    }
}

/// C37, C52, C53: a request of an extension may have effects. It is never the first one to a server, and it is not sent again after a failure,
/// unless the program says that it is idempotent.
#[test]
fn only_idempotent_requests_are_repeated() {
    let lost = || Answer::new(200, "", "").end(End::NoHead);
    let peer = Peer::new([lost(), done(json!({}))]);
    let error = ask(pinned(&peer), |it| it).expect_err("an outage");
    assert_eq!((error.executed(), peer.methods().len()), (Executed::Unknown, 1));
    assert!(error.to_string().contains("It is not known whether the call was executed."), "{error}");
    let peer = Peer::new([lost(), done(json!({}))]);
    ask(pinned(&peer), Request::idempotent).expect("a result");
    assert_eq!(peer.methods(), ["ledger/get", "ledger/get"]);
    // Also an idempotent request is not a probe.
    let peer = Peer::new([done(json!({ "capabilities": {} })), done(json!({}))]);
    ask(at(&peer), Request::idempotent).expect("a result");
    assert_eq!(peer.methods(), ["server/discover", "ledger/get"]);
}

/// The client has its own functions for the methods of the protocol, which know their headers and their results.
#[test]
fn other_methods_are_not_sent() {
    let peer = Peer::new([]);
    for method in [
        "tools/call",
        "tasks/get",
        "tasks/cancel",
        "initialize",
        "skills/list",
        "notifications/x",
        "a b/c",
        "x/\n",
        "ledger",
        "",
    ] {
        let error = ask_with(pinned(&peer), method, json!({}), |it| it).expect_err(method);
        assert!(matches!(error.failure(), Failure::Local(_)), "{error}");
        assert_eq!(error.executed(), Executed::No, "{method}");
    }
    for params in [json!([]), json!("x"), Value::Null, json!({ "_meta": {} })] {
        let error = ask_with(pinned(&peer), "ledger/get", params.clone(), |it| it).expect_err("parameters");
        assert!(error.to_string().contains("the parameters must be an object without `_meta`"), "{params}: {error}");
    }
    assert!(peer.requests().is_empty());
}

/// E12: the header `Mcp-Name` has the value that the program names, and parameters keep their digits.
#[test]
fn the_target_and_the_parameters_are_sent_as_they_are() {
    let peer = Peer::new([done(json!({}))]);
    let params: Value = serde_json::from_str(r#"{"entryId":"é","more":{"a":[1]}}"#).expect("JSON");
    ask_with(pinned(&peer), "ledger/get", params.clone(), |it| it.target("é")).expect("a result");
    let request = &peer.requests()[0];
    assert_eq!(request.headers()["mcp-method"], "ledger/get");
    assert_eq!(request.headers()["mcp-name"], "=?base64?w6k=?=");
    let mut sent = body(&peer, 0)["params"].clone();
    sent.as_object_mut().expect("an object").remove("_meta");
    assert_eq!(sent, params);
}

/// C31: a function of the program answers the questions of a method. Without a function, the request fails.
#[test]
fn questions_of_a_method_are_answered() {
    let asks = || {
        let form = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
        let question =
            json!({ "method": "elicitation/create", "params": { "message": "Which?", "requestedSchema": form } });
        result(json!({ "resultType": "input_required", "inputRequests": { "q": question }, "requestState": "s" }))
    };
    let peer = Peer::new([asks(), done(json!({ "euros": 7 }))]);
    let answers = |upstream: Upstream| {
        upstream.on_elicitation(|_, _| async { Ok(FormAnswer::Accepted(json!({ "city": "Lyon" }))) })
    };
    assert!(ask(answers(pinned(&peer)), |it| it).expect("a result").contains('7'));
    assert_eq!(body(&peer, 1)["params"]["inputResponses"]["q"]["content"]["city"], "Lyon");
    assert_eq!(body(&peer, 1)["params"]["entryId"], "rent");
    let error = ask(pinned(&Peer::new([asks()])), |it| it).expect_err("a question");
    assert_eq!(*error.failure(), Failure::CapabilityRequired);
}

/// C54: a request is a step: a handler that asks its own caller after it runs again, and the request is not sent again.
#[test]
fn a_request_is_sent_once_in_all_rounds() {
    let sent = Rc::new(Cell::new(0));
    let counted = sent.clone();
    let books = testing::endpoint(move |_| {
        let counted = counted.clone();
        let pay = move || {
            counted.set(counted.get() + 1);
            async { Json(Entry { euros: 9 }) }
        };
        let ledger = Extension::new(LEDGER, json!({})).method(ExtensionMethod::new("ledger/pay", pay));
        McpServer::builder("books", "1.0.0").serve(ledger).build()
    });
    let books = Upstream::via("http://localhost/mcp", InProcess::new(books)).expect("a URL");
    let books = client(books);
    let desk = testing::endpoint(move |_| {
        let books = books.clone();
        let pay = move |cx: Context| {
            let books = books.clone();
            async move {
                let peer = books.connect(&cx).server("parcels")?;
                let paid = peer.request("ledger/pay", json!({})).await?.json::<Value>()?;
                let confirmed = cx.confirm("sure", "Sure?").await?;
                Ok::<_, HandlerError>(format!("{} {confirmed}", paid["euros"]))
            }
        };
        McpServer::builder("desk", "1.0.0").tool(edge_mcp::Tool::new("pay", "Pays.", pay)).build()
    });
    let client = testing::Client::new(&desk).answer("sure", json!({}));
    let answer = testing::run(client.call("pay", json!({})));
    assert_eq!((answer.text(), sent.get()), ("9 true", 1));
}
