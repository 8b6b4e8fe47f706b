//! The body of a Workers request.

use futures::StreamExt;
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
        let mut body = Vec::new();
        // A request without a body has no stream.
        let Ok(mut chunks) = self.0.stream() else { return Ok(body) };
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| BodyError::Broken(error.to_string()))?;
            if chunk.len() > limit.saturating_sub(body.len()) {
                return Err(BodyError::TooLarge);
            }
            body.extend(chunk);
        }
        Ok(body)
    }
}
