//! Tools.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use schemars::JsonSchema;

use super::access::{Access, access_methods};
use super::approval::{APPROVAL, Approval};
use super::hook::{Hooks, ToolEvent};
use super::tool_handler::{AnyToolHandler, Typed, WithSchemas};
use crate::call::context::Context;
use crate::call::deadline::{DEADLINE, deadline_method};
use crate::call::handler::Handler;
use crate::call::result::IntoToolResult;
use crate::protocol::description::{Metadata, Text, ToolAnnotations, metadata_methods};
use crate::schema::{Schema, SchemaError};

/// A tool: a name, what it is for, and the function that does it.
///
/// ```
/// use edge_mcp::{Context, Json, Tool, HandlerError};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Numbers {
///     /// The first number
///     a: f64,
///     /// The second number
///     b: f64,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Sum {
///     sum: f64,
/// }
///
/// async fn add(numbers: Numbers) -> Json<Sum> {
///     Json(Sum { sum: numbers.a + numbers.b })
/// }
///
/// async fn whoami(cx: Context) -> Result<String, HandlerError> {
///     cx.auth().map(|caller| caller.subject.clone()).ok_or_else(|| HandlerError::new("Nobody is signed in."))
/// }
///
/// let add = Tool::new("add", add).title("Addition").description("Adds two numbers.").read_only();
/// let whoami = Tool::new("whoami", whoami).description("Who is calling.").visible_if(|request| request.principal().is_some());
/// ```
pub struct Tool {
    pub(crate) deadline: Duration,
    pub(crate) most_arguments: usize,
    pub(crate) metadata: Metadata,
    pub(crate) annotations: ToolAnnotations,
    pub(crate) access: Access,
    pub(crate) handler: Box<dyn AnyToolHandler>,
    pub(crate) hooks: Hooks,
    pub(crate) approval: Option<Approval>,
    pub(crate) origin: Origin,
}

/// What a tool was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The tool itself.
    #[default]
    Tool,
    /// An agent: what is wrong with it, and the tools that it calls.
    Agent { key: String, problem: Option<String>, tools: Vec<Text> },
    /// A workflow.
    Workflow { key: String, is_blank: bool },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool => f.write_str("the tool itself"),
            Self::Agent { key, .. } => write!(f, "the agent `{key}`"),
            Self::Workflow { key, .. } => write!(f, "the workflow `{key}`"),
        }
    }
}

impl Tool {
    /// The tool `name`: 1 to 64 of `A-Z a-z 0-9 _ . -`. It needs a [description](Self::description) too.
    pub fn new<Shape, H>(name: impl Into<Text>, handler: H) -> Self
    where
        Shape: 'static,
        H: Handler<Shape, Arguments: JsonSchema, Output: IntoToolResult>,
    {
        Self::of_handler(name.into(), Box::new(Typed::new(handler)))
    }

    /// A tool whose schemas are data, and are published as they are: for tools that are defined elsewhere.
    ///
    /// The function takes its arguments as a `serde_json::Value`, or as any type that such arguments can be read into.
    ///
    /// ```
    /// use edge_mcp::Tool;
    /// use serde_json::{Value, json};
    ///
    /// let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    /// let echo = |arguments: Value| async move { format!("You said {}.", arguments["city"]) };
    /// let tool = Tool::with_schema("echo", &schema, None, echo).description("Says it again.");
    /// ```
    pub fn with_schema<Shape, H>(
        name: impl Into<Text>,
        input: &serde_json::Value,
        output: Option<&serde_json::Value>,
        handler: H,
    ) -> Self
    where
        Shape: 'static,
        H: Handler<Shape, Output: IntoToolResult>,
    {
        let input = Schema::of_value(input).and_then(Schema::checked_to_be_of_objects);
        let output = output.map(Schema::of_value);
        Self::of_handler(name.into(), Box::new(WithSchemas { handler, input, output, shape: PhantomData }))
    }

