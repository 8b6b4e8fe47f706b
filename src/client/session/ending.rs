//! The end of requests and sessions of legacy servers. A legacy server continues a request after the connection is closed, and keeps a
//! session until the client ends it.
//!
//! Source: 2025-11-25, basic/utilities/cancellation; basic/transports, "Session Management".

use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{LocalBoxFuture, join_all, select};
use http::Method;

use super::channel::Channel;
use crate::client::error::{Failed, Failure};
use crate::client::wire::message::{Meta, Params, write_message};
use crate::host::Outbound;
use crate::limits::UPSTREAM_CLOSING_SECONDS;

/// Ends the session. The answer of the server does not matter.
///
/// Before that, it waits for the answers to cancellations: a server of the Python SDK 1.x fails if the session of a cancellation ends, and
/// closes the connection, on which another request may be under way.
pub(in crate::client) async fn end(channel: &Channel) {
    if !channel.has_session() {
        return;
    }
    // If this future is dropped, the session must not end again.
    let session = channel.end_session();
    // An answer that does not arrive ends after its time limit.
    join_all(channel.cancellations.take()).await;
    let ending = async {
        let Ok(credential) = channel.credential().await else { return };
        if let Ok(request) = channel.request_of(session.as_ref(), Method::DELETE, String::new(), credential) {
            close(channel, request).await;
        }
    };
    select(ending.boxed_local(), channel.host().sleep(CLOSING)).await;
}

/// Ends the session in a task of its own: the task that drops the connection does not wait for the answer.
pub(in crate::client) fn end_later(channel: &Rc<Channel>) {
    if channel.has_session() {
        let ended = channel.clone();
        channel.host().spawn(async move { end(&ended).await }.boxed_local());
    }
}

/// Sends a request whose answer does not matter.
fn close(channel: &Channel, request: Outbound) -> LocalBoxFuture<'static, ()> {
    select(channel.open(request), channel.host().sleep(CLOSING)).map(drop).boxed_local()
}

const CLOSING: Duration = Duration::from_secs(UPSTREAM_CLOSING_SECONDS);

/// A request of a session whose answer has not arrived. If the program drops it, or if it takes too long, the client asks the server to
/// cancel it.
///
/// A server without sessions cannot find the request that a notification names. `initialize`, which must not be cancelled, comes before the
/// session.
pub(in crate::client) struct Unanswered<'a> {
    channel: &'a Channel,
    /// The notification.
    cancellation: Option<Outbound>,
}

impl<'a> Unanswered<'a> {
    /// Creates the notification for a request with this id, as JSON text.
    pub(in crate::client) fn new(channel: &'a Channel, request: &Outbound, id: &str) -> Self {
        Self { channel, cancellation: channel.has_session().then(|| cancellation(request, id)) }
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
            && self.channel.of_call().spend()
        {
            let (answered, is_answered) = oneshot::channel();
            self.channel.cancellations.borrow_mut().push(is_answered);
            let closing = close(self.channel, cancellation);
            self.channel.host().spawn(closing.map(|()| drop::<oneshot::Sender<()>>(answered)).boxed_local());
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
