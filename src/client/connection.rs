//! The connections of a client to its servers, for one call of a handler.

#[cfg(feature = "gateway")]
use std::borrow::Cow;
use std::rc::Rc;

use futures::FutureExt;
#[cfg(feature = "gateway")]
use http::{HeaderName, HeaderValue};

use super::budget::Budget;
use super::conversation::Conversation;
use super::error::{ClientError, Failure};
use super::mcp_client::{McpClient, Server};
use super::session::about::About;
use crate::call::context::Context;
use crate::parallel::parallel;
use crate::text::{Text, shortened};

/// A connection to the servers of an [`McpClient`], for one call of a handler. Dropping it ends the sessions that it began.
///
/// Clones are the same connection.
#[derive(Clone)]
pub struct Connection(Rc<[Rc<Conversation>]>);

/// One server of a [`Connection`].
#[derive(Clone)]
pub struct Peer(pub(super) Rc<Conversation>);

impl McpClient {
    /// Creates a connection for the call of `cx`. It sends nothing.
    ///
    /// A connection belongs to one call of a handler: it uses the credentials for this call. Do not keep it for another call.
    pub fn connect(&self, cx: &Context) -> Connection {
        let budget = Rc::new(Budget::new(cx.clone()));
        let conversation =
            |server: &Rc<Server>| Rc::new(Conversation::new(self.clone(), server.clone(), budget.clone()));
        Connection(self.0.servers.iter().map(conversation).collect())
    }
}

impl Connection {
    /// Returns the server `name`.
    ///
    /// # Errors
    /// The client has no server of this name.
    pub fn server(&self, name: &str) -> Result<Peer, ClientError> {
        let conversation = self.0.iter().find(|conversation| conversation.server.name == name);
        conversation.map(Peer::of).ok_or_else(|| unknown(name, "is not a server of this client."))
    }

    /// Returns the server of a client that has one server.
    ///
    /// # Errors
    /// The client has no server, or several.
    pub fn only(&self) -> Result<Peer, ClientError> {
        match &*self.0 {
            [conversation] => Ok(Peer::of(conversation)),
            _ => Err(unknown("", "The client does not have exactly one server. Name the server.")),
        }
    }

    pub(super) fn conversations(&self) -> &[Rc<Conversation>] {
        self.0.iter().for_each(|conversation| conversation.begin_use());
        &self.0
    }

    /// Ends the sessions that the connection has begun, and waits at most 2 s for the answers, and before that at most 2 s for the answers to
    /// cancellations. Without this call, the client ends the sessions when the connection is dropped.
    pub async fn disconnect(self) {
        let ends = self.conversations().iter().map(|conversation| conversation.end().boxed_local());
        parallel(ends, usize::MAX).await;
    }
}

fn unknown(server: &str, problem: &str) -> ClientError {
    ClientError::from(Failure::Local(problem.into())).named(&Text::Owned(shortened(server).into_owned()), "connect")
}

impl Peer {
    fn of(conversation: &Rc<Conversation>) -> Self {
        conversation.begin_use();
        Self(conversation.clone())
    }

    /// Returns the name, version, capabilities and instructions of the server. The connection asks the server once.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer is not valid.
    pub async fn about(&self) -> Result<About, ClientError> {
        self.0.about().await
    }
}

/// Creates a connection to the server `nth` of a client. It has its own limit of requests.
#[cfg(feature = "gateway")]
pub(crate) fn to(client: &McpClient, nth: usize, cx: &Context) -> Option<Peer> {
    let (server, budget) = (client.0.servers.get(nth)?.clone(), Rc::new(Budget::new(cx.clone())));
    Some(Peer::of(&Rc::new(Conversation::new(client.clone(), server, budget))))
}

#[cfg(feature = "gateway")]
impl Peer {
    pub(crate) fn has_sent(&self) -> bool {
        self.0.budget.has_sent()
    }

    /// Returns whether the server has given the connection a session.
    pub(crate) fn has_session(&self) -> bool {
        self.0.has_session()
    }

    /// Returns the headers of the program, and those of the caller's request that the program passes on.
    pub(crate) fn own_headers(&self) -> Cow<'_, [(HeaderName, HeaderValue)]> {
        self.0.own_headers()
    }
}
