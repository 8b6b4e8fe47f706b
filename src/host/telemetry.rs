//! Traces and metrics of the operations of a server and of its MCP client.
//!
//! Source: the semantic conventions of OpenTelemetry for MCP (open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md).

use std::borrow::Cow;

/// Records operations: as spans, as data points, or in another form.
///
/// An operation has no arguments, no results, no URIs and no data about the caller.
///
/// ```
/// use std::cell::RefCell;
/// use std::rc::Rc;
///
/// use edge_mcp::host::{Operation, Outcome, Span, Telemetry};
/// use edge_mcp::{Endpoint, McpServer};
///
/// /// Collects the name and the outcome of each operation.
/// struct Outcomes(Rc<RefCell<Vec<String>>>);
/// struct OneOutcome(Rc<RefCell<Vec<String>>>, String);
///
/// impl Telemetry for Outcomes {
///     fn start(&self, operation: &Operation<'_>) -> Box<dyn Span> {
///         Box::new(OneOutcome(self.0.clone(), operation.name()))
///     }
/// }
///
/// impl Span for OneOutcome {
///     fn end(&mut self, outcome: &Outcome) {
///         let error = outcome.error_type.as_deref().unwrap_or("ok");
///         self.0.borrow_mut().push(format!("{}: {error}", self.1));
///     }
/// }
///
/// let outcomes = Outcomes(Rc::default());
/// let endpoint = Endpoint::new(|_| McpServer::builder("parcels", "1.0.0").build()).telemetry(outcomes);
/// ```
pub trait Telemetry {
    /// Starts an operation.
    fn start(&self, operation: &Operation<'_>) -> Box<dyn Span>;
}

/// An operation in progress.
pub trait Span {
    /// Returns whether the operation is recorded. A new trace is then marked as sampled.
    ///
    /// The default implementation returns `true`.
    fn is_recorded(&self) -> bool {
        true
    }

    /// Ends the operation. It is called once.
    fn end(&mut self, outcome: &Outcome);
}

/// The start of an operation: a request that the server answers, or that its MCP client sends.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Operation<'a> {
    /// The name of the other server, if the MCP client sends the request.
    pub upstream: Option<&'a str>,
    /// The JSON-RPC method, or `_OTHER` if the server does not know it.
    pub method: &'a str,
    /// The name of the tool or prompt.
    pub target: Option<&'a str>,
    /// The protocol revision.
    pub revision: &'a str,
    /// The id of the trace: 32 hexadecimal digits.
    pub trace_id: &'a str,
    /// The id of this operation in the trace: 16 hexadecimal digits.
    pub span_id: &'a str,
    /// The id of the parent operation. `None` if this operation begins the trace.
    pub parent_span_id: Option<&'a str>,
}

/// The methods whose target has a name, with the attribute for the name. The targets of other methods may be URIs, which a span does not
/// contain.
const TARGETS: [(&str, &str); 2] = [("tools/call", "gen_ai.tool.name"), ("prompts/get", "gen_ai.prompt.name")];

/// Returns the attribute for the name of the target of a method, or `None` if the target has no name.
pub(crate) fn target_attribute(method: &str) -> Option<&'static str> {
    TARGETS.iter().find(|(known, _)| *known == method).map(|(_, attribute)| *attribute)
}

impl Operation<'_> {
    /// Returns the name of the span: the method, and the tool or prompt.
    pub fn name(&self) -> String {
        self.target.map_or_else(|| self.method.to_owned(), |target| format!("{} {target}", self.method))
    }

    /// Returns the attributes of the span: those of the semantic conventions, and the ids of the trace. If a runtime gives its spans
    /// other ids, search these attributes for the trace id of the caller.
    pub fn attributes(&self) -> Vec<(&'static str, String)> {
        let target = target_attribute(self.method);
        let is_tool_call = self.method == "tools/call";
        let attributes = [
            ("mcp.method.name", Some(self.method)),
            ("mcp.protocol.version", Some(self.revision)),
            ("network.transport", Some("tcp")),
            ("network.protocol.name", Some("http")),
            ("gen_ai.operation.name", is_tool_call.then_some("execute_tool")),
            (target.unwrap_or_default(), self.target.filter(|_| target.is_some())),
            ("edge_mcp.upstream", self.upstream),
            ("edge_mcp.trace_id", Some(self.trace_id)),
            ("edge_mcp.span_id", Some(self.span_id)),
            ("edge_mcp.parent_span_id", self.parent_span_id),
        ];
        attributes.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned()))).collect()
    }
}

/// The end of an operation.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The kind of the failure, if the operation failed: the code of a JSON-RPC error, `tool_error` for a result with `isError`, `cancelled`,
    /// or a failure of the MCP client such as `timeout`.
    pub error_type: Option<Cow<'static, str>>,
    /// The code of the JSON-RPC error, if there is one.
    pub code: Option<i64>,
    /// The duration in milliseconds. On Workers, the clock advances only while a request waits for I/O.
    pub ms: u64,
}

impl Outcome {
    /// Creates the end of an operation that was cancelled.
    pub(crate) fn cancelled() -> Self {
        Self::failed("cancelled")
    }

    /// Creates the end of an operation that failed without a JSON-RPC error.
    pub(crate) fn failed(error_type: impl Into<Cow<'static, str>>) -> Self {
        Self { error_type: Some(error_type.into()), ..Self::default() }
    }

    /// Creates the end of an operation with a JSON-RPC error.
    pub(crate) fn error(code: i64) -> Self {
        Self { error_type: Some(code.to_string().into()), code: Some(code), ..Self::default() }
    }

    /// Returns the attributes that the span gets when it ends.
    pub fn attributes(&self) -> Vec<(&'static str, String)> {
        let error_type = self.error_type.as_deref().map(|error| ("error.type", error.to_owned()));
        let code = self.code.map(|code| ("rpc.response.status_code", code.to_string()));
        error_type.into_iter().chain(code).collect()
    }
}
