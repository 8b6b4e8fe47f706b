//! The limits of an endpoint on sizes.

use crate::json::JsonLimits;
use crate::limits::{BATCH, BODY, CONCURRENT, HEADER, IN_FLIGHT, OUTPUT, STATE_BYTES};

/// Limits on sizes. A request beyond a limit is rejected before anything is done with it; an answer beyond a limit is not sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a body. The default is 4 MiB.
    pub body: usize,
    /// Depth and number of the JSON values in a body.
    pub json: JsonLimits,
    /// Bytes of the value of a header. The default is 64 KiB. A longer header that the endpoint itself reads is a 431. The program does not
    /// see a longer header, and the log has a warning.
    pub header: usize,
    /// Messages in a batch. The default is 100.
    pub batch: usize,
    /// Messages of a batch that are handled concurrently. The default is 4.
    pub concurrent: usize,
    /// Bytes of the response to one message, and of all its notifications together. The default is 16 MiB.
    pub output: usize,
    /// Bytes of all bodies that an isolate reads or holds at the same time. The default is 64 MiB; a value below [`body`](Self::body)
    /// counts as `body`. A body without a `Content-Length` counts with the limit of `body` until it is read. A request beyond the limit
    /// gets 503 with `Retry-After: 1`, and its body is not read.
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
