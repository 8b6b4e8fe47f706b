//! The end of requests and sessions of legacy servers. A legacy server continues a request after the connection is closed, and keeps a
//! session until the client ends it.
//!
//! Source: 2025-11-25, basic/utilities/cancellation; basic/transports, "Session Management".

use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, select};
use http::Method;

use super::connection::{Connection, Link};
use super::error::{Failed, Failure};
use super::message::{Meta, Params, write_message};
use crate::host::Outbound;
use crate::limits::UPSTREAM_CLOSING_SECONDS;
use crate::parallel::parallel;

impl Connection {
    /// Ends the sessions that the connection has begun, and waits at most 2 s for the answers. Without this call, the client ends the
    /// sessions when the connection is dropped.
    pub async fn disconnect(self) {
        parallel(self.links().iter().map(|link| link.end().boxed_local()), usize::MAX).await;
    }
}

impl Link {
    /// Ends the session. The answer of the server does not matter.
    async fn end(&self) {
        if !self.has_session() {
            return;
        }
        // If this future is dropped, the session must not end again.
        let session = self.end_session();
        let ending = async {
            let Ok(credential) = self.credential().await else { return };
            if let Ok(request) = self.session_request(Method::DELETE, String::new(), session.as_ref(), credential) {
                self.closing(request).await;
            }
        };
        select(ending.boxed_local(), self.host().sleep(CLOSING)).await;
    }

    /// Sends a request whose answer does not matter.
    fn closing(&self, request: Outbound) -> LocalBoxFuture<'static, ()> {
        let opening = self.upstream().transport.open(request, self.host());
        select(opening, self.host().sleep(CLOSING)).map(drop).boxed_local()
    }
}

/// Ends the session. The task that drops the connection does not wait for the answer.
impl Drop for Link {
    fn drop(&mut self) {
        if self.has_session() {
            let successor = Rc::new(self.successor());
            self.host().spawn(async move { successor.end().await }.boxed_local());
        }
    }
}

const CLOSING: Duration = Duration::from_secs(UPSTREAM_CLOSING_SECONDS);

/// A request of a session whose answer has not arrived. If the program drops it, or if it takes too long, the client asks the server to
/// cancel it.
///
/// A server without sessions cannot find the request that a notification names. `initialize`, which must not be cancelled, comes before the
/// session.
pub(super) struct Unanswered<'a> {
    link: &'a Link,
    /// The notification.
    cancellation: Option<Outbound>,
}

impl<'a> Unanswered<'a> {
    /// Creates the notification for a request with this id, as JSON text.
    pub(super) fn new(link: &'a Link, request: &Outbound, id: &str) -> Self {
        Self { link, cancellation: link.has_session().then(|| cancellation(request, id)) }
    }

    /// Drops the notification, unless the request exceeded a limit before its answer arrived.
    pub(super) fn settle<T>(&mut self, answer: &Result<T, Failed>) {
        let is_limit = |failure: &Failure| matches!(failure, Failure::Timeout(_) | Failure::LimitExceeded(_));
        if !answer.as_ref().is_err_and(|failed| is_limit(failed.failure())) {
            self.cancellation = None;
        }
    }
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if let Some(cancellation) = self.cancellation.take()
            && self.link.of_call().spend()
        {
            self.link.host().spawn(self.link.closing(cancellation));
        }
    }
}

/// Creates the notification that cancels `request`, with the headers of `request`.
fn cancellation(request: &Outbound, id: &str) -> Outbound {
    let id = write::raw_value(id.to_owned());
    let params = Params::default().with("requestId", id);
    let body = write_message(None, "notifications/cancelled", &params, &Meta::default());
    Outbound { body, ..request.clone() }
}
