//! The items of lists, and the pages from which they are read.

use std::collections::BTreeSet;
use std::rc::Rc;

use edge_json::Value;
use futures::lock::Mutex;

use super::definition::Definition;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::response::parsed;
use crate::limits::{
    UPSTREAM_CURSOR_BYTES, UPSTREAM_EMPTY_PAGES, UPSTREAM_ITEMS, UPSTREAM_ITEMS_BYTES, UPSTREAM_PAGES,
    UPSTREAM_PAGES_BYTES,
};
use crate::protocol::method::Method;
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

/// The definitions of a list whose pages are being read.
#[derive(Default)]
pub(super) struct Definitions {
    pub listing: Listing,
    names: BTreeSet<String>,
    bytes: usize,
}

impl Definitions {
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

/// Reads the pages of the list that the member `list` of a result has. `page` gets each result and its list, and returns whether it needs
/// more. Returns whether these are all pages.
pub(super) async fn read_pages(
    conversation: &Rc<Conversation>,
    method: Method,
    params: Params,
    list: &str,
    page: &mut dyn FnMut(Value<'_>, Value<'_>) -> bool,
) -> Result<bool, ClientError> {
    let mut cursors: Vec<String> = Vec::new();
    let mut empty_pages = 0_usize;
    let sent = conversation.sent.get();
    let timeout = conversation.server.upstream.list_timeout;
    let first = RemoteRequest {
        deadline: Some(conversation.deadline(timeout)),
        // An answer may have much besides its items, which the client has to read.
        most_bytes: UPSTREAM_PAGES_BYTES,
        ..RemoteRequest::new(method, params, timeout)
    };
    let received = &first.attempts.received;
    let malformed = |problem| conversation.error_of(first.method.clone())(Failure::Malformed(problem).into());
    for _ in 0..UPSTREAM_PAGES {
        let mut request = first.clone();
        if let Some(cursor) = cursors.last() {
            request.params = request.params.with_text("cursor", cursor);
        }
        first.attempts.repetitions.set(0);
        let result = match conversation.result(&request).await {
            Ok(result) => result,
            Err(error) if !cursors.is_empty() && is_limit(&error, received.get()) => return Ok(false),
            Err(error) => return Err(error),
        };
        let document = parsed(&result).map_err(conversation.error_of(first.method.clone()))?;
        let result = document.root();
        let items = result.get(list).ok_or_else(|| malformed("has a result without the list"))?;
        if items.items().next().is_none() {
            empty_pages = empty_pages.saturating_add(1);
        }
        if !page(result, items) {
            return Ok(false);
        }
        let sent = conversation.sent.get().saturating_sub(sent);
        // Some servers end a list with an empty cursor.
        match result.string("nextCursor").filter(|cursor| !cursor.is_empty()) {
            None => return Ok(true),
            Some(_) if !conversation.budget.leaves_a_share(sent) => return Ok(false),
            // A cursor that repeats would make the loop endless.
            Some(cursor) if cursors.contains(&cursor) || cursor.len() > UPSTREAM_CURSOR_BYTES => return Ok(false),
            Some(_) if empty_pages >= UPSTREAM_EMPTY_PAGES || received.get() > UPSTREAM_PAGES_BYTES => {
                return Ok(false);
            }
            Some(cursor) => cursors.push(cursor),
        }
    }
    Ok(false)
}

/// Returns whether a page is too long, alone or with the pages before it.
fn is_limit(error: &ClientError, received: usize) -> bool {
    received > UPSTREAM_PAGES_BYTES || matches!(error.failure(), Failure::LimitExceeded(_))
}
