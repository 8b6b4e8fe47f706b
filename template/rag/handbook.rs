//! The handbook of the office: Markdown pages, a tool that saves them, and a tool that searches them.

use std::rc::Rc;

use edge_mcp::rag::{
    ChunkOptions, Document, Retriever, SaveStore, SearchStore, SearchTool, Space, SqlitePassages, chunks,
};
use edge_mcp::{Context, HandlerError, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

/// The name of the index that has all pages.
const INDEX: &str = "handbook";

#[derive(Deserialize, JsonSchema)]
struct SavePage {
    /// The name of the page, such as visitors
    #[schemars(length(min = 1, max = 60))]
    name: String,
    /// The page as Markdown
    #[schemars(length(min = 1, max = 100_000))]
    text: String,
}

pub fn save_page() -> Tool {
    let description = "Creates a page of the office's handbook, or replaces the page with this name.";
    Tool::new("save-page", description, save).title("Save a page").destructive().idempotent().closed_world()
}

async fn save(SavePage { name, text }: SavePage, cx: Context) -> Result<String, HandlerError> {
    // The pages of all callers are in one space. "Tenants" in docs/retrieval.md of edge-mcp shows how each caller gets a space.
    let space = Space { index: INDEX.into(), ..Space::default() };
    let page = Document { name, chunks: chunks(&text, &ChunkOptions::new()), ..Document::default() };
    let saved = cx.state::<SqlitePassages>()?.save(&space, &page).await?;
    Ok(format!("Saved the page {} (passages: {}).", page.name, saved.chunks))
}

pub fn search_handbook() -> Tool {
    SearchTool::new(Retriever::new(INDEX, pages))
        .name("search-handbook")
        .description("Finds passages of the office's handbook that answer a question.")
        .tool()
        .title("Search the handbook")
}

async fn pages(cx: Context) -> Result<Rc<dyn SearchStore>, HandlerError> {
    Ok(cx.state::<SqlitePassages>()?)
}

#[cfg(test)]
mod tests {
    use edge_mcp::rag::migration;
    use edge_mcp::testing::{self, Client, TestDatabase};
    use serde_json::json;

    use super::*;
    use crate::server;

    #[test]
    fn a_saved_page_is_found_by_its_words() {
        testing::run(async {
            let test = TestDatabase::migrated("migrations").expect("the migrations run");
            let endpoint = testing::endpoint(server).state(SqlitePassages::new(test.database()));
            let caller = Client::new(&endpoint);
            let text = "# Visitors\n\nVisitors get a badge.\n\n# Coffee\n\nThe machine is on the second floor.";
            let saved = caller.call("save-page", json!({ "name": "office", "text": text })).await;
            assert_eq!(saved.text(), "Saved the page office (passages: 2).");

            let found = caller.call("search-handbook", json!({ "queryText": "Where is coffee?" })).await;
            let sources = found.structured()["sources"].as_array().expect("sources");
            assert_eq!(sources.len(), 1);
            assert_eq!(sources[0]["document"], "The machine is on the second floor.");
        });
    }

    /// `SqlitePassages` expects exactly these tables. Put your own tables into other migrations.
    #[test]
    fn the_tables_of_passages_are_those_of_edge_mcp() {
        let tables = include_str!("../migrations/0002_passages.sql");
        assert_eq!(tables, migration("rag").expect("a prefix"));
    }
}
