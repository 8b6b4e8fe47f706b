//! Agents: whoever answers a question in words, as a tool.
//!
//! An agent with the key `librarian` is the tool `ask_librarian`. Its answer is the text alone; what it has used of a model is in
//! `_meta`.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::context::Context;
use crate::call::deadline::DEADLINE;
use crate::call::error::HandlerError;
use crate::call::result::{IntoToolResult, ToolResult};
use crate::protocol::content::Content;
use crate::protocol::description::Text;
use crate::protocol::description::is_blank;
use crate::server::builder::McpServerBuilder;
use crate::server::tool::{Origin, Tool};

/// Where the use of a model is in the `_meta` of an answer.
const USAGE: &str = "edge-mcp/usage";

/// Answers questions in words.
///
/// ```
/// use edge_mcp::{Agent, AgentReply};
/// use edge_mcp::{Context, McpServer, HandlerError};
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
///         "Says what it has heard."
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
    /// What its tool is named by, after `ask_`: `A-Z a-z 0-9 _ . -`.
    fn key(&self) -> &str;

    /// Its name for people.
    fn name(&self) -> &str;

    /// What it knows, for the model that decides whether to ask it. It must not be empty.
    fn description(&self) -> &str;

    /// Whether asking changes nothing.
    fn is_read_only(&self) -> bool {
        false
    }

    /// How long its tool may take, as [`Tool::deadline`] says it.
    fn deadline(&self) -> Duration {
        DEADLINE
    }

    /// The names of the server's tools that it calls. Where one of them is not added, the server is not built.
    fn tools(&self) -> &[Text] {
        &[]
    }

    /// Why it cannot be asked as it was put together, if it cannot. The server is not built then, and its error says this.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Answers `message`. The caller, what it may do, its headers and whatever the host has put into the context are in `cx`.
    ///
    /// # Errors
    /// What the caller is told in place of an answer.
    fn generate(&self, message: String, cx: Context) -> impl Future<Output = Result<AgentReply, HandlerError>>;
}

/// What an agent has answered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentReply {
    /// The answer.
    pub text: String,
    /// What it has used of a model, if it has.
    pub usage: Option<Usage>,
    /// The tools that it called in this round of the call, in this order, for programs that ask the agent themselves.
    #[serde(skip)]
    pub calls: Vec<AgentCall>,
}

/// A tool that an agent has called.
#[derive(Clone, Debug)]
pub struct AgentCall {
    /// The tool's name.
    pub name: Text,
    /// What it was given.
    pub arguments: serde_json::Value,
    /// What it has given.
    pub result: ToolResult,
}

impl AgentReply {
    /// An answer in words.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same, with what it has used.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
}

/// What of a model was used for an answer, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Read.
    pub input_tokens: u64,
    /// Written.
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
        let result = ToolResult::new([Content::text(self.text)]);
        Ok(match self.usage {
            Some(usage) => result.meta(USAGE, serde_json::to_value(usage)?),
            None => result,
        })
    }
}

// A doc comment would be published in the schema.
#[derive(Deserialize, JsonSchema)]
struct Question {
    /// The question or input for the agent.
    #[schemars(length(min = 1))]
    message: String,
}

impl Tool {
    /// Makes the tool `ask_<key>` of an agent, to set its [scopes](Self::scopes), [deadline](Self::deadline) or
    /// [hooks](Self::hook).
    pub fn of_agent(agent: impl Agent) -> Self {
        tool(agent)
    }
}

impl McpServerBuilder {
    /// Adds an agent as the tool `ask_<key>`. A tool that is added under that name replaces it.
    pub fn agent(self, agent: impl Agent) -> Self {
        self.tool(Tool::of_agent(agent))
    }
}

fn tool(agent: impl Agent) -> Tool {
    let agent = Rc::new(agent);
    let (key, name, description) = (agent.key().to_owned(), agent.name().to_owned(), agent.description().to_owned());
    let (is_read_only, deadline, tools) = (agent.is_read_only(), agent.deadline(), agent.tools().to_vec());
    let blank = || format!("(named {name:?}) has an empty description; a model chooses whom to ask by it");
    let problem = is_blank(&description).then(blank).or_else(|| agent.problem());
    let ask = move |Question { message }: Question, cx: Context| {
        let agent = agent.clone();
        async move { agent.generate(message, cx).await }
    };
    let about = format!("Ask agent '{name}' a question. Agent description: {description}");
    let mut tool = Tool::new(format!("ask_{key}"), ask).title(name).description(about).open_world().deadline(deadline);
    tool.annotations.read_only_hint = Some(is_read_only);
    tool.origin = Origin::Agent { key, problem, tools };
    tool
}
