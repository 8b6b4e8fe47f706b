//! Async functions as handlers.
//!
//! A [`Handler`] takes no parameters, its [`Arguments`], the [`Context`], or both in this order. The compiler first infers
//! the tuple and then checks that it implements [`Parameters`]. [`Parameters`] is a separate trait, so a compiler error names the mistake.
//! Tools, prompts and resources add their own requirements on arguments and results.

use std::future::Future;

use edge_json::{Value, deserialize};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use crate::schema::describe_type_error;

// The arguments of a handler without arguments. This is not a doc comment, because schemars would publish it in the schema.
#[allow(missing_docs)]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NoArguments {}

/// An async function that answers a call. It does not have to be `Send`, because a Worker has one thread.
///
/// `P` is the tuple of its [`Parameters`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "expected an async function of (), (Arguments), (Context) or (Arguments, Context)",
    note = "write `async fn`, or a closure such as `|arguments: Arguments| async move {{ … }}`",
    note = "put all arguments into one struct with `#[derive(serde::Deserialize, schemars::JsonSchema)]`"
)]
pub trait Handler<P>: 'static {
    /// The return type of the function.
    type Output: 'static;

    /// Calls the function.
    fn call(&self, parameters: P) -> impl Future<Output = Self::Output> + 'static;
}

/// The parameters of a [`Handler`]: `()`, `(Arguments,)`, `(Context,)` or `(Arguments, Context)`.
#[diagnostic::on_unimplemented(
    message = "a handler cannot have the parameters `{Self}`",
    label = "expected an async function of (), (Arguments), (Context) or (Arguments, Context)",
    note = "take `Context` by value, not `&Context`",
    note = "put all arguments into one struct with `#[derive(serde::Deserialize, schemars::JsonSchema)]`"
)]
pub trait Parameters: 'static {
    /// The type of the arguments.
    type Arguments: Arguments;

    /// Creates the parameters of one call.
    fn of_call(arguments: Self::Arguments, cx: Context) -> Self;
}

/// The arguments of a [`Handler`]: a type that implements `Deserialize` and owns its data.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a handler",
    label = "the arguments must implement `Deserialize` and own their data",
    note = "add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to the type of the arguments",
    note = "a handler takes its arguments and its `Context` by value"
)]
pub trait Arguments: DeserializeOwned + 'static {}

// With this attribute, a compiler error names `Arguments`, whose message describes the remedy.
#[diagnostic::do_not_recommend]
impl<A: DeserializeOwned + 'static> Arguments for A {}

/// The arguments of a function without arguments: its parameters are `()` or `(Context,)`.
#[diagnostic::on_unimplemented(
    message = "this function is called without arguments, and cannot take `{Self}`",
    label = "expected an async function of () or (Context)",
    note = "a `Resource` has no arguments: the variables of a `ResourceTemplate` are the arguments of its handler"
)]
pub trait AbsentArguments: Arguments {
    /// Creates the absent arguments.
    fn absent() -> Self;
}

macro_rules! handlers {
    ($(($($parameter:ident $name:ident),*))*) => {$(
        impl<F, $($parameter,)* Fut> Handler<($($parameter,)*)> for F
        where
            F: Fn($($parameter),*) -> Fut + 'static,
            Fut: Future + 'static,
            Fut::Output: 'static,
        {
            type Output = Fut::Output;

            fn call(&self, ($($name,)*): ($($parameter,)*)) -> impl Future<Output = Self::Output> + 'static {
                self($($name),*)
            }
        }
    )*};
}

handlers! { () (A a) (A a, B b) }

impl Parameters for () {
    type Arguments = NoArguments;

    fn of_call(_: NoArguments, _: Context) -> Self {}
}

impl Parameters for (Context,) {
    type Arguments = NoArguments;

    fn of_call(_: NoArguments, cx: Context) -> Self {
        (cx,)
    }
}

impl<A: Arguments> Parameters for (A,) {
    type Arguments = A;

    fn of_call(arguments: A, _: Context) -> Self {
        (arguments,)
    }
}

impl<A: Arguments> Parameters for (A, Context) {
    type Arguments = A;

    fn of_call(arguments: A, cx: Context) -> Self {
        (arguments, cx)
    }
}

impl AbsentArguments for NoArguments {
    fn absent() -> Self {
        Self {}
    }
}

/// A trait without implementations. The implementation of [`Parameters`] for `(Context, Arguments)` requires it, so the compiler reports
/// its message, which states the right order.
#[diagnostic::on_unimplemented(
    message = "the arguments of a handler come before its `Context`",
    label = "expected an async function of ({Self}, Context)"
)]
pub trait AfterContext: Arguments {}

#[doc(hidden)]
impl<A: AfterContext> Parameters for (Context, A) {
    type Arguments = A;

    fn of_call(arguments: A, cx: Context) -> Self {
        (cx, arguments)
    }
}

/// Deserializes arguments that fit their schema. The error names the arguments that the type rejects: a type can reject
/// values that a schema cannot exclude, such as a string in a custom format.
pub(crate) fn read<A: DeserializeOwned>(arguments: Value<'_>) -> Result<A, String> {
    deserialize::read(arguments).map_err(|error| describe_type_error(&error))
}
