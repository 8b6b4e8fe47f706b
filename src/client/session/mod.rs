//! One server, for one call of a handler. The files build on each other in this order:
//!
//! `channel` sends each HTTP request once, with the credential and the session that it carries. `post` is the exchange of a request, also
//! over several streams: meanwhile, `observer` gets the messages that are not the response. `send` is the only loop that sends a request
//! again, and `reactions` is its table. `handshake` finds out which kind of server it is and begins a session. `request` puts them together:
//! a request, after the requests that must come before it.

pub(super) mod about;
pub(super) mod channel;
pub(super) mod ending;
pub(super) mod handshake;
pub(super) mod initialized;
pub(super) mod listeners;
pub(super) mod negotiation;
pub(super) mod observer;
pub(super) mod outgoing;
pub(super) mod post;
pub(super) mod reactions;
pub(super) mod request;
pub(super) mod send;
mod span;
pub(super) mod standing_stream;
