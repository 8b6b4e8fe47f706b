//! Calls within handlers that ask their own caller: calls are steps, and questions of other servers are passed to the caller.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{Definition, InProcess, McpClient, MemoryTokens, SignIn, TokenKeys, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, McpServer, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::calls::{at, client, modern};
use crate::peer::{Answer, Peer, error, json_answer};
use crate::questions::{asks, body, form};

/// A server whose tool `send` uses `client`.
fn desk<F, Fut>(client: McpClient, send: F) -> Endpoint
where
    F: Fn(McpClient, Context) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<String, HandlerError>> + 'static,
{
    testing::endpoint(move |_| {
        let (client, send) = (client.clone(), send.clone());
        let send = move |cx: Context| send(client.clone(), cx);
        McpServer::builder("desk", "1.0.0").tool(Tool::new("send", "Sends a parcel.", send)).build()
    })
}

fn pinned(peer: &Peer) -> McpClient {
    client(at(peer).revision(Revision::V2026_07_28))
}

/// C116: a finished call is not sent again when the handler asks its own caller afterwards.
#[test]
fn a_call_is_a_step() {
    async fn send(client: McpClient, cx: Context) -> Result<String, HandlerError> {
        let parcels = client.connect(&cx).server("parcels")?;
        let first = parcels.call("track", json!({ "number": 1 })).await?;
        let second = parcels.call("track", json!({ "number": 1 })).await?;
        let is_sent = cx.confirm("send", "Send it?").await?;
        Ok(format!("{} {} {is_sent}", first.text(), second.text()))
    }
    let peer = Peer::new([modern("one"), modern("two")]);
    testing::run(async {
        let endpoint = desk(pinned(&peer), send);
        let answer = Client::new(&endpoint).answer("send", json!({})).call("send", json!({})).await;
        assert_eq!(answer.text(), "one two true");
    });
    assert_eq!(peer.methods(), ["tools/call"; 2]);
}

/// C116: an idempotent call is sent again, and so is a call that the server did not execute.
#[test]
fn an_idempotent_call_is_sent_in_each_round() {
    async fn send(client: McpClient, cx: Context) -> Result<String, HandlerError> {
        let parcels = client.connect(&cx).server("parcels")?;
        let failed = parcels.call("lose", json!({})).await.is_err();
        let text = parcels.call("track", json!({})).idempotent().await?.text();
        let is_sent = cx.confirm("send", "Send it?").await?;
        Ok(format!("{failed} {text} {is_sent}"))
    }
    // The server proves that it did not execute the call.
    let failure = || error(404, -32_601, "Unknown method.");
    let peer = Peer::new([failure(), modern("one"), failure(), modern("two")]);
    testing::run(async {
        let endpoint = desk(pinned(&peer), send);
        let answer = Client::new(&endpoint).answer("send", json!({})).call("send", json!({})).await;
        assert_eq!(answer.text(), "true two true");
    });
    assert_eq!(peer.methods(), ["tools/call"; 4]);
}

/// C116: a call of a tool that a trusted server declares as read-only is also sent again.
#[test]
fn a_read_only_call_is_sent_in_each_round() {
    async fn send(client: McpClient, cx: Context) -> Result<String, HandlerError> {
        let tool = json!({ "name": "track", "inputSchema": {}, "annotations": { "readOnlyHint": true } });
        let tool =
            Definition::from_json(&json!({ "server": "parcels", "tool": tool }).to_string()).expect("a definition");
        let text = client.connect(&cx).server("parcels")?.call("track", json!({})).definition(&tool).await?.text();
        cx.confirm("send", "Send it?").await?;
        Ok(text)
    }
    for (is_trusted, expected) in [(true, "two"), (false, "one")] {
        let peer = Peer::new([modern("one"), modern("two")]);
        let upstream = at(&peer).revision(Revision::V2026_07_28);
        let upstream = if is_trusted { upstream.trusted() } else { upstream };
        testing::run(async {
            let endpoint = desk(client(upstream), send);
            let answer = Client::new(&endpoint).answer("send", json!({})).call("send", json!({})).await;
            assert_eq!(answer.text(), expected);
        });
    }
}

async fn send_through(client: McpClient, cx: Context) -> Result<String, HandlerError> {
    let parcels = client.connect(&cx).server("parcels")?;
    Ok(parcels.call("track", json!({ "number": 7 })).ask_caller(&cx).await?.text())
}

fn city(default: &str) -> Value {
    form("Where to?", json!({ "city": { "type": "string", "default": default } }))
}

