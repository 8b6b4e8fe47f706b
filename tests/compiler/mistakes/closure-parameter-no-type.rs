//! A closure whose parameter has no type.
//!
//! error: type annotations needed

use edge_mcp::Tool;

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", |order| async move { "Ordered." })
}
