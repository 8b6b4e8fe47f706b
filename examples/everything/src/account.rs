//! A tool that returns data about the authenticated caller.

use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UserData {
    /// The subject of the access token
    user_id: String,
    /// The email address, if the access token contains it
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
}

/// Returns the tool `get-user-data`. An endpoint with a validator rejects requests without a token. With `MCP_AUTH="none"` there is no
/// validator, so the tool handles the case without a caller.
pub(crate) fn tool() -> Tool {
    Tool::new("get-user-data", "Fetches data for the authenticated user", user_data)
        .title("Your data")
        .read_only()
        .closed_world()
}

async fn user_data(cx: Context) -> Result<Json<UserData>, HandlerError> {
    let caller = cx.caller().map_err(|_| {
        HandlerError::new(
            "Authentication required: this server runs without authentication, so it cannot identify the caller.",
        )
    })?;
    let email = caller.claims.get("email").and_then(|email| email.as_str()).map(str::to_owned);
    Ok(Json(UserData { user_id: caller.subject.clone(), email }))
}
