//! Conversations with a model that are interrupted by a question to the client.

use edge_mcp::agents::ChatAgent;
use edge_mcp::testing;
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, Tool};
use serde_json::{Value, json};

use crate::chat_agent::{ask_name, clerk, local, over, question, tool_messages, with_tools};
use crate::fake_model::{asked, calls, model, text};
use crate::input_required::{all_capabilities, answer_all, retry, with_capabilities};
use crate::support::{Answer, legacy};

fn ada() -> Value {
    json!({ "action": "accept", "content": { "name": "Ada" } })
}

/// Returns the only question of a round, with its key.
fn asked_question(answer: &Answer) -> (String, Value) {
    let questions = answer.result()["inputRequests"].as_object().expect("questions");
    assert_eq!(questions.len(), 1, "{answer:?}");
    questions.iter().next().map(|(key, question)| (key.clone(), question.clone())).expect("a question")
}

/// A tool that asks the client ends the round. The next round continues the conversation and does not repeat requests to the model. The
/// request state is encrypted.
#[test]
fn a_conversation_continues_after_a_question() {
    let endpoint = with_tools();
    let two = calls(&[("double", json!({ "n": 4 })), ("ask", json!({}))]);
    let network = model([two, text("Hello, Ada.")]);
    let ask = |params: Value, capabilities: Value| {
        with_capabilities(capabilities, "tools/call", params).bearer("ada").ask_on(&endpoint, &over(&network))
    };
    let first = ask(question(), all_capabilities());
    let (key, question_asked) = asked_question(&first);
    assert!(key.starts_with("ask-") && key.ends_with("/name"), "{key}");
    assert_eq!(question_asked["method"], "elicitation/create");
    assert!(first.result()["requestState"].as_str().is_some_and(|state| state.starts_with("v2.")));
    assert_eq!(network.requests().len(), 1);
    let second = ask(retry(&question(), &first, answer_all(&first, &ada())), all_capabilities());
    assert_eq!(second.tool_text(), ("Hello, Ada.", false));
    assert_eq!(network.requests().len(), 2, "the first request to the model is not repeated");
    let contents: Vec<_> = tool_messages(&network).iter().map(|message| message["content"].clone()).collect();
    assert_eq!(contents, ["{\"double\":8}", "Ada"]);
    let usage = &second.result()["_meta"]["edge-mcp/usage"];
    assert_eq!(*usage, json!({ "inputTokens": 6, "outputTokens": 10 }), "the usage of both rounds");

    let network = model([calls(&[("ask", json!({}))])]);
    let ask = with_capabilities(json!({}), "tools/call", question()).bearer("ada");
    assert_eq!(
        ask.ask_on(&endpoint, &over(&network)).refusal(),
        (400, -32021),
        "the same error as for a direct call of the tool"
    );

    let network = model([calls(&[("ask", json!({}))]), text("No name.")]);
    let old = legacy("tools/call", question()).bearer("ada").ask_on(&endpoint, &over(&network));
    assert_eq!(old.tool_text(), ("No name.", false), "a client that cannot be asked at all");
    let content = tool_messages(&network)[0]["content"].as_str().expect("a text").to_owned();
    assert!(content.starts_with("The tool failed: This call needs the answer of a person"), "{content}");
}

fn open(build: impl Fn() -> McpServer + 'static) -> Endpoint {
    testing::endpoint(move |_| Ok(build()))
}

/// The conversation of an agent that another agent calls also continues without repeated requests to the model.
#[test]
fn conversations_of_nested_agents_continue_after_a_question() {
    let endpoint = open(|| {
        let chief = ChatAgent::new("chief", "The chief", "Knows whom to ask.", local()).tools(["ask_clerk"]);
        let ask = Tool::new("ask", "Asks.", ask_name);
        let server = McpServer::builder("s", "1").tool(ask).agent(clerk(local()).tools(["ask"])).agent(chief);
        server.build().expect("a server")
    });
    let network = model([
        calls(&[("ask_clerk", json!({ "message": "Who is it?" }))]),
        calls(&[("ask", json!({}))]),
        text("It is Ada."),
        text("Ada, says the clerk."),
    ]);
    let params = json!({ "name": "ask_chief", "arguments": { "message": "Who is it?" } });
    let ask =
        |params: Value| with_capabilities(all_capabilities(), "tools/call", params).ask_on(&endpoint, &over(&network));
    let first = ask(params.clone());
    assert_eq!(
        (network.requests().len(), first.result()["resultType"].as_str()),
        (2, Some("input_required")),
        "{first:?}"
    );
    let second = ask(retry(&params, &first, answer_all(&first, &ada())));
    assert_eq!(second.tool_text(), ("Ada, says the clerk.", false));
    let last = |nth: usize| asked(&network)[nth]["messages"].as_array().and_then(|all| all.last()).cloned();
    let contents = [last(2), last(3)].map(|message| message.expect("a message")["content"].clone());
    assert_eq!(contents, ["Ada", "It is Ada."]);
}

/// A second call of an agent with the same message starts a new conversation.
#[test]
fn an_equal_second_call_starts_a_new_conversation() {
    async fn twice(cx: Context) -> Result<String, HandlerError> {
        let question = || json!({ "message": "Who?" });
        let first = cx.call_tool("ask_clerk", question()).await?.text();
        let second = cx.call_tool("ask_clerk", question()).await?.text();
        Ok(format!("{first} {second}"))
    }
    let endpoint = open(|| {
        let name = Tool::new("name", "Who it is.", || async { "Ada" });
        let twice = Tool::new("twice", "Asks twice.", twice);
        let server = McpServer::builder("s", "1").tool(name).tool(twice).agent(clerk(local()).tools(["name"]));
        server.build().expect("a server")
    });
    let call = || calls(&[("name", json!({}))]);
    let network = model([call(), text("Ada."), call(), text("Still Ada.")]);
    let answer = legacy("tools/call", json!({ "name": "twice" })).ask_on(&endpoint, &over(&network));
    assert_eq!(answer.tool_text(), ("Ada. Still Ada.", false));
    let lengths: Vec<_> = asked(&network).iter().map(|request| request["messages"].as_array().map(Vec::len)).collect();
    assert_eq!(lengths, [Some(1), Some(3), Some(1), Some(3)]);
}
