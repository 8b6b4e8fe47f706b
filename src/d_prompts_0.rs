use edge_mcp::{BuildError, McpServer, Prompt, RequestInfo};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// The code to review
    #[schemars(length(min = 1))]
    code: String,
    /// At most so many remarks
    #[schemars(range(min = 1, max = 20))]
    limit: Option<u32>,
}

async fn review(Review { code, limit }: Review) -> String {
    format!("Review this code. Make at most {} remarks.\n\n{code}", limit.unwrap_or(5))
}

pub fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let review = Prompt::new("review-code", review).title("Review code").description("Asks for a review of code.");
    McpServer::builder("reviews", "1.0.0").prompt(review).build()
}
