//! Resources and resource templates.

use edge_mcp::cache::CacheHint;
use edge_mcp::content::{Annotations, Role};
use edge_mcp::{Resource, ResourceContents, ResourceDescription, ResourceTemplate};
use serde::Deserialize;

use crate::tools::PIXEL;
use crate::weather;

#[derive(Deserialize)]
struct File {
    id: String,
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
        .description("Two texts in one result."),
        weather::current(),
    ]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        weather::city_template(),
        ResourceTemplate::new("demo://files/{+path}", |path: std::collections::BTreeMap<String, String>| async move {
            format!("{path:?}")
        })
        .name("file")
        .title("A file")
        .description("A file at any path without `.` or `..` segments.")
        .mime_type("text/plain"),
        ResourceTemplate::new("file://data/{id}", data_file)
            .name("Data File")
            .description("A file containing data.")
            .mime_type("text/plain")
            .list(|| async {
                vec![ResourceDescription::new("file://data/123.txt", "Data File").mime_type("text/plain")]
            }),
    ]
}

/// Returns `None` for an unknown id. The client gets the protocol error "resource not found" with the URI.
async fn data_file(File { id }: File) -> Option<&'static str> {
    (id == "123.txt").then_some("This is the content of the data file.")
}
