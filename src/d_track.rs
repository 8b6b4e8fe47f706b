use edge_mcp::ToolError;

pub async fn track(number: String) -> Result<String, ToolError> {
    let number: u32 = number.parse().map_err(|error| ToolError::new("Give the number in digits.").because(error))?;
    let name = String::from_utf8(vec![0xff])?;
    Ok(format!("{name} {number}"))
}
