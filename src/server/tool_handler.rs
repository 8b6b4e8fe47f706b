//! The handlers of tools, with their types erased.

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::rc::Rc;

use edge_json::Value;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::handler::{Handler, Parameters, read};
use crate::call::result::{IntoToolResult, ToolResult};
use crate::schema::{HasJsonSchema, Schema, SchemaError};

/// A handler with erased types, so that a server can hold handlers of different types.
pub(crate) trait AnyToolHandler {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError>;
    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>>;
    /// Returns the type of the handler, if it determines both schemas.
    fn type_with_schemas(&self) -> Option<TypeId> {
        None
    }
    /// Returns the mounted server to which the tool belongs. Its type belongs to the room of gateways.
    fn mount(&self) -> Option<Rc<dyn Any>> {
        None
    }
    /// Calls the handler. The error names the arguments that its type rejects.
    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String>;
}

pub(crate) type ToolFuture = LocalBoxFuture<'static, Result<ToolResult, HandlerError>>;

/// A call of a tool. Its result is `None` if the handler waits for an answer of the client, or for a later attempt of its durable task. The error
/// is one that the client must see as an error of the protocol: a question that cannot be asked, or a durable task that failed.
pub(crate) type ToolCall = LocalBoxFuture<'static, Result<Option<ToolResult>, HandlerError>>;

pub(crate) struct Typed<H, P> {
    handler: H,
    parameters: PhantomData<P>,
}

impl<H, P> Typed<H, P> {
    pub(crate) fn new(handler: H) -> Self {
        Self { handler, parameters: PhantomData }
    }
}

impl<P, H> AnyToolHandler for Typed<H, P>
where
    P: Parameters<Arguments: HasJsonSchema>,
    H: Handler<P, Output: IntoToolResult>,
{
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        Schema::of_object::<P::Arguments>()
    }

    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        H::Output::output_schema()
    }

    fn type_with_schemas(&self) -> Option<TypeId> {
        Some(TypeId::of::<Self>())
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        start(&self.handler, arguments, cx)
    }
}

/// The handler of a tool whose schemas are JSON values.
pub(crate) struct WithSchemas<H, P> {
    pub handler: H,
    pub input: Result<Rc<Schema>, SchemaError>,
    pub output: Option<Result<Rc<Schema>, SchemaError>>,
    pub parameters: PhantomData<P>,
}

impl<P, H> AnyToolHandler for WithSchemas<H, P>
where
    P: Parameters,
    H: Handler<P, Output: IntoToolResult>,
{
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        self.input.clone()
    }

    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        self.output.clone()
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        start(&self.handler, arguments, cx)
    }
}

fn start<P, H>(handler: &H, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String>
where
    P: Parameters,
    H: Handler<P, Output: IntoToolResult>,
{
    let arguments = read(arguments)?;
    Ok(handler.call(P::of_call(arguments, cx)).map(IntoToolResult::into_tool_result).boxed_local())
}
