//! Agents that ask a model, at any endpoint with the chat completions API of OpenAI, or on Workers AI.

mod conversation;
mod model;
mod offered;
mod wire;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::Value;

use self::conversation::Chat;
pub use self::model::ChatModel;
use self::offered::{AgentTool, own_tools, wire_name};
use super::agent::{Agent, AgentReply, Missing};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{AGENT_SECONDS, LONGEST_DEADLINE_SECONDS};
use crate::models::Deadline;
use crate::server::source::{Source, after};
use crate::text::Text;

/// The time by which the tool's deadline exceeds the agent's time limit. So the agent can report its own timeout first.
const GRACE: Duration = Duration::from_secs(5);
/// The longest time for an answer.
const LONGEST: Duration = Duration::from_secs(LONGEST_DEADLINE_SECONDS - GRACE.as_secs());

type FirstCall = (Text, Box<dyn Fn(&str) -> Value>);
type Revise = Box<dyn Fn(AgentReply) -> AgentReply>;
type AddSources =
    for<'a> fn(Vec<AgentTool>, &'a dyn Source, &'a Context) -> LocalBoxFuture<'a, (Vec<AgentTool>, Missing)>;

/// An agent that asks a model and calls tools of the same server for it. It calls only its own [tools](Self::tools), with
/// the caller's permissions. With the feature `client`, it can also call tools of other servers.
///
/// ```
/// use edge_mcp::agents::{ChatAgent, ChatModel};
/// use edge_mcp::{McpServer, Tool};
///
/// let model = ChatModel::new("https://models.example.com/v1", "large")?;
/// let clerk = ChatAgent::new("clerk", "The clerk", "Knows when parcels are collected.", model)
///     .instructions("Answer in one sentence. Look up every time that you name.")
///     .tools(["collection-times"])
///     .read_only();
/// let times = Tool::new("collection-times", "When parcels are collected.", || async { "On weekdays at five." });
/// let server = McpServer::builder("parcels", "1.0.0").tool(times).agent(clerk).build()?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct ChatAgent {
    key: Text,
    name: Text,
    description: Text,
    model: ChatModel,
    instructions: Text,
    is_read_only: bool,
    time_limit: Duration,
    tools: Vec<Text>,
    sources: Option<AgentSources>,
    first_call: Option<FirstCall>,
    revise: Option<Revise>,
}

/// The sources of an agent. Only [`ChatAgent::source`] creates this value, so the wasm module of an agent without sources does not contain
/// the functions that it points to.
struct AgentSources {
    /// All sources as one.
    all: Rc<dyn Source>,
    /// Returns the tools with those that the sources find.
    add_sources: AddSources,
}

impl ChatAgent {
    /// Creates an agent with this key, name and [description](Agent::description), which asks `model`.
    pub fn new(key: impl Into<Text>, name: impl Into<Text>, description: impl Into<Text>, model: ChatModel) -> Self {
        Self {
            key: key.into(),
            name: name.into(),
            description: description.into(),
            model,
            instructions: Text::default(),
            is_read_only: false,
            time_limit: Duration::from_secs(AGENT_SECONDS),
            tools: Vec::new(),
            sources: None,
            first_call: None,
            revise: None,
        }
    }

    /// Sets the system message of the model.
    pub fn instructions(mut self, instructions: impl Into<Text>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// Declares that the agent and its tools do not modify data (`readOnlyHint`).
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Sets the time limit for one answer with all its rounds: 60 s by default, at most 295 s.
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.time_limit = time.min(LONGEST);
        self
    }

