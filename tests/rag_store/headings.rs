//! The headings of chunks.

use edge_mcp::rag::{ChunkOptions, chunks};
use serde_json::Value;

/// `scripts/lib/title.mjs` reads the same table.
#[test]
fn a_heading_is_text_without_images_and_destinations_of_links() {
    let table: Value = serde_json::from_str(include_str!("../documents.json")).expect("the table");
    for row in table["headings"].as_array().expect("rows") {
        let (markdown, text) = (row[0].as_str().expect("Markdown"), row[1].as_str().expect("a text"));
        for document in [format!("# {markdown}\n\nText."), format!("{markdown}\n===\n\nText.")] {
            let chunks = chunks(&document, &ChunkOptions::new());
            assert_eq!(chunks[0].heading.concat(), text, "{document}");
            assert_eq!(chunks[0].text, "Text.", "{document}");
        }
    }
}
