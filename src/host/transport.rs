//! The ways to reach another server.

use std::rc::Rc;

use futures::future::LocalBoxFuture;

use super::{FetchError, Host, Opened, Outbound};

/// A way to reach a server: the network, a service binding, or an [`Endpoint`](crate::Endpoint) in the same program.
pub trait Transport {
    /// Sends a request and returns the head of the response. Redirects are not followed. Dropping the future or the response aborts the
    /// request.
    ///
    /// # Errors
    /// [`FetchError`]. A response with an error status is not an error.
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>>;
}

pub(crate) struct Network;

impl Transport for Network {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        host.open(request)
    }
}
