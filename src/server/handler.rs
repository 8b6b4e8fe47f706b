//! Plain async functions as the handlers of tools.
//!
//! A handler takes nothing, its arguments, the [`Context`], or both in this order. The marker types say which of these
//! shapes a function has, so that one name, [`ToolHandler`], covers them all; nobody writes them.

use std::future::Future;
use std::marker::PhantomData;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use super::tool_result::{IntoToolResult, ToolError, ToolResult};
use crate::schema::{Schema, SchemaError};

// The arguments of a tool that takes none. A doc comment would be published in the schema.
#[allow(missing_docs)]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NoArguments {}

/// `async fn()`
pub struct TakesNothing;
/// `async fn(A)`
pub struct TakesArguments<A>(PhantomData<A>);
/// `async fn(Context)`
pub struct TakesContext;
/// `async fn(A, Context)`
pub struct TakesBoth<A>(PhantomData<A>);

/// An async function that can answer a tool call. It need not be `Send`: a Worker has one thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot handle a tool",
    label = "not an async function of (), (Arguments), (Context) or (Arguments, Context)",
    note = "Arguments must be `Deserialize + JsonSchema`; the result must be text, `Json<T>`, content, (), or a Result of them"
)]
pub trait ToolHandler<Shape>: 'static {
    /// What the arguments are read into.
    type Arguments: DeserializeOwned + JsonSchema + 'static;
    /// What the function returns.
    type Output: IntoToolResult + 'static;

    /// Calls the function.
    fn call(&self, arguments: Self::Arguments, cx: Context) -> impl Future<Output = Self::Output> + 'static;
}

impl<F, Fut, R> ToolHandler<TakesNothing> for F
where
    F: Fn() -> Fut + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoToolResult + 'static,
{
    type Arguments = NoArguments;
    type Output = R;

    fn call(&self, _: NoArguments, _: Context) -> impl Future<Output = R> + 'static {
        self()
    }
}

impl<F, A, Fut, R> ToolHandler<TakesArguments<A>> for F
where
    F: Fn(A) -> Fut + 'static,
    A: DeserializeOwned + JsonSchema + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoToolResult + 'static,
{
    type Arguments = A;
    type Output = R;

    fn call(&self, arguments: A, _: Context) -> impl Future<Output = R> + 'static {
        self(arguments)
    }
}

impl<F, Fut, R> ToolHandler<TakesContext> for F
where
    F: Fn(Context) -> Fut + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoToolResult + 'static,
{
    type Arguments = NoArguments;
    type Output = R;

    fn call(&self, _: NoArguments, cx: Context) -> impl Future<Output = R> + 'static {
        self(cx)
    }
}

impl<F, A, Fut, R> ToolHandler<TakesBoth<A>> for F
where
    F: Fn(A, Context) -> Fut + 'static,
    A: DeserializeOwned + JsonSchema + 'static,
    Fut: Future<Output = R> + 'static,
    R: IntoToolResult + 'static,
{
    type Arguments = A;
    type Output = R;

    fn call(&self, arguments: A, cx: Context) -> impl Future<Output = R> + 'static {
        self(arguments, cx)
    }
}

/// A handler whose types are forgotten, so that a server can hold many.
pub(crate) trait AnyToolHandler {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError>;
    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>>;
    /// Calls the function, or says what of the arguments its type does not take.
    fn call(&self, arguments: &str, cx: Context) -> Result<ToolFuture, String>;
}

pub(crate) type ToolFuture = LocalBoxFuture<'static, Result<ToolResult, ToolError>>;

pub(crate) struct Typed<H, Shape> {
    handler: H,
    shape: PhantomData<Shape>,
}

impl<H, Shape> Typed<H, Shape> {
    pub(crate) fn new(handler: H) -> Self {
        Self { handler, shape: PhantomData }
    }
}

impl<Shape, H: ToolHandler<Shape>> AnyToolHandler for Typed<H, Shape> {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        Schema::of_object::<H::Arguments>()
    }

    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        H::Output::output_schema()
    }

    fn call(&self, arguments: &str, cx: Context) -> Result<ToolFuture, String> {
        let arguments = serde_json::from_str(arguments).map_err(|_| what_is_wrong::<H::Arguments>(arguments))?;
        Ok(self.handler.call(arguments, cx).map(IntoToolResult::into_tool_result).boxed_local())
    }
}

/// Reads the arguments once more, to learn which of them is wrong: a type may refuse what its schema lets through, such as
/// a string with a form of its own. Reading them this way first would cost every good call.
pub(crate) fn what_is_wrong<A: DeserializeOwned>(arguments: &str) -> String {
    let mut text = serde_json::Deserializer::from_str(arguments);
    let value = serde_json::Value::deserialize(&mut text).unwrap_or_default();
    match serde_path_to_error::deserialize::<_, A>(value) {
        Err(error) => format!("{}: {}", error.path(), error.inner()),
        Ok(_) => "they hold a number that is out of range".to_owned(),
    }
}
