//! A handler whose error type implements only `std::error::Error`.
//!
//! error: a handler cannot fail with `…`
//! label: the error must be `HandlerError`, or a type that implements `IntoHandlerError`
//! note: return `Result<_, HandlerError>`: `?` converts every `std::error::Error` into it, and logs the text

use edge_mcp::Tool;

async fn parse() -> Result<String, std::num::ParseIntError> {
    let number: u32 = "7".parse()?;
    Ok(number.to_string())
}

fn tool() -> Tool {
    Tool::new("parse", "Parses a number.", parse)
}
