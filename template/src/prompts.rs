//! The prompt.

use edge_mcp::{Context, HandlerError, Prompt};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bookings::{self, DESKS};
use crate::resources::list;

#[derive(Deserialize, JsonSchema)]
struct PlanDay {
    /// The day, such as 2026-12-24
    date: String,
    /// The colleague to sit next to
    colleague: Option<String>,
}

pub fn plan_day() -> Prompt {
    Prompt::new("plan-day", plan).description("Suggests a desk for a day, and books it.")
}

async fn plan(PlanDay { date, colleague }: PlanDay, cx: Context) -> Result<String, HandlerError> {
    let bookings = bookings::of_day(&date, &cx).await?;
    let wish = colleague.map_or(String::new(), |name| format!(" as near to {name} as possible"));
    Ok(format!(
        "{}\n\nDesks 1 to {DESKS} stand in one row. Suggest a free desk{wish}. Once I agree, book it with book-desk.",
        list(&date, &bookings)
    ))
}
