//! The rules about the server as a whole.

use super::tools::{ListedTool, SizeLimits, list_bytes, tokens};
use crate::registry::adapted;
use crate::server::access::Access;
use crate::server::definitions::Definitions;

pub(super) struct CheckedServer<'s> {
    pub definitions: &'s Definitions,
    pub tools: &'s [ListedTool<'s>],
    pub limits: SizeLimits,
    /// `None` if the check does not know the endpoint.
    pub entry: Option<CallerAccess>,
}

/// Which callers an endpoint serves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallerAccess {
    /// The program has not set the authentication, or there is an error in the configuration.
    Closed,
    /// Callers on the same machine need no token.
    SameMachine,
    /// Callers need no token.
    Public,
    /// Callers need a token. `is_missing_scopes` says that the metadata names authorization servers, but no scopes.
    Token { is_missing_scopes: bool },
}

pub(super) fn size(whole: &CheckedServer<'_>) -> Vec<String> {
    let (tokens, most) = (tokens(list_bytes(whole.tools.iter().map(|tool| tool.bytes))), whole.limits.tokens);
    let problem = || format!("has tools of about {tokens} tokens: shorten or merge them to {most} tokens");
    Vec::from_iter((tokens > most).then(problem))
}

pub(super) fn server_json(whole: &CheckedServer<'_>) -> Vec<String> {
    adapted(&whole.definitions.info)
}

pub(super) fn access(whole: &CheckedServer<'_>) -> Vec<String> {
    let problem = match whole.entry {
        Some(CallerAccess::Closed) => {
            "has no authentication, or a wrong configuration, so every request gets a 503: call `Endpoint::auth` or `open_to_the_public`, or correct the variable in the log"
        }
        Some(CallerAccess::SameMachine) => {
            "serves only callers on the same machine: call `Endpoint::auth` or `open_to_the_public`"
        }
        _ => return Vec::new(),
    };
    vec![problem.to_owned()]
}

pub(super) fn scopes(whole: &CheckedServer<'_>) -> Vec<String> {
    let definitions = whole.definitions;
    let tools = definitions.tools.iter().map(|item| ("tool", &item.metadata.name, &item.access));
    let resources = definitions.resources.iter().map(|item| ("resource", &item.description.uri, &item.access));
    let templates = definitions.templates.iter();
    let templates = templates.map(|item| ("resource template", &item.description.uri_template, &item.access));
    let prompts = definitions.prompts.iter().map(|item| ("prompt", &item.metadata.name, &item.access));
    let needs_scope = |(_, _, access): &(_, _, &Access)| !access.scopes.is_empty();
    let Some((kind, name, _)) = tools.chain(resources).chain(templates).chain(prompts).find(needs_scope) else {
        return Vec::new();
    };
    let problem = match whole.entry {
        Some(CallerAccess::SameMachine | CallerAccess::Public) => {
            "does not check it, because callers need no token: call `Endpoint::auth`, or remove the scopes"
        }
        Some(CallerAccess::Token { is_missing_scopes: true }) => {
            "names no scopes in its metadata: call `ProtectedResource::scopes`, or set `MCP_SCOPES`"
        }
        _ => return Vec::new(),
    };
    vec![format!("has the {kind} `{name}`, which needs a scope, but {problem}")]
}
