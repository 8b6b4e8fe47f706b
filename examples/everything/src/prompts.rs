//! Prompts with arguments, versions and several messages.

use std::collections::BTreeMap;

use edge_mcp::{Completion, Content, Prompt, PromptArgument, PromptMessage, ResourceContents};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tools::PIXEL;
use crate::weather;

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// The code to review
    code: String,
    /// The programming language of the code
    language: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Code {
    /// The code to analyze
    code: String,
}

pub(crate) fn all() -> Vec<Prompt> {
    let summarize = |given: BTreeMap<String, String>| async move {
        format!("Summarize: {}", given.get("text").map_or("", |text| text))
    };
    vec![
        Prompt::new("hello", || async { "Say hello." }).title("Hello").description("Takes no arguments."),
        Prompt::new("review", |Review { code, .. }: Review| async move { format!("Review: {code}") })
            .version("v1")
            .description("Reviews code."),
        Prompt::new("review", review)
            .version("v2")
            .title("Code review")
            .description("Reviews code in any language.")
            .complete("language", Completion::prefix(["Python", "Ruby", "Rust"])),
        Prompt::new("summarize", summarize)
            .title("Summary")
            .description("Summarizes a text. Its argument is declared without a type.")
            .argument(PromptArgument::new("text").title("Text").description("The text to summarize").required()),
        Prompt::new("picture", || async {
            vec![
                PromptMessage::user(Content::image(PIXEL, "image/png")),
                PromptMessage::user(Content::resource(ResourceContents::text("demo://note", "It is red."))),
                PromptMessage::assistant("I see a red pixel."),
            ]
        })
        .title("Picture")
        .description("Returns messages of several kinds."),
        // A request without a version gets the version that was added last.
        Prompt::new("analyze-code", |Code { code }: Code| async move {
            format!("Analyze this code with the new logic: {code}")
        })
        .version("v2")
        .description("Analyze code for improvements (new logic)"),
        Prompt::new("analyze-code", |Code { code }: Code| async move { format!("Analyze this code: {code}") })
            .version("v1")
            .description("Analyze code for improvements"),
        weather::prompt(),
    ]
}

async fn review(Review { code, language }: Review) -> PromptMessage {
    PromptMessage::user(format!("Review this {} code:\n{code}", language.as_deref().unwrap_or("unnamed")))
}
