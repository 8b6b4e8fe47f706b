//! Extensions of the protocol: an identifier, settings, and methods of their own.
//!
//! Source: 2026-07-28, basic/versioning, "Extension Negotiation"; SEP-2133.

use std::rc::Rc;
use std::time::Duration;

use edge_json::{Value, write};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::Map;
use serde_json::value::RawValue;

use super::access::{Access, access_methods};
use super::cache::CacheHint;
use crate::call::context::Context;
use crate::call::deadline::{DEADLINE, deadline_method};
use crate::call::error::{HandlerError, IntoHandlerError};
use crate::call::handler::{Handler, Parameters, read};
use crate::call::result::Json;
use crate::call::session_required::SessionRequired;
use crate::limits::EXTENSION_METHOD_BYTES;
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::protocol::revision::Revision;
use crate::schema::{HasJsonSchema, Schema, SchemaError};
use crate::text::Text;

/// An extension of the protocol with methods of its own, for [`McpServerBuilder::serve`](crate::McpServerBuilder::serve).
///
/// ```
/// use edge_mcp::extension::{Extension, ExtensionMethod};
/// use edge_mcp::{Json, McpServer};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(rename_all = "camelCase")]
/// struct GetEntry {
///     entry_id: u32,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Entry {
///     euros: u32,
/// }
///
/// async fn get_entry(GetEntry { entry_id }: GetEntry) -> Json<Entry> {
///     Json(Entry { euros: entry_id * 2 })
/// }
///
/// let ledger = Extension::new("com.example/ledger", json!({ "currencies": ["EUR"] }))
///     .method(ExtensionMethod::new("ledger/get", get_entry).target("entryId"));
/// let server = McpServer::builder("books", "1.0.0").serve(ledger).build()?;
/// # Ok::<_, edge_mcp::BuildError>(())
/// ```
#[must_use]
pub struct Extension {
    pub(crate) id: Text,
    pub(crate) settings: serde_json::Value,
    pub(crate) methods: Vec<ExtensionMethod>,
}

impl Extension {
    /// Creates the extension `id`, such as `com.example/ledger`. `settings` is an object, which clients see in the capabilities of the server.
    pub fn new(id: impl Into<Text>, settings: serde_json::Value) -> Self {
        Self { id: id.into(), settings, methods: Vec::new() }
    }

    /// Adds a method.
    pub fn method(mut self, method: ExtensionMethod) -> Self {
        self.methods.push(ExtensionMethod { extension: self.id.clone(), ..method });
        self
    }

    /// Returns the problem with the extension, as the predicate of a sentence. `served` are the methods of earlier extensions.
    pub(crate) fn problem(&self, served: &[Rc<ExtensionMethod>]) -> Option<String> {
        let is_reserved = is_reserved(&self.id).then(|| "has a prefix that is reserved for the protocol".to_owned());
        let is_served = |name: &Text| served.iter().any(|method| method.name == *name);
        let of_method = |(nth, method): (usize, &ExtensionMethod)| {
            let is_twice =
                is_served(&method.name) || self.methods.iter().take(nth).any(|other| other.name == method.name);
            let twice = is_twice.then_some("is added twice");
            let schema =
                || method.input_schema().err().map(|error| format!("has parameters that cannot be checked: {error}"));
            let problem = name_problem(&method.name).or(twice).map(str::to_owned).or_else(schema)?;
            Some(format!("has the method `{}`, which {problem}", method.name))
        };
        identifier_problem(&self.id, &self.settings)
            .map(str::to_owned)
            .or(is_reserved)
            .or_else(|| self.methods.iter().enumerate().find_map(of_method))
    }
}

/// A method of an [`Extension`].
#[must_use]
pub struct ExtensionMethod {
    pub(crate) name: Text,
    pub(crate) extension: Text,
    pub(crate) access: Access,
    pub(crate) deadline: Duration,
    pub(crate) since: Revision,
    /// The parameter that the header `Mcp-Name` repeats.
    pub(crate) target: Option<Text>,
    pub(crate) requires_client: bool,
    pub(crate) result_types: Vec<Text>,
    pub(crate) asks: bool,
    pub(crate) notifies: bool,
    schema: fn() -> Result<Rc<Schema>, SchemaError>,
    handler: AnyHandler,
}

