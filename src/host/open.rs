//! Requests to other servers whose responses are read in parts.

use std::fmt;

use futures::StreamExt;
use futures::stream::LocalBoxStream;
use http::HeaderMap;

use super::fetch::FetchError;

/// A response whose body is still arriving. Dropping it aborts the request.
pub struct Opened {
    /// The status. Redirects are not followed, so it may be a 3xx.
    pub status: u16,
    /// The headers.
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
