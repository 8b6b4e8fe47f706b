use edge_mcp::{BuildError, McpServer, Prompt, RequestInfo};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Code {
    code: String,
}

pub fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let first = |Code { code }: Code| async move { format!("Analyze this code: {code}") };
    let second = |Code { code }: Code| async move { format!("Find the bugs in this code: {code}") };
    McpServer::builder("reviews", "1.0.0")
        .prompt(Prompt::new("analyze", first).version("v1").description("Analyzes code."))
        .prompt(Prompt::new("analyze", second).version("v2").description("Finds bugs."))
        .build()
}