    fn of_handler(name: Text, handler: Box<dyn AnyToolHandler>) -> Self {
        Self {
            deadline: DEADLINE,
            most_arguments: usize::MAX,
            metadata: Metadata::new(name),
            annotations: ToolAnnotations::default(),
            access: Access::default(),
            handler,
            hooks: Hooks::default(),
            approval: None,
            origin: Origin::default(),
        }
    }

    metadata_methods!(metadata);
    access_methods!();

    deadline_method!();

    /// Takes at most `bytes` of arguments, as they are written in JSON: fewer than a [body](crate::Limits) may have.
    #[must_use]
    pub fn argument_limit(mut self, bytes: usize) -> Self {
        self.most_arguments = bytes;
        self
    }

    /// Looks on while it is called: an async function of what happens, and of the call's context. One that fails is written to the
    /// log, and changes nothing; the call waits for it.
    ///
    /// ```
    /// use edge_mcp::ToolEvent;
    /// use edge_mcp::{Context, Tool};
    ///
    /// let greet = Tool::new("greet", || async { "Hello" }).description("Says hello.").hook(|event, cx: Context| async move {
    ///     if let ToolEvent::Output(result) = event {
    ///         println!("{:?} was answered: {}", cx.request_id(), result.text());
    ///     }
    ///     Ok(())
    /// });
    /// ```
    #[must_use]
    pub fn hook<F>(mut self, observe: impl Fn(ToolEvent, Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), Box<dyn Error>>> + 'static,
    {
        self.hooks.add(observe);
        self
    }

    /// Requires that a person approves a call before it runs. `question` returns what to ask, or `None` if the arguments need no
    /// approval. It gets arguments that fit the schema.
    ///
    /// The client shows the question with the tool's name and the arguments. The tool's hooks and handler run after the approval. A
    /// nested call asks for itself. A client that cannot be asked gets a result with `isError`. All clients see
    /// `"edge-mcp/approval": true` in the tool's `_meta`.
    ///
    /// The server needs `MCP_STATE_KEY`: without it, every request gets a 503. An answer is only the client's word. It does not replace
    /// [scopes](Self::scopes).
    ///
    /// ```
    /// use edge_mcp::Tool;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Payment {
    ///     euros: u32,
    /// }
    ///
    /// let pay = Tool::new("pay", |Payment { euros }: Payment| async move { format!("Paid {euros} euros.") })
    ///     .description("Pays a bill.")
    ///     .requires_approval(|arguments| (arguments["euros"].as_u64() > Some(100)).then(|| "Pay this much?".into()));
    /// ```
    #[must_use]
    pub fn requires_approval(mut self, question: impl Fn(&serde_json::Value) -> Option<Text> + 'static) -> Self {
        self.metadata.set_meta(APPROVAL, true);
        self.approval = Some(Rc::new(question));
        self
    }

    /// The name for people among the annotations, where it is to differ from the [title](Self::title).
    #[must_use]
    pub fn annotated_title(mut self, title: impl Into<Text>) -> Self {
        self.annotations.title = Some(title.into());
        self
    }

    /// It changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.read_only_hint = Some(true);
        self
    }

    /// What it changes may be lost by it. Clients assume so of every tool that says nothing.
    #[must_use]
    pub fn destructive(mut self) -> Self {
        self.annotations.destructive_hint = Some(true);
        self
    }

    /// It changes things, but only adds to them.
    #[must_use]
    pub fn additive(mut self) -> Self {
        self.annotations.destructive_hint = Some(false);
        self
    }

    /// Calling it twice with the same arguments is calling it once.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.annotations.idempotent_hint = Some(true);
        self
    }

    /// It reaches beyond what the server holds. Clients assume so of every tool that says nothing.
    #[must_use]
    pub fn open_world(mut self) -> Self {
        self.annotations.open_world_hint = Some(true);
        self
    }

    /// It reaches nothing beyond what the server holds.
    #[must_use]
    pub fn closed_world(mut self) -> Self {
        self.annotations.open_world_hint = Some(false);
        self
    }

    pub(crate) fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        self.handler.input_schema()
    }

    pub(crate) fn output_schema(&self) -> Result<Option<Rc<Schema>>, SchemaError> {
        self.handler.output_schema().transpose()
    }
}
