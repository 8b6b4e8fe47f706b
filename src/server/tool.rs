//! Tools.

use std::future::Future;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits, Value, object};

use super::access::{Access, access_methods};
use super::approval::{APPROVAL, Approval, approval};
use super::hook::hook;
use super::resource::Resource;
use super::tool_handler::{AnyToolHandler, Typed, WithSchemas};
use super::tool_task::ToolTask;
use crate::call::clean::{Clean, cleaned};
use crate::call::client_extensions::ClientSupport;
use crate::call::context::{CallableTool, Context, Hook};
use crate::call::deadline::{DEADLINE, deadline_method};
use crate::call::error::HandlerError;
use crate::call::handler::{Arguments, Handler, Parameters};
use crate::call::request_info::RequestInfo;
use crate::call::result::IntoToolResult;
use crate::call::tool_event::ToolEvent;
use crate::protocol::description::{Metadata, ToolAnnotations, metadata_methods};
use crate::protocol::ui::{APP, EXTENSION, FLAT_RESOURCE_URI, MIME_TYPE, MODEL, UI};
use crate::schema::{HasJsonSchema, Schema, SchemaError};
use crate::text::Text;

/// A tool: a name, a description, and the handler that runs it.
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
///     Ok(cx.caller()?.subject.clone())
/// }
///
/// let add = Tool::new("add", "Adds two numbers.", add).title("Addition").read_only();
/// let whoami = Tool::new("whoami", "Names the caller.", whoami).visible_if(|request| request.caller().is_some());
/// ```
#[must_use]
pub struct Tool {
    pub(crate) deadline: Duration,
    pub(crate) argument_limit: usize,
    pub(crate) metadata: Metadata,
    pub(crate) annotations: ToolAnnotations,
    pub(crate) access: Access,
    pub(crate) handler: Box<dyn AnyToolHandler>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) approval: Option<Approval>,
    /// Removes hidden characters from results. Only `Tool::clean_output` sets it.
    pub(crate) clean: Option<Clean>,
    /// For a tool for user interfaces only: returns whether the client of a request may see it.
    pub(crate) app_clients: Option<fn(&RequestInfo) -> bool>,
    /// The user interface of the tool.
    pub(crate) app: Option<AppOfTool>,
    /// For a tool that calls another tool: returns that tool for the arguments of a call. Its
    /// [`arguments_member`](Self::arguments_member) says where its own arguments are.
    pub(crate) called: Option<CalledTool>,
    /// The member of the arguments of a request that has the arguments of this tool. `None` for a tool that the request names itself.
    pub(crate) arguments_member: Option<&'static str>,
    pub(crate) task: Option<Rc<dyn ToolTask>>,
    /// Creates the tools for jobs, if a call of this tool can become one.
    pub(crate) job_tools: Option<fn() -> [Self; 2]>,
    /// Whether the tool is for the jobs of durable tasks.
    pub(crate) is_for_jobs: bool,
    /// `None` for a tool with a handler of its own.
    pub(crate) origin: Option<ToolOrigin>,
    /// The problem with the settings of the tool, as the predicate of a sentence.
    pub(crate) problem: Option<String>,
}

