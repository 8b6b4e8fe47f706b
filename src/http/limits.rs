//! Sizes past which a request is refused, or its answer not sent.

use crate::json::JsonLimits;
use crate::limits::{BATCH, BODY, CONCURRENT, HEADER, IN_FLIGHT, OUTPUT, STATE_BYTES};

/// Sizes past which a request is refused, before anything is done with it, or its answer not sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a body. 4 MiB unless set.
    pub body: usize,
    /// Depth and number of the values in a body.
    pub json: JsonLimits,
    /// Bytes of a header's value, of those that are looked at. 64 KiB unless set.
    pub header: usize,
    /// Messages in a batch. 100 unless set.
    pub batch: usize,
    /// Messages of a batch that are worked on at once. 4 unless set.
    pub concurrent: usize,
    /// Bytes of an answer to one message, and of all its notifications together. 16 MiB unless set.
    pub output: usize,
    /// Bytes of all bodies that an isolate reads or holds at the same time. 64 MiB unless set, and never less than [`body`](Self::body):
    /// a smaller value counts as that. A body without a `Content-Length` counts as a body of the full length until it is read. A
    /// request for whose body there is no room gets 503 with `Retry-After: 1`, and its body is not read.
    pub in_flight: usize,
    /// Bytes of a request state, which a client carries between the rounds of a call. 512 KiB by default.
    pub state: usize,
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
