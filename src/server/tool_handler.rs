//! The handlers of tools, with their types erased.

use std::marker::PhantomData;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use schemars::JsonSchema;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::handler::{Handler, read};
use crate::call::result::{IntoToolResult, ToolResult};
use crate::json::Value;
use crate::schema::{Schema, SchemaError};

/// A handler with erased types, so that a server can hold handlers of different types.
pub(crate) trait AnyToolHandler {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError>;
    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>>;
    /// Calls the handler. The error names the arguments that its type rejects.
    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String>;
}

pub(crate) type ToolFuture = LocalBoxFuture<'static, Result<ToolResult, HandlerError>>;

pub(crate) struct Typed<H, Shape> {
    handler: H,
    shape: PhantomData<Shape>,
}

impl<H, Shape> Typed<H, Shape> {
    pub(crate) fn new(handler: H) -> Self {
        Self { handler, shape: PhantomData }
    }
}

impl<Shape, H> AnyToolHandler for Typed<H, Shape>
where
    H: Handler<Shape, Arguments: JsonSchema, Output: IntoToolResult>,
{
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        Schema::of_object::<H::Arguments>()
    }

    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        H::Output::output_schema()
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        start(&self.handler, arguments, cx)
    }
}

/// The handler of a tool whose schemas are JSON values.
pub(crate) struct WithSchemas<H, Shape> {
    pub handler: H,
    pub input: Result<Rc<Schema>, SchemaError>,
    pub output: Option<Result<Rc<Schema>, SchemaError>>,
    pub shape: PhantomData<Shape>,
}

impl<Shape, H> AnyToolHandler for WithSchemas<H, Shape>
where
    H: Handler<Shape, Output: IntoToolResult>,
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

fn start<Shape, H>(handler: &H, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String>
where
    H: Handler<Shape, Output: IntoToolResult>,
{
    let arguments = read(arguments)?;
    Ok(handler.call(arguments, cx).map(IntoToolResult::into_tool_result).boxed_local())
}
