//! Agents that send requests to a model and call tools for it.

use edge_mcp::agents::{AgentReply, ChatAgent, ChatModel};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{BuildError, Content, Context, Endpoint, FormAnswer, HandlerError, Json, McpServer, StaticTokens, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fake_model::{Reply, asked, call_message, calls, choice, model, status, text};
use crate::network;
use crate::support::{Answer, Internal, SECRET, envelope, modern};

const TOKENS: &str = r#"[
    {"token": "ada", "subject": "ada", "scopes": []},
    {"token": "bob", "subject": "bob", "scopes": ["kb:write"]}
]"#;

#[derive(Deserialize, JsonSchema)]
struct Number {
    /// Number to double
    n: i32,
}

#[derive(Serialize, JsonSchema)]
struct Double {
    double: i32,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn double(Number { n }: Number) -> (Json<Double>, Vec<Content>) {
    (Json(Double { double: n * 2 }), Vec::new())
}

pub async fn ask_name(cx: Context) -> Result<String, HandlerError> {
    match cx.elicit::<Name>("name", "What is your name?").await? {
        FormAnswer::Accepted(Name { name }) => Ok(name),
        FormAnswer::Declined | FormAnswer::Cancelled => Ok("no name".into()),
    }
}

pub fn local() -> ChatModel {
    ChatModel::new("http://localhost:11434/v1", "small").expect("a model")
}

pub fn clerk(model: ChatModel) -> ChatAgent {
    ChatAgent::new("clerk", "The clerk", "Knows.", model)
}

pub const TOOLS: [&str; 9] = ["double", "say.it", "write", "hidden", "refuse", "break", "picture", "long", "ask"];

/// Builds a server with the agent, the tools of [`TOOLS`], and the tool `secret`.
pub fn server(agent: ChatAgent) -> Result<McpServer, BuildError> {
    McpServer::builder("s", "1")
        .tool(Tool::new("double", "Doubles.", double))
        .tool(Tool::new("say.it", format!("{}é", "d".repeat(1023)), || async { "said" }))
        .tool(Tool::new("write", "Writes.", || async { "written" }).scopes(["kb:write"]))
        .tool(Tool::new("hidden", "Hides.", || async { "seen" }).visible_if(|_| false))
        .tool(Tool::new("secret", "Is not for the agent.", || async { "told" }))
        .tool(Tool::new("refuse", "Refuses.", || async {
            Err::<String, _>(HandlerError::new("Not on Sundays.").because(SECRET))
        }))
        .tool(Tool::new("break", "Breaks.", || async { Err::<String, HandlerError>(Internal.into()) }))
        .tool(Tool::new("picture", "Draws.", || async { Content::image(b"png", "image/png") }))
        .tool(Tool::new("long", "Goes on.", || async { "é".repeat(40_000) }))
        .tool(Tool::new("ask", "Asks.", ask_name))
        .agent(agent)
        .build()
}

pub fn endpoint(agent: impl Fn() -> ChatAgent + 'static) -> Endpoint {
    testing::endpoint(move |_| server(agent())).auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
}

/// Returns an endpoint with an agent that may call all of [`TOOLS`].
pub fn with_tools() -> Endpoint {
    endpoint(|| clerk(local()).tools(TOOLS))
}

pub fn question() -> Value {
    json!({ "name": "ask_clerk", "arguments": { "message": "How much?" } })
}

pub fn over(network: &TestHost) -> TestHost {
    network.clone()
}

/// Calls the agent with this token.
fn ask_as(token: &str, endpoint: &Endpoint, network: &TestHost) -> Answer {
    modern("tools/call", question()).bearer(token).ask_on(endpoint, &over(network))
}

/// Returns the results of the model's first tool calls, as the second request to the model contains them.
pub fn tool_messages(network: &TestHost) -> Vec<Value> {
    let second = asked(network).remove(1);
    let messages = second["messages"].as_array().expect("messages").clone();
    messages.into_iter().filter(|message| message["role"] == "tool").collect()
}

/// Without tools, a call of the agent is one request to the model.
#[test]
fn an_agent_without_tools_sends_one_request() {
    for (base, url) in [
        ("https://models.example.com/v1", "https://models.example.com/v1/chat/completions"),
        ("https://models.example.com/v1/", "https://models.example.com/v1/chat/completions"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1/chat/completions"),
    ] {
        let endpoint = endpoint(move || {
            let model = ChatModel::new(base, " large ").and_then(|model| model.api_key("k3y")).expect("a model");
            let model = model.max_tokens(9).temperature(0.5).parameter("seed", 7).answer_bytes(1234);
            clerk(model).instructions("Be brief.").read_only()
        });
        let network = model([text("Five.")]);
        let answer = ask_as("ada", &endpoint, &network);
        assert_eq!(answer.tool_text(), ("Five.", false));
        assert_eq!(answer.result()["_meta"]["edge-mcp/usage"], json!({ "inputTokens": 3, "outputTokens": 5 }));
        let request = network.requests().remove(0);
        assert_eq!((request.method().as_str(), request.uri().to_string().as_str()), ("POST", url));
        let header = |name: &str| request.headers()[name].to_str().expect("ASCII").to_owned();
        assert_eq!(
            [header("authorization"), header("content-type"), header("accept")],
            ["Bearer k3y", "application/json", "application/json"]
        );
        assert_eq!(
            asked(&network),
            [json!({
                "model": "large",
                "messages": [
                    { "role": "system", "content": "Be brief." }, { "role": "user", "content": "How much?" },
                ],
                "max_tokens": 9, "temperature": 0.5, "seed": 7,
            })]
        );
        let limits = network::limits(&network).expect("limits");
        assert_eq!((limits.time.as_secs(), limits.bytes), (60, 1234));
    }
    let listed = modern("tools/list", json!({})).bearer("ada").ask_at(&endpoint(|| clerk(local())));
    assert!(listed.result().to_string().contains("Ask agent 'The clerk' a question. Agent description: Knows."));
}

/// The next request repeats the message of the model unchanged, and contains the result of each of its tool calls in order.
#[test]
fn the_model_gets_the_results_of_its_tool_calls() {
    let mut both = call_message(&[("double", json!({ "n": 4 })), ("say_it", json!({}))]);
    both["reasoning_content"] = json!("Hm.");
    let network =
        model([choice(both.clone(), "tool_calls"), calls(&[("double", json!({ "n": 8 }))]), text("Sixteen.")]);
    let answer = ask_as("ada", &with_tools(), &network);
    assert_eq!(answer.tool_text(), ("Sixteen.", false));
    assert_eq!(
        answer.result()["_meta"]["edge-mcp/usage"],
        json!({ "inputTokens": 9, "outputTokens": 15 }),
        "the usage of all rounds"
    );
    let rounds = asked(&network);
    let first = json!({ "role": "user", "content": "How much?" });
    assert_eq!(rounds[0]["messages"], json!([first]));
    assert_eq!(
        rounds[1]["messages"],
        json!([
            first, both,
            { "role": "tool", "tool_call_id": "call0", "content": "{\"double\":8}" },
            { "role": "tool", "tool_call_id": "call1", "content": "said" },
        ])
    );
    assert_eq!(rounds[2]["messages"].as_array().map(Vec::len), Some(6));
    assert!(rounds.iter().all(|round| round["tools"] == rounds[0]["tools"] && round.get("tool_choice").is_none()));
    let listed = modern("tools/list", json!({})).bearer("ada").ask_at(&with_tools());
    let parameters = listed.result()["tools"][0]["inputSchema"].clone();
    assert_eq!(parameters["required"], json!(["n"]));
    let function = json!({ "name": "double", "description": "Doubles.", "parameters": parameters });
    assert_eq!(rounds[0]["tools"][0], json!({ "type": "function", "function": function }));
    let description = rounds[0]["tools"][1]["function"]["description"].as_str().expect("a description");
    assert_eq!(description, "d".repeat(1023), "a description has at most 1024 bytes");
}

/// The request lists the tools of the agent that the caller can call, under names that chat completions allow.
#[test]
fn only_tools_that_the_caller_can_call_are_offered() {
    for (token, names) in [
        ("ada", vec!["double", "say_it", "refuse", "break", "picture", "long", "ask"]),
        ("bob", vec!["double", "say_it", "write", "refuse", "break", "picture", "long", "ask"]),
    ] {
        let network = model([text("Yes.")]);
        ask_as(token, &with_tools(), &network);
        let request = asked(&network).remove(0);
        let offered = request["tools"].as_array().expect("tools").iter();
        let offered: Vec<_> = offered.map(|tool| tool["function"]["name"].as_str().expect("a name")).collect();
        assert_eq!(offered, names, "{token}");
    }
}

/// The model gets the result or the error of each call, and the conversation continues.
#[test]
fn the_model_gets_results_and_errors_of_calls() {
    let long = format!("{}\n(The result is cut off here: 14464 bytes are missing.)", "é".repeat(32 * 1024));
    for (token, name, arguments, says) in [
        ("ada", "double", json!({ "n": 2 }), "{\"double\":4}"),
        ("ada", "double", json!("{\"n\": 2"), "The arguments of `double` are not a JSON object."),
        ("ada", "double", json!("[2]"), "The arguments of `double` are not a JSON object."),
        ("ada", "double", json!("2"), "The arguments of `double` are not a JSON object."),
        (
            "ada",
            "double",
            json!({ "n": "2" }),
            "The tool failed: The arguments of `double` do not fit its input schema:",
        ),
        (
            "ada",
            "double",
            json!(""),
            "The tool failed: The arguments of `double` do not fit its input schema:\n- `n` is required",
        ),
        ("ada", "say_it", json!(""), "said"),
        ("ada", "say.it", json!({}), "said"),
        ("ada", "write", json!({}), "There is no tool `write`."),
        ("bob", "write", json!({}), "written"),
        ("bob", "hidden", json!({}), "There is no tool `hidden`."),
        ("bob", "secret", json!({}), "There is no tool `secret`."),
        ("bob", "none", json!({}), "There is no tool `none`."),
        ("bob", "ask_clerk", json!({ "message": "x" }), "There is no tool `ask_clerk`."),
        ("ada", "refuse", json!({}), "The tool failed: Not on Sundays."),
        ("ada", "break", json!({}), "The tool failed: The server failed to answer this request."),
        ("ada", "picture", json!({}), "(The result contains no text.)"),
        ("ada", "long", json!({}), &long),
    ] {
        let network = model([calls(&[(name, arguments.clone())]), text("Well.")]);
        assert_eq!(ask_as(token, &with_tools(), &network).tool_text(), ("Well.", false), "{name}");
        let content = tool_messages(&network)[0]["content"].as_str().expect("a text").to_owned();
        assert!(content.starts_with(says), "{name} {arguments}: {content}");
        assert!(!content.contains(SECRET));
    }
    // Some models send the arguments as an object instead of a string, and omit `type`.
    let bare = json!({ "role": "assistant", "tool_calls": [{ "id": "a", "function": { "name": "double", "arguments": { "n": 3 } } }] });
    let network = model([choice(bare, "stop"), text("Well.")]);
    ask_as("ada", &with_tools(), &network);
    assert_eq!(tool_messages(&network), [json!({ "role": "tool", "tool_call_id": "a", "content": "{\"double\":6}" })]);
}

/// Of the calls in one message, at most 16 are made. The others cost nothing: the message that goes back does not have them.
#[test]
fn the_number_of_calls_in_one_message_is_limited() {
    for (number, note) in [
        (16, ""),
        (18, "\n\n(2 more calls did not run: at most 16 calls of one answer run.)"),
        (5000, "\n\n(4984 more calls did not run: at most 16 calls of one answer run.)"),
    ] {
        let many = vec![("double", json!({ "n": 1 })); number];
        let network = model([calls(&many), text("Well.")]);
        assert_eq!(ask_as("ada", &with_tools(), &network).tool_text(), ("Well.", false));
        let results = tool_messages(&network);
        let made = results.iter().filter(|message| message["content"] == "{\"double\":2}").count();
        let last = format!("{{\"double\":2}}{note}");
        assert_eq!((results.len(), results[15]["content"].as_str()), (16, Some(last.as_str())));
        assert_eq!(made, if note.is_empty() { 16 } else { 15 });
        let messages = asked(&network)[1]["messages"].as_array().expect("messages").clone();
        let sent_back = messages.iter().filter_map(|message| message["tool_calls"].as_array());
        assert_eq!(sent_back.map(Vec::len).collect::<Vec<_>>(), [16]);
    }
    // 300 000 empty calls are 0.9 MB of text, and 50 MB as a value.
    let empty =
        format!(r#"{{"choices":[{{"message":{{"role":"assistant","tool_calls":[{}{{}}]}}}}]}}"#, "{},".repeat(300_000));
    let network = model([status(200, &empty), status(200, &empty)]);
    assert!(ask_as("ada", &with_tools(), &network).tool_text().1);
}

/// A call sends at most 8 requests to the model. The last one does not allow tool calls.
#[test]
fn an_agent_sends_at_most_8_requests() {
    let again = || calls(&[("say_it", json!({}))]);
    let seven = || (0..7).map(|_| again());
    let both = choice(
        {
            let mut both = call_message(&[("say_it", json!({}))]);
            both["content"] = json!("So far.");
            both
        },
        "stop",
    );
    for (last, says, is_error) in [
        (text("At last."), "At last.", false),
        (both, "So far.", false),
        (again(), "The model was asked 8 times and called tools each time", true),
    ] {
        let network = model(seven().chain([last]));
        let answer = ask_as("ada", &with_tools(), &network);
        assert!(answer.tool_text().0.starts_with(says) && answer.tool_text().1 == is_error, "{answer:?}");
        let rounds = asked(&network);
        let choices: Vec<_> = rounds.iter().map(|round| round["tool_choice"].as_str()).collect();
        assert_eq!(choices, [[None; 7].as_slice(), &[Some("none")]].concat());
        let last_message =
            |round: &Value| round["messages"].as_array().and_then(|all| all.last()).cloned().expect("a message");
        assert_eq!(last_message(&rounds[6])["content"], "said");
        assert_eq!(last_message(&rounds[7])["content"], "said\n\n(You cannot call more tools. Answer now.)");
    }
}

/// `first_call` calls a tool before the first request to the model. `revise` can change the reply, and gets all calls.
#[test]
fn an_agent_can_make_a_first_call_and_revise_its_reply() {
    let agent = || {
        let double = |question: &str| json!({ "n": question.len() });
        clerk(local()).tools(["double", "write"]).first_call("double", double).revise(|mut reply: AgentReply| {
            let calls = reply.calls.iter().map(|call| {
                format!("{}({}) = {}{}", call.name, call.arguments, call.result.text(), call.result.is_error())
            });
            let calls = calls.collect::<Vec<_>>().join("; ");
            reply.text = format!("{} [{calls}]", reply.text);
            reply
        })
    };
    let network = model([calls(&[("double", json!({}))]), text("Well.")]);
    let answer = ask_as("ada", &endpoint(agent), &network);
    let (words, is_error) = answer.tool_text();
    assert!(!is_error && words.starts_with("Well. [double({\"n\":9}) = false; double({}) = The arguments"), "{words}");
    assert_eq!(answer.result()["_meta"]["edge-mcp/usage"]["inputTokens"], 6);
    let request = asked(&network).remove(0);
    assert_eq!(
        request["messages"],
        json!([
            { "role": "user", "content": "How much?" },
            { "role": "assistant", "content": null, "tool_calls": [{
                "id": "firstcall", "type": "function", "function": { "name": "double", "arguments": "{\"n\":9}" },
            }] },
            { "role": "tool", "tool_call_id": "firstcall", "content": "{\"double\":18}" },
        ])
    );
    // The first call is skipped if the caller cannot call the tool.
    let agent = || clerk(local()).tools(["write"]).first_call("write", |_| json!({}));
    let network = model([text("Well.")]);
    ask_as("ada", &endpoint(agent), &network);
    assert_eq!(asked(&network)[0]["messages"].as_array().map(Vec::len), Some(1));
}

/// Each request to the model and each call of a known tool sends a progress notification with a message.
#[test]
fn an_agent_sends_progress_notifications() {
    let network = model([calls(&[("double", json!({ "n": 1 })), ("none", json!({}))]), text("Well.")]);
    let mut params = question();
    params["_meta"] = envelope();
    params["_meta"]["progressToken"] = json!("p");
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let ask = modern("tools/call", question()).with_body(message.to_string()).bearer("ada");
    let ask = ask.header("Accept", "application/json, text/event-stream");
    let answer = ask.ask_on(&with_tools(), &over(&network));
    let notifications: Vec<_> = answer.notifications.iter().map(|notification| &notification["params"]).collect();
    let messages: Vec<_> = notifications.iter().map(|params| params["message"].as_str().expect("a text")).collect();
    assert_eq!(messages, ["asking the model", "calling double", "asking the model"]);
    let progress: Vec<_> = notifications.iter().map(|params| params["progress"].as_f64().expect("a number")).collect();
    assert_eq!(progress, [1.0, 2.0, 3.0]);
}

/// A truncated answer ends with a note. A refusal is an answer. An invalid usage is omitted.
#[test]
fn truncated_refused_and_uncounted_answers_are_returned() {
    let uncounted = edge_mcp::host::Fetched::new(
        200,
        r#"{"choices":[{"message":{"content":"Yes."}}],"usage":{"prompt_tokens":-1}}"#,
    );
    let cases: [(Reply, &str); 3] = [
        (
            choice(json!({ "role": "assistant", "content": "One, two" }), "length"),
            "One, two\n\n(The answer ends here: the model has used all of its tokens.)",
        ),
        (choice(json!({ "role": "assistant", "content": null, "refusal": "I will not." }), "stop"), "I will not."),
        (Ok(uncounted), "Yes."),
    ];
    for (said, says) in cases {
        let answer = ask_as("ada", &with_tools(), &model([said]));
        assert_eq!(answer.tool_text(), (says, false));
        assert_eq!(answer.result()["_meta"].get("edge-mcp/usage").is_none(), says == "Yes.");
    }
}
