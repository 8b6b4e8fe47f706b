//! The embedder that asks a model.

use std::rc::Rc;

use edge_json::write;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::wire::{EmbeddingFormat, OPENAI, WORKERS_AI, WORKERS_AI_WITH_PROMPTS};
use super::{Embedder, Purpose};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::config::ConfigError;
use crate::host::Environment;
use crate::limits::EMBEDDING_ANSWER;
use crate::models::{Ai, Deadline, Model, ModelKind, ask};

pub(super) const EMBEDDING: ModelKind =
    ModelKind { noun: "embedding model", path: "/embeddings", answer_bytes: EMBEDDING_ANSWER };

/// The part of a name of Workers AI whose models have separate members for queries and passages.
const WITH_PROMPTS: &str = "qwen3-embedding";

/// An embedding model at an endpoint with the embeddings API of OpenAI (`POST /embeddings`), or on Workers AI.
///
/// Questions and passages are sent to the service that runs the model.
///
/// ```
/// use edge_mcp::rag::EmbeddingModel;
///
/// let key = std::env::var("MODEL_KEY").unwrap_or_default();
/// let model = EmbeddingModel::new("https://models.example.com/v1", "text-embedding-3-small")?
///     .api_key(&key)?
///     .parameter("dimensions", 512);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct EmbeddingModel {
    model: Model,
    form: EmbeddingFormat,
    prompts: PromptPrefixes,
}

impl EmbeddingModel {
    /// The name of BGE-M3 on Workers AI: many languages, 1024 dimensions, no prompts. It is a good first choice for
    /// [`workers_ai`](Self::workers_ai).
    pub const BGE_M3: &str = "@cf/baai/bge-m3";

    /// Creates the model `model` of the endpoint at `base_url`. The URL is the part before `/embeddings`, such as
    /// `https://models.example.com/v1`. A trailing slash is ignored.
    ///
    /// The prompts of EmbeddingGemma, Qwen3-Embedding and E5 are set if the name of the model contains theirs.
    ///
    /// # Errors
    /// `base_url` is not an HTTPS or localhost URL, or has a query, or ends in `/embeddings`. Or `model` is blank.
    pub fn new(base_url: &str, model: &str) -> Result<Self, ConfigError> {
        Model::at(&EMBEDDING, base_url, model).map(Self::at_endpoint)
    }

    /// Creates the model from environment variables for its base URL, its name and its API key. Returns `None` if none of them is set. The
    /// API key is optional.
    ///
    /// # Errors
    /// A variable is invalid, or the URL or the name is missing while another variable is set.
    ///
    /// ```
    /// use edge_mcp::rag::EmbeddingModel;
    ///
    /// let environment = |name: &str| std::env::var(name).ok();
    /// let variables = ["EMBEDDING_URL", "EMBEDDING_MODEL", "EMBEDDING_API_KEY"];
    /// let model = EmbeddingModel::from_environment(&environment, variables)?;
    /// # Ok::<_, edge_mcp::ConfigError>(())
    /// ```
    pub fn from_environment(
        environment: &impl Environment,
        variables: [&'static str; 3],
    ) -> Result<Option<Self>, ConfigError> {
        Ok(Model::from_environment(&EMBEDDING, environment, variables)?.map(Self::at_endpoint))
    }

    fn at_endpoint(model: Model) -> Self {
        Self { prompts: PromptPrefixes::of(&model.name), form: OPENAI, model }
    }

    /// Creates the model `model` of Workers AI, such as [`BGE_M3`](Self::BGE_M3). `ai` is the binding of the Worker. Such a model has no API
    /// key.
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// use edge_mcp::models::Ai;
    /// use edge_mcp::rag::EmbeddingModel;
    ///
    /// fn model(ai: Rc<dyn Ai>) -> EmbeddingModel {
    ///     EmbeddingModel::workers_ai(ai, EmbeddingModel::BGE_M3)
    /// }
    /// ```
    pub fn workers_ai(ai: Rc<dyn Ai>, model: &str) -> Self {
        let (form, prompts) = if model.contains(WITH_PROMPTS) {
            (WORKERS_AI_WITH_PROMPTS, PromptPrefixes::default())
        } else {
            (WORKERS_AI, PromptPrefixes::of(model))
        };
        Self { model: Model::on(&EMBEDDING, ai, model), form, prompts }
    }

    /// Sets the API key, which is sent as `Authorization: Bearer <key>`.
    ///
    /// # Errors
    /// `key` has characters other than printable ASCII.
    pub fn api_key(mut self, key: &str) -> Result<Self, ConfigError> {
        self.model.authorize("api_key", key)?;
        Ok(self)
    }

    /// Sets a parameter of the request, such as `dimensions`, or `pooling` and `instruction` on Workers AI. The model and the texts cannot be
    /// replaced.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.model.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets the text before each query, as the documentation of the model describes it. An empty text removes a preset.
    pub fn query_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prompts.query = prefix.into();
        self
    }

