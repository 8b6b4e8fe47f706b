//! The body of a request.

use std::future::Future;

/// Why a body was not read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It is longer than the limit.
    TooLarge,
    /// The connection failed. The text is for the log.
    Broken(String),
}

/// The body of an HTTP request, as the host holds it.
pub trait RequestBody {
    /// Reads the body, if it has at most `limit` bytes. What a Content-Length header says is no reason to believe it.
    ///
    /// # Errors
    /// [`BodyError::TooLarge`] as soon as byte `limit + 1` has come; [`BodyError::Broken`] if the sender goes away.
    fn read(self, limit: usize) -> impl Future<Output = Result<Vec<u8>, BodyError>>;
}

impl RequestBody for Vec<u8> {
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError> {
        if self.len() > limit { Err(BodyError::TooLarge) } else { Ok(self) }
    }
}
