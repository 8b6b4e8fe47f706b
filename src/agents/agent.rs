//! Agents, which answer questions in natural language, served as tools.
//!
//! An agent with the key `librarian` is the tool `ask_librarian`. Its result is the text of the answer. The token usage
//! of a model is in `_meta`.

use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use edge_json::object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::context::Context;
use crate::call::deadline::DEADLINE;
use crate::call::error::HandlerError;
use crate::call::result::{IntoToolResult, ToolResult};
use crate::protocol::content::Content;
use crate::protocol::description::is_blank;
use crate::server::builder::McpServerBuilder;
use crate::server::source::MISSING;
use crate::server::tool::{Tool, ToolOrigin};
use crate::text::Text;

/// The member of `_meta` with the token usage.
const USAGE: &str = "edge-mcp/usage";

/// An agent that answers questions in natural language.
///
/// ```
/// use edge_mcp::agents::{Agent, AgentReply};
/// use edge_mcp::{Context, HandlerError, McpServer};
///
/// struct Parrot;
///
/// impl Agent for Parrot {
///     fn key(&self) -> &str {
///         "parrot"
///     }
///
///     fn name(&self) -> &str {
///         "Parrot"
///     }
///
///     fn description(&self) -> &str {
///         "Repeats the message."
///     }
///
///     async fn generate(&self, message: String, _: Context) -> Result<AgentReply, HandlerError> {
///         Ok(AgentReply::new(format!("{message}, {message}!")))
///     }
/// }
///
/// let server = McpServer::builder("birds", "1.0.0").agent(Parrot).build()?;
/// # Ok::<_, edge_mcp::BuildError>(())
/// ```
pub trait Agent: 'static {
    /// Returns the key, which names the tool `ask_<key>`. Allowed characters: `A-Z a-z 0-9 _ . -`.
    fn key(&self) -> &str;

    /// Returns the name for display.
    fn name(&self) -> &str;

    /// Returns the description, which a model uses to choose an agent. It must not be empty.
    fn description(&self) -> &str;

    /// Returns whether the agent does not modify data (`readOnlyHint`).
    fn is_read_only(&self) -> bool {
        false
    }

    /// Returns the deadline of the tool: see [`Tool::deadline`].
    fn deadline(&self) -> Duration {
        DEADLINE
    }

    /// Returns the names of the server's tools that the agent calls. The server cannot be built if one of them is
    /// missing.
    fn tools(&self) -> &[Text] {
        &[]
    }

    /// Returns the problem with the agent's configuration, if there is one. The server then cannot be built, and the
    /// error contains this text.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Answers `message`. `cx` contains the caller and its scopes, the headers, and the values that the server function stored.
    ///
    /// # Errors
    /// The error for the caller.
    fn generate(&self, message: String, cx: Context) -> impl Future<Output = Result<AgentReply, HandlerError>>;
}

/// The servers whose tools an agent does not have, with the reasons.
pub(super) type Missing = BTreeMap<String, String>;

/// The reply of an agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentReply {
    /// The text of the answer.
    pub text: String,
    /// The token usage of the model, if there is one.
    pub usage: Option<Usage>,
    /// By the names of servers whose tools the agent did not have: the reason, for the caller. It can be the link of a sign-in, which is only for
    /// this caller. The result of the tool has these sentences after the text, and in its `_meta`.
    #[serde(default)]
    pub missing: BTreeMap<String, String>,
    /// The tool calls of this round, in order, for programs that call the agent directly.
    #[serde(skip)]
    pub calls: Vec<AgentCall>,
}

/// A tool call of an agent.
#[derive(Clone, Debug)]
pub struct AgentCall {
    /// The name of the tool.
    pub name: Text,
    /// The arguments.
    pub arguments: Value,
    /// The result.
    pub result: ToolResult,
}

impl AgentReply {
    /// Creates a reply with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the token usage.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
}

/// The token usage of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// The tokens that the model read.
    pub input_tokens: u64,
    /// The tokens that the model wrote.
    pub output_tokens: u64,
}

impl Usage {
    pub(crate) fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

impl IntoToolResult for AgentReply {
    fn into_tool_result(self) -> Result<ToolResult, HandlerError> {
        let sentences: Vec<_> = self.missing.values().map(String::as_str).collect();
        let sentences = (!sentences.is_empty()).then(|| Content::text(sentences.join("\n")));
        let mut result = ToolResult::new([Content::text(self.text)].into_iter().chain(sentences));
        if !self.missing.is_empty() {
            let missing = self.missing.into_iter().map(|(name, problem)| (name, problem.into()));
            result = result.meta(MISSING, Value::Object(missing.collect()));
        }
        Ok(match self.usage {
            Some(Usage { input_tokens, output_tokens }) => {
                let usage = vec![("inputTokens", input_tokens.into()), ("outputTokens", output_tokens.into())];
                result.meta(USAGE, object(usage))
            }
            None => result,
        })
    }
}

// The arguments of the tool. This is not a doc comment, because schemars would publish it in the schema.
#[derive(Deserialize, JsonSchema)]
struct AskArguments {
    /// The question or input for the agent.
    #[schemars(length(min = 1))]
    message: String,
}

impl Tool {
    /// Creates the tool `ask_<key>` of an agent. Use this to set its [scopes](Self::scopes), [deadline](Self::deadline)
    /// or [hooks](Self::hook).
    pub fn of_agent(agent: impl Agent) -> Self {
        tool(agent)
    }
}

impl McpServerBuilder {
    /// Adds an agent as the tool `ask_<key>`. A tool with the same name replaces it.
    pub fn agent(self, agent: impl Agent) -> Self {
        self.tool(Tool::of_agent(agent))
    }
}

fn tool(agent: impl Agent) -> Tool {
    let agent = Rc::new(agent);
    let (key, name, description) = (agent.key().to_owned(), agent.name().to_owned(), agent.description().to_owned());
    let (is_read_only, deadline, tools) = (agent.is_read_only(), agent.deadline(), agent.tools().to_vec());
    let blank = || format!("(named {name:?}) has an empty description; a model needs it to choose an agent");
    let problem = is_blank(&description).then(blank).or_else(|| agent.problem());
    let ask = move |AskArguments { message }: AskArguments, cx: Context| {
        let agent = agent.clone();
        async move { agent.generate(message, cx).await }
    };
    let about = format!("Ask agent '{name}' a question. Agent description: {description}");
    let mut tool = Tool::new(format!("ask_{key}"), about, ask).title(name).open_world().deadline(deadline);
    // An agent that is not read-only may call any tool of the server.
    tool.annotations.set_effect(is_read_only, !is_read_only);
    let problem = move |has_tool: &dyn Fn(&str) -> bool| {
        let missing = || tools.iter().find(|name| !has_tool(name));
        let missing =
            || missing().map(|name| format!("calls the tool `{name}`, which the server does not have for agents"));
        problem.clone().or_else(missing)
    };
    tool.origin = Some(ToolOrigin { kind: "agent", key, problem: Box::new(problem) });
    tool
}
