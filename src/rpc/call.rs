//! What the methods have in common: the server, the context, and the bounds of one call.

use std::rc::Rc;

use crate::auth::{ConfigError, StateKeys};
use crate::call::context::Context;
use crate::protocol::error::RpcError;
use crate::protocol::method::Method;
use crate::server::access::{Access, permits};
use crate::server::builder::McpServer;

/// What answering a request needs besides its parameters. It is cheap to clone, and borrows nothing of the request.
#[derive(Clone)]
pub(crate) struct Call {
    pub server: McpServer,
    pub cx: Context,
    /// `None` if the server does not offer the method that was called.
    pub method: Option<Method>,
    /// The keys for request states, or why there are none.
    pub keys: Rc<Result<StateKeys, ConfigError>>,
    pub limits: CallLimits,
}

/// Bounds of one call, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct CallLimits {
    pub response: usize,
    pub state: usize,
}

impl Call {
    /// The method's name, for the log.
    pub(super) fn method_name(&self) -> &'static str {
        self.method.map_or("unknown method", Method::name)
    }

    /// Whether this caller finds it in lists.
    pub(super) fn lists(&self, access: &Access) -> bool {
        access.scopes.is_empty() || self.server.definitions.lists_all || permits(self.cx.auth(), &access.scopes)
    }
}

/// The bytes of the response that carries the result, or the error that it carries instead.
pub(crate) type Outcome = Result<Vec<u8>, RpcError>;
