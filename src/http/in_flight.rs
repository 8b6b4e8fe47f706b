//! The memory for all request bodies of an isolate.
//!
//! The isolate of a Worker has 128 MiB of memory. Each request reserves memory for its body before it reads the body. If the limit is
//! reached, the request gets a 503.

use std::cell::Cell;

use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER};

use super::http_error::HttpError;
use crate::limits::RESERVATION_SECONDS;
use crate::protocol::error::{ErrorCode, RpcError};

/// The length of a period in milliseconds. A reservation expires after one to two periods. A platform may stop a request without dropping
/// its values. Without expiry, such reservations would add up until every request is rejected. The deadline of a tool is at most one
/// period, so the reservation of a running call does not expire. The attempt of a durable task can be longer, and renews its reservation.
const PERIOD_MS: u64 = RESERVATION_SECONDS * 1000;
/// The time in seconds after which a rejected client may try again.
const RETRY_AFTER_SECONDS: u64 = 1;

/// The reserved bytes of the current and the previous period. Older reservations have expired.
#[derive(Clone, Copy)]
struct Reserved {
    period: u64,
    in_period: usize,
    in_period_before: usize,
}

impl Reserved {
    /// Removes the counts that have expired at `period`. If the clock goes backwards, nothing changes.
    fn at(self, period: u64) -> Self {
        match period.checked_sub(self.period) {
            None | Some(0) => self,
            Some(1) => Self { period, in_period: 0, in_period_before: self.in_period },
            Some(_) => Self { period, in_period: 0, in_period_before: 0 },
        }
    }

    fn total(self) -> usize {
        self.in_period.saturating_add(self.in_period_before)
    }

    /// Returns the number of bytes reserved in `period`, unless they have expired.
    fn of_period(&mut self, period: u64) -> Option<&mut usize> {
        match self.period.checked_sub(period) {
            Some(0) => Some(&mut self.in_period),
            Some(1) => Some(&mut self.in_period_before),
            _ => None,
        }
    }
}

thread_local! {
    static RESERVED: Cell<Reserved> = const { Cell::new(Reserved { period: 0, in_period: 0, in_period_before: 0 }) };
}

/// Memory that a request has reserved. Dropping it releases the memory.
#[derive(Debug)]
pub(super) struct Reservation {
    bytes: usize,
    period: u64,
}

impl Reservation {
    /// Reserves `bytes` of `limit` at `now_ms`.
    ///
    /// # Errors
    /// 503 if less memory than `bytes` is left.
    pub(super) fn new(bytes: usize, limit: usize, now_ms: u64) -> Result<Self, Box<HttpError>> {
        let mut reserved = RESERVED.get().at(now_ms / PERIOD_MS);
        let period = reserved.period;
        if reserved.total().saturating_add(bytes) > limit {
            return Err(memory_full());
        }
        reserved.in_period = reserved.in_period.saturating_add(bytes);
        RESERVED.set(reserved);
        Ok(Self { bytes, period })
    }

    /// Reserves the same memory from `now_ms` on. It does not fail, even if the total then exceeds the limit.
    pub(super) fn renew(&mut self, now_ms: u64) {
        let bytes = self.bytes;
        self.set(0);
        let mut reserved = RESERVED.get().at(now_ms / PERIOD_MS);
        reserved.in_period = reserved.in_period.saturating_add(bytes);
        RESERVED.set(reserved);
        (self.bytes, self.period) = (bytes, reserved.period);
    }

    /// Changes the reservation to `bytes`. It does not fail, even if the total then exceeds the limit.
    pub(super) fn set(&mut self, bytes: usize) {
        let mut reserved = RESERVED.get();
        if let Some(count) = reserved.of_period(self.period) {
            *count = count.saturating_sub(self.bytes).saturating_add(bytes);
        }
        RESERVED.set(reserved);
        self.bytes = bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Returns the 503 with `Retry-After`.
fn memory_full() -> Box<HttpError> {
    let message = "The memory of this server for request bodies is full. Try again in 1 s.";
    let error = RpcError::new(ErrorCode::Internal, message);
    let mut refusal = HttpError::rpc(StatusCode::SERVICE_UNAVAILABLE, None, error);
    refusal.headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
    refusal
}
