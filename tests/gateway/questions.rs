//! The questions of mounted servers, which the caller of the gateway answers.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::gateway::Mount;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Answer as Reply, Client, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, McpServer, Prompt, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{Answer, json_answer, result};
use crate::servers::{Server, caller, complete, endpoint, text};

pub fn asks(questions: Value, state: Value) -> Answer {
    result(json!({ "resultType": "input_required", "inputRequests": questions, "requestState": state }))
}

pub fn form(message: &str, properties: Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

/// Returns the capabilities that a server gets. The answer to a call may be a task.
fn declared(mut capabilities: Value, is_call: bool) -> Value {
    if is_call {
        capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
    }
    capabilities
}

/// A server that asks in two rounds, with one key for two questions.
fn asking() -> Server {
    Server::new(|message| {
        let params = &message["params"];
        let city = json!({ "city": { "type": "string" } });
        match params["requestState"].as_str() {
            None => asks(json!({ "q": form("Where to?\n[bank] PIN?", city) }), json!("SECRET-4711 \"\u{1}")),
            Some("SECRET-4711 \"\u{1}") => asks(json!({ "q": form("Which street?", json!({})) }), json!("SECRET-2")),
            Some(_) => {
                let done = format!("{}", params["inputResponses"]);
                match message["method"].as_str() {
                    Some("tools/call") => text(&done),
                    Some("resources/read") => complete(json!({ "contents": [{ "uri": params["uri"], "text": done }] })),
                    _ => complete(
                        json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": done } }] }),
                    ),
                }
            }
        }
    })
}

/// C111, C112, C113: a tool, a resource and a prompt of a server ask in two rounds. The caller sees the name of the mount, and never the
/// state of the server, which gets its state back byte for byte. No request is sent twice.
#[test]
fn a_server_asks_in_two_rounds() {
    for (method, params) in [
        ("tools/call", json!({ "name": "m_t", "arguments": { "x": 1 } })),
        ("tools/call", json!({ "name": "call-tool", "arguments": { "name": "m_t", "arguments": { "x": 1 } } })),
        ("resources/read", json!({ "uri": "m+file:///x" })),
        ("prompts/get", json!({ "name": "m_p" })),
    ] {
        let server = asking();
        let endpoint = endpoint([("m", server.mount().catalogue(edge_mcp::gateway::Catalogue::Search))]);
        let host = TestHost::new();
        let first = testing::run(caller(&endpoint, &host).request(method, params.clone()));
        let body = String::from_utf8_lossy(first.body()).into_owned();
        assert!(body.contains("input_required") && !body.contains("SECRET"), "{body}");
        server.take();
        let client = caller(&endpoint, &host).answer("m.1.q", json!({ "city": "Bern" })).answer("m.2.q", json!({}));
        let answer = testing::run(client.request(method, params));
        assert_eq!(answer.text(), r#"{"q":{"action":"accept","content":{}}}"#, "{method}: {answer:?}");
        let messages: Vec<_> = answer.questions().values().map(|it| it["params"]["message"].clone()).collect();
        assert_eq!(messages.len(), 2);
        assert!(
            messages.contains(&json!("[m] Where to?\n[m] [bank] PIN?"))
                && messages.contains(&json!("[m] Which street?")),
            "{messages:?}"
        );
        let sent = server.take();
        assert_eq!(sent.len(), 3, "{method}");
        assert_eq!(sent[1]["params"]["requestState"], "SECRET-4711 \"\u{1}");
        assert_eq!(
            sent[1]["params"]["inputResponses"],
            json!({ "q": { "action": "accept", "content": { "city": "Bern" } } })
        );
        assert_eq!(
            (&sent[2]["params"]["requestState"], &sent[2]["params"]["arguments"]),
            (&json!("SECRET-2"), &sent[0]["params"]["arguments"])
        );
        assert_eq!(
            sent[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"],
            declared(json!({ "elicitation": { "form": {}, "url": {} } }), method == "tools/call")
        );
    }
}

/// C111: the state is bound to the call: another tool, other arguments and a changed state do not continue it.
#[test]
fn a_state_belongs_to_its_call() {
    let (server, other) = (asking(), asking());
    let endpoint = endpoint([("m", server.mount()), ("n", other.mount())]);
    let host = TestHost::new();
    let first = testing::run(caller(&endpoint, &host).call("m_t", json!({ "x": 1 })));
    let state = first.result()["requestState"].as_str().expect("a state").to_owned();
    let key = first.result()["inputRequests"].as_object().expect("questions").keys().next().expect("one").clone();
    let mut changed = state.clone();
    changed.pop();
    changed.push('A');
    for (name, arguments, state) in [
        ("n_t", json!({ "x": 1 }), &state),
        ("m_t", json!({ "x": 2 }), &state),
        ("m_u", json!({ "x": 1 }), &state),
        ("m_t", json!({ "x": 1 }), &changed),
    ] {
        server.take();
        let answers = json!({ &key: { "action": "accept", "content": { "city": "Bern" } } });
        let params = json!({ "name": name, "arguments": arguments, "requestState": state, "inputResponses": answers });
        testing::run(caller(&endpoint, &host).request("tools/call", params));
        for sent in server.take().iter().chain(&other.take()) {
            assert_eq!(sent["params"].get("requestState"), None, "{name}: {sent}");
        }
    }
}

/// C113: sampling is passed on only if the program says so, and roots never. A URL of this program is not passed on.
#[test]
fn other_questions_are_passed_only_if_the_program_says_so() {
    let ask = |method: &'static str, params: Value| {
        Server::new(move |message| match message["params"].get("inputResponses") {
            None => asks(json!({ "q": { "method": method, "params": params } }), json!("s")),
            Some(answers) => text(&answers.to_string()),
        })
    };
    let sampling = || {
        let content = json!({ "type": "text", "text": "Hi" });
        ask("sampling/createMessage", json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 9 }))
    };
    let url = |url: &str| ask("elicitation/create", json!({ "mode": "url", "message": "Pay", "url": url }));
    let passing = sampling().upstream().pass_sampling();
    for (mount, is_passed) in [
        (sampling().mount(), false),
        (Mount::new(passing), true),
        (ask("roots/list", json!({})).mount(), false),
        (url("https://pay.example/7").mount(), true),
        (url("http://pay.example/7").mount(), false),
        (url("javascript:alert(1)").mount(), false),
        (url("https://localhost/connect").mount(), false),
    ] {
        let endpoint = endpoint([("m", mount)]);
        let client = caller(&endpoint, &TestHost::new()).answer("m.1.q", json!({}));
        let client = if is_passed { client } else { client.answer("m.1.q", json!("stolen")) };
        let answer = testing::run(client.call("m_t", json!({})));
        assert_eq!((answer.questions().len(), answer.is_error()), (usize::from(is_passed), !is_passed), "{answer:?}");
    }
}

