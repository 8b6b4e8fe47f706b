//! Async functions as handlers.
//!
//! A handler takes no parameters, its arguments, the [`Context`], or both in this order. A marker type for each of
//! these shapes lets one trait, [`Handler`], cover them all. The compiler infers the marker. Tools, prompts and
//! resources add their own requirements on arguments and results.

use std::future::Future;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use crate::json::{Value, deserialize};
use crate::schema::describe_type_error;

// The arguments of a handler that takes none. A doc comment would be published in the schema.
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

/// An async function that answers a call. It does not have to be `Send`, because a Worker has one thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a handler",
    label = "not an async function of (), (Arguments), (Context) or (Arguments, Context)",
    note = "Arguments must be `Deserialize` and own what they hold"
)]
pub trait Handler<Shape>: 'static {
    /// The type of the arguments.
    type Arguments: DeserializeOwned + 'static;
    /// The return type of the function.
    type Output: 'static;

    /// Calls the function.
    fn call(&self, arguments: Self::Arguments, cx: Context) -> impl Future<Output = Self::Output> + 'static;
}

macro_rules! handler {
    ($shape:ty, ($($generic:ident)?), $arguments:ty, ($($taken:ty),*), |$a:ident, $cx:ident| ($($given:ident),*)) => {
        impl<F, $($generic,)? Fut> Handler<$shape> for F
        where
            F: Fn($($taken),*) -> Fut + 'static,
            $($generic: DeserializeOwned + 'static,)?
            Fut: Future + 'static,
            Fut::Output: 'static,
        {
            type Arguments = $arguments;
            type Output = Fut::Output;

            fn call(&self, $a: $arguments, $cx: Context) -> impl Future<Output = Self::Output> + 'static {
                self($($given),*)
            }
        }
    };
}

handler!(TakesNothing, (), NoArguments, (), |_a, _cx| ());
handler!(TakesArguments<A>, (A), A, (A), |a, _cx| (a));
handler!(TakesContext, (), NoArguments, (Context), |_a, cx| (cx));
handler!(TakesBoth<A>, (A), A, (A, Context), |a, cx| (a, cx));

/// Deserializes arguments that fit their schema. The error names the arguments that the type rejects: a type can reject
/// values that a schema cannot exclude, such as a string with a format of its own.
pub(crate) fn read<A: DeserializeOwned>(arguments: Value<'_>) -> Result<A, String> {
    deserialize::read(arguments).map_err(|error| describe_type_error(&error))
}
