//! The data that all methods need: the server, the context, and the limit of a response.

use crate::call::context::Context;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::method::Method;
use crate::server::access::{Access, permits};
use crate::server::builder::McpServer;
use crate::server::list::ListKind;

/// The data for answering a request, except its parameters. It is cheap to clone and borrows nothing from the request.
#[derive(Clone)]
pub(super) struct MethodCall {
    pub server: McpServer,
    pub cx: Context,
    /// The method, or `None` if the server does not offer it.
    pub method: Option<Method>,
    /// The maximum size of the response, in bytes.
    pub response_limit: usize,
}

impl MethodCall {
    /// Returns the call with the items that the sources of the server find for the list `kind`.
    ///
    /// # Errors
    /// The sources failed, and the list has no other items. An empty list would tell the caller that there are none.
    pub(super) async fn with_sources(self, kind: ListKind) -> Result<Self, RpcError> {
        let Some(sources) = self.server.definitions.sources.clone() else { return Ok(self) };
        let mut server = self.server;
        server.definitions = (sources.add_found)(sources.all, server.definitions, kind, self.cx.clone()).await;
        match server.definitions.only_failures(kind) {
            Some(problems) => Err(RpcError::new(ErrorCode::Internal, problems)),
            None => Ok(Self { server, ..self }),
        }
    }

    /// Records in the trace that the result has `isError`.
    pub(super) fn record_tool_error(&self) {
        if let Some(trace) = self.cx.trace() {
            trace.tool_failed();
        }
    }

    /// Returns the name of the method, for the log.
    pub(super) fn method_name(&self) -> &'static str {
        self.method.map_or("unknown method", Method::name)
    }

    /// Returns whether lists show the caller an item that has the access rules `access`.
    pub(super) fn lists(&self, access: &Access) -> bool {
        self.server.definitions.lists_all || permits(self.cx.request(), &access.scopes)
    }
}

/// The bytes of a response with a result, or an error.
pub(super) type MethodResponse = Result<Vec<u8>, RpcError>;
