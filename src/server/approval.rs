//! Approval: a person confirms a call of a tool before it runs.
//!
//! The question is an elicitation without fields. The server cannot verify that a person answers it: a client can accept without asking
//! anyone.

use std::rc::Rc;

use crate::call::context::Context;
use crate::call::elicitation::Elicited;
use crate::call::input_error::InputError;
use crate::call::result::ToolResult;
use crate::limits::APPROVAL_CHARACTERS;
use crate::text::{Text, is_deceptive};

/// The member of a tool's `_meta` in lists. It tells clients that calls of the tool may need approval.
pub(super) const APPROVAL: &str = "edge-mcp/approval";
/// The key of the question.
const KEY: &str = "edge-mcp/approval";

/// A function that returns the question for a call with these arguments, or `None` if the call does not need approval.
pub(crate) type Approval = Rc<dyn Fn(&serde_json::Value) -> Option<Text>>;

/// The decision whether a call may run.
pub(super) enum Permission {
    Granted,
    /// The question was asked, and its answer comes with the next round.
    Pending,
    Denied(ToolResult),
    /// The answer cannot be used.
    Invalid(InputError),
}

/// Decides whether a call of the tool `name` may run, and asks for approval if the call needs it. `arguments` fit the tool's schema, and
/// `text` is their JSON as it was sent.
#[inline(never)]
pub(super) fn permission(
    approval: &Approval,
    name: &str,
    arguments: &serde_json::Value,
    text: &str,
    cx: &Context,
) -> Permission {
    let Some(question) = approval(arguments) else { return Permission::Granted };
    let message = format!("{question}\n\nTool: {name}\nArguments: {}", shown(text));
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

/// Returns arguments for display to a person: shortened, and without characters that hide or reorder text.
fn shown(arguments: &str) -> String {
    let mut characters = arguments.chars();
    let shown = characters.by_ref().take(APPROVAL_CHARACTERS);
    let shown: String = shown.map(|c| if is_deceptive(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    match characters.as_str().len() {
        0 => shown,
        hidden => format!("{shown}… ({hidden} more bytes)"),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn deceptive_characters_are_replaced() {
        let given = "{\"to\":\"a\u{202e}b\u{200b}c\u{e0041}\n\u{7}é\"}";
        assert_eq!(shown(given), "{\"to\":\"a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}\u{fffd}é\"}");
    }

    #[test]
    fn long_arguments_are_shortened() {
        assert_eq!(shown(&"é".repeat(1000)), "é".repeat(1000));
        assert_eq!(shown(&"é".repeat(1002)), format!("{}… (4 more bytes)", "é".repeat(1000)));
    }
}
