//! The connections of a client to its servers, for one call of a handler.

#[cfg(feature = "gateway")]
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use futures::FutureExt;
#[cfg(feature = "gateway")]
use http::{HeaderName, HeaderValue};

use super::error::{ClientError, Failure};
use super::mcp_client::{McpClient, Server};
use super::of_call::OfCall;
use super::operations::lists::Lists;
use super::session::channel::Channel;
use super::session::ending;
use super::session::request::Session;
use crate::call::context::Context;
use crate::parallel::parallel;
use crate::text::{Text, shortened};

/// A connection to the servers of an [`McpClient`], for one call of a handler. Dropping it ends the sessions that it began.
///
/// Clones are the same connection.
#[derive(Clone)]
pub struct Connection(Rc<[Rc<Link>]>);

/// The connection to one server, for one call of a handler. Dropping it ends the session.
pub(super) struct Link {
    pub channel: Rc<Channel>,
    pub session: Rc<Session>,
    pub lists: Lists,
    /// Whether the call uses the server.
    is_used: Cell<bool>,
}

/// One server of a [`Connection`].
#[derive(Clone)]
pub struct Peer(pub(super) Rc<Link>);

impl McpClient {
    /// Creates a connection for the call of `cx`. It sends nothing.
    ///
    /// A connection belongs to one call of a handler: it uses the credentials for this call. Do not keep it for another call.
    pub fn connect(&self, cx: &Context) -> Connection {
        Connection::new(self.clone(), cx.clone())
    }
}

impl Connection {
    fn new(client: McpClient, cx: Context) -> Self {
        let of_call = Rc::new(OfCall::new(cx));
        let link = |server: &Rc<Server>| Rc::new(Link::new(client.clone(), server.clone(), of_call.clone()));
        Self(client.0.servers.iter().map(link).collect())
    }

    /// Returns the server `name`.
    ///
    /// # Errors
    /// The client has no server of this name.
    pub fn server(&self, name: &str) -> Result<Peer, ClientError> {
        let link = self.0.iter().find(|link| link.channel.server().name == name);
        link.map(Peer::of).ok_or_else(|| unknown(name, "is not a server of this client."))
    }

    /// Returns the server of a client that has one server.
    ///
    /// # Errors
    /// The client has no server, or several.
    pub fn only(&self) -> Result<Peer, ClientError> {
        match &*self.0 {
            [link] => Ok(Peer::of(link)),
            _ => Err(unknown("", "The client does not have exactly one server. Name the server.")),
        }
    }
}

fn unknown(server: &str, problem: &str) -> ClientError {
    ClientError::new(&Text::Owned(shortened(server).into_owned()), "connect".into(), Failure::Local(problem.into()))
}

/// Creates a connection to the server `nth` of a client. It has its own limit of requests.
#[cfg(feature = "gateway")]
pub(crate) fn to(client: &McpClient, nth: usize, cx: &Context) -> Option<Peer> {
    let (server, of_call) = (client.0.servers.get(nth)?.clone(), Rc::new(OfCall::new(cx.clone())));
    Some(Peer::of(&Rc::new(Link::new(client.clone(), server, of_call))))
}

#[cfg(feature = "gateway")]
impl Peer {
    /// Returns whether the connection has sent a request.
    pub(crate) fn has_sent(&self) -> bool {
        self.0.channel.of_call().has_sent()
    }

    /// Returns whether the server has given the connection a session.
    pub(crate) fn has_session(&self) -> bool {
        self.0.channel.has_session()
    }

    /// Returns the headers of the program, and those of the caller's request that the program passes on.
    pub(crate) fn own_headers(&self) -> Cow<'_, [(HeaderName, HeaderValue)]> {
        self.0.channel.own_headers()
    }
}

impl Peer {
    fn of(link: &Rc<Link>) -> Self {
        link.begin_use();
        Self(link.clone())
    }
}

impl Connection {
    /// Returns the links to all servers.
    pub(super) fn links(&self) -> &[Rc<Link>] {
        self.0.iter().for_each(|link| link.begin_use());
        &self.0
    }

    /// Ends the sessions that the connection has begun, and waits at most 2 s for the answers, and before that at most 2 s for the answers to
    /// cancellations. Without this call, the client ends the sessions when the connection is dropped.
    pub async fn disconnect(self) {
        parallel(self.links().iter().map(|link| ending::end(&link.channel).boxed_local()), usize::MAX).await;
    }
}

impl Link {
    fn new(client: McpClient, server: Rc<Server>, of_call: Rc<OfCall>) -> Self {
        let channel = Rc::new(Channel::new(client, server, of_call));
        let session = Rc::new(Session::new(channel.clone()));
        Self { channel, lists: Lists::new(session.clone()), session, is_used: Cell::new(false) }
    }

    /// Counts the server of the link once.
    fn begin_use(&self) {
        if !self.is_used.replace(true) {
            self.channel.of_call().add_server();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        ending::end_later(&self.channel);
    }
}