    /// Sets the text before each passage, as the documentation of the model describes it. An empty text removes a preset.
    pub fn passage_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prompts.passage = prefix.into();
        self
    }
}

impl Embedder for EmbeddingModel {
    /// Returns the name. If there are parameters or prompts, a space and a JSON object with them follow.
    fn model(&self) -> String {
        let mut settings: Map<_, _> = self.model.parameters.clone();
        for (name, prompt) in [("query prefix", &self.prompts.query), ("passage prefix", &self.prompts.passage)] {
            if !prompt.is_empty() {
                settings.insert(name.into(), prompt.as_str().into());
            }
        }
        let name = &self.model.name;
        // The order of the settings does not change the vectors.
        settings.sort_keys();
        if settings.is_empty() { name.into() } else { format!("{name} {}", write::text(&Value::Object(settings))) }
    }

    fn embed(
        &self,
        mut texts: Vec<String>,
        purpose: Purpose,
        cx: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<Vec<f32>>, HandlerError>> {
        let (this, cx) = (self.clone(), cx.clone());
        async move {
            let prompt = match purpose {
                Purpose::Query => &this.prompts.query,
                Purpose::Passage => &this.prompts.passage,
            };
            for text in &mut texts {
                text.insert_str(0, prompt);
            }
            let deadline = Deadline::within_call(purpose.time(), &cx);
            let mut request = this.model.request();
            this.form.add(&texts, purpose, &mut request);
            let body = write::text(&Value::Object(request));
            ask(&this.model, &body, |answer| this.form.read(answer, texts.len()), deadline, &cx).await
        }
        .boxed_local()
    }
}

/// The texts before queries and passages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PromptPrefixes {
    pub(super) query: String,
    pub(super) passage: String,
}

/// The prompts for queries and passages of models whose names contain the first text. The first row that matches applies.
///
/// Sources: the model cards of EmbeddingGemma, Qwen3-Embedding and E5.
const PROMPTS: [(&str, &str, &str); 5] = [
    ("-embeddinggemma", "task: search result | query: ", "title: none | text: "),
    (
        "-qwen3-embedding",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
    ("-e5-large-instruct", E5_INSTRUCT, ""),
    ("-e5-mistral-7b-instruct", E5_INSTRUCT, ""),
    ("-e5-", "query: ", "passage: "),
];

const E5_INSTRUCT: &str =
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ";

impl PromptPrefixes {
    /// Returns the prompts of the model `name`, which may begin with its publisher, as in `intfloat/e5-small`.
    pub(super) fn of(name: &str) -> Self {
        let name = format!("-{}", name.to_ascii_lowercase().replace('/', "-"));
        let row = PROMPTS.iter().find(|(part, ..)| name.contains(part));
        row.map_or_else(Self::default, |(_, query, passage)| Self {
            query: (*query).into(),
            passage: (*passage).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PromptPrefixes;

    /// R45: the presets are the prompts that the models document.
    #[test]
    fn prompts_depend_on_the_name_of_the_model() {
        const TASK: &str =
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:";
        let gemma = ("task: search result | query: ", "title: none | text: ");
        let spaced = format!("{TASK} ");
        for (name, (query, passage)) in [
            ("@cf/google/embeddinggemma-300m", gemma),
            ("embeddinggemma:latest", gemma),
            ("Qwen/Qwen3-Embedding-0.6B", (TASK, "")),
            ("intfloat/multilingual-e5-small", ("query: ", "passage: ")),
            ("E5-large-v2", ("query: ", "passage: ")),
            ("intfloat/multilingual-e5-large-instruct", (&spaced, "")),
            ("e5-mistral-7b-instruct", (&spaced, "")),
            ("@cf/baai/bge-m3", ("", "")),
            ("text-embedding-3-small", ("", "")),
            ("large5-base", ("", "")),
            ("", ("", "")),
        ] {
            assert_eq!(
                PromptPrefixes::of(name),
                PromptPrefixes { query: query.into(), passage: passage.into() },
                "{name}"
            );
        }
    }
}
