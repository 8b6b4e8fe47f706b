//! The page of the knowledge base, which clients with support for MCP Apps show: results of a search, filters, and whole documents.
//!
//! `view/` has the parts of the page. The landing page shows passages by the same files. Clients may keep the page for long, so its URI has
//! a version: change it with the page.

use std::time::Duration;

use edge_mcp::App;
use edge_mcp::cache::CacheHint;

use crate::scopes;

const URI: &str = "ui://knowledge-base/search-1";

const PAGE: &str = concat!(
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Knowledge base</title>\n<style>\n",
    include_str!("view/view.css"),
    include_str!("../../src/http/landing/passage.css"),
    "</style>\n",
    include_str!("view/view.html"),
    "<script type=\"module\">\n",
    include_str!("../../src/http/landing/element.js"),
    include_str!("../../src/http/landing/words.js"),
    include_str!("../../src/http/landing/markdown.js"),
    include_str!("../../src/http/landing/passage.js"),
    include_str!("view/view.js"),
    "</script>\n</html>\n",
);

/// Returns the page as an app. It needs no origin: it has no external parts, and it loads data by calls of tools.
pub(crate) fn view() -> App {
    App::new(URI, PAGE)
        .title("Knowledge base")
        .description("Passages that a search found, with filters and the documents.")
        .scopes([scopes::READ])
        .cache(CacheHint::private(Duration::from_hours(24)))
        .prefers_border(true)
}
