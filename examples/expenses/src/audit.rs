//! The audit log.

use edge_mcp::call::ToolEvent;
use edge_mcp::{Context, HandlerError};
use serde_json::json;

/// Writes a line of the audit log.
pub struct AuditLog(Box<dyn Fn(String)>);

impl AuditLog {
    pub fn new(write: impl Fn(String) + 'static) -> Self {
        Self(Box::new(write))
    }
}

/// Writes who decided about which expense, and whether the call succeeded. This function is a hook of `decide-expense`.
pub async fn write(event: ToolEvent, cx: Context) -> Result<(), HandlerError> {
    let ToolEvent::Finished(call) = event else { return Ok(()) };
    let line = json!({
        "event": "audit",
        "who": cx.caller()?.subject,
        "tool": call.tool,
        "expense": call.arguments.get("id"),
        "decision": call.arguments.get("decision"),
        "done": call.outcome.is_ok(),
        "at": cx.now_ms(),
    });
    cx.state::<AuditLog>()?.0(line.to_string());
    Ok(())
}
