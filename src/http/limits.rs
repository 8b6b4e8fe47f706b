//! Sizes past which a request is refused.

use crate::protocol::json::JsonLimits;

/// Sizes past which a request is refused, before anything is done with it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a body. 4 MiB unless set.
    pub body: usize,
    /// Depth and number of the values in a body.
    pub json: JsonLimits,
    /// Messages in a batch. 100 unless set.
    pub batch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 4 * 1024 * 1024, json: JsonLimits::default(), batch: 100 }
    }
}
