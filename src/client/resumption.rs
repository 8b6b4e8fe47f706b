//! The resumption of event streams.
//!
//! A legacy server may close a stream before the response, and continue it when the client asks for the events after the last one.
//!
//! Source: 2025-11-25, basic/transports, "Resumability and Redelivery".

use super::connection::Link;
use super::error::{Failed, Failure};
use super::exchange::{self, Expected, Position};
use super::headers;
use super::observer::Observer;
use super::response::Answer;
use crate::limits::UPSTREAM_RESUMPTIONS;

impl Link {
    /// Returns the answer. If its stream was interrupted at a known position, the rest of the stream is read first.
    pub(super) async fn resumed(
        &self,
        mut answer: Result<Answer, Failed>,
        expected: &Expected<'_>,
        observer: &Observer<'_>,
    ) -> Result<Answer, Failed> {
        for _ in 0..UPSTREAM_RESUMPTIONS {
            let Some(position) = expected.position.take() else { break };
            self.host().sleep(position.pause).await;
            answer = self.resume(&position, expected, observer).await;
            let is_interrupted = answer.as_ref().is_err_and(Failed::is_interruption);
            let mut next = expected.position.borrow_mut();
            if is_interrupted && next.is_none() {
                *next = Some(position);
            }
        }
        answer
    }

    /// Requests the events after a position. The server may have executed the request, so each failure is an interruption of its answer.
    async fn resume(
        &self,
        position: &Position,
        expected: &Expected<'_>,
        observer: &Observer<'_>,
    ) -> Result<Answer, Failed> {
        let mut request = self.stream_request().await?;
        headers::add(&mut request, headers::LAST_EVENT_ID, position.last_event.clone());
        let opening = self.upstream().transport.open(request, self.host());
        let opened = opening.await.map_err(|error| Failed::new(Failure::Interrupted, Some(error.to_string())))?;
        if opened.status != 200 || exchange::media_type(&opened.headers).as_deref() != Some("text/event-stream") {
            let cause = format!("the stream cannot be resumed: status {}", opened.status);
            return Err(Failed::new(Failure::Interrupted, Some(cause)));
        }
        exchange::read(opened, expected, observer).await
    }
}
