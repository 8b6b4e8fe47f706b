//! The weather as a tool, as resources and as a prompt. The values are fixed; there is no network request.

use edge_mcp::{Completion, Json, Prompt, Resource, ResourceDescription, ResourceTemplate, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const CITIES: [&str; 4] = ["Lima", "Lisbon", "London", "Paris"];

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// City name or coordinates
    #[schemars(length(min = 1, max = 200))]
    location: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    weather: &'static str,
}

#[derive(Deserialize)]
struct City {
    city: String,
    /// The length of the forecast in days.
    days: Option<u8>,
}

/// Returns the fixed weather at a place.
pub(crate) fn at(place: &str) -> &'static str {
    if place == "London" { "rainy" } else { "sunny" }
}

/// Returns the tool `get-weather`, with all annotations and with metadata.
pub(crate) fn tool() -> Tool {
    Tool::new("get-weather", "Get current weather for a location", |Place { location }: Place| async move {
        Json(Weather { weather: at(&location) })
    })
    .title("Weather Lookup")
    .annotated_title("Weather Lookup")
    .read_only()
    .idempotent()
    .open_world()
    .meta("version", "1.0.0")
    .meta("category", "weather")
}

/// Returns the resource `weather://current`.
pub(crate) fn current() -> Resource {
    Resource::new("weather://current", || async { format!("Paris: {}", at("Paris")) })
        .name("current")
        .title("Current weather")
        .description("Fixed sample data.")
        .mime_type("text/plain")
}

/// Returns the resource template `weather://{city}{?days}`.
pub(crate) fn city_template() -> ResourceTemplate {
    let list = || async {
        let describe = |city: &str| {
            ResourceDescription::new(format!("weather://{city}"), city.to_owned()).description("Fixed sample data.")
        };
        CITIES.map(describe).to_vec()
    };
    ResourceTemplate::new("weather://{city}{?days}", forecast)
        .name("weather")
        .title("Weather of a city")
        .description("Fixed sample data.")
        .mime_type("text/plain")
        .list(list)
        .complete("city", Completion::prefix(CITIES))
}

async fn forecast(City { city, days }: City) -> Option<String> {
    CITIES.contains(&&*city).then(|| format!("{city}: {} for {} days", at(&city), days.unwrap_or(1)))
}

/// Returns the prompt `current`.
pub(crate) fn prompt() -> Prompt {
    Prompt::new("current", || async { format!("It is {} in Paris. What should one wear?", at("Paris")) })
        .title("Current weather")
        .description("Asks what to wear in the current weather.")
}
