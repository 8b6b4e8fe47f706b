//! The name, the parameters and the service of a model.

use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use http::header::HeaderValue;
use serde_json::{Map, Value};

use super::endpoint::ModelEndpoint;
use super::service::{FailedAttempt, ModelRequest, ModelService};
use super::workers_ai::{Ai, WorkersAi};
use crate::config::{ConfigError, SecureUrl};
use crate::host::{Environment, FetchLimits, Host};

#[derive(Debug)]
pub(crate) struct ModelKind {
    /// The noun in the sentences of failures, such as "embedding model".
    pub(crate) noun: &'static str,
    /// The path of the requests after the base URL, such as `/embeddings`.
    pub(crate) path: &'static str,
    /// The maximum size of an answer, in bytes.
    pub(crate) answer_bytes: usize,
}

/// A model: its name, its parameters, and the service that runs it.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    service: Rc<dyn ModelService>,
    pub(super) noun: &'static str,
    pub(crate) name: String,
    /// Marked as sensitive, so that it is not printed.
    authorization: Option<HeaderValue>,
    pub(crate) parameters: Map<String, Value>,
    pub(crate) answer_bytes: usize,
}

impl Model {
    /// Creates the model `name` at an endpoint. `base_url` is the URL before the path of `kind`. A slash at its end is ignored.
    ///
    /// # Errors
    /// `base_url` is not an HTTPS or localhost URL, or has a query, or ends in the path. Or `name` is blank.
    pub(crate) fn at(kind: &'static ModelKind, base_url: &str, name: &str) -> Result<Self, ConfigError> {
        Self::named(kind, ["base_url", "model"], base_url, name)
    }

    fn named(
        kind: &'static ModelKind,
        [url_variable, name_variable]: [&'static str; 2],
        base_url: &str,
        name: &str,
    ) -> Result<Self, ConfigError> {
        let (base_url, path) = (base_url.trim_end_matches('/'), kind.path);
        let url = SecureUrl::parse(&format!("{base_url}{path}"));
        let url = url.map_err(|problem| ConfigError::new(url_variable, problem))?;
        if url.has_query() || base_url.ends_with(path) {
            let problem = format!("must be the base URL before {path}, such as https://models.example.com/v1");
            return Err(ConfigError::new(url_variable, problem));
        }
        if name.trim().is_empty() {
            return Err(ConfigError::new(name_variable, "must be the name of the model at its endpoint"));
        }
        Ok(Self::new(kind, Rc::new(ModelEndpoint(url)), name.trim()))
    }

    pub(crate) fn on(kind: &'static ModelKind, ai: Rc<dyn Ai>, name: &str) -> Self {
        Self::new(kind, Rc::new(WorkersAi(ai)), name)
    }

    fn new(kind: &'static ModelKind, service: Rc<dyn ModelService>, name: &str) -> Self {
        Self {
            service,
            noun: kind.noun,
            name: name.to_owned(),
            authorization: None,
            parameters: Map::new(),
            answer_bytes: kind.answer_bytes,
        }
    }

    /// Creates the model from environment variables for its base URL, its name and its API key. Returns `None` if none of them is set. The
    /// API key is optional.
    ///
    /// # Errors
    /// A variable is invalid, or the URL or the name is missing while another variable is set.
    pub(crate) fn from_environment(
        kind: &'static ModelKind,
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
                let mut model = Self::named(kind, [url, name], base_url.trim(), &model)?;
                if let Some(api_key) = api_key {
                    model.authorize(key, api_key.trim())?;
                }
                Ok(Some(model))
            }
        }
    }

    /// Sets the API key. `variable` is the setting that an error names.
    ///
    /// # Errors
    /// `key` has characters other than printable ASCII.
    pub(crate) fn authorize(&mut self, variable: &'static str, key: &str) -> Result<(), ConfigError> {
        let is_printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let value = HeaderValue::from_str(&format!("Bearer {key}")).ok().filter(|_| is_printable);
        let mut value =
            value.ok_or_else(|| ConfigError::new(variable, "has characters that are not printable ASCII"))?;
        value.set_sensitive(true);
        self.authorization = Some(value);
        Ok(())
    }

    /// Returns a request with the parameters, and with the name of the model if the service expects it there.
    pub(crate) fn request(&self) -> Map<String, Value> {
        let mut request = self.parameters.clone();
        if self.service.names_model() {
            request.insert("model".into(), self.name.as_str().into());
        }
        request
    }

    /// Sends a request with this body. The answer must arrive within `time`.
    pub(super) fn send(
        &self,
        body: &str,
        time: Duration,
        host: &Rc<dyn Host>,
    ) -> LocalBoxFuture<'static, Result<Vec<u8>, FailedAttempt>> {
        let limits = FetchLimits { time, bytes: self.answer_bytes };
        let (model, authorization) = (self.name.as_str(), self.authorization.as_ref());
        self.service.send(ModelRequest { model, authorization, body: body.to_owned(), limits, host })
    }
}
