//! A workflow with a branch, in which one way asks a person.

use edge_mcp::{Context, HandlerError, Json, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::weather;

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Destination {
    /// Where to go
    #[schemars(length(min = 1, max = 200))]
    city: String,
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

/// The workflow `run_outing`.
pub(crate) fn outing() -> Workflow {
    Workflow::new("outing", "Looks at the weather of a city, and plans a day there by it.", plan)
        .title("Plan an outing")
        .read_only()
}

async fn plan(Destination { city }: Destination, cx: Context) -> Result<Json<Plan>, HandlerError> {
    let is_sunny: bool = cx.step("look", &city, async || Ok(weather::at(&city) == "sunny")).await?;
    let plan = if is_sunny {
        cx.step("outdoors", &city, async || outdoors(&city, &cx).await).await?
    } else {
        format!("Visit a museum in {city}.")
    };
    Ok(Json(Plan { plan }))
}

/// Nothing waits while the person thinks. The next request continues here, with the result of `look`.
async fn outdoors(city: &str, cx: &Context) -> Result<String, HandlerError> {
    let question = format!("The sun shines in {city}. How many hours do you want to walk?");
    Ok(match cx.elicit::<Walk>("walk", question).await?.accepted() {
        Some(Walk { hours }) => format!("Walk through {city} for {hours} hours."),
        None => format!("Sit in the sun in {city}."),
    })
}
