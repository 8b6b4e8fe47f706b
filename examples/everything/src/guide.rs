//! An agent without a model. Its answers are fixed.

use edge_mcp::agents::{Agent, AgentReply};
use edge_mcp::{Context, HandlerError};

const ANSWERS: [(&str, &str); 5] = [
    ("weather", "Call get-weather with a location, or read weather://current."),
    ("contact", "Call collectContactInfo. It asks you for your name and your email address."),
    ("who", "Call get-user-data. It returns your user id if you send a token."),
    ("outing", "Call run_outing with a city. If the sun shines there, it asks how many hours you want to walk."),
    ("code", "Get the prompt analyze-code, in version v1 or v2."),
];

/// The agent behind the tool `ask_guide`.
pub(crate) struct Guide;

impl Agent for Guide {
    fn key(&self) -> &'static str {
        "guide"
    }

    fn name(&self) -> &'static str {
        "Guide"
    }

    fn description(&self) -> &'static str {
        "Answers questions about the features of this server."
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn generate(&self, message: String, _: Context) -> Result<AgentReply, HandlerError> {
        let message = message.to_lowercase();
        let known = ANSWERS.iter().find(|(word, _)| message.contains(word));
        Ok(AgentReply::new(match known {
            Some((_, answer)) => (*answer).to_owned(),
            None => format!("Ask for one of these: {}.", ANSWERS.map(|(word, _)| word).join(", ")),
        }))
    }
}
