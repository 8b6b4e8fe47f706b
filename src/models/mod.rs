//! Requests to models: chat models, embedding models and rerankers.
//!
//! A `model` has a name, parameters, and the `service` that runs it: an HTTP `endpoint`, or a platform such as `workers_ai`, which gets the
//! name of the model and its inputs from [`Ai`]. `attempts` sends a request until a deadline, and `read` has functions that read answers.
//! `failure` has the sentence of each failure.
//!
//! The inputs and answers of each kind of model are in its own room: `agents/chat_agent` and `rag`.

mod ai;
mod attempts;
mod endpoint;
mod failure;
mod model;
mod read;
mod service;
mod workers_ai;

pub use ai::{Ai, AiFailure};
pub(crate) use attempts::{Deadline, Failed, ask};
pub(crate) use failure::Failure;
pub(crate) use model::{Kind, Model};
pub(crate) use read::{json, number};
