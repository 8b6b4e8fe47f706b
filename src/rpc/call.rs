//! The data that all methods need: the server, the context, and the limit of a response.

use std::rc::Rc;

use crate::auth::{ConfigError, StateKeys};
use crate::call::context::Context;
use crate::protocol::error::RpcError;
use crate::protocol::method::Method;
use crate::server::access::{Access, permits};
use crate::server::builder::McpServer;

/// The data for answering a request, besides its parameters. Cloning is cheap, and it borrows nothing from the request.
#[derive(Clone)]
pub(crate) struct Call {
    pub server: McpServer,
    pub cx: Context,
    /// `None` if the server does not offer the method that was called.
    pub method: Option<Method>,
    /// The keys for request states, or the reason why there are none.
    pub keys: Rc<Result<StateKeys, ConfigError>>,
    /// The maximum size of the response, in bytes.
    pub response_limit: usize,
}

impl Call {
    /// Returns the name of the method, for the log.
    pub(super) fn method_name(&self) -> &'static str {
        self.method.map_or("unknown method", Method::name)
    }

    /// Returns whether lists show an item with this access to the caller.
    pub(super) fn lists(&self, access: &Access) -> bool {
        access.scopes.is_empty() || self.server.definitions.lists_all || permits(self.cx.auth(), &access.scopes)
    }
}

/// The bytes of the response with the result, or the error.
pub(crate) type Outcome = Result<Vec<u8>, RpcError>;
