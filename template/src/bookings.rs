//! Bookings, and the trait that stores them.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of desks. They are numbered from 1.
pub const DESKS: u32 = 20;

// Doc comments of fields become descriptions in the published schema.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Booking {
    /// The day, such as 2026-12-24
    pub date: String,
    /// The number of the desk
    pub desk: u32,
    /// The person who booked it
    pub person: String,
}

/// Stores bookings. The Worker implements it with D1 (`d1.rs`), and the tests implement it in memory (`tests.rs`).
#[async_trait(?Send)]
pub trait Bookings {
    /// Returns the bookings of a day, sorted by desk.
    async fn of_day(&self, date: &str) -> worker::Result<Vec<Booking>>;

    /// Stores a booking. Returns `false` if the desk is taken on that day.
    async fn add(&self, booking: &Booking) -> worker::Result<bool>;
}
