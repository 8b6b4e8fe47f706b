//! A prompt that returns a list of strings.
//!
//! error: a prompt cannot return `…`
//! label: the handler must return text, `PromptMessage`, `Vec<PromptMessage>`, `PromptResult` or a `Result` of one of them
//! note: make a message from a text with `PromptMessage::user(text)` or `PromptMessage::assistant(text)`

use edge_mcp::Prompt;

async fn review() -> Vec<String> {
    vec!["Review this.".into()]
}

fn prompt() -> Prompt {
    Prompt::new("review", review)
}
