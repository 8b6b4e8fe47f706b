//! The endpoint, name and parameters of a model.

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request};
use serde_json::{Map, Value};

use crate::config::{ConfigError, SecureUrl};
use crate::host::Environment;
use crate::limits::MODEL_ANSWER;

/// The members of a request that the agent sets.
const OWN: [&str; 6] = ["messages", "model", "n", "stream", "tool_choice", "tools"];

/// A model at an endpoint with the chat completions API of OpenAI (`POST /chat/completions`). The endpoint may be a
/// provider, a gateway or a local server.
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
pub struct ChatModel {
    endpoint: SecureUrl,
    model: String,
    /// Marked as sensitive, so that it is not printed.
    authorization: Option<HeaderValue>,
    parameters: Map<String, Value>,
    answer_bytes: usize,
}

impl ChatModel {
    /// Creates the model `model` of the endpoint at `base_url`. The URL is the part before `/chat/completions`, such as
    /// `https://models.example.com/v1`. A trailing slash is ignored.
    ///
    /// # Errors
    /// `base_url` is not an HTTPS or localhost URL, or has a query, or ends in `/chat/completions`. Or `model` is
    /// blank.
    pub fn new(base_url: &str, model: &str) -> Result<Self, ConfigError> {
        Self::named(["base_url", "model"], base_url, model)
    }

    fn named([url, name]: [&'static str; 2], base_url: &str, model: &str) -> Result<Self, ConfigError> {
        let path = base_url.trim_end_matches('/');
        let endpoint = SecureUrl::parse(&format!("{path}/chat/completions"));
        let endpoint = endpoint.map_err(|problem| ConfigError::new(url, problem))?;
        if endpoint.has_query() || path.ends_with("/chat/completions") {
            let problem = "must be the base URL before /chat/completions, such as https://models.example.com/v1";
            return Err(ConfigError::new(url, problem));
        }
        if model.trim().is_empty() {
            return Err(ConfigError::new(name, "must be the name of the model at its endpoint"));
        }
        Ok(Self {
            endpoint,
            model: model.trim().to_owned(),
            authorization: None,
            parameters: Map::new(),
            answer_bytes: MODEL_ANSWER,
        })
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
        [url, name, key]: [&'static str; 3],
    ) -> Result<Option<Self>, ConfigError> {
        let set = |variable| environment.variable(variable).filter(|value| !value.trim().is_empty());
        let missing = |variable, [one, other]: [&str; 2]| {
            Err(ConfigError::new(variable, format!("is not set, but {one} or {other} is")))
        };
        match (set(url), set(name), set(key)) {
            (None, None, None) => Ok(None),
            (None, ..) => missing(url, [name, key]),
            (_, None, _) => missing(name, [url, key]),
            (Some(base_url), Some(model), api_key) => {
                let model = Self::named([url, name], base_url.trim(), &model)?;
                Ok(Some(match api_key {
                    Some(api_key) => model.authorized(key, api_key.trim())?,
                    None => model,
                }))
            }
        }
    }

    /// Sets the API key, which is sent as `Authorization: Bearer <key>`.
    ///
    /// # Errors
    /// `key` has characters other than printable ASCII.
    pub fn api_key(self, key: &str) -> Result<Self, ConfigError> {
        self.authorized("api_key", key)
    }

    fn authorized(mut self, variable: &'static str, key: &str) -> Result<Self, ConfigError> {
        let is_printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let value = HeaderValue::from_str(&format!("Bearer {key}")).ok().filter(|_| is_printable);
        let mut value =
            value.ok_or_else(|| ConfigError::new(variable, "has characters that are not printable ASCII"))?;
        value.set_sensitive(true);
        self.authorization = Some(value);
        Ok(self)
    }

    /// Sets the maximum number of tokens in one answer (`max_tokens`). Without it, the endpoint decides.
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.parameter("max_tokens", tokens)
    }

    /// Sets the sampling temperature (`temperature`). Without it, the endpoint decides.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.parameter("temperature", temperature)
    }

    /// Sets any other parameter of the request, such as `max_completion_tokens`. The server cannot be built with a
    /// parameter that the agent sets: `model`, `messages`, `tools`, `tool_choice`, `stream`, `n`.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets the maximum size of one answer in bytes: 1 MiB by default.
    #[must_use]
    pub fn answer_bytes(mut self, bytes: usize) -> Self {
        self.answer_bytes = bytes;
        self
    }

    /// Returns the problem with the parameters, if there is one.
    pub(super) fn problem(&self) -> Option<String> {
        let own = OWN.into_iter().find(|name| self.parameters.contains_key(*name))?;
        Some(format!("has the model parameter `{own}`, which is reserved for the agent"))
    }

    pub(super) fn name(&self) -> &str {
        &self.model
    }

    pub(super) fn parameters(&self) -> &Map<String, Value> {
        &self.parameters
    }

    pub(super) fn limit(&self) -> usize {
        self.answer_bytes
    }

    /// Creates a request with this body.
    pub(super) fn request(&self, body: String) -> Request<String> {
        let mut request = self.endpoint.request(Method::POST, body);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        request
    }
}
