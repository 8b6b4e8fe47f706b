//! Bookings, and the SQL that reads and writes them. `migrations/` creates their table.

use edge_mcp::storage::Database;
use edge_mcp::{Context, HandlerError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of desks. They are numbered from 1.
pub const DESKS: u32 = 20;

// Doc comments of fields become descriptions in the published schema.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Booking {
    /// The day, such as 2026-12-24
    pub date: String,
    /// The number of the desk
    pub desk: u32,
    /// The person who booked it
    pub person: String,
}

/// Returns the bookings of a day, sorted by desk.
pub async fn of_day(date: &str, cx: &Context) -> Result<Vec<Booking>, HandlerError> {
    let select = "SELECT date, desk, person FROM bookings WHERE date = ?1 ORDER BY desk";
    // `?` converts any error. Its text goes to the log, and the model gets a fixed text.
    Ok(cx.state::<Database>()?.query(select).bind(date).all().await?)
}

/// Stores a booking. Returns `false` if the desk is taken on that day.
pub async fn add(booking: &Booking, cx: &Context) -> Result<bool, HandlerError> {
    // One statement checks and writes, so two callers cannot book the same desk on the same day.
    let insert = "INSERT INTO bookings (date, desk, person) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    let Booking { date, desk, person } = booking;
    let added = cx.state::<Database>()?.query(insert).bind(date).bind(*desk).bind(person).run().await?;
    Ok(added == 1)
}