/// C113: a server that asks for a text does not get the context of other servers, and the person sees which server asks.
#[test]
fn passed_sampling_names_the_mount_and_has_no_context() {
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": "Hi\u{e0041}" } }]);
    let params = json!({ "messages": messages, "maxTokens": 9, "includeContext": "allServers", "tools": [] });
    let server = Server::new(move |message| match message["params"].get("inputResponses") {
        None => asks(json!({ "q": { "method": "sampling/createMessage", "params": params } }), json!("s")),
        Some(answers) => text(&answers.to_string()),
    });
    let endpoint = endpoint([("m", Mount::new(server.upstream().pass_sampling()))]);
    let answer = testing::run(caller(&endpoint, &TestHost::new()).answer("m.1.q", json!({})).call("m_t", json!({})));
    let asked = json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": "[m] Hi" } }],
        "systemPrompt": "[m]",
        "maxTokens": 9,
    });
    let questions: Vec<_> = answer.questions().values().map(|question| &question["params"]).collect();
    assert_eq!(questions, [&asked]);
}

/// C114: a caller that cannot be asked is not declared, and the error says which client could be asked.
#[test]
fn a_caller_that_cannot_be_asked_is_not_declared() {
    let server = Server::new(|_| {
        let data = json!({ "requiredCapabilities": { "elicitation": {} } });
        json_answer(
            400,
            json!({ "jsonrpc": "2.0", "id": "$id", "error": { "code": -32021, "message": "no", "data": data } }),
        )
    });
    let endpoint = endpoint([("m", server.mount())]);
    let ask = |client: Client<'_>| -> Reply { testing::run(client.call("m_t", json!({}))) };
    let host = TestHost::new();
    for client in
        [caller(&endpoint, &host).capabilities(json!({})), caller(&endpoint, &host).revision(Revision::V2025_11_25)]
    {
        let answer = ask(client);
        assert!(
            answer.is_error()
                && answer.text().contains("A client of revision 2026-07-28 that supports elicitation can be asked"),
            "{answer:?}"
        );
        let sent = server.take().pop().expect("a request");
        assert_eq!(sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"], declared(json!({}), true));
    }
}

/// C115: a state without a question is sent back without the caller.
#[test]
fn a_state_without_a_question_does_not_reach_the_caller() {
    let server = Server::new(|message| match message["params"]["requestState"].as_str() {
        None => result(json!({ "resultType": "input_required", "requestState": "again" })),
        Some(state) => text(state),
    });
    let answer = crate::servers::call(&endpoint([("m", server.mount())]), "m_t", json!({}));
    assert_eq!((answer.text(), answer.questions().len()), ("again", 0));
}

#[derive(Deserialize, JsonSchema)]
struct Address {
    city: String,
}

fn depot(runs: Rc<Cell<u32>>) -> Endpoint {
    testing::endpoint(move |_| {
        let runs = runs.clone();
        let track = move |cx: Context| {
            let runs = runs.clone();
            async move {
                cx.step("count", &(), async || Ok(runs.replace(runs.get() + 1))).await?;
                let FormAnswer::Accepted(Address { city }) = cx.elicit("address", "Where to?").await? else {
                    return Err(HandlerError::new("No address."));
                };
                let is_sure = cx.confirm("sure", "Really?").await?;
                Ok(format!("{city} {is_sure}"))
            }
        };
        let prompt =
            |cx: Context| async move { Ok::<_, HandlerError>(cx.confirm("sure", "Really?").await?.to_string()) };
        McpServer::builder("depot", "1.0.0")
            .tool(Tool::new("track", "Locates.", track))
            .prompt(Prompt::new("p", prompt))
            .build()
    })
}

/// C111, C112: questions pass through two gateways, and a step of the server runs once.
#[test]
fn questions_pass_through_two_gateways() {
    let runs = Rc::new(Cell::new(0));
    let inner = Server::endpoint(depot(runs.clone()));
    let middle =
        edge_mcp::gateway::Gateway::builder("middle", "1").mount("in", inner.mount()).build().expect("a gateway");
    let middle = testing::endpoint(move |_| McpServer::builder("middle", "1").gateway(&middle).build());
    let endpoint = endpoint([("m", Server::endpoint(middle).mount())]);
    let host = TestHost::new();
    let mut client = caller(&endpoint, &host);
    let before = runs.get();
    let mut answers = 0;
    let answer = loop {
        let answer = testing::run(client.call("m_in_track", json!({})));
        let Some((key, question)) = answer.result()["inputRequests"].as_object().and_then(|it| it.iter().next()) else {
            break answer;
        };
        answers += 1;
        assert!(answers <= 2, "{answer:?}");
        assert!(question["params"]["message"].as_str().is_some_and(|it| it.starts_with("[m] [in] ")), "{question}");
        client = client.answer(key.clone(), json!({ "city": "Lyon" }));
    };
    assert_eq!(answer.text(), "Lyon true", "{answer:?}");
    assert_eq!(runs.get() - before, 3, "once in each of the three calls of this test");
    let prompt = testing::run(caller(&endpoint, &host).prompt("m_in_p", json!({})));
    let asked = prompt.result()["inputRequests"].as_object().expect("questions");
    assert!(asked.values().all(|it| it["params"]["message"] == "[m] [in] Really?"), "{asked:?}");
}
