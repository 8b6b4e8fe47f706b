//! The configuration of the search: an embedding model, a reranker, and an index of vectors. All of them are optional.

use std::rc::Rc;

use edge_mcp::ConfigError;
use edge_mcp::host::Environment;
use edge_mcp::models::Ai;
use edge_mcp::rag::{EmbeddingModel, Rerank, RerankModel, VectorIndex};

const EMBEDDING: &str = "KB_EMBEDDING";
const EMBEDDING_ENDPOINT: [&str; 3] = ["KB_EMBEDDING_URL", "KB_EMBEDDING_MODEL", "KB_EMBEDDING_API_KEY"];
const RERANKER: &str = "KB_RERANKER";
const RERANKER_ENDPOINT: [&str; 3] = ["KB_RERANKER_URL", "KB_RERANKER_MODEL", "KB_RERANKER_API_KEY"];
const VECTORS: &str = "KB_VECTORS";

/// The value of [`EMBEDDING`] and [`RERANKER`].
const WORKERS_AI: &str = "workers-ai";
/// The value of [`VECTORS`].
const VECTORIZE: &str = "vectorize";

/// The configuration of the search. Without an embedding model, passages are found by their words alone.
#[derive(Clone, Default)]
pub(crate) struct SearchSettings {
    pub(crate) embedder: Option<EmbeddingModel>,
    pub(crate) rerank: Option<Rerank>,
    /// The index of the vectors. Without it, a search reads the vectors from the database.
    pub(crate) index: Option<Rc<dyn VectorIndex>>,
}

impl SearchSettings {
    /// Reads the configuration. `ai` and `index` return the bindings, and are called only if a variable asks for the binding.
    pub(crate) fn from_environment(
        environment: &impl Environment,
        ai: impl Fn() -> Result<Rc<dyn Ai>, ConfigError>,
        index: impl Fn() -> Result<Rc<dyn VectorIndex>, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let embedder = match of_workers_ai(environment, EMBEDDING, EMBEDDING_ENDPOINT, EmbeddingModel::BGE_M3)? {
            Some(model) => Some(EmbeddingModel::workers_ai(ai()?, &model)),
            None => EmbeddingModel::from_environment(environment, EMBEDDING_ENDPOINT)?,
        };
        let reranker = match of_workers_ai(environment, RERANKER, RERANKER_ENDPOINT, RerankModel::BGE_RERANKER_BASE)? {
            Some(model) => Some(RerankModel::workers_ai(ai()?, &model)),
            None => RerankModel::from_environment(environment, RERANKER_ENDPOINT)?,
        };
        let index = if has_value(environment, VECTORS, VECTORIZE)? {
            if embedder.is_none() {
                let [url, model, _] = EMBEDDING_ENDPOINT;
                let problem =
                    format!("needs an embedding model: set {EMBEDDING} to `{WORKERS_AI}`, or set {url} and {model}");
                return Err(ConfigError::new(VECTORS, problem));
            }
            Some(index()?)
        } else {
            None
        };
        Ok(Self { embedder, rerank: reranker.map(Rerank::by), index })
    }

    /// Returns the line for the log if no embedding model is configured.
    pub(crate) fn without_embedder() -> String {
        let [url, model, _] = EMBEDDING_ENDPOINT;
        format!(
            "passages are found by their words alone, because no embedding model is configured. To find them by their meaning too, set \
             {url} and {model}, or {EMBEDDING} to `{WORKERS_AI}`."
        )
    }
}

fn set(environment: &impl Environment, variable: &str) -> Option<String> {
    environment.variable(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Returns whether a variable has its only possible value. It may also be unset.
fn has_value(environment: &impl Environment, variable: &'static str, value: &str) -> Result<bool, ConfigError> {
    match set(environment, variable) {
        None => Ok(false),
        Some(set) if set == value => Ok(true),
        Some(_) => Err(ConfigError::new(variable, format!("must be `{value}`, or must not be set"))),
    }
}

/// Returns the name of a model of Workers AI, or `None` if the model is not on Workers AI.
///
/// # Errors
/// `variable` has another value, or the URL or the key of an endpoint is set too.
fn of_workers_ai(
    environment: &impl Environment,
    variable: &'static str,
    [url, model, key]: [&'static str; 3],
    default: &str,
) -> Result<Option<String>, ConfigError> {
    if !has_value(environment, variable, WORKERS_AI)? {
        return Ok(None);
    }
    if let Some(other) = [url, key].into_iter().find(|other| set(environment, other).is_some()) {
        let problem = format!("must not be set together with {variable}: remove one of them");
        return Err(ConfigError::new(other, problem));
    }
    Ok(Some(set(environment, model).unwrap_or_else(|| default.to_owned())))
}
