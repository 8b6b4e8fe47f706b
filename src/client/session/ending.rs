//! The end of requests and sessions of legacy servers. A legacy server continues a request after the connection is closed, and keeps a
//! session until the client ends it.
//!
//! Source: 2025-11-25, basic/utilities/cancellation; basic/transports, "Session Management".

use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{LocalBoxFuture, join_all, select};
use http::Method;

use super::handshake::Initialized;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::wire::message::{Meta, Params, write_message};
use crate::host::Outbound;
use crate::limits::UPSTREAM_CLOSING_SECONDS;

impl Conversation {
    /// Ends the session, if there is one. The answer of the server does not matter.
    pub(in crate::client) async fn end(&self) {
        // If this future is dropped, the session must not end again.
        let session = if self.has_session() { self.session.take() } else { None };
        if let Some(session) = session {
            self.end_session(session).await;
        }
    }

    /// Ends a session that the conversation has forgotten.
    ///
    /// Before that, it waits for the answers to cancellations: a server of the Python SDK 1.x fails if the session of a cancellation ends, and
    /// closes the connection, on which another request may be under way.
    pub(in crate::client) async fn end_session(&self, session: Initialized) {
        // An answer that does not arrive ends after its time limit.
        join_all(self.cancellations.take()).await;
        let ending = async {
            let Ok(credential) = self.authorization().await else { return };
            if let Ok(request) = self.request_of(Some(&session), Method::DELETE, String::new(), credential) {
                close(self, request).await;
            }
        };
        select(ending.boxed_local(), self.cx.host().sleep(CLOSING)).await;
    }
}

/// Sends a request whose answer does not matter.
fn close(conversation: &Conversation, request: Outbound) -> LocalBoxFuture<'static, ()> {
    select(conversation.open(request), conversation.cx.host().sleep(CLOSING)).map(drop).boxed_local()
}

const CLOSING: Duration = Duration::from_secs(UPSTREAM_CLOSING_SECONDS);

/// A request of a session whose answer has not arrived. If the program drops it, or if it takes too long, the client asks the server to
/// cancel it.
///
/// A server without sessions cannot find the request that a notification names. `initialize`, which must not be cancelled, comes before the
/// session.
pub(in crate::client) struct Unanswered<'a> {
    conversation: &'a Conversation,
    /// The notification.
    cancellation: Option<Outbound>,
}

impl<'a> Unanswered<'a> {
    /// Creates the notification for a request with this id, as JSON text.
    pub(in crate::client) fn new(conversation: &'a Conversation, request: &Outbound, id: &str) -> Self {
        Self { conversation, cancellation: conversation.has_session().then(|| cancellation(request, id)) }
    }

    /// Drops the notification, unless the request exceeded a limit before its answer arrived.
    pub(super) fn settle<T>(&mut self, answer: &Result<T, ClientError>) {
        let is_limit = |failure: &Failure| matches!(failure, Failure::Timeout(_) | Failure::LimitExceeded(_));
        if !answer.as_ref().is_err_and(|failed| is_limit(failed.failure())) {
            self.cancellation = None;
        }
    }
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if let Some(cancellation) = self.cancellation.take()
            && self.conversation.budget.spend()
        {
            let (answered, is_answered) = oneshot::channel();
            self.conversation.cancellations.borrow_mut().push(is_answered);
            let closing = close(self.conversation, cancellation);
            self.conversation.cx.host().spawn(closing.map(|()| drop::<oneshot::Sender<()>>(answered)).boxed_local());
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
