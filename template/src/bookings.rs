//! Bookings, and where they are stored.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desks have the numbers 1 to `DESKS`.
pub const DESKS: u32 = 20;

// Comments on fields are published: they become descriptions in the schema.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Booking {
    /// The day, such as 2026-12-24
    pub date: String,
    /// The number of the desk
    pub desk: u32,
    /// Who booked it
    pub person: String,
}

/// Stores bookings: in D1 in the Worker (`d1.rs`), in memory in tests (`tests.rs`).
#[async_trait(?Send)]
pub trait Bookings {
    /// Returns the bookings of a day, sorted by desk.
    async fn of_day(&self, date: &str) -> worker::Result<Vec<Booking>>;

    /// Stores a booking. Returns `false` if the desk is taken on that day.
    async fn add(&self, booking: &Booking) -> worker::Result<bool>;
}
