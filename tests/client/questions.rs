//! Questions of modern servers, which functions of the program answer.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::call::{ModelAnswer, Root, Sampling};
use edge_mcp::client::{CallResult, ClientError, Executed, Failure, InProcess, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, FormAnswer, HandlerError, McpServer, PromptMessage, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::calls::{at, client, context, modern, track};
use crate::peer::{Answer, Peer, result};

/// An answer with questions.
pub fn asks(questions: Value, state: Value) -> Answer {
    let mut answer = json!({ "resultType": "input_required", "inputRequests": questions, "requestState": state });
    if answer["requestState"].is_null() {
        answer.as_object_mut().expect("an object").remove("requestState");
    }
    result(answer)
}

pub fn form(message: &str, properties: Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

pub fn body(request: &http::Request<String>) -> Value {
    serde_json::from_str(request.body()).expect("JSON")
}

fn pinned(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2026_07_28)
}

/// A server whose questions of all kinds are answered.
fn answering(upstream: Upstream) -> Upstream {
    upstream
        .on_elicitation(|form, _| async move {
            assert_eq!((&*form.server, form.schema["type"].as_str()), ("parcels", Some("object")));
            Ok(FormAnswer::Accepted(json!({ "city": "Lyon" })))
        })
        .on_url_elicitation(|request, _| async move {
            Ok(if request.host == "pay.example" { FormAnswer::Accepted(()) } else { FormAnswer::Declined })
        })
        .on_sampling(|request, _| async move {
            let text = format!("{} tokens", request.params["maxTokens"]);
            Ok(ModelAnswer { text, model: "small".into(), stop_reason: Some("endTurn".into()) })
        })
        .roots([Root { uri: "file:///parcels".into(), name: Some("Parcels".into()) }])
}

/// The hostile case 30, C31, C32: the next round has the same parameters, the answers under the same keys, the same state and a new id.
#[test]
fn questions_are_answered_by_functions_of_the_program() {
    let state = "a \"quoted\" \\u0041 {\"json\":\"\\n\"} 😀\u{7f}";
    let peer = Peer::new([
        asks(
            json!({
                "where": form("Where to?", json!({ "city": { "type": "string" }, "days": { "type": "integer", "default": 3 } })),
                "pay": { "method": "elicitation/create", "params": { "mode": "url", "message": "Pay", "url": "https://pay.example/7" } },
                "__proto__": { "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 9 } },
                "": { "method": "roots/list" },
            }),
            json!(state),
        ),
        modern("in Lyon"),
    ]);
    assert_eq!(track(answering(pinned(&peer))).expect("a result"), "in Lyon");
    let [first, second] = &peer.requests()[..] else { panic!("two requests") };
    let (first, second) = (body(first), body(second));
    assert_ne!(first["id"], second["id"]);
    for name in ["name", "arguments", "_meta"] {
        assert_eq!(first["params"][name], second["params"][name], "{name}");
    }
    assert_eq!(
        first["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"],
        json!({
            "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {}, "extensions": { "io.modelcontextprotocol/tasks": {} },
        })
    );
    assert_eq!(second["params"]["requestState"], state);
    assert!(first["params"].get("requestState").is_none() && first["params"].get("inputResponses").is_none());
    assert_eq!(
        second["params"]["inputResponses"],
        json!({
            "where": { "action": "accept", "content": { "city": "Lyon", "days": 3 } },
            "pay": { "action": "accept" },
            "__proto__": {
                "role": "assistant", "content": { "type": "text", "text": "9 tokens" }, "model": "small", "stopReason": "endTurn",
            },
            "": { "roots": [{ "uri": "file:///parcels", "name": "Parcels" }] },
        })
    );
}

/// C31: a round without a state is continued without one. C32: nothing is declared without a function.
#[test]
fn a_state_belongs_to_its_round() {
    let where_to = || json!({ "where": form("Where to?", json!({ "city": { "type": "string" } })) });
    let peer = Peer::new([asks(where_to(), json!("s-1")), asks(where_to(), json!(null)), modern("in Lyon")]);
    let only_forms = pinned(&peer).on_elicitation(|_, _| async { Ok(FormAnswer::Declined) });
    assert_eq!(track(only_forms).expect("a result"), "in Lyon");
    let bodies: Vec<_> = peer.requests().iter().map(body).collect();
    assert_eq!(bodies[1]["params"]["requestState"], "s-1");
    assert!(bodies[2]["params"].get("requestState").is_none(), "{}", bodies[2]);
    assert_eq!(bodies[2]["params"]["inputResponses"], json!({ "where": { "action": "decline" } }));
    let capabilities = &bodies[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(
        *capabilities,
        json!({ "elicitation": { "form": {} }, "extensions": { "io.modelcontextprotocol/tasks": {} } })
    );

    let peer = Peer::new([modern("in Lyon")]);
    track(pinned(&peer)).expect("a result");
    let capabilities = &body(&peer.requests()[0])["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(*capabilities, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
}

/// The hostile case 32, C30: a server that only wants the request again gets it after a pause, at most three times.
#[test]
fn a_state_without_questions_is_sent_back() {
    let host = TestHost::new();
    let call = |peer: &Peer| {
        let connection = client(pinned(peer)).connect(&context(&host));
        let call = connection.server("parcels").expect("a server").call("track", json!({}));
        testing::run(host.run(async move { call.await.map(|result| result.text()) })).expect("the call ends")
    };
    let later = |nth: usize| result(json!({ "resultType": "input_required", "requestState": format!("s-{nth}") }));
    let peer = Peer::new((0..3).map(later).chain([modern("in Lyon")]));
    assert_eq!(call(&peer).expect("a result"), "in Lyon");
    assert_eq!(body(&peer.requests()[3])["params"]["requestState"], "s-2");
    assert_eq!(host.waits(), [Duration::from_millis(250); 3]);

    let peer = Peer::new((0..20).map(later));
    let error = call(&peer).expect_err("a failure");
    assert_eq!(error.failure(), &Failure::LimitExceeded("the server asks questions in too many rounds"));
    assert_eq!(peer.requests().len(), 4);
}

/// C30, C32, C33: each has its failure, and no question is answered.
#[test]
fn hostile_questions_have_their_failure() {
    let form = || form("Where to?", json!({ "city": { "type": "string" } }));
    let many = |count: usize| Value::Object((0..count).map(|nth| (format!("q{nth}"), form())).collect());
    let malformed = Failure::Malformed;
    let url = |url: &str| json!({ "pay": { "method": "elicitation/create", "params": { "mode": "url", "message": "Pay", "url": url } } });
    let nested = json!({ "where": super::questions::form("Where?", json!({ "a": { "type": "object" } })) });
    let long = "x".repeat((64 << 10) + 1);
    for (case, answer, expected) in [
        (
            "27 an unknown type",
            result(json!({ "resultType": "maybe", "content": [] })),
            malformed("has an unknown `resultType`"),
        ),
        (
            "30 an unknown kind",
            asks(json!({ "a": form(), "b": { "method": "x/y" } }), json!("s")),
            Failure::CapabilityRequired,
        ),
        (
            "30 a kind that was not declared",
            asks(json!({ "a": form(), "b": { "method": "roots/list" } }), json!("s")),
            Failure::CapabilityRequired,
        ),
        (
            "30 nine questions",
            asks(many(9), json!("s")),
            Failure::LimitExceeded("the server asks too many questions at once"),
        ),
        (
            "30 javascript",
            asks(url("javascript:alert(1)"), json!("s")),
            malformed("asks to open a URL that is not an https: URL"),
        ),
        ("30 nested fields", asks(nested, json!("s")), malformed("asks with a form that has nested fields")),
        (
            "a long question",
            asks(json!({ "a": super::questions::form(&long, json!({})) }), json!("s")),
            Failure::LimitExceeded("a question is too long"),
        ),
        (
            "a long key",
            asks(json!({ long.clone(): form() }), json!("s")),
            Failure::LimitExceeded("a question is too long"),
        ),
        (
            "31 a long state",
            asks(json!({ "a": form() }), json!(long)),
            Failure::LimitExceeded("the request state is too long"),
        ),
        (
            "31 a number as state",
            asks(json!({ "a": form() }), json!(7)),
            malformed("has a `requestState` that is not a string"),
        ),
        (
            "questions that are a list",
            asks(json!([form()]), json!("s")),
            malformed("has `inputRequests` that are not an object"),
        ),
        (
            "neither questions nor state",
            asks(json!({}), json!(null)),
            malformed("asks for input without a question and without a `requestState`"),
        ),
    ] {
        let peer = Peer::new([answer, modern("in Lyon")]);
        let upstream = pinned(&peer).on_elicitation(|_, _| async { panic!("asked") });
        let upstream = upstream.on_url_elicitation(|_, _| async { panic!("asked") });
        let error = track(upstream).expect_err(case);
        assert_eq!((error.failure(), error.executed()), (&expected, Executed::Unknown), "{case}");
        assert_eq!(peer.requests().len(), 1, "{case}");
    }
}

/// The hostile cases 28 and 29, C30, C33: a list cannot ask, and rounds end.
#[test]
fn the_rounds_of_a_call_are_limited() {
    let ask = || asks(json!({ "a": form("Again?", json!({})) }), json!("s"));
    let peer = Peer::new((0..30).map(|_| ask()));
    let error = track(pinned(&peer).on_elicitation(|_, _| async { Ok(FormAnswer::Cancelled) })).expect_err("a failure");
    assert_eq!(error.failure(), &Failure::LimitExceeded("the server asks questions in too many rounds"));
    assert_eq!(peer.requests().len(), 10);

    let peer = Peer::new([ask()]);
    let connection = client(pinned(&peer)).connect(&context(&TestHost::new()));
    let server = connection.server("parcels").expect("a server");
    let error = testing::run(server.list_tools()).expect_err("a failure");
    let problem = "asks for input, which only tools, resources and prompts can do";
    assert_eq!(error.failure(), &Failure::Malformed(problem));
}

/// C33, C34: a function that fails or does not fit the form ends the call, and the server gets no answer.
#[test]
fn a_function_that_fails_ends_the_call() {
    let ask = || asks(json!({ "a": form("Where to?", json!({ "city": { "type": "string" } })) }), json!("s"));
    let fails = |answer: fn() -> Result<FormAnswer<Value>, HandlerError>| {
        let peer = Peer::new([ask(), modern("in Lyon")]);
        let error = track(pinned(&peer).on_elicitation(move |_, _| async move { answer() })).expect_err("a failure");
        assert_eq!(peer.requests().len(), 1);
        // The cause, which the log gets, does not have the answer of the person.
        assert!(!format!("{error:?}").contains("4711"), "{error:?}");
        error.to_string()
    };
    let message = fails(|| Err(HandlerError::new("No depot is open.").because("SECRET")));
    assert!(
        message
            .starts_with("The server `parcels` asked a question that this program did not answer: No depot is open.")
    );
    let message = fails(|| Ok(FormAnswer::Accepted(json!({ "city": 4711 }))));
    assert!(
        message.contains("the answer of this program does not fit the form") && !message.contains("4711"),
        "{message}"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Address {
    city: String,
}

/// A server of this library that asks questions of all kinds, in three rounds.
async fn ship(cx: Context) -> Result<String, HandlerError> {
    let address = cx.elicit::<Address>("address", "Where to?").await?.accepted();
    let Some(Address { city }) = address else { return Ok("Not shipped.".to_owned()) };
    let paid = cx.elicit_url("pay", "Pay", "https://pay.example/7").await?.accepted().is_some();
    let request = Sampling::new(9).message(PromptMessage::user("Write a poem."));
    let (poem, roots) = futures::try_join!(cx.sample("poem", request), cx.roots("roots"))?;
    Ok(format!("{city} {paid} {} {}", poem.text, roots[0].uri))
}

fn shop() -> InProcess {
    InProcess::new(testing::endpoint(|_| {
        McpServer::builder("shop", "1.0.0").tool(Tool::new("ship", "Ships the order.", ship)).build()
    }))
}

fn call(upstream: Upstream, tool: &str) -> Result<CallResult, ClientError> {
    let host = TestHost::new();
    let connection = client(upstream).connect(&context(&host));
    let call = connection.server("parcels").expect("a server").call(tool, json!({}));
    testing::run(host.run(call.into_future())).expect("the call ends")
}

/// C30 to C34, with a server of this library.
#[test]
fn questions_of_this_library_are_answered() {
    let upstream = || Upstream::via("http://localhost/mcp", shop()).expect("a URL");
    assert_eq!(call(answering(upstream()), "ship").expect("a result").text(), "Lyon true 9 tokens file:///parcels");
    let declined = upstream().on_elicitation(|_, _| async { Ok(FormAnswer::Declined) });
    assert_eq!(call(declined, "ship").expect("a result").text(), "Not shipped.");
    let error = call(upstream(), "ship").expect_err("a failure");
    // A tool may ask after it has begun.
    assert_eq!((error.failure(), error.executed()), (&Failure::CapabilityRequired, Executed::Unknown));
}

/// C30: resources and prompts can ask too.
#[test]
fn resources_and_prompts_ask() {
    let host = TestHost::new();
    let read = || async {
        let peer = Peer::new([
            asks(json!({ "a": form("Where to?", json!({})) }), json!("s")),
            result(json!({ "resultType": "complete", "contents": [], "messages": [] })),
        ]);
        let upstream = pinned(&peer).on_elicitation(|_, _| async { Ok(FormAnswer::Declined) });
        let connection = client(upstream).connect(&context(&host));
        let parcels = connection.server("parcels").expect("a server");
        (peer, parcels)
    };
    testing::run(async {
        let (peer, parcels) = read().await;
        parcels.read_resource("parcel:7").await.expect("a result");
        let (other, parcels) = read().await;
        parcels.get_prompt("poem", json!({ "about": "rain" })).await.expect("a result");
        for (peer, name, value) in [(peer, "uri", json!("parcel:7")), (other, "arguments", json!({ "about": "rain" }))]
        {
            let params = &body(&peer.requests()[1])["params"];
            assert_eq!((&params[name], &params["requestState"]), (&value, &json!("s")));
            assert_eq!(params["inputResponses"], json!({ "a": { "action": "decline" } }));
        }
    });
}

/// C33: the questions of a round are handed out at the same time.
#[test]
fn the_questions_of_a_round_are_answered_at_the_same_time() {
    let questions = json!({ "a": form("one", json!({})), "b": form("two", json!({})) });
    let peer = Peer::new([asks(questions, json!("s")), modern("in Lyon")]);
    let begun = Rc::new(RefCell::new(Vec::new()));
    let log = begun.clone();
    let upstream = pinned(&peer).on_elicitation(move |form, cx| {
        let log = log.clone();
        async move {
            log.borrow_mut().push(form.message);
            // The other function has begun before this one goes on.
            let is_first = log.borrow().len() == 1;
            if is_first {
                let mut turns = 0;
                futures::future::poll_fn(|task| {
                    turns += 1;
                    task.waker().wake_by_ref();
                    if log.borrow().len() == 2 || turns > 9 {
                        std::task::Poll::Ready(())
                    } else {
                        std::task::Poll::Pending
                    }
                })
                .await;
                assert_eq!(log.borrow().len(), 2, "at {}", cx.now_ms());
            }
            Ok(FormAnswer::Declined)
        }
    });
    assert_eq!(track(upstream).expect("a result"), "in Lyon");
    assert_eq!(*begun.borrow(), ["one", "two"]);
}
