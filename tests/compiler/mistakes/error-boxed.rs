//! A handler whose error type is `Box<dyn Error>`.
//!
//! error: a handler cannot fail with `…`
//! label: the error must be `HandlerError`, or a type that implements `IntoHandlerError`
//! note: return `Result<_, HandlerError>`: `?` converts every `std::error::Error` into it, and logs the text

use std::error::Error;

use edge_mcp::Tool;

async fn find() -> Result<String, Box<dyn Error>> {
    let number: u32 = "7".parse()?;
    Ok(number.to_string())
}

fn tool() -> Tool {
    Tool::new("find", "Finds an article.", find)
}
