//! Pagination of lists.
//!
//! Source: all revisions, server/utilities/pagination.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use super::call::MethodCall;
use super::params;
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::server::cursor;

/// Returns the cursor of a request.
pub(super) fn cursor<'d>(request: &Request<'d>) -> Result<Option<Cow<'d, str>>, RpcError> {
    params::optional_string(request, "cursor")
}

/// Returns the page of `items` at `cursor`, and the cursor of the next page. Without a page size, the page has all items.
pub(super) fn page<T>(
    call: &MethodCall,
    cursor: Option<&str>,
    mut items: Vec<T>,
) -> Result<(Vec<T>, Option<String>), RpcError> {
    let list = call.method_name();
    let start = match (cursor, call.server.definitions.page_size) {
        (None, _) => 0,
        // The list can be shorter than it was for the previous page. A position at the end of the list or beyond is never valid.
        (Some(cursor), Some(_)) => {
            position(list, cursor).filter(|start| *start < items.len()).ok_or_else(invalid_cursor)?
        }
        (Some(_), None) => return Err(invalid_cursor()),
    };
    let end =
        call.server.definitions.page_size.map_or(items.len(), |size| start.saturating_add(NonZeroUsize::get(size)));
    let next = (end < items.len()).then(|| cursor_at(list, end));
    items.truncate(end);
    Ok((items.split_off(start), next))
}

fn invalid_cursor() -> RpcError {
    RpcError::invalid_params(cursor::INVALID)
}

fn cursor_at(list: &str, position: usize) -> String {
    cursor::at(list, &u32::try_from(position).unwrap_or(u32::MAX).to_be_bytes())
}

fn position(list: &str, cursor: &str) -> Option<usize> {
    let position: [u8; 4] = cursor::position(list, cursor)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(position)).ok()
}
