//! The memory for all request bodies of an isolate, and for the answers that wait.
//!
//! The isolate of a Worker has 128 MiB of memory. Each request reserves memory for its body before it reads the body. If the limit is
//! reached, the request gets a 503. An answer waits in a batch for the other answers, and on a stream for its client. If the limit on these
//! answers is reached, an error replaces the answer.

use std::cell::Cell;
use std::thread::LocalKey;

use crate::limits::RESERVATION_SECONDS;

/// The length of a period in milliseconds. A reservation expires after one to two periods. A platform may stop a request without dropping
/// its values. Without expiry, such reservations would add up until every request is rejected. The deadline of a tool is at most one
/// period, so the reservation of a running call does not expire. The attempt of a durable task can be longer, and renews its reservation.
const PERIOD_MS: u64 = RESERVATION_SECONDS * 1000;

/// The reserved bytes of the current and the previous period. Older reservations have expired.
#[derive(Clone, Copy)]
struct Reserved {
    period: u64,
    in_period: usize,
    in_period_before: usize,
}

impl Reserved {
    const NOTHING: Self = Self { period: 0, in_period: 0, in_period_before: 0 };

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
    static BODIES: Cell<Reserved> = const { Cell::new(Reserved::NOTHING) };
    static ANSWERS: Cell<Reserved> = const { Cell::new(Reserved::NOTHING) };
}

/// The error of a reservation that exceeds the limit.
#[derive(Debug)]
pub(crate) struct MemoryFull;

/// Memory that a request has reserved. Dropping it releases the memory.
#[derive(Debug)]
pub(crate) struct Reservation {
    bytes: usize,
    period: u64,
    /// The memory that the bytes are a part of.
    reserved: &'static LocalKey<Cell<Reserved>>,
}

impl Reservation {
    /// Reserves `bytes` of `limit` for a body at `now_ms`.
    ///
    /// # Errors
    /// [`MemoryFull`] if less memory than `bytes` is left.
    pub(crate) fn new(bytes: usize, limit: usize, now_ms: u64) -> Result<Self, MemoryFull> {
        Self::of(&BODIES, bytes, limit, now_ms)
    }

    /// Reserves `bytes` of `limit` for an answer at `now_ms`.
    ///
    /// # Errors
    /// [`MemoryFull`] if less memory than `bytes` is left.
    pub(crate) fn of_answer(bytes: usize, limit: usize, now_ms: u64) -> Result<Self, MemoryFull> {
        Self::of(&ANSWERS, bytes, limit, now_ms)
    }

    fn of(
        memory: &'static LocalKey<Cell<Reserved>>,
        bytes: usize,
        limit: usize,
        now_ms: u64,
    ) -> Result<Self, MemoryFull> {
        let mut reserved = memory.get().at(now_ms / PERIOD_MS);
        let period = reserved.period;
        if reserved.total().saturating_add(bytes) > limit {
            return Err(MemoryFull);
        }
        reserved.in_period = reserved.in_period.saturating_add(bytes);
        memory.set(reserved);
        Ok(Self { bytes, period, reserved: memory })
    }

    /// Reserves the same memory from `now_ms` on. It does not fail, even if the total then exceeds the limit.
    pub(crate) fn renew(&mut self, now_ms: u64) {
        let bytes = self.bytes;
        self.set(0);
        let mut reserved = self.reserved.get().at(now_ms / PERIOD_MS);
        reserved.in_period = reserved.in_period.saturating_add(bytes);
        self.reserved.set(reserved);
        (self.bytes, self.period) = (bytes, reserved.period);
    }

    /// Changes the reservation to `bytes`. It does not fail, even if the total then exceeds the limit.
    pub(crate) fn set(&mut self, bytes: usize) {
        let mut reserved = self.reserved.get();
        if let Some(count) = reserved.of_period(self.period) {
            *count = count.saturating_sub(self.bytes).saturating_add(bytes);
        }
        self.reserved.set(reserved);
        self.bytes = bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.set(0);
    }
}
