//! `?` on a `Result` whose error type is `String`.
//!
//! error: `?` couldn't convert the error: `…: Cause` is not satisfied
//! label: convert it: a text with `.map_err(HandlerError::new)`, an `IntoHandlerError` type with `.explained()`, any other with `.map_err(|error| HandlerError::new("…").because(error))`

use edge_mcp::HandlerError;

fn stock() -> Result<u32, String> {
    Err("The shop is closed.".into())
}

async fn find() -> Result<String, HandlerError> {
    Ok(stock()?.to_string())
}
