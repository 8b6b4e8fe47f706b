//! The interface between a model and the service that runs it.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use http::header::HeaderValue;

use super::failure::ModelFailure;
use crate::host::{FetchLimits, Host};

/// A service that runs models. Only the constructors of a model name the implementations, so a wasm module contains only those that it uses.
pub(super) trait ModelService: fmt::Debug {
    /// Returns whether the name of the model is a member of each request.
    fn names_model(&self) -> bool;

    /// Sends a request, and returns the answer.
    fn send(&self, request: ModelRequest<'_>) -> LocalBoxFuture<'static, Result<Vec<u8>, FailedAttempt>>;
}

pub(super) struct ModelRequest<'a> {
    /// The name of the model.
    pub(super) model: &'a str,
    /// The API key, as the value of a header.
    pub(super) authorization: Option<&'a HeaderValue>,
    /// A JSON object.
    pub(super) body: String,
    pub(super) limits: FetchLimits,
    pub(super) host: &'a Rc<dyn Host>,
}

/// The outcome of a request without an answer.
pub(super) struct FailedAttempt {
    pub(super) failure: ModelFailure,
    /// The delay before the next attempt, if the service states it.
    pub(super) retry_after: Duration,
}

impl From<ModelFailure> for FailedAttempt {
    fn from(failure: ModelFailure) -> Self {
        Self { failure, retry_after: Duration::ZERO }
    }
}
