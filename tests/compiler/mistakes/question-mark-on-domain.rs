//! `?` on a `Result` whose error type implements only `IntoHandlerError`.
//!
//! error: `?` couldn't convert the error: `…: Cause` is not satisfied
//! label: convert it: a text with `.map_err(HandlerError::new)`, an `IntoHandlerError` type with `.explained()`, any other with `.map_err(|error| HandlerError::new("…").because(error))`

use edge_mcp::{HandlerError, IntoHandlerError};

enum Refused {
    OutOfStock,
}

impl IntoHandlerError for Refused {
    fn into_handler_error(self) -> HandlerError {
        HandlerError::new("That article is out of stock.")
    }
}

fn stock() -> Result<u32, Refused> {
    Err(Refused::OutOfStock)
}

async fn find() -> Result<String, HandlerError> {
    Ok(stock()?.to_string())
}
