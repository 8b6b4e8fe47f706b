//! The tools that the sources of an agent find for a caller, such as the tools of other MCP servers.

use edge_json::write;

use super::offered::{Offered, wire_name};
use crate::agents::agent::Missing;
use crate::call::context::{CallableTool, Context};
use crate::host::log;
use crate::limits::{AGENT_FOUND_BYTES, AGENT_FOUND_TOOLS};
use crate::server::list::ListKind;
use crate::server::source::Source;
use crate::text::shortened;

/// The longest name of a function in chat completions.
const NAME: usize = 64;

/// Adds the tools that the sources find for the caller of `cx`, and returns also what is missing. A caller who must sign in to a server is asked
/// to. The log has the parts of a source that failed and the tools that are left out.
pub(super) async fn with_found(
    mut offered: Vec<Offered>,
    sources: &dyn Source,
    cx: &Context,
) -> (Vec<Offered>, Missing) {
    // An agent that the program calls without a server has no tools.
    let Some(server) = cx.tools() else { return (offered, Missing::default()) };
    let found = sources.find(ListKind::Tools, cx).await;
    #[cfg(feature = "client")]
    let found = found.signed_in(cx).await;
    let missing = found.missing_parts().collect();
    let warn = |problem: &str| log::warning(cx.host(), "agent", problem);
    for problem in found.problems() {
        warn(&without_links(problem));
    }
    let (mut count, mut bytes) = (0_usize, 0_usize);
    for tool in found.tools.into_iter().filter(|tool| tool.access.permits(cx.request())) {
        let Some(callable) = tool.callable() else { continue };
        let name = callable.name.clone();
        let next = match problem(&callable, &offered) {
            _ if tool.is_for_app_only() => Err("is for user interfaces only"),
            Some(problem) => Err(problem),
            None => Offered::found(callable, server.clone(), tool).ok_or("has no input schema"),
        };
        let next = match next {
            Ok(next) => next,
            Err(problem) => {
                warn(&format!("the agent was not offered the tool `{}`, which {problem}", shortened(&name)));
                continue;
            }
        };
        bytes = bytes.saturating_add(write::text(&next.offer()).len());
        if count >= AGENT_FOUND_TOOLS || bytes > AGENT_FOUND_BYTES {
            warn("the agent was not offered all tools of its sources, because they have too many or too long ones");
            break;
        }
        count = count.saturating_add(1);
        offered.push(next);
    }
    (offered, missing)
}

/// Returns a problem without its links. The link of a sign-in is only for the caller.
fn without_links(problem: &str) -> String {
    let words = problem.split(' ').map(|word| if word.contains("://") { "(link)" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns why the model cannot be offered a tool next to the tools in `offered`.
fn problem(tool: &CallableTool, offered: &[Offered]) -> Option<&'static str> {
    let name = wire_name(&tool.name);
    let is_function = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > NAME || !name.bytes().all(is_function) {
        Some("has a name that chat completions do not allow")
    } else if offered.iter().any(|other| other.is_called(&name) || other.is_called(&tool.name)) {
        Some("has the name of an earlier tool")
    } else {
        None
    }
}
