//! Agents as tools.

use edge_mcp::agents::{Agent, AgentReply, Usage};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, McpServer, Tool};
use serde_json::json;

use crate::support::{Internal, SECRET, legacy, modern};

struct Echo {
    key: &'static str,
    description: &'static str,
}

impl Agent for Echo {
    fn key(&self) -> &str {
        self.key
    }

    fn name(&self) -> &'static str {
        "Echo"
    }

    fn description(&self) -> &str {
        self.description
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn generate(&self, message: String, cx: Context) -> Result<AgentReply, HandlerError> {
        match message.as_str() {
            "fail" => Err(HandlerError::new("Ask something else.")),
            "break" => Err(Internal.into()),
            "who" => Ok(AgentReply::new(cx.header("X-Who").unwrap_or_default())),
            _ => Ok(AgentReply::new(format!("{message}?")).with_usage(Usage { input_tokens: 3, output_tokens: 5 })),
        }
    }
}

fn echo(key: &'static str) -> Echo {
    Echo { key, description: "Asks back." }
}

fn endpoint(build: impl Fn() -> Result<McpServer, BuildError> + 'static) -> Endpoint {
    testing::endpoint(move |_| build())
}

fn endpoint_with_echo() -> Endpoint {
    endpoint(|| McpServer::builder("s", "1").agent(echo("echo")).build())
}

/// An agent is listed as the tool `ask_<key>`, with the title and the annotations that tool directories require.
#[test]
fn an_agent_is_listed_as_a_tool() {
    let answer = modern("tools/list", json!({})).ask_at(&endpoint_with_echo());
    assert_eq!(
        answer.result()["tools"],
        json!([{
            "name": "ask_echo",
            "title": "Echo",
            "description": "Ask agent 'Echo' a question. Agent description: Asks back.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "message": { "description": "The question or input for the agent.", "type": "string", "minLength": 1 },
                },
                "required": ["message"],
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": true, "destructiveHint": false, "openWorldHint": true },
        }])
    );
}

/// The content of an answer is one text. The token usage is in `_meta`, in both eras.
#[test]
fn an_answer_has_a_text_and_the_usage() {
    let ask = |message: &str| json!({ "name": "ask_echo", "arguments": { "message": message } });
    for request in [modern("tools/call", ask("Why")), legacy("tools/call", ask("Why"))] {
        let answer = request.ask_at(&endpoint_with_echo());
        assert_eq!(answer.tool_text(), ("Why?", false));
        assert_eq!(answer.result()["content"].as_array().map(Vec::len), Some(1));
        assert_eq!(answer.result()["_meta"]["edge-mcp/usage"], json!({ "inputTokens": 3, "outputTokens": 5 }));
    }
    let modern_answer = modern("tools/call", ask("Why")).ask_at(&endpoint_with_echo());
    assert_eq!(modern_answer.result()["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "s");
    assert!(
        legacy("tools/call", ask("who")).ask_at(&endpoint_with_echo()).result().get("_meta").is_none(),
        "the agent reported no usage"
    );
    let who = legacy("tools/call", ask("who")).header("X-Who", "ada").ask_at(&endpoint_with_echo());
    assert_eq!(who.tool_text(), ("ada", false), "the agent has the context of the call");
}

#[test]
fn a_failed_agent_is_an_error_result() {
    for (message, says) in
        [("fail", "Ask something else."), ("break", "The server failed to answer this request."), ("", "at least 1")]
    {
        let params = json!({ "name": "ask_echo", "arguments": { "message": message } });
        let answer = modern("tools/call", params).ask_at(&endpoint_with_echo());
        let (text, is_error) = answer.tool_text();
        assert!(is_error && text.contains(says) && !text.contains(SECRET), "{text}");
    }
}

/// A tool with the name of an agent's tool replaces the agent, with one warning in the log. Two agents with one key are rejected.
#[test]
fn a_tool_replaces_an_agent_of_the_same_name() {
    let tool = || Tool::new("ask_echo", "Is not an agent.", || async { "the tool" });
    let host = TestHost::new();
    for first in [true, false] {
        let endpoint = endpoint(move || {
            let server = McpServer::builder("s", "1");
            let server =
                if first { server.tool(tool()).agent(echo("echo")) } else { server.agent(echo("echo")).tool(tool()) };
            server.build()
        });
        for _ in 0..2 {
            let answer = modern("tools/call", json!({ "name": "ask_echo" })).ask_on(&endpoint, &host);
            assert_eq!(answer.tool_text(), ("the tool", false));
        }
        let listed = modern("tools/list", json!({})).ask_at(&endpoint);
        assert_eq!(listed.result()["tools"].as_array().map(Vec::len), Some(1));
    }
    let warnings: Vec<_> = host.log().into_iter().filter(|line| line["event"] == "definition").collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0]["problem"].as_str().is_some_and(|text| text.contains("the agent `echo`")), "{warnings:?}");
    let twice = McpServer::builder("s", "1").agent(echo("echo")).agent(echo("echo")).build();
    assert!(twice.err().is_some_and(|error| error.to_string().contains("twice")));
}

/// An agent with an empty description is rejected, with its key and name in the error. So is a key that a tool name cannot contain.
#[test]
fn invalid_agents_are_rejected() {
    for (agent, says) in [
        (Echo { key: "echo", description: "" }, vec!["agent", "\"echo\"", "\"Echo\"", "empty description"]),
        (Echo { key: "echo", description: " \n" }, vec!["agent", "empty description"]),
        (Echo { key: "a b", description: "d" }, vec!["ask_a b", "1 to 64"]),
    ] {
        let problem = McpServer::builder("s", "1").agent(agent).build().err().map(|error| error.to_string());
        let problem = problem.unwrap_or_default();
        assert!(says.iter().all(|part| problem.contains(part)), "{problem}");
    }
}
