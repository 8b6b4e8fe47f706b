//! The scorer that asks a reranker.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind as JsonKind, object, write};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::Value;

use super::Scorer;
use super::settings::deadline;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::config::ConfigError;
use crate::host::Environment;
use crate::limits::RERANK_ANSWER;
use crate::models::{Ai, Model, ModelFailure, ModelKind, ask, number};

const RERANKER: ModelKind = ModelKind { noun: "reranker", path: "/rerank", answer_bytes: RERANK_ANSWER };

/// The names of the members of a request and of an answer.
#[derive(Clone, Copy, Debug)]
struct RerankFormat {
    passages: &'static str,
    /// The member of each passage that is its text. `None`: each passage is a text.
    text: Option<&'static str>,
    count: &'static str,
    results: &'static str,
    index: &'static str,
    score: &'static str,
}

/// `POST /rerank` of Cohere and Jina.
const COHERE: RerankFormat = RerankFormat {
    passages: "documents",
    text: None,
    count: "top_n",
    results: "results",
    index: "index",
    score: "relevance_score",
};

const WORKERS_AI: RerankFormat = RerankFormat {
    passages: "contexts",
    text: Some("text"),
    count: "top_k",
    results: "response",
    index: "id",
    score: "score",
};

/// A reranker at an endpoint with the API of Cohere and Jina (`POST /rerank`), or on Workers AI.
///
/// Questions and passages are sent to the service that runs the model.
///
/// ```
/// use edge_mcp::rag::{Rerank, RerankModel};
///
/// let key = std::env::var("MODEL_KEY").unwrap_or_default();
/// let rerank = Rerank::by(RerankModel::new("https://models.example.com/v1", "reranker")?.api_key(&key)?);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RerankModel {
    model: Model,
    form: RerankFormat,
}

impl RerankModel {
    /// The name of BGE Reranker on Workers AI, for [`workers_ai`](Self::workers_ai).
    pub const BGE_RERANKER_BASE: &str = "@cf/baai/bge-reranker-base";

    /// Creates the model `model` of the endpoint at `base_url`. The URL is the part before `/rerank`, such as
    /// `https://models.example.com/v1`. A trailing slash is ignored.
    ///
    /// # Errors
    /// `base_url` is not an HTTPS or localhost URL, or has a query, or ends in `/rerank`. Or `model` is blank.
    pub fn new(base_url: &str, model: &str) -> Result<Self, ConfigError> {
        Model::at(&RERANKER, base_url, model).map(Self::at_endpoint)
    }

    /// Creates the model from environment variables for its base URL, its name and its API key. Returns `None` if none of them is set. The
    /// API key is optional.
    ///
    /// # Errors
    /// A variable is invalid, or the URL or the name is missing while another variable is set.
    ///
    /// ```
    /// use edge_mcp::rag::RerankModel;
    ///
    /// let environment = |name: &str| std::env::var(name).ok();
    /// let variables = ["RERANKER_URL", "RERANKER_MODEL", "RERANKER_API_KEY"];
    /// let model = RerankModel::from_environment(&environment, variables)?;
    /// # Ok::<_, edge_mcp::ConfigError>(())
    /// ```
    pub fn from_environment(
        environment: &impl Environment,
        variables: [&'static str; 3],
    ) -> Result<Option<Self>, ConfigError> {
        Ok(Model::from_environment(&RERANKER, environment, variables)?.map(Self::at_endpoint))
    }

    fn at_endpoint(model: Model) -> Self {
        Self { model, form: COHERE }
    }

    /// Creates the model `model` of Workers AI, such as [`BGE_RERANKER_BASE`](Self::BGE_RERANKER_BASE). `ai` is the binding of the Worker.
    /// Such a model has no API key.
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// use edge_mcp::models::Ai;
    /// use edge_mcp::rag::{Rerank, RerankModel};
    ///
    /// fn rerank(ai: Rc<dyn Ai>) -> Rerank {
    ///     Rerank::by(RerankModel::workers_ai(ai, RerankModel::BGE_RERANKER_BASE))
    /// }
    /// ```
    pub fn workers_ai(ai: Rc<dyn Ai>, model: &str) -> Self {
        Self { model: Model::on(&RERANKER, ai, model), form: WORKERS_AI }
    }

    /// Sets the API key, which is sent as `Authorization: Bearer <key>`.
    ///
    /// # Errors
    /// `key` has characters other than printable ASCII.
    pub fn api_key(mut self, key: &str) -> Result<Self, ConfigError> {
        self.model.authorize("api_key", key)?;
        Ok(self)
    }

    /// Sets a parameter of the request, such as `return_documents`. The model, the question and the passages cannot be replaced.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.model.parameters.insert(name.into(), value.into());
        self
    }

    fn body(&self, question: &str, passages: Vec<String>) -> String {
        let RerankFormat { text, count, .. } = self.form;
        let mut request = self.model.request();
        request.insert("query".into(), question.into());
        request.insert(count.into(), passages.len().into());
        let passage = |passage: String| match text {
            Some(text) => object(vec![(text, passage.into())]),
            None => passage.into(),
        };
        request.insert(self.form.passages.into(), passages.into_iter().map(passage).collect());
        write::text(&Value::Object(request))
    }
}

impl RerankFormat {
    /// Reads the scores of `count` passages. A passage without a score has negative infinity.
    fn read(self, answer: &[u8], count: usize) -> Result<Vec<f64>, ModelFailure> {
        let document = Document::parse(answer, JsonLimits::DEFAULT);
        let document = document.map_err(|_| ModelFailure::Broken("it is not JSON, or it has too many values"))?;
        let results = document.root().get(self.results).filter(|results| results.kind() == JsonKind::Array);
        let results = results.ok_or(ModelFailure::Broken("it has no array of results"))?;
        let mut scores = vec![f64::NEG_INFINITY; count];
        for result in results.items() {
            let index = result.get(self.index).and_then(|index| index.text().parse::<usize>().ok());
            let place = index.and_then(|index| scores.get_mut(index));
            let place = place.ok_or(ModelFailure::Broken("a score has no index, or one that is out of range"))?;
            if place.is_finite() {
                return Err(ModelFailure::Broken("two scores have the same index"));
            }
            let score = result.get(self.score).and_then(number);
            *place = score.ok_or(ModelFailure::Broken("a score is not a finite number"))?;
        }
        Ok(scores)
    }
}

impl Scorer for RerankModel {
    fn score(
        &self,
        question: &str,
        passages: Vec<String>,
        cx: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<f64>, HandlerError>> {
        let (this, cx, count) = (self.clone(), cx.clone(), passages.len());
        let body = self.body(question, passages);
        async move {
            let read = |answer: &[u8]| this.form.read(answer, count);
            ask(&this.model, &body, read, deadline(&cx), &cx).await
        }
        .boxed_local()
    }
}
