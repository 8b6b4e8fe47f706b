//! The size limits of an endpoint.

use edge_json::JsonLimits;

use crate::limits::{BATCH, BODY, CONCURRENT, HEADER, IN_FLIGHT, OUTPUT, STATE_BYTES, WAITING_ANSWERS};

/// Limits on sizes. The endpoint rejects a request that exceeds a limit before its handler runs. It does not send an answer that exceeds a
/// limit.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum size of a body, in bytes. The default is 4 MiB.
    pub body: usize,
    /// Maximum depth and number of the JSON values in a body.
    pub json: JsonLimits,
    /// Maximum size of the value of a header, in bytes. The default is 64 KiB. If a header that the endpoint
    /// reads is longer, the answer is a 431. The program cannot read a longer header, and the log has a warning.
    pub header: usize,
    /// Maximum number of messages in a batch. The default is 100.
    pub batch: usize,
    /// Maximum number of messages of a batch that run concurrently. The default is 4.
    pub concurrent: usize,
    /// Maximum size of the response to a message, and of all its notifications together, in bytes. The default is 16 MiB.
    pub output: usize,
    /// Maximum size of all bodies that an isolate reads or holds at the same time, in bytes. The default is 64 MiB. A value below
    /// [`body`](Self::body) counts as `body`. Until it is read, a body without a `Content-Length` counts as `body` bytes. A request beyond
    /// the limit gets a 503 with `Retry-After: 1`, and its body is not read.
    pub in_flight: usize,
    /// Maximum size of a request state, in bytes. A client sends the state back in the next round of a call. The default is 512 KiB.
    pub state: usize,
}

impl Limits {
    /// Returns the limit on the answers that wait. An answer of the maximum size always fits alone.
    pub(crate) fn waiting_answers(&self) -> usize {
        self.output.max(WAITING_ANSWERS)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: BODY,
            json: JsonLimits::default(),
            header: HEADER,
            batch: BATCH,
            concurrent: CONCURRENT,
            output: OUTPUT,
            in_flight: IN_FLIGHT,
            state: STATE_BYTES,
        }
    }
}
