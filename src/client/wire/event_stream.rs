//! An open event stream.

use super::sse::EventReader;
use crate::host::Opened;

/// An open event stream, and the amount that was read from it.
pub(in crate::client) struct EventStream {
    pub opened: Opened,
    pub reader: EventReader,
    /// The number of bytes that were read.
    pub bytes: usize,
    /// The number of events that were read.
    pub events: usize,
}

impl EventStream {
    pub(in crate::client) fn new(opened: Opened) -> Self {
        Self { opened, reader: EventReader::default(), bytes: 0, events: 0 }
    }
}
