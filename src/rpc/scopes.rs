//! Which scopes a request needs: those of what it uses. Lists need none, and show each caller what is for it.
//!
//! Source: 2026-07-28, basic/authorization, "Runtime Insufficient Scope".

use super::{completion, prompts, resources};
use crate::protocol::description::Text;
use crate::protocol::message::Request;
use crate::server::access::Access;
use crate::server::builder::McpServer;

/// All the scopes that `request` needs. What is not there needs none: the answer says so.
pub(crate) fn needed<'s>(request: &Request<'_>, server: &'s McpServer) -> &'s [Text] {
    access(request, server).map_or(&[], |access| &access.scopes)
}

fn access<'s>(request: &Request<'_>, server: &'s McpServer) -> Option<&'s Access> {
    let param = |name: &str| request.param(name)?.as_str();
    let prompt =
        |name: &str, version: Option<&str>| prompts::find(server, name, version).ok().map(|prompt| &prompt.access);
    match &*request.method {
        "tools/call" => server.tool(&param("name")?).map(|tool| &tool.access),
        "prompts/get" => prompt(&param("name")?, param("version").as_deref()),
        "resources/read" => resources::find(server, &param("uri")?).map(|found| found.access()),
        "completion/complete" => {
            let reference = request.param("ref")?;
            let member = |name: &str| reference.get(name)?.as_str();
            match &*member("type")? {
                // As it is answered: a completion has no version of its own.
                "ref/prompt" => prompt(&member("name")?, None),
                "ref/resource" => completion::referenced(server, &member("uri")?).map(|found| found.access()),
                _ => None,
            }
        }
        _ => None,
    }
}