type AnyHandler = Box<dyn Fn(Value<'_>, Context) -> Result<MethodFuture, String>>;
pub(crate) type MethodFuture = LocalBoxFuture<'static, Result<ExtensionResult, HandlerError>>;

/// A method that runs. Its result is `None` if the handler waits for an answer of the client.
pub(crate) type ExtensionWork = LocalBoxFuture<'static, Result<Option<ExtensionResult>, RpcError>>;

/// The methods of all extensions of a server.
#[derive(Clone, Default)]
pub(crate) struct ExtensionMethods {
    pub all: Vec<Rc<ExtensionMethod>>,
    /// The function that starts a method. Only a builder method that adds methods sets it, so the wasm module of another server does not contain the
    /// function.
    pub start: Option<StartMethod>,
}

/// The function that checks the parameters of a method and calls its handler.
pub(crate) type StartMethod = fn(&Context, &Request<'_>, Rc<ExtensionMethod>) -> Result<ExtensionWork, RpcError>;

impl ExtensionMethod {
    /// Creates the method `name`, such as `ledger/get`. `handler` is an async function of the parameters, and optionally of the [`Context`].
    /// The parameters must fit the schema of their type.
    pub fn new<P, H>(name: impl Into<Text>, handler: H) -> Self
    where
        P: Parameters<Arguments: HasJsonSchema>,
        H: Handler<P, Output: IntoExtensionResult>,
    {
        let handler: AnyHandler = Box::new(move |params, cx| {
            let params = read(params)?;
            let result = handler.call(P::of_call(params, cx));
            Ok(result.map(IntoExtensionResult::into_extension_result).boxed_local())
        });
        Self {
            name: name.into(),
            extension: Text::default(),
            access: Access::default(),
            deadline: DEADLINE,
            since: Revision::V2024_11_05,
            target: None,
            requires_client: false,
            result_types: Vec::new(),
            asks: false,
            notifies: false,
            schema: Schema::of_object::<P::Arguments>,
            handler,
        }
    }

    access_methods!();
    deadline_method!();

    /// Sets the first revision that has the method. By default, all revisions have it.
    pub fn since(mut self, revision: Revision) -> Self {
        self.since = revision;
        self
    }

    /// Sets the parameter that the header `Mcp-Name` repeats in 2026-07-28. Use it only if the specification of the extension requires it.
    pub fn target(mut self, param: impl Into<Text>) -> Self {
        self.target = Some(param.into());
        self
    }

    /// Serves the method only to clients that declare the extension. Other clients get an error that names it. Clients up to 2025-11-25 are
    /// not served, because a server without sessions cannot know their extensions.
    pub fn requires_client(mut self) -> Self {
        self.requires_client = true;
        self
    }

    /// Allows the handler to return results of another type than `complete`: see [`ExtensionResult::result_type`].
    pub fn result_type(mut self, result_type: impl Into<Text>) -> Self {
        self.result_types.push(result_type.into());
        self
    }

    /// Allows the handler to ask the client, as a tool does. The specification of the extension must allow the result `input_required`.
    pub fn asks(mut self) -> Self {
        self.asks = true;
        self
    }

    /// Allows the handler to send progress notifications and log messages.
    pub fn notifies(mut self) -> Self {
        self.notifies = true;
        self
    }

    /// Makes the method one of the extension `id`.
    pub(crate) fn of_extension(self, id: &'static str) -> Self {
        Self { extension: id.into(), ..self }
    }

    pub(crate) fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        (self.schema)()
    }

    /// Calls the handler. The error names the parameters that its type rejects.
    pub(crate) fn call(&self, params: Value<'_>, cx: Context) -> Result<MethodFuture, String> {
        (self.handler)(params, cx)
    }
}

/// The result of an [`ExtensionMethod`]. [`Json`] is enough for most methods.
#[derive(Debug)]
#[must_use]
pub struct ExtensionResult {
    /// A JSON object.
    pub(crate) json: Box<RawValue>,
    pub(crate) result_type: Option<Text>,
    pub(crate) cache: Option<CacheHint>,
    pub(crate) meta: Option<Map<String, serde_json::Value>>,
}

impl ExtensionResult {
    /// Creates the result with the members of `value`, which serializes to an object.
    ///
    /// # Errors
    /// `value` cannot be serialized, or is not an object.
    pub fn new(value: &impl Serialize) -> Result<Self, HandlerError> {
        let json = write::to_raw_value(value)?;
        if !json.get().starts_with('{') {
            return Err(HandlerError::from(std::io::Error::other("the result of a method must be an object")));
        }
        Ok(Self { json, result_type: None, cache: None, meta: None })
    }

    /// Sets the cache hint, which clients of 2026-07-28 get. It is private if the result depends on the caller.
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.cache = Some(hint);
        self
    }

    /// Sets the type of the result, which the method [declares](ExtensionMethod::result_type). Only clients that declare the extension may
    /// get it.
    pub fn result_type(mut self, result_type: impl Into<Text>) -> Self {
        self.result_type = Some(result_type.into());
        self
    }

    /// Sets a member of `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }
}

