//! A handler whose error type belongs to the program and does not implement `IntoHandlerError`.
//!
//! error: a handler cannot fail with `…`
//! label: the error must be `HandlerError`, or a type that implements `IntoHandlerError`

use edge_mcp::Tool;

enum Refused {
    OutOfStock,
}

async fn order() -> Result<String, Refused> {
    Err(Refused::OutOfStock)
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
