//! A handler whose error type is `String`.
//!
//! error: a handler cannot fail with `…`
//! label: the error must be `HandlerError`, or a type that implements `IntoHandlerError`
//! note: make an error from a text with `HandlerError::new("…")`: the caller gets the text

use edge_mcp::Tool;

async fn find() -> Result<String, String> {
    Err("The shop is closed.".into())
}

fn tool() -> Tool {
    Tool::new("find", "Finds an article.", find)
}
