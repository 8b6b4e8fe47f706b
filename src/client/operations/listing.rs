//! The items of lists, and the pages from which they are read.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use edge_json::Value;
use futures::lock::Mutex;

use super::definition::Definition;
use crate::client::error::ClientError;
use crate::limits::{UPSTREAM_ITEMS, UPSTREAM_ITEMS_BYTES};
use crate::server::list::ListKind;
use crate::text::Text;

/// The items of a list: definitions, or the entries of skills.
#[derive(Clone, Debug)]
pub struct Listing<T = Definition> {
    /// The items, in the order of the servers and then of each server's list.
    pub items: Vec<T>,
    /// An error for each server whose list could not be read.
    pub missing: Vec<ClientError>,
    /// A sentence for each item that was left out, with the reason.
    pub left_out: Vec<String>,
    /// Whether a list was longer than the limits.
    pub is_truncated: bool,
    /// Whether the items of a server come from an expired list in the cache, because the server failed.
    pub is_stale: bool,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self { items: Vec::new(), missing: Vec::new(), left_out: Vec::new(), is_truncated: false, is_stale: false }
    }
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

/// The lists of one server that were read in one call of a handler.
#[derive(Default)]
pub(in crate::client) struct Lists {
    /// The tools of the server if they were listed in this call, and the number of changes before.
    pub tools: RefCell<Option<(u64, Rc<Listing>)>>,
    pub locks: RefCell<Vec<ListLock>>,
}

/// The definitions of a list whose pages are being read.
#[derive(Default)]
pub(super) struct DefinitionPages {
    pub listing: Listing,
    names: BTreeSet<String>,
    bytes: usize,
}

impl DefinitionPages {
    /// Adds the items of a page. An item whose name does not belong to the list is left out. Returns whether the list is within its limits.
    pub(super) fn add(
        &mut self,
        server: &Text,
        kind: ListKind,
        items: Value<'_>,
        belongs: &dyn Fn(&str) -> bool,
    ) -> bool {
        let Self { listing: Listing { items: added, left_out, .. }, names, bytes } = self;
        for item in items.items() {
            *bytes = bytes.saturating_add(item.text().len());
            if *bytes > UPSTREAM_ITEMS_BYTES || added.len().saturating_add(left_out.len()) >= UPSTREAM_ITEMS {
                return false;
            }
            match Definition::read(server, kind, item) {
                Ok(item) if !belongs(item.name()) => left_out.push(item.is_elsewhere()),
                // Of two items with one name, the first counts. A later page cannot replace an item.
                Ok(item) if !names.insert(item.name().to_owned()) => left_out.push(item.is_listed_twice()),
                Ok(item) => added.push(item),
                Err(problem) => left_out.push(problem),
            }
        }
        true
    }
}
