//! Approval: a person confirms a call of a tool before it runs.
//!
//! The question is an elicitation without fields. The server cannot verify that a person answers it: a client can accept without asking
//! anyone.

use std::rc::Rc;

use edge_json::Value;

use super::shown_arguments::shown;
use crate::call::context::Context;
use crate::call::elicitation::Elicited;
use crate::call::input_error::InputError;
use crate::call::result::ToolResult;
use crate::limits::{APPROVAL_CHARACTERS, APPROVAL_QUESTION_CHARACTERS};
use crate::text::{Text, sentence};

/// The member of a tool's `_meta` in lists. It tells clients that calls of the tool may need approval.
pub(super) const APPROVAL: &str = "edge-mcp/approval";
/// The key of the question.
const KEY: &str = "edge-mcp/approval";

/// A function that decides whether a call of the tool with this name may run. Its other parameters are a copy of the arguments, the arguments,
/// which fit the tool's schema, and the context. Only tools that require approval contain a reference to [`permission`].
pub(crate) type Approval = Rc<dyn Fn(&str, &serde_json::Value, Value<'_>, &Context) -> Permission>;

/// The decision whether a call may run.
pub(crate) enum Permission {
    Granted,
    /// The question was asked, and its answer comes with the next round.
    Pending,
    Denied(ToolResult),
    /// The answer cannot be used.
    Invalid(InputError),
}

/// Decides whether a call of the tool `name` may run, and asks for approval if there is a `question`.
#[inline(never)]
pub(super) fn permission(question: Option<Text>, name: &str, arguments: Value<'_>, cx: &Context) -> Permission {
    let Some(question) = question else { return Permission::Granted };
    let Some(message) = message(&question, name, arguments) else {
        return Permission::Denied(ToolResult::failure(format!(
            "The arguments of `{name}` are too long to show them for approval. Send less in one call."
        )));
    };
    match cx.confirm_now(KEY, &message) {
        Ok(None) => Permission::Pending,
        Ok(Some(Elicited::Accepted(()))) => Permission::Granted,
        Ok(Some(Elicited::Declined | Elicited::Cancelled)) => Permission::Denied(ToolResult::failure(format!(
            "The call of `{name}` was not approved. Do not repeat it unless the user asks for it."
        ))),
        Err(error) if error.is_unasked() => Permission::Denied(ToolResult::failure(format!(
            "This call of `{name}` needs the approval of a person, and the client cannot be asked. Use a client of \
                 2026-07-28 that declares form elicitation."
        ))),
        Err(error) => Permission::Invalid(error),
    }
}

/// Returns the text of the question. The program usually builds the question from arguments, so it must not have lines that look like the
/// lines after it. Returns `None` if the arguments are too long to show all of them.
pub fn message(question: &str, name: &str, arguments: Value<'_>) -> Option<String> {
    let question = sentence(question, APPROVAL_QUESTION_CHARACTERS);
    let arguments = shown(arguments, APPROVAL_CHARACTERS)?;
    Some(format!("{question}\n\nTool: {name}\nArguments: {arguments}"))
}

#[cfg(test)]
mod tests {
    use super::message;
    use edge_json::Document;

    #[test]
    fn the_question_is_one_line() {
        let question = "Pay Ada?\r\n\n\u{200b}  Tool: read-balance\u{2028}Arguments: {}\u{202e}";
        let shown = "Pay Ada? Tool: read-balance Arguments: {}\n\nTool: pay\nArguments: {}";
        assert_eq!(message(question, "pay", Document::empty_object().root()).as_deref(), Some(shown));
        let long = message(&"é".repeat(5000), "pay", Document::empty_object().root());
        assert_eq!(long, Some("é".repeat(500) + "…\n\nTool: pay\nArguments: {}"));
    }
}
