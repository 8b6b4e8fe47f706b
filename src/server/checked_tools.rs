//! The tools that passed the last check.
//!
//! Most server functions add the same tools for each request. A second check of the same tools would have the same result,
//! so it is skipped.

use std::any::TypeId;
use std::cell::RefCell;
use std::rc::Rc;

use super::tool::Tool;
use crate::text::Text;

/// The properties of a tool that determine the result of its checks.
#[derive(PartialEq)]
struct ToolKey {
    /// The type of the handler, which determines the schemas.
    handler: TypeId,
    name: Text,
    description: Option<Text>,
    scopes: Vec<Text>,
}

thread_local! {
    static LAST: RefCell<Vec<ToolKey>> = const { RefCell::new(Vec::new()) };
}

/// Returns whether these tools, in this order, were checked before and are valid.
pub(super) fn are_checked(tools: &[Rc<Tool>]) -> bool {
    LAST.with_borrow(|last| {
        let is_known = |(tool, checked): (&Rc<Tool>, &ToolKey)| {
            handler_of(tool) == Some(checked.handler)
                && tool.metadata.name == checked.name
                && tool.metadata.description == checked.description
                && tool.access.scopes == checked.scopes
        };
        tools.len() <= last.len() && tools.iter().zip(last).all(is_known)
    })
}

/// Stores these tools, which are valid, for later calls of [`are_checked`].
#[inline(never)]
pub(super) fn remember(tools: &[Rc<Tool>]) {
    let checked = |tool: &Rc<Tool>| {
        Some(ToolKey {
            handler: handler_of(tool)?,
            name: tool.metadata.name.clone(),
            description: tool.metadata.description.clone(),
            scopes: tool.access.scopes.clone(),
        })
    };
    if let Some(checked) = tools.iter().map(checked).collect() {
        LAST.set(checked);
    }
}

/// Returns the type of the handler, or `None` for a tool that has to be checked each time.
fn handler_of(tool: &Tool) -> Option<TypeId> {
    let is_plain = tool.origin.is_none() && tool.app.is_none() && tool.metadata.icons.is_empty();
    if is_plain { tool.handler.type_with_schemas() } else { None }
}