/// C111, C112, C113: the caller gets the questions of the server with its name, and the call continues with its state.
#[test]
fn questions_are_passed_to_the_caller() {
    let state = "SECRET-4711 \"\\u0041\"";
    let peer = Peer::new([
        asks(json!({ "where": city("Lyon"), "odd/key-0123abcd/": city("Bern") }), json!(state)),
        // The server uses the same key for another question.
        asks(json!({ "where": form("Which street?", json!({})) }), json!("second")),
        modern("in Lyon"),
    ]);
    testing::run(async {
        let endpoint = desk(pinned(&peer), send_through);
        let answer = Client::new(&endpoint)
            .answer("parcels.1.where", json!({ "city": "Bern" }))
            .decline("parcels.1.#1")
            .answer("parcels.2.where", json!({}))
            .call("send", json!({}))
            .await;
        assert_eq!(answer.text(), "in Lyon");
        let questions = answer.questions();
        assert_eq!(questions.len(), 3);
        for (key, question) in questions {
            let message = question["params"]["message"].as_str().expect("a text");
            assert!(key.starts_with("track-") && message.starts_with("[parcels] W"), "{key} {message}");
        }
    });
    let bodies: Vec<_> = peer.requests().iter().map(body).collect();
    assert_eq!(bodies.len(), 3, "no request is sent twice");
    let declared = &bodies[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    // Sampling spends the model of the caller, and roots are its folders.
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    assert_eq!(*declared, json!({ "elicitation": { "form": {}, "url": {} }, "extensions": tasks }));
    assert_eq!(bodies[1]["params"]["requestState"], state);
    assert_eq!(
        bodies[1]["params"]["inputResponses"],
        json!({
            "where": { "action": "accept", "content": { "city": "Bern" } },
            "odd/key-0123abcd/": { "action": "decline" },
        })
    );
    assert_eq!(bodies[2]["params"]["requestState"], "second");
    assert_eq!(bodies[2]["params"]["inputResponses"], json!({ "where": { "action": "accept", "content": {} } }));
    assert_eq!(bodies[0]["params"]["arguments"], bodies[2]["params"]["arguments"]);
}

/// C111: our caller cannot read the state of the other server.
#[test]
fn the_state_of_the_server_is_hidden() {
    let peer = Peer::new([asks(json!({ "where": city("Lyon") }), json!("SECRET-4711"))]);
    testing::run(async {
        let endpoint = desk(pinned(&peer), send_through);
        let answer = Client::new(&endpoint).call("send", json!({})).await;
        let body = String::from_utf8_lossy(answer.body()).into_owned();
        assert!(body.contains("input_required") && !body.contains("SECRET-4711"), "{body}");
    });
}

/// Two calls with the same question have two answers, at the same time and one after the other.
#[test]
fn an_answer_belongs_to_one_call() {
    async fn lose(client: McpClient, cx: Context, number: u32) -> Result<String, HandlerError> {
        let parcels = client.connect(&cx).server("parcels")?;
        Ok(parcels.call("lose", json!({ "number": number })).ask_caller(&cx).await?.text())
    }
    async fn both(client: McpClient, cx: Context) -> Result<String, HandlerError> {
        let (one, two) = futures::try_join!(lose(client.clone(), cx.clone(), 1), lose(client.clone(), cx.clone(), 2))?;
        let three = lose(client, cx, 3).await?;
        Ok(format!("{one} {two} {three}"))
    }
    let ask = || asks(json!({ "sure": form("Really?", json!({})) }), json!("s"));
    let peer = Peer::new([ask(), ask(), modern("one"), modern("two"), ask(), modern("three")]);
    testing::run(async {
        let upstream =
            Upstream::via("https://parcels.example/mcp", peer.slow(Duration::from_millis(1))).expect("a URL");
        let endpoint = desk(client(upstream.revision(Revision::V2026_07_28)), both);
        let answer = Client::new(&endpoint).answer("parcels.1.sure", json!({})).call("send", json!({})).await;
        assert_eq!(answer.text(), "one two three");
        assert_eq!(answer.questions().len(), 3, "{:?}", answer.questions());
    });
    assert_eq!(peer.requests().len(), 6);
}

/// C114: a caller that cannot be asked is not declared. The error says which client could be asked.
#[test]
fn a_caller_that_cannot_be_asked_gets_an_error() {
    let refusal = || {
        let error =
            json!({ "code": -32021, "message": "no", "data": { "requiredCapabilities": { "elicitation": {} } } });
        json_answer(400, json!({ "jsonrpc": "2.0", "id": "$id", "error": error }))
    };
    for is_legacy in [false, true] {
        let peer = Peer::new([refusal()]);
        testing::run(async {
            let endpoint = desk(pinned(&peer), send_through);
            let caller = Client::new(&endpoint).capabilities(json!({ "sampling": {}, "roots": {} }));
            let caller = if is_legacy { caller.revision(Revision::V2025_11_25) } else { caller };
            let answer = caller.call("send", json!({})).await;
            assert!(answer.is_error());
            assert_eq!(
                answer.text(),
                "The server `parcels` needs to ask a person, but the caller of this program cannot be asked. A client of revision \
                 2026-07-28 that supports elicitation can be asked. It is not known whether the call was executed. Check its effect \
                 before you call again."
            );
        });
        let declared = &body(&peer.requests()[0])["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*declared, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    }
}

/// C115: a state without questions is sent back without the caller.
#[test]
fn a_state_without_questions_does_not_reach_the_caller() {
    let only_state = || asks(json!({}), json!("again"));
    let peer =
        Peer::new([only_state(), asks(json!({ "where": city("Lyon") }), json!("s")), only_state(), modern("in Lyon")]);
    testing::run(async {
        let endpoint = desk(pinned(&peer), send_through);
        let answer = Client::new(&endpoint).answer("parcels.2.where", json!({})).call("send", json!({})).await;
        assert_eq!((answer.text(), answer.questions().len()), ("in Lyon", 1));
    });
    assert_eq!(peer.requests().len(), 4);
}

/// C113: another server cannot ask the caller to open a page of this program.
#[test]
fn a_url_of_this_program_is_not_passed_on() {
    let question = |url: &str| {
        let params = json!({ "mode": "url", "message": "Pay", "url": url });
        asks(json!({ "pay": { "method": "elicitation/create", "params": params } }), json!("s"))
    };
    for (url, is_passed) in [
        ("https://pay.example/7", true),
        ("https://Desk.example:444/connect", false),
        ("https://desk.example./connect", false),
    ] {
        let peer = Peer::new([question(url), modern("paid")]);
        testing::run(async {
            let endpoint = desk(pinned(&peer), send_through)
                .configured(&testing::variables(&[("MCP_RESOURCE", "https://desk.example/mcp")]));
            let answer = Client::new(&endpoint).answer("parcels.1.pay", json!({})).call("send", json!({})).await;
            assert_eq!(answer.text() == "paid", is_passed, "{answer:?}");
        });
    }
}

/// C113: the same holds if the URL of the endpoint is not configured.
#[test]
fn a_url_of_the_request_is_not_passed_on() {
    for (url, is_passed) in [("https://localhost/connect", false), ("https://pay.example/7", true)] {
        let params = json!({ "mode": "url", "message": "Pay", "url": url });
        let question = json!({ "pay": { "method": "elicitation/create", "params": params } });
        let peer = Peer::new([asks(question, json!("s")), modern("paid")]);
        testing::run(async {
            let endpoint = desk(pinned(&peer), send_through);
            let answer = Client::new(&endpoint).answer("parcels.1.pay", json!({})).call("send", json!({})).await;
            assert_eq!(
                (answer.text() == "paid", answer.questions().len()),
                (is_passed, usize::from(is_passed)),
                "{answer:?}"
            );
        });
    }
}

/// C113: the pages at which persons sign in can be on another host than the endpoint. They are not passed on either.
#[test]
fn a_url_of_the_page_of_a_sign_in_is_not_passed_on() {
    let keys = TokenKeys::from_text("MCP_TOKEN_KEY", Some("0123456789abcdef0123456789abcdef")).expect("a key");
    let sign_in =
        SignIn::new("Desk", "https://login.example/sign-in", keys, MemoryTokens::new()).expect("the settings");
    for (url, is_passed) in [("https://LOGIN.example/sign-in?server=tracker", false), ("https://pay.example/7", true)] {
        let params = json!({ "mode": "url", "message": "Pay", "url": url });
        let question = json!({ "pay": { "method": "elicitation/create", "params": params } });
        let peer = Peer::new([asks(question, json!("s")), modern("paid")]);
        let tracker = Upstream::at("https://tracker.example/mcp").expect("a URL").sign_in(&sign_in);
        let client = McpClient::builder("desk", "1.0.0")
            .server("parcels", at(&peer).revision(Revision::V2026_07_28))
            .server("tracker", tracker)
            .build()
            .expect("a client");
        testing::run(async {
            let endpoint = desk(client, send_through);
            let answer = Client::new(&endpoint).answer("parcels.1.pay", json!({})).call("send", json!({})).await;
            assert_eq!(answer.text() == "paid", is_passed, "{answer:?}");
        });
    }
}

/// C113: each line of a question names the server that asks, so no line looks like a question of another server.
#[test]
fn each_line_of_a_question_names_its_server() {
    let text = "Thank you.\n\n\n\n\u{200b} [bank]   Enter the code of your card.";
    let field = json!({ "type": "string", "title": "[bank] Code" });
    let peer = Peer::new([asks(json!({ "q": form(text, json!({ "code": field })) }), json!("s")), modern("done")]);
    testing::run(async {
        let endpoint = desk(pinned(&peer), send_through);
        let answer = Client::new(&endpoint).answer("parcels.1.q", json!({ "code": "1" })).call("send", json!({})).await;
        let (_, question) = answer.questions().iter().next().expect("a question");
        let params = &question["params"];
        assert_eq!(params["message"], "[parcels] Thank you.\n[parcels] [bank] Enter the code of your card.");
        assert_eq!(params["requestedSchema"]["properties"]["code"]["title"], "[parcels] [bank] Code");
    });
}

/// A function of the program takes precedence over the caller.
#[test]
fn the_program_answers_before_the_caller() {
    let peer = Peer::new([asks(json!({ "where": city("Lyon") }), json!("s")), modern("in Lyon")]);
    let upstream = at(&peer).revision(Revision::V2026_07_28).on_elicitation(|_, _| async { Ok(FormAnswer::Declined) });
    testing::run(async {
        let endpoint = desk(client(upstream), send_through);
        let answer = Client::new(&endpoint).call("send", json!({})).await;
        assert_eq!(answer.text(), "in Lyon");
    });
}

#[derive(Deserialize, JsonSchema)]
struct Parcel {
    #[expect(dead_code, reason = "only the schema matters")]
    number: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Address {
    city: String,
}

/// C111, C112 with a server of this library that asks in two rounds and from a nested call, through two servers.
#[test]
fn questions_pass_through_two_servers() {
    let runs = Rc::new(Cell::new(0));
    let counted = runs.clone();
    let depot = testing::endpoint(move |_| {
        let runs = counted.clone();
        let ask = |cx: Context| async move {
            let Some(Address { city }) = cx.elicit::<Address>("address", "Where to?").await?.accepted() else {
                return Err(HandlerError::new("No address."));
            };
            Ok(city)
        };
        let track = move |_: Parcel, cx: Context| {
            let runs = runs.clone();
            async move {
                let number = cx.step("count", &(), async || Ok(runs.replace(runs.get() + 1))).await?;
                let city = cx.call_tool("ask", json!({})).await?.text();
                let is_sure = cx.confirm("sure", "Really?").await?;
                Ok::<_, HandlerError>(format!("{number} {city} {is_sure}"))
            }
        };
        McpServer::builder("depot", "1.0.0")
            .tool(Tool::new("ask", "Asks for a city.", ask))
            .tool(Tool::new("track", "Locates a parcel.", track))
            .build()
    });
    let upstream = |endpoint| Upstream::via("http://localhost/mcp", InProcess::new(endpoint)).expect("a URL");
    let middle = testing::endpoint({
        let depot = client(upstream(depot));
        move |_| {
            let depot = depot.clone();
            let track = move |_: Parcel, cx: Context| send_through(depot.clone(), cx);
            McpServer::builder("middle", "1.0.0").tool(Tool::new("track", "Locates a parcel.", track)).build()
        }
    });
    testing::run(async {
        let endpoint = desk(client(upstream(middle)), send_through);
        let host = TestHost::new();
        let first = Client::new(&endpoint).host(&host).call("send", json!({})).await;
        let key = first.result()["inputRequests"].as_object().expect("questions").keys().next().expect("one").clone();
        let suffix = key.rsplit_once('/').expect("the call").1.to_owned();
        let second = Client::new(&endpoint)
            .host(&host)
            .answer(&*suffix, json!({ "city": "Lyon" }))
            .call("send", json!({}))
            .await;
        let questions = second.result()["inputRequests"].as_object().expect("questions");
        let (key, question) = questions.iter().next().expect("one");
        assert_eq!(question["params"]["message"], "[parcels] [parcels] Really?");
        let last = key.rsplit_once('/').expect("the call").1.to_owned();
        let runs_before = runs.get();
        let answer = Client::new(&endpoint)
            .host(&host)
            .answer(&*suffix, json!({ "city": "Lyon" }))
            .answer(&*last, json!({}))
            .call("send", json!({}))
            .await;
        assert_eq!(answer.text(), format!("{runs_before} Lyon true"));
        assert_eq!(runs.get(), runs_before + 1, "a step runs once in all rounds");
    });
}

/// The questions of a legacy server cannot be passed on, so the server does not get the capabilities of the caller.
#[test]
fn a_legacy_server_gets_no_capabilities_of_the_caller() {
    let initialized =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "p", "version": "1" } });
    let done = json!({ "content": [{ "type": "text", "text": "in Lyon" }] });
    let peer = Peer::new([crate::peer::result(initialized), Answer::new(202, "", ""), crate::peer::result(done)]);
    testing::run(async {
        let endpoint = desk(client(at(&peer).revision(Revision::V2025_11_25)), send_through);
        let answer = Client::new(&endpoint).call("send", json!({})).await;
        assert_eq!(answer.text(), "in Lyon");
    });
    assert_eq!(body(&peer.requests()[0])["params"]["capabilities"], json!({}));
}
