//! Requests to other servers whose responses are read in parts.

use std::borrow::Cow;
use std::fmt;

use futures::StreamExt;
use futures::stream::LocalBoxStream;
use http::{HeaderMap, HeaderValue, Method, Request};

use super::fetch::FetchError;

/// A request to another server, whose response is read in parts.
///
/// It has the names of headers as text. A module that creates a [`HeaderName`](http::HeaderName) while it runs contains a table of all standard headers.
#[derive(Clone, Debug)]
pub struct Outbound {
    /// The method.
    pub method: Method,
    /// The URL.
    pub url: String,
    /// The headers. No name is empty or has characters that a name cannot have.
    pub headers: Vec<(Cow<'static, str>, HeaderValue)>,
    /// The body. A request without a body has an empty text.
    pub body: String,
}

impl TryFrom<Outbound> for Request<String> {
    type Error = FetchError;

    fn try_from(Outbound { method, url, headers, body }: Outbound) -> Result<Self, FetchError> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(name.as_bytes(), value);
        }
        request.body(body).map_err(|error| FetchError::Failed(error.to_string()))
    }
}

/// A response whose body is still arriving. Dropping it aborts the request.
pub struct Opened {
    /// The status. Redirects are not followed, so it may be a 3xx.
    pub status: u16,
    /// The headers. On Workers, these are the headers that the MCP client reads.
    pub headers: HeaderMap,
    /// The body, in chunks of any size.
    pub body: LocalBoxStream<'static, Result<Vec<u8>, FetchError>>,
}

impl Opened {
    /// Creates a response with this body, in one chunk.
    pub fn new(status: u16, headers: HeaderMap, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self { status, headers, body: futures::stream::once(async { Ok(body) }).boxed_local() }
    }

    /// Reads the rest of the body.
    ///
    /// # Errors
    /// [`FetchError::TooLarge`] beyond `limit` bytes, or the error of the connection.
    pub async fn read(&mut self, limit: usize) -> Result<Vec<u8>, FetchError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.body.next().await {
            let chunk = chunk?;
            if bytes.len().saturating_add(chunk.len()) > limit {
                return Err(FetchError::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("status", &self.status).finish_non_exhaustive()
    }
}
