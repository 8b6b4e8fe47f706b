//! A template whose list function returns URIs in place of descriptions.
//!
//! error: a list function cannot return `…`
//! label: the function must return `Vec<ResourceDescription>` or a `Result` of it

use edge_mcp::ResourceTemplate;

async fn read(city: std::collections::BTreeMap<String, String>) -> String {
    format!("{city:?}")
}

fn template() -> ResourceTemplate {
    ResourceTemplate::new("weather://{city}", read).list(|| async { vec!["weather://paris"] })
}
