//! A head whose headers and request id are no longer than a limit.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

use http::StatusCode;

use super::http_error::HttpError;
use crate::host::RequestHead;
use crate::limits::REQUEST_ID_BYTES;

/// Gives every header but those that are too long, and remembers the first of these.
pub(super) struct BoundedHead {
    head: Rc<dyn RequestHead>,
    limit: usize,
    too_long: RefCell<Option<Box<str>>>,
}

impl BoundedHead {
    pub(super) fn new(head: Rc<dyn RequestHead>, limit: usize) -> Self {
        Self { head, limit, too_long: RefCell::default() }
    }

    /// Refuses a request of which a header that was looked at is too long: what was made of its absence does not hold.
    pub(super) fn check(&self) -> Result<(), Box<HttpError>> {
        match &*self.too_long.borrow() {
            None => Ok(()),
            Some(name) => Err(HttpError::http(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                format!("The header {name} is longer than the {} bytes that are read.", self.limit),
            )),
        }
    }
}

impl RequestHead for BoundedHead {
    fn method(&self) -> String {
        self.head.method()
    }

    fn url(&self) -> String {
        self.head.url()
    }

    fn header(&self, name: &str) -> Option<String> {
        let value = self.head.header(name)?;
        if value.len() <= self.limit {
            return Some(value);
        }
        self.too_long.borrow_mut().get_or_insert_with(|| name.into());
        None
    }

    fn client_address(&self) -> Option<IpAddr> {
        self.head.client_address()
    }

    fn request_id(&self) -> Option<String> {
        let mut id = self.head.request_id()?;
        id.truncate(id.floor_char_boundary(REQUEST_ID_BYTES));
        Some(id)
    }
}
