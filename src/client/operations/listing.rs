//! The items of lists.

use std::rc::Rc;

use futures::lock::Mutex;

use super::definition::Definition;
use crate::client::error::ClientError;
use crate::server::list::ListKind;
use crate::text::Text;

/// The items of a list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The items, in the order of the servers and then of each server's list.
    pub items: Vec<Definition>,
    /// An error for each server whose list could not be read.
    pub missing: Vec<ClientError>,
    /// A sentence for each item that was left out, with the reason.
    pub left_out: Vec<String>,
    /// Whether a list was longer than the limits.
    pub is_truncated: bool,
    /// Whether the items of a server come from an expired list in the cache, because the server failed.
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

pub(crate) type ListResult = Result<Rc<Listing>, ClientError>;
/// A kind of list, and the lock of the task that reads this list.
pub(super) type ListLock = (ListKind, Rc<Mutex<Option<ListResult>>>);
