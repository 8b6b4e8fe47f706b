//! The requests and answers of embedding models.

use edge_json::{Document, JsonLimits, Kind, Value};
use serde_json::Map;

use super::Purpose;
use crate::models::{ModelFailure, number};

type Vectors = Result<Vec<Vec<f32>>, ModelFailure>;

/// The request and the answer of a service. Only the constructors of a model name the values, so a wasm module contains only the functions
/// that it uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct EmbeddingFormat {
    /// The members of a request that contain queries and passages.
    texts: [&'static str; 2],
    /// Reads the vectors of this number of texts.
    read: fn(Value<'_>, usize) -> Vectors,
}

/// `POST /embeddings` of OpenAI.
pub(super) const OPENAI: EmbeddingFormat = EmbeddingFormat { texts: ["input", "input"], read: openai };
/// Most models of Workers AI.
pub(super) const WORKERS_AI: EmbeddingFormat = EmbeddingFormat { texts: ["text", "text"], read: workers_ai };
/// The models of Workers AI that add the prompt for queries themselves.
pub(super) const WORKERS_AI_WITH_PROMPTS: EmbeddingFormat =
    EmbeddingFormat { texts: ["queries", "documents"], read: workers_ai };

impl EmbeddingFormat {
    pub(super) fn add(self, texts: &[String], purpose: Purpose, request: &mut Map<String, serde_json::Value>) {
        let [queries, passages] = self.texts;
        let member = match purpose {
            Purpose::Query => queries,
            Purpose::Passage => passages,
        };
        request.insert(member.into(), texts.into());
    }

    /// Reads the vectors of `count` texts, in order.
    pub(super) fn read(self, answer: &[u8], count: usize) -> Vectors {
        // The default limit on values bounds the memory of the document. 100 vectors of 4096 numbers are within it.
        let document = Document::parse(answer, JsonLimits::DEFAULT);
        let document = document.map_err(|_| ModelFailure::Broken("it is not JSON, or it has too many values"))?;
        (self.read)(document.root(), count)
    }
}

fn openai(answer: Value<'_>, count: usize) -> Vectors {
    let data = array(answer, "data").ok_or(ModelFailure::Broken("it has no array `data`"))?;
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for item in data.items() {
        let index = item.get("index").and_then(index).ok_or(ModelFailure::Broken("a vector has no index"))?;
        let place = vectors.get_mut(index).ok_or(ModelFailure::Broken("it has more vectors than there are texts"))?;
        if place.is_some() {
            return Err(ModelFailure::Broken("two vectors have the same index"));
        }
        let numbers = array(item, "embedding").and_then(vector);
        *place = Some(numbers.ok_or(ModelFailure::Broken("a vector is not an array of numbers"))?);
    }
    let vectors = vectors.into_iter().collect::<Option<_>>();
    vectors.ok_or(ModelFailure::Broken("it does not have a vector for each text"))
}

fn workers_ai(answer: Value<'_>, count: usize) -> Vectors {
    // Without `data`, the platform has queued the request.
    let data = array(answer, "data").ok_or(ModelFailure::Broken("it has no array `data`"))?;
    if data.items().count() != count {
        return Err(ModelFailure::Broken("it does not have a vector for each text"));
    }
    let vectors = data.items().map(vector).collect::<Option<_>>();
    vectors.ok_or(ModelFailure::Broken("a vector is not an array of numbers"))
}

/// Returns the member `name`, if it is an array.
fn array<'d>(value: Value<'d>, name: &str) -> Option<Value<'d>> {
    value.get(name).filter(|value| value.kind() == Kind::Array)
}

/// Returns the numbers of an array. A number out of the range of `f32` becomes infinite, so the check of the vectors rejects it.
#[allow(clippy::cast_possible_truncation, reason = "vectors are compared as `f32`")]
fn vector(value: Value<'_>) -> Option<Vec<f32>> {
    if value.kind() != Kind::Array {
        return None;
    }
    value.items().map(|item| Some(number(item)? as f32)).collect()
}

fn index(value: Value<'_>) -> Option<usize> {
    value.text().parse().ok()
}
