//! A tool that calls the bindings of Workers AI and Vectorize. A Worker without them reports that they are missing.

use std::fmt::Display;
use std::rc::Rc;

use edge_mcp::models::Ai;
use edge_mcp::rag::{IndexedVector, PassageId, Space, VectorIndex, VectorQuery};
use edge_mcp::worker::{ai, vectorize};
use edge_mcp::{ConfigError, Context, HandlerError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use worker::Env;

/// The bindings of the models.
pub(crate) struct Models {
    ai: Result<Rc<dyn Ai>, ConfigError>,
    vectors: Result<Rc<dyn VectorIndex>, ConfigError>,
}

impl Models {
    pub(crate) fn of(env: &Env) -> Self {
        Self { ai: ai(env, "AI"), vectors: vectorize(env, "VECTORS") }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    space: Option<String>,
    query: Option<Query>,
    upsert: Option<Vec<Entry>>,
    delete: Option<Vec<PassageId>>,
    run: Option<Run>,
}

/// The id and the vector.
#[derive(Deserialize, JsonSchema)]
struct Entry(PassageId, Vec<f32>);

#[derive(Deserialize, JsonSchema)]
struct Query {
    vector: Vec<f32>,
    most: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Run {
    model: String,
    /// A JSON object as text.
    inputs: String,
}

/// Sends one request to a binding, and returns its result. The caller gets the error of the binding, which is for the log otherwise.
pub(crate) async fn call_binding(request: Request, cx: Context) -> Result<String, HandlerError> {
    let models = cx.state::<Models>()?;
    if let Some(Run { model, inputs }) = request.run {
        let answer = shown(models.ai.as_ref())?.run(&model, inputs).await;
        return Ok(String::from_utf8(answer.map_err(|error| HandlerError::new(error.0))?)?);
    }
    let vectors = shown(models.vectors.as_ref())?;
    let namespace = Space { index: "docs".into(), name: request.space.unwrap_or_default() }.namespace();
    if let Some(Query { vector, most }) = request.query {
        let ids = shown(vectors.query(VectorQuery { vector, namespace, most }).await)?;
        return Ok(json!(ids).to_string());
    }
    if let Some(all) = request.upsert {
        let all = all.into_iter().map(|Entry(id, vector)| IndexedVector { id, vector }).collect();
        shown(vectors.upsert(&namespace, all).await)?;
    }
    shown(vectors.delete(&request.delete.unwrap_or_default()).await)?;
    Ok("done".to_owned())
}

fn shown<T>(result: Result<T, impl Display>) -> Result<T, HandlerError> {
    result.map_err(|error| HandlerError::new(error.to_string()))
}
