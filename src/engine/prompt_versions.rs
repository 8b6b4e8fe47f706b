//! The lookup of a prompt by its name and version.
//!
//! Versions are an extension of this library. A list has each name once. `prompts/get` accepts the parameter `version`, or
//! `name@version` as the name.

use std::rc::Rc;

use edge_json::object;

use crate::protocol::error::RpcError;
use crate::server::builder::McpServer;
use crate::server::prompt::Prompt;
use crate::text::shortened;

/// Returns the versions of a prompt, in the order in which they were added.
pub(super) fn versions<'s>(server: &'s McpServer, name: &str) -> Vec<&'s str> {
    let mut versions = Vec::new();
    for prompt in server.prompts().filter(|prompt| prompt.metadata.name == name) {
        versions.extend(prompt.version.as_deref());
    }
    versions
}

/// Returns the prompt `name` in this version. Without a version, returns the prompt that was added last.
pub(super) fn select<'s>(server: &'s McpServer, name: &str, version: Option<&str>) -> Option<&'s Rc<Prompt>> {
    let fits = |prompt: &&Rc<Prompt>| {
        prompt.metadata.name == name && version.is_none_or(|version| prompt.version.as_deref() == Some(version))
    };
    server.prompts().rev().find(fits)
}

/// Returns the prompt that a request names. `name` may be `name@version`.
pub(super) fn find(server: &McpServer, name: &str, version: Option<&str>) -> Result<Rc<Prompt>, RpcError> {
    let (name, suffix) = name.split_once('@').map_or((name, None), |(name, suffix)| (name, Some(suffix)));
    if let (Some(version), Some(suffix)) = (version, suffix)
        && version != suffix
    {
        return Err(RpcError::invalid_params(
            "`params.version` and the version in `params.name` differ; send only one of them",
        ));
    }
    let version = version.or(suffix);
    if let Some(prompt) = select(server, name, version) {
        return Ok(prompt.clone());
    }
    if version.is_none()
        && let Some(prompt) = server.prompt_of_sources(name)
    {
        return Ok(prompt);
    }
    let (name, known) = (shortened(name), versions(server, name));
    match version {
        Some(version) if select(server, &name, None).is_some() => {
            let others = if known.is_empty() {
                "it has no versions".to_owned()
            } else {
                format!("it has the versions {}", known.join(", "))
            };
            let message = format!("The prompt `{name}` has no version `{}`; {others}.", shortened(version));
            Err(RpcError::invalid_params(message).with_data(object(vec![("versions", known.into())])))
        }
        _ => Err(RpcError::invalid_params(format!(
            "Unknown prompt `{name}`. Call prompts/list for the available prompts."
        ))),
    }
}
