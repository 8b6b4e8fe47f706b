//! `explained` on an error type that does not implement `IntoHandlerError`.
//!
//! error: a handler cannot fail with `…`
//! label: the error must be `HandlerError`, or a type that implements `IntoHandlerError`
//! note: return `Result<_, HandlerError>`: `?` converts every `std::error::Error` into it, and logs the text

use edge_mcp::{HandlerError, ResultExt};

fn stock() -> Result<u32, std::num::ParseIntError> {
    "7".parse()
}

async fn find() -> Result<String, HandlerError> {
    Ok(stock().explained()?.to_string())
}
