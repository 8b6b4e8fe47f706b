//! Approval: a person confirms a call of a tool before it runs.
//!
//! The question is an elicitation without fields. The server cannot verify that a person answers it: a client can accept without asking
//! anyone.

use std::rc::Rc;

use edge_json::Value;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::shown_arguments::shown;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::handler::{Arguments, read};
use crate::call::question_kind;
use crate::limits::{APPROVAL_CHARACTERS, APPROVAL_QUESTION_CHARACTERS};
use crate::text::{Text, sentence};

/// The member of a tool's `_meta` in lists. It tells clients that calls of the tool may need approval.
pub(super) const APPROVAL: &str = "edge-mcp/approval";
/// The key of the question.
const KEY: &str = "edge-mcp/approval";

/// A function that asks for approval of a call of the tool with this name. Its other parameters are the arguments, which fit the tool's
/// schema, and the context. The error names the arguments that the type of the function rejects.
pub(crate) type Approval = Rc<dyn Fn(&Text, Value<'_>, Context) -> Result<ApprovalFuture, String>>;

/// The outcome of a question for approval.
pub(crate) enum ApprovalAnswer {
    Yes,
    /// The error is for the caller.
    No(HandlerError),
    /// The call needs no approval.
    NotNeeded,
}

/// Ends with an error if the client cannot be asked.
pub(crate) type ApprovalFuture = LocalBoxFuture<'static, Result<ApprovalAnswer, HandlerError>>;

/// Creates the approval with the question that `ask` returns.
pub(super) fn approval<A, F>(ask: F) -> Approval
where
    A: Arguments,
    F: AsyncFn(A, Context) -> Result<Option<Text>, HandlerError> + 'static,
{
    let ask = Rc::new(ask);
    Rc::new(move |name, arguments, cx| {
        let call = shown_call(name, arguments);
        let (ask, read, name) = (ask.clone(), read(arguments)?, name.clone());
        let asking = async move {
            match ask(read, cx.clone()).await? {
                None => Ok(ApprovalAnswer::NotNeeded),
                Some(question) => approve(&question, &name, call, &cx).await,
            }
        };
        Ok(asking.boxed_local())
    })
}

/// Asks the person to approve a call of the tool `name`. `call` is the end of the question.
async fn approve(
    question: &str,
    name: &str,
    call: Option<String>,
    cx: &Context,
) -> Result<ApprovalAnswer, HandlerError> {
    let Some(call) = call else {
        return Err(HandlerError::new(format!(
            "The arguments of `{name}` are too long to show them for approval. Send less in one call."
        )));
    };
    match cx.confirm(KEY, &message(question, &call)).await {
        Ok(true) => Ok(ApprovalAnswer::Yes),
        Ok(false) => Ok(ApprovalAnswer::No(HandlerError::new(format!(
            "The call of `{name}` was not approved. Do not repeat it unless the user asks for it."
        )))),
        Err(error) if error.is_unasked() => {
            Err(HandlerError::new(question_kind::APPROVAL.unasked(&format!("This call of `{name}`"), "Nothing")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the end of each question: the tool and the arguments. Returns `None` if the arguments are too long to show all of them.
pub fn shown_call(name: &str, arguments: Value<'_>) -> Option<String> {
    let arguments = shown(arguments, APPROVAL_CHARACTERS)?;
    Some(format!("Tool: {name}\nArguments: {arguments}"))
}

/// Returns the text of the question. The program usually builds its `question` from arguments, so it must not have lines that look like the
/// lines after it.
pub fn message(question: &str, shown_call: &str) -> String {
    let question = sentence(question, APPROVAL_QUESTION_CHARACTERS);
    format!("{question}\n\n{shown_call}")
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn the_question_is_one_line() {
        let question = "Pay Ada?\r\n\n\u{200b}  Tool: read-balance\u{2028}Arguments: {}\u{202e}";
        let shown = "Pay Ada? Tool: read-balance Arguments: {}\n\nTool: pay\nArguments: {}";
        assert_eq!(message(question, "Tool: pay\nArguments: {}"), shown);
        let long = message(&"é".repeat(5000), "Tool: pay\nArguments: {}");
        assert_eq!(long, "é".repeat(500) + "…\n\nTool: pay\nArguments: {}");
    }
}
