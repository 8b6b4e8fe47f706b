//! The app: a page with the desks of a day. Clients that support MCP Apps show it in a frame, and other clients show the text of the tool.

use edge_mcp::App;

pub fn desks() -> App {
    // Clients may keep the page for long. Change its URI with the page.
    App::new("ui://desks/day-1", include_str!("app.html")).title("Desks").prefers_border(true)
}