/// The types that the handler of an [`ExtensionMethod`] may return: [`Json`] of an object, [`ExtensionResult`], nothing, or a `Result`.
#[diagnostic::on_unimplemented(
    message = "a method of an extension cannot return `{Self}`",
    label = "the handler must return `Json<T>`, `ExtensionResult`, `()`, or a `Result` of one of them"
)]
pub trait IntoExtensionResult {
    /// Converts the value into a result.
    ///
    /// # Errors
    /// The handler's own error.
    fn into_extension_result(self) -> Result<ExtensionResult, HandlerError>;
}

impl IntoExtensionResult for ExtensionResult {
    fn into_extension_result(self) -> Result<ExtensionResult, HandlerError> {
        Ok(self)
    }
}

impl IntoExtensionResult for () {
    fn into_extension_result(self) -> Result<ExtensionResult, HandlerError> {
        ExtensionResult::new(&Map::new())
    }
}

impl<T: Serialize> IntoExtensionResult for Json<T> {
    fn into_extension_result(self) -> Result<ExtensionResult, HandlerError> {
        ExtensionResult::new(&self.0)
    }
}

impl<R: IntoExtensionResult, E: IntoHandlerError> IntoExtensionResult for Result<R, E> {
    fn into_extension_result(self) -> Result<ExtensionResult, HandlerError> {
        self.map_err(E::into_handler_error)?.into_extension_result()
    }
}

/// Returns the problem with the identifier or the settings of an extension, as the predicate of a sentence.
pub(crate) fn identifier_problem(id: &str, settings: &serde_json::Value) -> Option<&'static str> {
    if !is_identifier(id) {
        Some("must have a prefix and a name, such as `com.example/ledger`")
    } else if !settings.is_object() {
        Some("must have an object of settings")
    } else {
        None
    }
}

/// Returns whether a text is the identifier of an extension: a prefix of labels with dots, and a name.
pub(crate) fn is_identifier(id: &str) -> bool {
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(u8::is_ascii_alphabetic)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    let is_name = |name: &str| {
        let bytes = name.as_bytes();
        bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    };
    id.split_once('/').is_some_and(|(prefix, name)| prefix.split('.').all(is_label) && is_name(name))
}

/// Returns whether the prefix of an identifier is reserved for the protocol.
fn is_reserved(id: &str) -> bool {
    id.split('/').next().and_then(|prefix| prefix.split('.').nth(1)).is_some_and(|label| {
        ["modelcontextprotocol", "mcp"].iter().any(|reserved| label.eq_ignore_ascii_case(reserved))
    })
}

/// Returns the problem with the name of a method, as the predicate of a sentence.
fn name_problem(name: &str) -> Option<&'static str> {
    const RESERVED: [&str; 4] = ["notifications/", "rpc.", "skills/", "tasks/"];
    if !is_method_name(name) {
        Some("must have visible ASCII characters and a `/`, at most 128 bytes")
    } else if Method::named(name).is_some()
        || SessionRequired::of_method(name).is_some()
        || RESERVED.iter().any(|reserved| name.starts_with(reserved))
    {
        Some("is a method of the protocol")
    } else {
        None
    }
}

/// Returns whether an extension can have a method with this name.
pub(crate) fn is_method_name(name: &str) -> bool {
    name.len() <= EXTENSION_METHOD_BYTES && name.contains('/') && name.bytes().all(|byte| byte.is_ascii_graphic())
}
