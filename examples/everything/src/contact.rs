//! A tool that uses elicitation and handles each outcome.

use edge_mcp::{Context, FormAnswer, HandlerError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Reason {
    /// Reason for collecting contact info
    reason: Option<String>,
}

/// The form that the client shows.
#[derive(Deserialize, JsonSchema, Serialize)]
struct Contact {
    /// Your full name
    #[schemars(title = "Full Name")]
    name: String,
    /// Your email address
    #[schemars(title = "Email Address", email)]
    email: String,
    /// Your phone number (optional)
    #[schemars(title = "Phone Number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
}

/// Returns the tool `collectContactInfo`. If the client does not support elicitation, `?` returns the error of the library.
pub(crate) fn tool() -> Tool {
    Tool::new("collectContactInfo", "Collects user contact information through elicitation", collect)
        .title("Contact information")
        .read_only()
        .closed_world()
}

async fn collect(Reason { reason }: Reason, cx: Context) -> Result<String, HandlerError> {
    let message = match reason {
        Some(reason) => format!("Please provide your contact information. {reason}"),
        None => "Please provide your contact information".to_owned(),
    };
    Ok(match cx.elicit::<Contact>("contact", message).await? {
        FormAnswer::Accepted(contact) => {
            format!("Contact information collected: {}", serde_json::to_string_pretty(&contact)?)
        }
        FormAnswer::Declined => "Contact information collection was declined by the user.".into(),
        FormAnswer::Cancelled => "Contact information collection was cancelled by the user.".into(),
    })
}