    /// Adds tools of the server that the model may call. A tool that does not exist for a caller, or whose scopes the
    /// caller lacks, is not offered to the model.
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        self.tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds a source of tools, such as the tools of other MCP servers. The agent asks it for the tools at each question, for the caller of
    /// the question. The server does not serve these tools itself.
    ///
    /// A caller who must sign in to a server first is asked to open the link, if the client can be asked. If the tools of a
    /// server are missing, for this or another reason, the agent answers without them. Its result then has the reason, which can be the link.
    ///
    /// Scopes, visibility and hooks of the server apply as to its own tools. A tool is left out if an earlier tool has its name, or if chat
    /// completions do not allow its name.
    ///
    /// ```
    /// # #[cfg(feature = "client")]
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use edge_mcp::client::{McpClient, Upstream};
    /// use edge_mcp::agents::{ChatAgent, ChatModel};
    ///
    /// let client = McpClient::builder("desk", "1.0.0")
    ///     .server("parcels", Upstream::at("https://parcels.example.com/mcp")?)
    ///     .build()?;
    /// let model = ChatModel::new("https://models.example.com/v1", "large")?;
    /// let clerk = ChatAgent::new("clerk", "The clerk", "Knows where parcels are.", model).source(client.tools(["parcels_track"]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn source(mut self, source: impl Source + 'static) -> Self {
        let others = self.sources.take().map(|sources| sources.all);
        self.sources = Some(AgentSources {
            all: after(others, source),
            add_sources: |offered, sources, cx| offered::with_sources(offered, sources, cx).boxed_local(),
        });
        self
    }

    /// Returns the tools that the model may call: those of the server, and then those of the sources. Returns also what the sources are missing.
    async fn offered(&self, cx: &Context) -> (Vec<AgentTool>, Missing) {
        let own = own_tools(&self.tools, cx);
        match &self.sources {
            Some(sources) => (sources.add_sources)(own, &*sources.all, cx).await,
            None => (own, Missing::default()),
        }
    }

    /// Returns whether the agent can have the tool `name`.
    fn can_have(&self, name: &Text) -> bool {
        self.tools.contains(name) || self.sources.as_ref().is_some_and(|sources| sources.all.tool(name).is_some())
    }

    /// Calls one of the agent's [tools](Self::tools) before the model is asked. `arguments` returns the arguments for a
    /// question. In the conversation, the call looks like a call of the model. This guarantees a lookup that some models would skip.
    pub fn first_call(mut self, name: impl Into<Text>, arguments: impl Fn(&str) -> Value + 'static) -> Self {
        self.first_call = Some((name.into(), Box::new(arguments)));
        self
    }

    /// Sets a function that changes each reply, for example with the results of the tool calls.
    pub fn revise(mut self, revise: impl Fn(AgentReply) -> AgentReply + 'static) -> Self {
        self.revise = Some(Box::new(revise));
        self
    }

    /// Returns the messages that the conversation begins with: the instructions, the question, and the first call.
    fn first_messages(&self, question: &str, tools: &[AgentTool]) -> Vec<Value> {
        let mut messages = Vec::new();
        if !self.instructions.is_empty() {
            messages.push(wire::message("system", &self.instructions));
        }
        messages.push(wire::message("user", question));
        if let Some((name, arguments)) = &self.first_call
            && let Some(tool) = tools.iter().find(|tool| tool.name() == name)
        {
            messages.push(wire::first_call(tool.wire_name(), &arguments(question)));
        }
        messages
    }
}

impl Agent for ChatAgent {
    fn key(&self) -> &str {
        &self.key
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn deadline(&self) -> Duration {
        self.time_limit.saturating_add(GRACE)
    }

    fn tools(&self) -> &[Text] {
        &self.tools
    }

    fn problem(&self) -> Option<String> {
        let first = self.first_call.as_ref().map(|(name, _)| name);
        if let Some(name) = first.filter(|name| !self.can_have(name)) {
            return Some(format!("has the first call `{name}`, which is not one of its tools"));
        }
        let names: Vec<_> = self.tools.iter().map(|name| wire_name(name)).collect();
        let duplicate =
            names.iter().enumerate().find(|(nth, name)| names.iter().take(*nth).any(|other| other == *name));
        let duplicate = duplicate.map(|(_, name)| {
            format!("has two tools with the name `{name}` in chat completions, where `.` becomes `_`")
        });
        duplicate.or_else(|| self.model.problem())
    }

    async fn generate(&self, message: String, cx: Context) -> Result<AgentReply, HandlerError> {
        let work = async || {
            let deadline = Deadline::new(self.time_limit, &cx);
            let (tools, missing) = self.offered(&cx).await;
            let conversation = Chat {
                model: &self.model,
                cx: &cx,
                tools: &tools,
                deadline,
                messages: self.first_messages(&message, &tools),
                missing,
                calls: RefCell::default(),
                progress: Cell::default(),
            };
            let reply = conversation.answer().await?;
            Ok(match &self.revise {
                Some(revise) => revise(reply),
                None => reply,
            })
        };
        cx.step(format_args!("ask_{}", self.key), &message, work).await
    }
}
