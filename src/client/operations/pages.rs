//! The pages of a list.

use std::rc::Rc;

use edge_json::Value;

use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::response::parsed;
use crate::limits::{UPSTREAM_CURSOR_BYTES, UPSTREAM_EMPTY_PAGES, UPSTREAM_PAGES, UPSTREAM_PAGES_BYTES};
use crate::protocol::method::Method;

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
