//! A request with a method of an extension.

use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{JsonLimits, Kind, write};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::respondent::Respondent;
use super::result::read_text;
use super::rounds::complete_step;
use crate::call::error::HandlerError;
use crate::client::connection::Peer;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::response::parsed;
use crate::client::wire::task;
use crate::protocol::method::Method;
use crate::server::extension::is_method_name;
use crate::text::Text;

/// A request with a method of an extension. It is sent when it is awaited.
#[must_use = "a request is sent when it is awaited"]
pub struct ExtensionRequest {
    conversation: Rc<Conversation>,
    method: Text,
    params: serde_json::Result<Box<RawValue>>,
    target: Option<String>,
    timeout: Duration,
    is_idempotent: bool,
    result_types: Vec<Text>,
}

/// The result of a [`ExtensionRequest`].
#[derive(Clone, Debug)]
pub struct RequestResult {
    result_type: String,
    json: Rc<str>,
}

impl Peer {
    /// Creates a request with a method of an extension, such as `ledger/get`. `params` serializes to an object. The request is sent when it is
    /// awaited.
    ///
    /// The client does not know whether the method has effects, so the request is handled like a [call](Self::call) of a tool: it is not sent
    /// again after a failure, and it is a step of the handler. See [`idempotent`](ExtensionRequest::idempotent). Functions of
    /// [`Upstream`](crate::client::Upstream) answer the questions of the server.
    ///
    /// ```
    /// use edge_mcp::client::Peer;
    /// use edge_mcp::HandlerError;
    /// use serde::Deserialize;
    /// use serde_json::json;
    ///
    /// #[derive(Deserialize)]
    /// struct Entry {
    ///     euros: u32,
    /// }
    ///
    /// async fn rent(books: Peer) -> Result<u32, HandlerError> {
    ///     let request = books.request("ledger/get", json!({ "entryId": "rent" })).target("rent").idempotent();
    ///     let Entry { euros } = request.await?.json()?;
    ///     Ok(euros)
    /// }
    /// ```
    pub fn request(&self, method: impl Into<Text>, params: impl Serialize) -> ExtensionRequest {
        ExtensionRequest {
            conversation: self.0.clone(),
            method: method.into(),
            params: write::to_raw_value(&params),
            target: None,
            timeout: self.0.server.upstream.timeout,
            is_idempotent: false,
            result_types: Vec::new(),
        }
    }
}

impl ExtensionRequest {
    /// Sets the value of the header `Mcp-Name`, which modern servers get. The specification of the extension says which parameter it repeats.
    pub fn target(mut self, value: impl Into<String>) -> Self {
        self.target = Some(value.into());
        self
    }

    /// Sets the time limit of the request. By default, it is [`Upstream::timeout`](crate::client::Upstream::timeout).
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Declares that a second request has no further effect. The client then repeats the request once if the connection or the server fails, or
    /// if the time limit passes.
    pub fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
        self
    }

    /// Permits results of this type. Without it, a result that is not `complete` is an error.
    pub fn result_type(mut self, result_type: impl Into<Text>) -> Self {
        self.result_types.push(result_type.into());
        self
    }

    async fn send(self) -> Result<RequestResult, ClientError> {
        let Self { conversation, method, params, target, timeout, is_idempotent, result_types } = self;
        let not_called = |problem: &str| Failure::Local(format!("was not called: {problem}"));
        if !is_method_name(&method) {
            return Err(not_called("a method has visible ASCII characters and a `/`, at most 128 bytes.").into());
        }
        let is_of_client = Method::named(&method).is_some() || task::METHODS.contains(&&*method);
        if is_of_client || method.starts_with("notifications/") {
            return Err(not_called("the client has its own function for this method of the protocol.").into());
        }
        let params = params.map_err(|error| {
            ClientError::new(not_called("the parameters cannot be written as JSON."), Some(error.to_string()))
        })?;
        // A tool can have the name of a method.
        let name = format!("request {method}");
        let respondent = Respondent::of_call(&conversation, None, &name, params.get());
        let params =
            Params::of(&params).ok_or_else(|| not_called("the parameters must be an object without `_meta`."))?;
        let request = RemoteRequest {
            deadline: Some(conversation.deadline(timeout)),
            is_repeatable: is_idempotent,
            target,
            result_types: result_types.clone(),
            ..RemoteRequest::with_effects(method, params, timeout)
        };
        let respondent = Respondent { is_kept: !is_idempotent, ..respondent };
        let json = complete_step(&conversation, request, &name, &respondent).await?.result;
        let document = parsed(&json)?;
        let result = document.root();
        if result.kind() != Kind::Object {
            return Err(Failure::Malformed("has a result that is not an object").into());
        }
        let result_type = result.string("resultType").unwrap_or_else(|| COMPLETE.to_owned());
        if result_type != COMPLETE && !result_types.iter().any(|known| *known == result_type) {
            return Err(Failure::Malformed("has an unknown `resultType`").into());
        }
        Ok(RequestResult { result_type, json: json.get().into() })
    }
}

const COMPLETE: &str = "complete";

impl IntoFuture for ExtensionRequest {
    type Output = Result<RequestResult, ClientError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let (conversation, method) = (self.conversation.clone(), self.method.clone());
        async move { self.send().await.map_err(conversation.error_of(method.clone())) }.boxed_local()
    }
}

impl RequestResult {
    /// Returns the type of the result. Results of legacy servers are `complete`.
    pub fn result_type(&self) -> &str {
        &self.result_type
    }

    /// Reads the result into a type. It also has the members `resultType` and `_meta` of the protocol.
    ///
    /// # Errors
    /// The result does not match the type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HandlerError> {
        read_text(&self.json, JsonLimits::MOST)
    }

    /// Returns the result as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        &self.json
    }
}
