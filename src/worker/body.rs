//! The body of a Workers request.

use futures::{Stream, StreamExt, pin_mut};
use worker::Request;

use crate::host::{BodyError, RequestBody};

pub(super) struct WorkerBody(pub(super) Request);

impl RequestBody for WorkerBody {
    async fn read(mut self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let announced = self.0.headers().get("content-length").ok().flatten().and_then(|length| length.parse().ok());
        if announced.is_some_and(|length: usize| length <= limit) {
            // One crossing from JavaScript. HTTP ends a body of announced length there, and what came is counted again.
            let body = self.0.bytes().await.map_err(|error| BodyError::Broken(error.to_string()))?;
            return if body.len() > limit { Err(BodyError::TooLarge) } else { Ok(body) };
        }
        // A request without a body has no stream.
        let Ok(chunks) = self.0.stream() else { return Ok(Vec::new()) };
        read(chunks.map(|chunk| chunk.map_err(|error| error.to_string())), limit).await
    }
}

/// Reads a stream, if it has at most `limit` bytes.
pub(super) async fn read(
    chunks: impl Stream<Item = Result<Vec<u8>, String>>,
    limit: usize,
) -> Result<Vec<u8>, BodyError> {
    pin_mut!(chunks);
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(BodyError::Broken)?;
        if chunk.len() > limit.saturating_sub(body.len()) {
            return Err(BodyError::TooLarge);
        }
        body.extend(chunk);
    }
    Ok(body)
}
