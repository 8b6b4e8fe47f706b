//! The resource template.

use edge_mcp::{Context, HandlerError, ResourceTemplate};
use serde::Deserialize;

use crate::App;
use crate::bookings::Booking;

#[derive(Deserialize)]
struct Day {
    date: String,
}

pub fn day() -> ResourceTemplate {
    ResourceTemplate::new("desks://days/{date}", read)
        .name("day")
        .description("The bookings of a day, such as desks://days/2026-12-24.")
        .mime_type("text/markdown")
}

async fn read(Day { date }: Day, cx: Context) -> Result<String, HandlerError> {
    let bookings = cx.state::<App>()?.bookings.of_day(&date).await?;
    Ok(list(&date, &bookings))
}

/// Writes the bookings of a day as Markdown.
pub fn list(date: &str, bookings: &[Booking]) -> String {
    let mut text = format!("# Desks on {date}\n");
    for Booking { desk, person, .. } in bookings {
        text.push_str(&format!("\n- Desk {desk}: {person}"));
    }
    if bookings.is_empty() {
        text.push_str("\nNo desk is booked.");
    }
    text
}
