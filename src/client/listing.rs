//! The items of lists.

use std::rc::Rc;

use futures::future::{LocalBoxFuture, WeakShared};

use super::definition::{Kind, Listed};
use super::error::ClientError;
use crate::protocol::description::Text;

/// The items of a list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The items, in the order of the servers and then of each server's list.
    pub items: Vec<Listed>,
    /// The servers whose list could not be read, with the reason.
    pub missing: Vec<ClientError>,
    /// The items that were left out, with the reason, in sentences.
    pub left_out: Vec<String>,
    /// Whether a list was longer than the limits.
    pub is_cut: bool,
    /// Whether a list is not current: its server fails, so an older list replaces it.
    pub is_stale: bool,
}

/// The tools of one server.
#[derive(Clone, Debug)]
pub struct Toolset {
    /// The name that this program has for the server.
    pub server: Text,
    /// The tools, or the reason why the server could not be asked.
    pub tools: Result<Listing, ClientError>,
}

pub(super) type Outcome = Result<Rc<Listing>, ClientError>;
/// A list that is being read. Nobody owns it here, so it ends when nobody waits for it.
pub(super) type Pending = (Kind, WeakShared<LocalBoxFuture<'static, Outcome>>);
