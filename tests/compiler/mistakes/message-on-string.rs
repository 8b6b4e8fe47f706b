//! `message` on a `Result` whose error type is `String`.
//!
//! error: `…` is not a `std::error::Error`
//! label: convert it: a text with `.map_err(HandlerError::new)`, an `IntoHandlerError` type with `.explained()`, any other with `.map_err(|error| HandlerError::new("…").because(error))`

use edge_mcp::{HandlerError, ResultExt};

fn stock() -> Result<u32, String> {
    Err("The shop is closed.".into())
}

async fn find() -> Result<String, HandlerError> {
    Ok(stock().message("The shop does not answer.")?.to_string())
}
