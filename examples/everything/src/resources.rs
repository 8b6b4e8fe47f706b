//! Resources: at a URI of their own, and by template.

use edge_mcp::protocol::description::{Annotations, Role};
use edge_mcp::server::{CacheHint, Completion};
use edge_mcp::{Resource, ResourceContents, ResourceDescription, ResourceTemplate};
use serde::Deserialize;

use crate::tools::PIXEL;

const CITIES: [&str; 4] = ["Lima", "Lisbon", "London", "Paris"];

#[derive(Deserialize)]
struct City {
    city: String,
    /// Of the forecast
    days: Option<u8>,
}

pub(crate) fn fixed() -> Vec<Resource> {
    vec![
        Resource::new("demo://text", || async { "Plain text" })
            .name("text")
            .title("Text")
            .description("A text.")
            .mime_type("text/plain")
            .size(10)
            .annotations(
                Annotations::new().audience(Role::Assistant).priority(0.8).last_modified("2026-07-28T00:00:00Z"),
            ),
        Resource::new("demo://bytes", || async { PIXEL.to_vec() })
            .name("bytes")
            .title("Bytes")
            .description("A picture.")
            .mime_type("image/png")
            .cache(CacheHint::public(std::time::Duration::from_hours(1))),
        Resource::new("demo://several", || async {
            vec![ResourceContents::text("demo://several/1", "One"), ResourceContents::text("demo://several/2", "Two")]
        })
        .name("several")
        .title("Several")
        .description("Two texts at once."),
    ]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("weather://{city}{?days}", weather)
            .name("weather")
            .title("Weather of a city")
            .description("Made up.")
            .mime_type("text/plain")
            .list(|| async {
                let describe = |city: &str| {
                    ResourceDescription::new(format!("weather://{city}"), city.to_owned()).description("Made up.")
                };
                CITIES.map(describe).to_vec()
            })
            .complete("city", Completion::prefix(CITIES)),
        ResourceTemplate::new("demo://files/{+path}", |path: std::collections::BTreeMap<String, String>| async move {
            format!("{path:?}")
        })
        .name("file")
        .title("A file")
        .description("Any path, but none that leads out.")
        .mime_type("text/plain"),
    ]
}

async fn weather(City { city, days }: City) -> Option<String> {
    CITIES.contains(&&*city).then(|| format!("{city}: sun for {} days", days.unwrap_or(1)))
}
