//! A request with a limit on the length of each header.

use std::net::IpAddr;
use std::rc::Rc;

use crate::host::{Host, Request, log};
use crate::limits::REQUEST_ID_BYTES;

/// A request with a limit on the length of each header. It has no body: the body is read from the request of the host.
///
/// The endpoint reads headers by [`standard_header`](Self::standard_header), which fails if a header is too long. The program reads headers
/// by [`Request::header`], which returns `None` if a header is too long.
pub(crate) struct BoundedRequest {
    request: Rc<dyn Request>,
    limit: usize,
    host: Rc<dyn Host>,
}

/// The error of a header. It is for the caller.
#[derive(Debug)]
pub(crate) enum HeaderError {
    /// The header is too long.
    TooLong(String),
    /// The header does not agree with the body.
    Mismatch(String),
}

impl BoundedRequest {
    pub(crate) fn new(request: Rc<dyn Request>, limit: usize, host: Rc<dyn Host>) -> Self {
        Self { request, limit, host }
    }

    /// Returns a header that the endpoint uses.
    pub(crate) fn standard_header(&self, name: &str) -> Result<Option<String>, HeaderError> {
        match self.request.header(name) {
            Some(value) if value.len() > self.limit => Err(HeaderError::TooLong(format!(
                "The header {name} is longer than the limit of {} bytes.",
                self.limit
            ))),
            value => Ok(value),
        }
    }
}

impl Request for BoundedRequest {
    fn method(&self) -> String {
        self.request.method()
    }

    fn url(&self) -> String {
        self.request.url()
    }

    fn header(&self, name: &str) -> Option<String> {
        let value = self.request.header(name)?;
        if value.len() <= self.limit {
            return Some(value);
        }
        let problem =
            format!("the program does not see the header {name}: it is longer than the limit of {} bytes", self.limit);
        log::warning_once(&self.host, "header", &problem);
        None
    }

    fn client_address(&self) -> Option<IpAddr> {
        self.request.client_address()
    }

    fn request_id(&self) -> Option<String> {
        let mut id = self.request.request_id()?;
        id.truncate(id.floor_char_boundary(REQUEST_ID_BYTES));
        Some(id)
    }
}
