//! The prompts of the knowledge base.

use edge_mcp::{Content, Context, HandlerError, Prompt, PromptMessage, PromptResult, ResourceContents};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::document::{MARKDOWN, Slug};
use crate::scopes;
use crate::search::best_of_documents;
use crate::store::Documents;

/// The maximum number of documents in one prompt. More documents would fill the context of a model without better answers.
const MAX_DOCUMENTS: usize = 3;

#[derive(Deserialize, JsonSchema)]
struct Question {
    /// The question to answer
    #[schemars(length(min = 1, max = 500))]
    question: String,
}

#[derive(Deserialize, JsonSchema)]
struct Code {
    /// The code to analyze
    code: String,
}

/// Returns the prompt `answer-from-documents`. It contains the documents that match a question best, and then the question.
pub(crate) fn answer_from_documents() -> Prompt {
    Prompt::new("answer-from-documents", answer)
        .title("Answer from documents")
        .description("Answers a question from the documents that match it best, and names them.")
        .scopes([scopes::READ])
}

/// Returns both versions of the prompt `analyze-code`.
pub(crate) fn analyze_code() -> [Prompt; 2] {
    let first = |Code { code }: Code| async move { format!("Analyze this code: {code}") };
    let second = |Code { code }: Code| async move { format!("Analyze this code with the new logic: {code}") };
    [
        Prompt::new("analyze-code", first).version("v1").description("Analyze code for improvements"),
        Prompt::new("analyze-code", second).version("v2").description("Analyze code for improvements (new logic)"),
    ]
}

async fn answer(Question { question }: Question, cx: Context) -> Result<PromptResult, HandlerError> {
    let documents = cx.state::<Documents>()?;
    let mut messages = Vec::new();
    for passage in best_of_documents(&question, MAX_DOCUMENTS, &cx).await? {
        let slug = Slug::try_from(passage.document)?;
        if let Some(text) = documents.read(&slug).await? {
            let document = ResourceContents::text(slug.uri(), text).mime_type(MARKDOWN);
            messages.push(PromptMessage::user(Content::resource(document)));
        }
    }
    messages.push(PromptMessage::user(if messages.is_empty() {
        format!(
            "No document of the knowledge base contains a word of this question: {question}\n\nSay so, and suggest \
             other words to search for. Do not answer from other knowledge."
        )
    } else {
        format!(
            "Answer this question from the documents above, and name the documents that you used by their titles: \
             {question}\n\nIf the documents do not answer the question, say so."
        )
    }));
    Ok(PromptResult::new(messages))
}
