//! Chat models.

use std::rc::Rc;

use serde_json::Value;

use super::wire;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::config::ConfigError;
use crate::host::Environment;
use crate::limits::MODEL_ANSWER;
use crate::models::{Ai, Deadline, Model, ModelFailure, ModelKind, ask};

const CHAT: ModelKind = ModelKind { noun: "model", path: "/chat/completions", answer_bytes: MODEL_ANSWER };

/// The members of a request that the agent sets.
const OWN: [&str; 6] = ["messages", "model", "n", "stream", "tool_choice", "tools"];

/// A model at an endpoint with the chat completions API of OpenAI (`POST /chat/completions`), or a text generation model of Workers AI.
/// The endpoint may be a provider, a gateway or a local server.
///
/// ```
/// use edge_mcp::agents::ChatModel;
///
/// let key = std::env::var("MODEL_KEY").unwrap_or_default();
/// let hosted = ChatModel::new("https://models.example.com/v1", "large")?.api_key(&key)?.max_tokens(2000);
/// let local = ChatModel::new("http://localhost:11434/v1", "small")?.temperature(0.0);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ChatModel {
    model: Model,
    /// Reads an answer. Only the constructors name the functions, so a wasm module contains only those that it uses.
    read: fn(&[u8]) -> Result<Value, ModelFailure>,
}

impl ChatModel {
    /// Creates the model `model` of the endpoint at `base_url`. The URL is the part before `/chat/completions`, such as
    /// `https://models.example.com/v1`. A trailing slash is ignored.
    ///
    /// # Errors
    /// `base_url` is not an HTTPS or localhost URL, or has a query, or ends in `/chat/completions`. Or `model` is
    /// blank.
    pub fn new(base_url: &str, model: &str) -> Result<Self, ConfigError> {
        Model::at(&CHAT, base_url, model).map(Self::at_endpoint)
    }

    /// Creates the model from environment variables for its base URL, its name and its API key. Returns `None` if none
    /// of them is set. The API key is optional.
    ///
    /// # Errors
    /// A variable is invalid, or the URL or the name is missing while another variable is set.
    ///
    /// ```
    /// use edge_mcp::agents::ChatModel;
    ///
    /// let environment = |name: &str| std::env::var(name).ok();
    /// let model = ChatModel::from_environment(&environment, ["CLERK_MODEL_URL", "CLERK_MODEL", "CLERK_API_KEY"])?;
    /// # Ok::<_, edge_mcp::ConfigError>(())
    /// ```
    pub fn from_environment(
        environment: &impl Environment,
        variables: [&'static str; 3],
    ) -> Result<Option<Self>, ConfigError> {
        Ok(Model::from_environment(&CHAT, environment, variables)?.map(Self::at_endpoint))
    }

    fn at_endpoint(model: Model) -> Self {
        Self { model, read: wire::read }
    }

    /// Creates the model `model` of Workers AI, such as `@cf/meta/llama-3.3-70b-instruct-fp8-fast`. `ai` is the binding of the Worker. Such a
    /// model has no API key.
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// use edge_mcp::agents::ChatModel;
    /// use edge_mcp::models::Ai;
    ///
    /// fn model(ai: Rc<dyn Ai>) -> ChatModel {
    ///     ChatModel::workers_ai(ai, "@cf/meta/llama-3.3-70b-instruct-fp8-fast").max_tokens(2000)
    /// }
    /// ```
    pub fn workers_ai(ai: Rc<dyn Ai>, model: &str) -> Self {
        Self { model: Model::on(&CHAT, ai, model), read: wire::read_workers_ai }
    }

    /// Sets the API key, which is sent as `Authorization: Bearer <key>`.
    ///
    /// # Errors
    /// `key` has characters other than printable ASCII.
    pub fn api_key(mut self, key: &str) -> Result<Self, ConfigError> {
        self.model.authorize("api_key", key)?;
        Ok(self)
    }

    /// Sets the maximum number of tokens in one answer (`max_tokens`). Without it, the endpoint decides.
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.parameter("max_tokens", tokens)
    }

    /// Sets the sampling temperature (`temperature`). Without it, the endpoint decides.
    pub fn temperature(self, temperature: f64) -> Self {
        self.parameter("temperature", temperature)
    }

    /// Sets any other parameter of the request, such as `max_completion_tokens`. The server cannot be built with a
    /// parameter that the agent sets: `model`, `messages`, `tools`, `tool_choice`, `stream`, `n`.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.model.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets the maximum size of one answer in bytes: 1 MiB by default.
    pub fn answer_bytes(mut self, bytes: usize) -> Self {
        self.model.answer_bytes = bytes;
        self
    }

    /// Returns the problem with the parameters, if there is one.
    pub(super) fn problem(&self) -> Option<String> {
        let own = OWN.into_iter().find(|name| self.model.parameters.contains_key(*name))?;
        Some(format!("has the model parameter `{own}`, which is reserved for the agent"))
    }

    /// Returns the answer to these messages: the message, the finish reason and the token usage. The model may call `tools`, unless `is_last`.
    pub(super) async fn complete(
        &self,
        messages: &[Value],
        tools: &[Value],
        is_last: bool,
        deadline: Deadline,
        cx: &Context,
    ) -> Result<Value, HandlerError> {
        let body = wire::request(self.model.request(), messages, tools, is_last);
        ask(&self.model, &body, self.read, deadline, cx).await
    }

    /// Returns the text with which the model answers one message. It cannot call tools.
    pub(crate) async fn answer(
        &self,
        instructions: &str,
        message: &str,
        deadline: Deadline,
        cx: &Context,
    ) -> Result<String, HandlerError> {
        let messages = [wire::message("system", instructions), wire::message("user", message)];
        let answer = self.complete(&messages, &[], true, deadline, cx).await?;
        Ok(answer.get("message").map_or("", wire::text).to_owned())
    }
}
