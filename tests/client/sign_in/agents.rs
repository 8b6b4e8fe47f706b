//! Agents with tools of a server to which their caller must sign in.

use edge_mcp::agents::{ChatAgent, ChatModel};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client};
use edge_mcp::{Endpoint, McpServer};
use serde_json::{Value, json};

use super::asking::{CALLER, accept, ada, questions, round_of};
use super::authorization_server::Reply;
use super::program::{PAGE, Program};
use super::tracker::list_of;
use crate::fake_model::{self, calls, text};

const MODEL: &str = "http://localhost:11434/v1/chat/completions";

/// Returns an endpoint whose agent has the tool of the tracker. Its caller is ada.
fn endpoint(program: &Program) -> Endpoint {
    let client = program.client.clone();
    let endpoint = testing::endpoint(move |_| {
        let model = ChatModel::new("http://localhost:11434/v1", "small").expect("a model");
        let clerk = ChatAgent::new("clerk", "The clerk", "Knows.", model).source(client.tools(["tracker_track"]));
        McpServer::builder("desk", "1.0.0").agent(clerk).build()
    });
    endpoint.auth(ada)
}

fn caller<'e>(program: &Program, endpoint: &'e Endpoint) -> Client<'e> {
    Client::new(endpoint).host(&program.host).token(CALLER)
}

/// Prepares the answers of the model.
fn answers(program: &Program, answers: impl IntoIterator<Item = fake_model::Reply>) {
    for answer in answers {
        let body = String::from_utf8(answer.expect("an answer").body).expect("UTF-8");
        program.authorization.reply(MODEL, Reply::text(200, &body));
    }
}

fn question() -> Value {
    json!({ "message": "Where is 7?" })
}

/// Returns the sentence about the tracker in the `_meta` of a result.
fn missing(answer: &testing::Answer) -> String {
    answer.result()["_meta"]["edge-mcp/missing"]["tracker"].as_str().unwrap_or_default().to_owned()
}

/// The caller gets the link before the model is asked. After the sign-in, the model has the tools.
#[test]
fn an_agent_asks_its_caller_to_sign_in() {
    let program = Program::new();
    let endpoint = endpoint(&program);
    let caller = caller(&program, &endpoint);
    answers(&program, [calls(&[("tracker_track", json!({}))]), text("It is in Lyon.")]);
    let first = round_of(&caller, "ask_clerk", &question(), None, &accept());
    let [(key, link)] = &questions(&first)[..] else { panic!("{}", first.text()) };
    assert_eq!(key, "tracker.sign-in.1");
    assert!(program.sent(MODEL).is_empty(), "the model is not asked without the tools");
    program.sign_in_at(link, "ada");
    let second = round_of(&caller, "ask_clerk", &question(), Some(&first), &accept());
    assert_eq!((second.text(), missing(&second)), ("It is in Lyon.", String::new()));
    let asked = program.sent(MODEL);
    assert!(asked[0].contains("tracker_track") && asked[1].contains("in Lyon"), "{asked:?}");
}

/// A person who comes back too early is asked again with the same link. Then the agent answers without the tools, and says so.
#[test]
fn an_agent_asks_three_times() {
    let program = Program::new();
    let endpoint = endpoint(&program);
    let caller = caller(&program, &endpoint);
    let mut answer = round_of(&caller, "ask_clerk", &question(), None, &accept());
    let link = questions(&answer)[0].1.clone();
    for number in 2..=3 {
        answer = round_of(&caller, "ask_clerk", &question(), Some(&answer), &accept());
        assert_eq!(questions(&answer)[0], (format!("tracker.sign-in.{number}"), link.clone()));
    }
    answers(&program, [text("I do not know.")]);
    answer = round_of(&caller, "ask_clerk", &question(), Some(&answer), &accept());
    assert!(answer.text().starts_with("I do not know.\nThe server `tracker` requires you to sign in."), "{answer:?}");
}

/// A client that cannot be asked gets the link with the answer, in a sentence and in `_meta`. The log does not have it.
#[test]
fn a_caller_who_cannot_be_asked_gets_the_link_with_the_answer() {
    for revision in [Revision::V2026_07_28, Revision::V2025_11_25, Revision::V2024_11_05] {
        let program = Program::new();
        let endpoint = endpoint(&program);
        answers(&program, [text("I do not know.")]);
        let caller = caller(&program, &endpoint).revision(revision).capabilities(json!({}));
        let answer = testing::run(caller.call("ask_clerk", question()));
        let sentence =
            "The server `tracker` requires you to sign in. Open this link within 10 minutes, and then try again: ";
        assert!(answer.text().starts_with(&format!("I do not know.\n{sentence}{PAGE}?ticket=")), "{answer:?}");
        assert!(!answer.is_error() && missing(&answer).starts_with(&format!("{sentence}{PAGE}?ticket=")), "{answer:?}");
        assert!(!program.host.log_text().contains("ticket"), "{}", program.host.log_text());
    }
}

#[test]
fn a_caller_who_declines_gets_an_answer_without_the_tools() {
    let program = Program::new();
    let endpoint = endpoint(&program);
    answers(&program, [text("I do not know.")]);
    let caller = caller(&program, &endpoint);
    let first = round_of(&caller, "ask_clerk", &question(), None, &accept());
    let second = round_of(&caller, "ask_clerk", &question(), Some(&first), &json!({ "action": "decline" }));
    let sentence = "The server `tracker` was not called, because you did not agree to sign in.";
    assert_eq!((second.text(), &*missing(&second)), (&*format!("I do not know.\n{sentence}"), sentence));
}

/// A server can list its tools to everybody. Its calls then need the sign-in.
#[test]
fn a_call_of_an_agent_that_needs_a_sign_in_gives_the_link() {
    let program = Program::new();
    let endpoint = endpoint(&program);
    program.tracker.answer(list_of("track"));
    answers(&program, [calls(&[("tracker_track", json!({}))]), text("I do not know.")]);
    let caller = caller(&program, &endpoint).capabilities(json!({}));
    let answer = testing::run(caller.call("ask_clerk", question()));
    assert!(answer.text().starts_with("I do not know.\nThe server `tracker` requires you to sign in."), "{answer:?}");
    assert!(missing(&answer).contains(&format!("{PAGE}?ticket=")), "{answer:?}");
}
