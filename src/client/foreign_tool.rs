//! A tool of another server as a tool of this one.

use std::any::Any;
use std::rc::Rc;

use edge_json::{Kind, Value};
use serde_json::value::RawValue;

use super::operations::definition::{Definition, OutputSchema};
use crate::call::context::Context;
use crate::schema::{Schema, SchemaError};
use crate::server::tool::Tool;
use crate::server::tool_handler::{AnyToolHandler, ToolFuture};

/// The handler of a tool of another server.
struct ForeignTool<C> {
    /// `None` if the tool was not listed in this request.
    schemas: Option<ListedSchemas>,
    /// The mounted server, for a gateway.
    mount: Option<Rc<dyn Any>>,
    call: C,
}

/// The schemas of a listed tool. The rest of its definition is freed before the list is written.
struct ListedSchemas {
    input: Option<Rc<Schema>>,
    output: Option<Rc<OutputSchema>>,
    /// The context of the list.
    cx: Context,
}

/// Creates the tool that callers know as `name`. It has the schemas and the title of `listed`, its definition in the list of `cx`. `call` gets
/// the arguments as the caller wrote them: an object.
pub(crate) fn foreign_tool(
    name: String,
    listed: Option<(&Definition, &Context)>,
    mount: Option<Rc<dyn Any>>,
    call: impl Fn(Box<RawValue>, Context) -> ToolFuture + 'static,
) -> Tool {
    let schemas = listed.map(|(listed, cx)| ListedSchemas {
        input: listed.input().cloned(),
        output: listed.listed_output().cloned(),
        cx: cx.clone(),
    });
    let description = listed.map_or("", |(listed, _)| listed.description()).to_owned();
    let handler = ForeignTool { schemas, mount, call };
    let mut tool = Tool::of_handler(name.into(), description.into(), Box::new(handler));
    tool.metadata.title = listed.and_then(|(listed, _)| listed.title()).map(|title| title.to_owned().into());
    tool
}

impl<C: Fn(Box<RawValue>, Context) -> ToolFuture> AnyToolHandler for ForeignTool<C> {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        let known = self.schemas.as_ref().and_then(|schemas| schemas.input.clone());
        Ok(known.unwrap_or_else(|| Schema::unenforced(RawValue::NULL.to_owned(), true)))
    }

    /// Returns the output schema for a list. The client checks each result, so the schema is not enforced a second time.
    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        let ListedSchemas { output, cx, .. } = self.schemas.as_ref()?;
        output.as_ref()?.published(&cx.request().foreign_steps().compilation, cx.host()).map(Ok)
    }

    fn mount(&self) -> Option<Rc<dyn Any>> {
        self.mount.clone()
    }

    /// A tool that calls this one does not check that the arguments are an object.
    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        let arguments = Some(arguments).filter(|arguments| arguments.kind() == Kind::Object).and_then(Value::to_raw);
        Ok((self.call)(arguments.ok_or_else(|| "they must be an object".to_owned())?, cx))
    }
}

impl Definition {
    /// Returns whether the annotations say that the tool is read-only. Annotations that contradict one another say nothing.
    pub(crate) fn is_read_only(&self) -> bool {
        self.has_hint("readOnlyHint") && !self.has_hint("destructiveHint")
    }
}
