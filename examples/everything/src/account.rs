//! Who calls, within a tool.

use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UserData {
    /// The subject of the access token
    user_id: String,
    /// Where the token says it
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
}

/// `get-user-data`. With a validator, which `MCP_AUTH` can name, an endpoint lets nobody pass without a token. This one may have none,
/// and the tool then says so itself.
pub(crate) fn tool() -> Tool {
    Tool::new("get-user-data", user_data)
        .title("Your data")
        .description("Fetches data for the authenticated user")
        .read_only()
        .closed_world()
}

async fn user_data(cx: Context) -> Result<Json<UserData>, HandlerError> {
    let caller = cx.auth().ok_or_else(|| {
        HandlerError::new("Authentication required: this server asks for no token, and does not know who calls.")
    })?;
    let email = caller.claims.get("email").and_then(|email| email.as_str()).map(str::to_owned);
    Ok(Json(UserData { user_id: caller.subject.clone(), email }))
}
