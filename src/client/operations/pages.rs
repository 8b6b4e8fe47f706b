//! The pages of a list.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value};

use crate::client::error::{ClientError, Failure};
use crate::client::session::outgoing::Outgoing;
use crate::client::session::request::Session;
use crate::client::session::send::deadline;
use crate::client::wire::message::Params;
use crate::limits::{UPSTREAM_CURSOR_BYTES, UPSTREAM_EMPTY_PAGES, UPSTREAM_PAGES, UPSTREAM_PAGES_BYTES};
use crate::protocol::method::Method;

/// Reads the pages of the list that the member `list` of a result has. `page` gets each result and its list, and returns whether it needs
/// more. Returns whether these are all pages.
pub(super) async fn read_pages(
    session: &Session,
    method: Method,
    params: Params,
    list: &str,
    page: &mut dyn FnMut(Value<'_>, Value<'_>) -> bool,
) -> Result<bool, ClientError> {
    let channel = &session.channel;
    let mut cursors: Vec<String> = Vec::new();
    let mut empty_pages = 0_usize;
    // An answer may have much besides its items, which the client has to read.
    let received = Rc::<Cell<usize>>::default();
    let questions = Rc::<Cell<usize>>::default();
    let sent = channel.sent.get();
    let deadline = deadline(channel, channel.upstream().list_timeout);
    for _ in 0..UPSTREAM_PAGES {
        let params = match cursors.last() {
            None => params.clone(),
            Some(cursor) => params.clone().with_text("cursor", cursor),
        };
        let mut outgoing = Outgoing::new(method, params, channel.upstream().list_timeout);
        outgoing.deadline = Some(deadline);
        outgoing.received = received.clone();
        outgoing.most_bytes = UPSTREAM_PAGES_BYTES;
        outgoing.questions = questions.clone();
        let result = match session.request(&mut outgoing).await {
            Ok(result) => result,
            Err(error) if !cursors.is_empty() && is_limit(&error, received.get()) => return Ok(false),
            Err(error) => return Err(error),
        };
        let malformed =
            |problem| ClientError::new(&channel.server().name, method.name().into(), Failure::Malformed(problem));
        let document = Document::parse(result.get().as_bytes(), JsonLimits::MOST);
        let document = document.map_err(|_| malformed("has a result that is not JSON"))?;
        let result = document.root();
        let items = result.get(list).ok_or_else(|| malformed("has a result without the list"))?;
        if items.items().next().is_none() {
            empty_pages = empty_pages.saturating_add(1);
        }
        if !page(result, items) {
            return Ok(false);
        }
        let sent = channel.sent.get().saturating_sub(sent);
        // Some servers end a list with an empty cursor.
        match result.string("nextCursor").filter(|cursor| !cursor.is_empty()) {
            None => return Ok(true),
            Some(_) if !channel.of_call().leaves_a_share(sent) => return Ok(false),
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
