//! A workflow that takes one way or the other, and asks a person on one of them.

use edge_mcp::{Context, HandlerError, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::weather;

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Destination {
    /// Where to go
    #[schemars(length(min = 1, max = 200))]
    city: String,
}

/// What goes from the first step to the next.
#[derive(Clone, Deserialize, Serialize)]
struct Outlook {
    city: String,
    is_sunny: bool,
}

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Plan {
    plan: String,
}

/// The form.
#[derive(Deserialize, JsonSchema)]
struct Walk {
    /// How many hours to walk
    #[schemars(range(min = 1, max = 12))]
    hours: u8,
}

/// `run_outing`.
pub(crate) fn outing() -> Workflow<Destination, Plan> {
    Workflow::new("outing")
        .title("Plan an outing")
        .describe("Looks at the weather of a city, and plans a day there by it.")
        .read_only()
        .then("look", look)
        .branch(|outlook: &Outlook| outlook.is_sunny, ("outdoors", outdoors), ("indoors", indoors))
}

async fn look(Destination { city }: Destination, _: Context) -> Result<Outlook, HandlerError> {
    let is_sunny = weather::at(&city) == "sunny";
    Ok(Outlook { city, is_sunny })
}

/// While the person thinks, nothing waits: the next request goes on here, with what `look` has found.
async fn outdoors(Outlook { city, .. }: Outlook, cx: Context) -> Result<Plan, HandlerError> {
    let question = format!("The sun shines in {city}. How many hours do you want to walk?");
    let plan = match cx.elicit::<Walk>("walk", question).await?.accepted() {
        Some(Walk { hours }) => format!("Walk through {city} for {hours} hours."),
        None => format!("Sit in the sun in {city}."),
    };
    Ok(Plan { plan })
}

async fn indoors(Outlook { city, .. }: Outlook, _: Context) -> Result<Plan, HandlerError> {
    Ok(Plan { plan: format!("Visit a museum in {city}.") })
}
