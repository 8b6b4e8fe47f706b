//! The tools.

use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app;
use crate::bookings::{self, Booking, DESKS};

// These limits are part of the published schema. The library checks them before it calls the handler.
#[derive(Deserialize, JsonSchema)]
struct BookDesk {
    /// The day, such as 2026-12-24
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    date: String,
    /// The number of the desk
    #[schemars(range(min = 1, max = DESKS))]
    desk: u32,
}

pub fn book_desk() -> Tool {
    Tool::new("book-desk", "Books a desk for a day, for the caller.", book)
        .title("Book a desk")
        .additive()
        .closed_world()
}

async fn book(BookDesk { date, desk }: BookDesk, cx: Context) -> Result<Json<Booking>, HandlerError> {
    let booking = Booking { date, desk, person: cx.caller()?.subject.clone() };
    if bookings::add(&booking, &cx).await? {
        return Ok(Json(booking));
    }
    // The model gets this text. It states the problem and a remedy.
    Err(HandlerError::new(format!(
        "Desk {desk} is taken on {}. Call list-bookings for that day, and book a desk that is not in its list.",
        booking.date
    )))
}

#[derive(Deserialize, JsonSchema)]
struct ListBookings {
    /// The day, such as 2026-12-24
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    date: String,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    /// The bookings of that day, sorted by desk
    bookings: Vec<Booking>,
    /// The number of desks that are not booked
    free: usize,
}

pub fn list_bookings() -> Tool {
    Tool::new("list-bookings", "Lists the desks that are booked on a day.", list)
        .title("List bookings")
        .ui(&app::desks())
        .read_only()
        .closed_world()
}

async fn list(ListBookings { date }: ListBookings, cx: Context) -> Result<Json<Listed>, HandlerError> {
    let bookings = bookings::of_day(&date, &cx).await?;
    let free = (DESKS as usize).saturating_sub(bookings.len());
    Ok(Json(Listed { bookings, free }))
}
