//! Where a model is, and how it is asked.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Request, Uri};
use serde_json::{Map, Value};

use crate::auth::{ConfigError, SecureUrl};
use crate::host::Environment;
use crate::limits::MODEL_ANSWER;

/// What the agent itself says in each request.
const OWN: [&str; 6] = ["messages", "model", "n", "stream", "tool_choice", "tools"];

/// A model at an endpoint that speaks the chat completions of OpenAI (`POST /chat/completions`): a provider's, a gateway's, or one on
/// the developer's own machine.
///
/// ```
/// use edge_mcp::ChatModel;
///
/// let key = std::env::var("MODEL_KEY").unwrap_or_default();
/// let hosted = ChatModel::new("https://models.example.com/v1", "large")?.api_key(&key)?.max_tokens(2000);
/// let local = ChatModel::new("http://localhost:11434/v1", "small")?.temperature(0.0);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChatModel {
    endpoint: Uri,
    model: String,
    /// Marked as sensitive: it is not shown.
    authorization: Option<HeaderValue>,
    parameters: Map<String, Value>,
    answer_bytes: usize,
}

impl ChatModel {
    /// The model of that name, as the endpoint at `base_url` calls it. The URL is the one that `/chat/completions` follows, such as
    /// `https://models.example.com/v1`; a slash at its end makes no difference.
    ///
    /// # Errors
    /// `base_url` is no HTTPS URL, nor one on localhost, or has a query; or `model` is blank.
    pub fn new(base_url: &str, model: &str) -> Result<Self, ConfigError> {
        Self::named(["base_url", "model"], base_url, model)
    }

    fn named([url, name]: [&'static str; 2], base_url: &str, model: &str) -> Result<Self, ConfigError> {
        let base = SecureUrl::parse(base_url).map_err(|problem| ConfigError::new(url, problem))?;
        let path = base_url.trim_end_matches('/');
        if base.has_query() || path.ends_with("/chat/completions") {
            let problem = "must be the URL that /chat/completions follows, such as https://models.example.com/v1";
            return Err(ConfigError::new(url, problem));
        }
        let endpoint = format!("{path}/chat/completions").parse();
        if model.trim().is_empty() {
            return Err(ConfigError::new(name, "must name the model, as its endpoint calls it"));
        }
        Ok(Self {
            endpoint: endpoint.map_err(|_| ConfigError::new(url, "must be a URL"))?,
            model: model.trim().to_owned(),
            authorization: None,
            parameters: Map::new(),
            answer_bytes: MODEL_ANSWER,
        })
    }

    /// The model that the environment names, by the variables of its base URL, its name, and its API key. `None`, if none of the three
    /// is set; a model on one's own machine may need no key.
    ///
    /// # Errors
    /// One of them is wrong, or the URL or the name is missing where something else is set.
    ///
    /// ```
    /// use edge_mcp::ChatModel;
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

    /// Shows the endpoint who asks: `Authorization: Bearer <key>`.
    ///
    /// # Errors
    /// `key` has characters that no header can hold.
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

    /// How much it may write in one answer (`max_tokens`). Without it, the endpoint decides.
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.parameter("max_tokens", tokens)
    }

    /// How much it leaves to chance (`temperature`), where 0 is least. Without it, the endpoint decides.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.parameter("temperature", temperature)
    }

    /// Anything else that the endpoint takes in a request, such as `max_completion_tokens`. What the agent says itself (`model`,
    /// `messages`, `tools`, `tool_choice`, `stream`, `n`) is refused when the server is built.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// The most bytes that one answer may have: 1 MiB unless set.
    #[must_use]
    pub fn answer_bytes(mut self, bytes: usize) -> Self {
        self.answer_bytes = bytes;
        self
    }

    /// Why it cannot be asked, if it cannot.
    pub(super) fn problem(&self) -> Option<String> {
        let own = OWN.into_iter().find(|name| self.parameters.contains_key(*name))?;
        Some(format!("gives its model the parameter `{own}`, which it sets itself"))
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

    /// A request with this body.
    pub(super) fn request(&self, body: String) -> Request<String> {
        let mut request = Request::new(body);
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.endpoint.clone();
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.authorization.clone().map(|value| (AUTHORIZATION, value)));
        request
    }
}
