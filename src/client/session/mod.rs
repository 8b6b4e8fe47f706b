//! One server, for one call of a handler: the requests of a conversation, from the negotiation to the HTTP requests.

pub(super) mod about;
pub(super) mod handshake;
mod http;
pub(super) mod listeners;
pub(super) mod negotiation;
mod observer;
mod post;
mod reactions;
pub(super) mod remote_request;
mod request;
mod send;
mod standing_stream;
