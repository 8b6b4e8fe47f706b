//! A workflow with two branches. One of them asks the user.

use edge_mcp::agents::Workflow;
use edge_mcp::{Context, HandlerError, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::weather;

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Destination {
    /// The city to visit
    #[schemars(length(min = 1, max = 200))]
    city: String,
}

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Plan {
    plan: String,
}

/// The form that the client shows.
#[derive(Deserialize, JsonSchema)]
struct Walk {
    /// The number of hours to walk
    #[schemars(range(min = 1, max = 12))]
    hours: u8,
}

/// Returns the workflow `outing`, which the tool `run_outing` runs.
pub(crate) fn outing() -> Workflow {
    Workflow::new("outing", "Plans a day in a city according to its weather.", plan).title("Plan an outing").read_only()
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

/// Asks the user in good weather. The call ends with the question. The next request continues here, with the stored result of `look`.
async fn outdoors(city: &str, cx: &Context) -> Result<String, HandlerError> {
    let question = format!("The sun shines in {city}. How many hours do you want to walk?");
    Ok(match cx.elicit::<Walk>("walk", question).await?.accepted() {
        Some(Walk { hours }) => format!("Walk through {city} for {hours} hours."),
        None => format!("Sit in the sun in {city}."),
    })
}
