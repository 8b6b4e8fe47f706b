//! Requests to models: chat models, embedding models and rerankers.
//!
//! A model has a name, parameters, and the service that runs it: an HTTP endpoint, or a platform such as Workers AI. This room has the models
//! that return vectors. The other kinds of models are in their own rooms: `agents/chat_agent` and `rag/rerank`.

mod attempts;
#[cfg(feature = "rag")]
pub(crate) mod embedding;
mod endpoint;
mod failure;
mod model;
mod read;
mod service;
mod workers_ai;

pub(crate) use attempts::{Deadline, ask};
pub(crate) use failure::ModelFailure;
pub(crate) use model::{Model, ModelKind};
pub(crate) use read::{json, number};
pub use workers_ai::{Ai, AiFailure};
