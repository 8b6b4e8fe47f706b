//! The resource template.

use edge_mcp::{Context, HandlerError, ResourceTemplate};
use serde::Deserialize;

use crate::bookings::{self, Booking};

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
    let bookings = bookings::of_day(&date, &cx).await?;
    Ok(list(&date, &bookings))
}

/// Writes the bookings of a day as Markdown.
pub fn list(date: &str, bookings: &[Booking]) -> String {
    let line = |Booking { desk, person, .. }: &Booking| format!("- Desk {desk}: {person}");
    let lines: Vec<_> = bookings.iter().map(line).collect();
    let list = if lines.is_empty() { "No desk is booked.".to_owned() } else { lines.join("\n") };
    format!("# Desks on {date}\n\n{list}")
}