/// Returns the tool that a call with these arguments calls, if there can be one.
pub(crate) type CalledTool = Rc<dyn Fn(Value<'_>) -> Option<Tool>>;

/// The user interface of a tool. Only `Tool::ui` creates it, so the wasm module of a server without apps does not contain the check.
pub(crate) struct AppOfTool {
    pub uri: Text,
    /// Returns the problem with the resource at the URI, as the predicate of a sentence.
    pub problem: fn(&str, &Tool, Option<&Resource>) -> Option<String>,
}

/// The agent or workflow that a tool was made from.
pub(crate) struct ToolOrigin {
    /// The type of the tool: `agent` or `workflow`.
    pub kind: &'static str,
    pub key: String,
    /// Returns the problem with the definition. The parameter returns whether the server has the tool of a name.
    pub problem: OriginProblem,
}

/// The text is the predicate of a sentence.
pub(crate) type OriginProblem = Box<dyn Fn(&dyn Fn(&str) -> bool) -> Option<String>>;

impl Tool {
    /// Creates the tool `name`. The name has 1 to 64 characters of `A-Z a-z 0-9 _ . -`. A model uses the description to decide when to call
    /// the tool, so it must not be empty.
    pub fn new<P, H>(name: impl Into<Text>, description: impl Into<Text>, handler: H) -> Self
    where
        P: Parameters<Arguments: HasJsonSchema>,
        H: Handler<P, Output: IntoToolResult>,
    {
        Self::of_handler(name.into(), description.into(), Box::new(Typed::new(handler)))
    }

    /// Creates a tool whose schemas are JSON values, which are published unchanged. Use it for tools that are defined
    /// elsewhere.
    ///
    /// The handler takes its arguments as a `serde_json::Value`, or as any type that deserializes from them.
    ///
    /// ```
    /// use edge_mcp::Tool;
    /// use serde_json::{Value, json};
    ///
    /// let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    /// let echo = |arguments: Value| async move { format!("You said {}.", arguments["city"]) };
    /// let tool = Tool::with_schema("echo", "Repeats the city.", &schema, None, echo);
    /// ```
    pub fn with_schema<P, H>(
        name: impl Into<Text>,
        description: impl Into<Text>,
        input: &serde_json::Value,
        output: Option<&serde_json::Value>,
        handler: H,
    ) -> Self
    where
        P: Parameters,
        H: Handler<P, Output: IntoToolResult>,
    {
        let input = Schema::of_value(input).and_then(Schema::require_objects);
        let output = output.map(Schema::of_value);
        Self::of_handler(
            name.into(),
            description.into(),
            Box::new(WithSchemas { handler, input, output, parameters: PhantomData }),
        )
    }

    pub(crate) fn of_handler(name: Text, description: Text, handler: Box<dyn AnyToolHandler>) -> Self {
        let metadata = Metadata { description: Some(description), ..Metadata::new(name) };
        Self {
            deadline: DEADLINE,
            argument_limit: usize::MAX,
            metadata,
            annotations: ToolAnnotations::default(),
            access: Access::default(),
            handler,
            hooks: Vec::new(),
            approval: None,
            clean: None,
            app_clients: None,
            app: None,
            called: None,
            arguments_member: None,
            task: None,
            job_tools: None,
            is_for_jobs: false,
            origin: None,
            problem: None,
        }
    }

    metadata_methods!(metadata);
    access_methods!();

    deadline_method!();

    /// Sets the maximum size of the arguments, in bytes of JSON. The limit of the [request body](crate::Limits)
    /// applies too.
    pub fn argument_limit(mut self, bytes: usize) -> Self {
        self.argument_limit = bytes;
        self
    }

    /// Adds a hook: an async function of an event of a call and the call's context. The call waits for it. A failure of
    /// the hook is logged, and does not change the result. A hook must not ask the client for input.
    ///
    /// If a tool has hooks, arguments with a number beyond the range of `f64` are rejected, because the hooks could not see
    /// that number.
    ///
    /// ```
    /// use edge_mcp::call::ToolEvent;
    /// use edge_mcp::{Context, Tool};
    ///
    /// let greet = Tool::new("greet", "Says hello.", || async { "Hello" }).hook(|event, cx: Context| async move {
    ///     if let ToolEvent::Output(result) = event {
    ///         println!("{:?} was answered: {}", cx.request_id(), result.text());
    ///     }
    ///     Ok(())
    /// });
    /// ```
    pub fn hook<F>(mut self, observe: impl Fn(ToolEvent, Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), HandlerError>> + 'static,
    {
        self.hooks.push(hook(move |_, event, cx| observe(event, cx)));
        self
    }

    /// Removes hidden characters and control codes from results and errors: from texts, from structured content and from the labels of links. It
    /// is for tools that return the text of others, such as documents, messages and web pages. Hidden characters can carry instructions that a
    /// model reads and a person does not see.
    ///
    /// Line breaks, tabs, and the invisible characters that some scripts and emoji need stay. Other spaces become U+0020. Members of structured
    /// content whose names have hidden characters are left out. Binary data stays as it is. Progress and log messages of the handler are not
    /// cleaned.
    ///
    /// ```
    /// use edge_mcp::testing::{self, call};
    /// use edge_mcp::{McpServer, Tool};
    /// use serde_json::json;
    ///
    /// let message = || async { "Hello\u{200b}\u{1b}[2J" };
    /// let endpoint = testing::endpoint(move |_| {
    ///     McpServer::builder("mail", "1.0.0").tool(Tool::new("read-message", "Reads a message.", message).clean_output()).build()
    /// });
    /// testing::run(async { assert_eq!(call(&endpoint, "read-message", json!({})).await.text(), "Hello[2J") });
    /// ```
    pub fn clean_output(mut self) -> Self {
        self.clean = Some(cleaned);
        self
    }

    /// Requires the approval of a person before a call runs. `question` is an async function of the arguments, which fit the schema, and
    /// the [`Context`]. It returns the question, or `None` if the call does not need approval. With an error, the call fails. The function
    /// runs in each round of the call, and has the same deadline as the handler. It can look up what a person needs to know.
    ///
    /// The client shows the question with the tool's name and the arguments. The tool's hooks and handler run after the
    /// approval. An approval is valid for one call and one question: a question that has changed is asked again. A nested call asks for its
    /// own approval. If the client does not support elicitation, or if the arguments are too long to show all of them, the result has
    /// `isError`. All clients see `"edge-mcp/approval": true` in the tool's `_meta`.
    ///
    /// The server needs `MCP_STATE_KEY`: without it, every request gets a 503. The server cannot verify that a person
    /// approved. Approval does not replace [scopes](Self::scopes).
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
    /// let pay = Tool::new("pay", "Pays a bill.", |Payment { euros }: Payment| async move { format!("Paid {euros} euros.") })
    ///     .requires_approval(async |Payment { euros }: Payment, _| {
    ///         Ok((euros > 100).then(|| format!("Pay {euros} euros?").into()))
    ///     });
    /// ```
    pub fn requires_approval<A, F>(mut self, question: F) -> Self
    where
        A: Arguments,
        F: AsyncFn(A, Context) -> Result<Option<Text>, HandlerError> + 'static,
    {
        self.metadata.set_meta(APPROVAL, true);
        self.approval = Some(approval(question));
        self
    }

    /// Makes the tool one for a user interface ([MCP Apps](https://modelcontextprotocol.io/extensions/apps)) and not for a model: clients
    /// offer it only to the user interfaces of this server. An [agent](crate::agents) is never offered it.
    ///
    /// This is no access control: a client may call the tool in any case. Use [scopes](Self::scopes) to protect it.
    ///
    /// ```
    /// use edge_mcp::Tool;
    ///
    /// let refresh = Tool::new("refresh-quote", "Used by the form of quotes.", || async { "12 €" }).for_app_only();
    /// ```
    pub fn for_app_only(mut self) -> Self {
        self.app_clients = Some(shows_apps);
        self.describe_ui();
        self
    }

    /// Shows the user interface at `uri`, which the server of the tool has.
    #[cfg(feature = "gateway")]
    pub(crate) fn with_app(mut self, uri: Text) -> Self {
        self.app = Some(AppOfTool { uri, problem: |_, _, _| None });
        self.describe_ui();
        self
    }

    /// Tells clients that user interfaces must not call the tool.
    #[cfg(feature = "gateway")]
    pub(crate) fn for_model_only(&mut self) {
        self.describe_ui_for(vec![MODEL]);
    }

    /// Writes the user interface and the visibility of the tool to its `_meta`.
    pub(super) fn describe_ui(&mut self) {
        self.describe_ui_for(if self.is_for_app_only() { vec![APP] } else { vec![MODEL, APP] });
    }

    fn describe_ui_for(&mut self, callers: Vec<&str>) {
        let mut ui = vec![("visibility", callers.into())];
        if let Some(AppOfTool { uri, .. }) = &self.app {
            ui.push(("resourceUri", (&**uri).into()));
            self.metadata.set_meta(FLAT_RESOURCE_URI, &**uri);
        }
        self.metadata.set_meta(UI, object(ui));
    }

    /// Returns whether the tool is for user interfaces only, and no model may see it.
    pub(crate) fn is_for_app_only(&self) -> bool {
        self.app_clients.is_some()
    }

    /// Sets the title in the annotations, for a tool with two titles. By default, the annotations contain the [title](Self::title) in the
    /// revisions in which tools have no title, and none in others.
    pub fn annotated_title(mut self, title: impl Into<Text>) -> Self {
        self.annotations.title = Some(title.into());
        self
    }

    /// Declares that the tool does not modify data (`readOnlyHint: true`, `destructiveHint: false`).
    pub fn read_only(mut self) -> Self {
        self.annotations.set_effect(true, false);
        self
    }

    /// Declares that the tool may delete or overwrite data (`readOnlyHint: false`, `destructiveHint: true`). This is the default that
    /// clients assume.
    pub fn destructive(mut self) -> Self {
        self.annotations.set_effect(false, true);
        self
    }

    /// Declares that the tool modifies data only by adding to it (`readOnlyHint: false`, `destructiveHint: false`). A
    /// [read-only](Self::read_only) tool stays read-only.
    pub fn additive(mut self) -> Self {
        let is_read_only = self.annotations.read_only_hint == Some(true);
        self.annotations.set_effect(is_read_only, false);
        self
    }

    /// Declares that a repeated call with the same arguments has no further effect (`idempotentHint`).
    pub fn idempotent(mut self) -> Self {
        self.annotations.idempotent_hint = Some(true);
        self
    }

    /// Declares that the tool interacts with systems outside the server (`openWorldHint`). This is the default that
    /// clients assume.
    pub fn open_world(mut self) -> Self {
        self.annotations.open_world_hint = Some(true);
        self
    }

    /// Declares that the tool uses only data of the server (`openWorldHint: false`).
    pub fn closed_world(mut self) -> Self {
        self.annotations.open_world_hint = Some(false);
        self
    }

    /// Describes the tool for a program that calls it. Returns `None` if its schema is not valid.
    pub(crate) fn callable(&self) -> Option<CallableTool> {
        let Metadata { name, description, .. } = &self.metadata;
        let input = self.input_schema().ok()?;
        Some(CallableTool { name: name.clone(), description: description.clone().unwrap_or_default(), input })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    pub(crate) fn durable_task(&self) -> Option<&Rc<dyn ToolTask>> {
        // Without the feature, the compiler then removes the code for tasks.
        if cfg!(feature = "tasks") { self.task.as_ref() } else { None }
    }

    pub(crate) fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        self.handler.input_schema()
    }

    pub(crate) fn output_schema(&self) -> Result<Option<Rc<Schema>>, SchemaError> {
        self.handler.output_schema().transpose()
    }

    /// Returns the output schema for lists. A tool whose call can become a job has none, because clients would check the text about the job.
    pub(crate) fn published_output(&self) -> Result<Option<Rc<Schema>>, SchemaError> {
        if self.durable_task().is_some_and(|task| task.has_job()) { Ok(None) } else { self.output_schema() }
    }
}

/// Returns whether the client of a request shows apps, or may do so. It does if it supports the media type of their pages.
///
/// A legacy client declares that only in `initialize`. Its lists have the tools for apps, which it recognizes by their visibility.
fn shows_apps(request: &RequestInfo) -> bool {
    match request.client_supports(EXTENSION) {
        ClientSupport::Unknown => true,
        ClientSupport::No => false,
        ClientSupport::Yes(settings) => {
            Document::parse(settings.get().as_bytes(), JsonLimits::MOST).is_ok_and(|settings| {
                let types = settings.root().get("mimeTypes");
                types.is_some_and(|types| types.items().any(|known| known.is_str(MIME_TYPE)))
            })
        }
    }
}
