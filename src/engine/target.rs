//! The lookup of the method and the item that a message names. The checks of scopes and headers and the method use the result of one lookup.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use edge_json::object;

use super::call::MethodCall;
use super::message::Message;
use super::{params, prompt_versions};
use crate::call::context::unknown_tool;
use crate::call::failure;
use crate::call::trace::NewOperation;
use crate::host::target_attribute;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::protocol::revision::{Feature, Revision};
use crate::server::access::Access;
use crate::server::builder::McpServer;
use crate::server::check::name_problem;
use crate::server::extension::ExtensionMethod;
use crate::server::prompt::Prompt;
use crate::server::resource::{NOT_FOUND, Resource, ResourceTemplate};
use crate::server::tool::Tool;
use crate::text::{Text, shortened};

/// What a message names: its method, and the item of the server. It borrows nothing from the message.
pub(super) struct Target {
    /// The method, or `None` if the server does not offer it or the revision does not have it.
    pub method: Option<Method>,
    pub item: Result<Item, RpcError>,
}

/// The item of a server that a message names.
pub(super) enum Item {
    /// The method has no item.
    None,
    Tool(Rc<Tool>),
    Prompt(Rc<Prompt>),
    Resource(Rc<Resource>),
    /// A template, and the variables of the URI.
    Template(Rc<ResourceTemplate>, BTreeMap<String, String>),
    /// A template that matches the URI of an item that the caller must not see. The answer is the same as for a resource of this template
    /// that does not exist.
    Hidden(Rc<ResourceTemplate>),
    /// A method of an extension.
    Extension(Rc<ExtensionMethod>),
}

impl Target {
    /// Looks up the method and the item of a message.
    pub(super) fn of(Message { request, revision, .. }: &Message<'_>, server: &McpServer) -> Self {
        let method = request.known_method.filter(|method| method.is_in(*revision) && is_offered(*method, server));
        let item = match method {
            Some(Method::CallTool) => tool(request, server),
            Some(Method::GetPrompt) => prompt(request, server),
            Some(Method::ReadResource) => resource(request, server, *revision),
            Some(Method::Complete) => reference(request, server),
            #[cfg(feature = "tasks")]
            Some(Method::Listen) => Ok(listen(request, server, *revision)),
            Some(_) => Ok(Item::None),
            None => Ok(server.extension_method(&request.method, *revision).map_or(Item::None, Item::Extension)),
        };
        Self { method, item }
    }

    /// Returns the scopes that the message needs. If the item does not exist, returns an empty slice: the answer is an error anyway.
    ///
    /// Source: 2026-07-28, basic/authorization, "Runtime Insufficient Scope".
    pub(super) fn scopes(&self) -> &[Text] {
        self.item.as_ref().ok().and_then(Item::access).map_or(&[], |access| &access.scopes)
    }

    /// Returns the method of an extension that the message calls.
    pub(super) fn extension_method(&self) -> Option<&ExtensionMethod> {
        match &self.item {
            Ok(Item::Extension(method)) => Some(method),
            _ => None,
        }
    }

    /// Returns whether the method runs a handler, which can send notifications before the answer.
    pub(super) fn notifies(&self) -> bool {
        self.method.is_some_and(Method::notifies) || self.extension_method().is_some_and(|method| method.notifies)
    }

    /// Returns the tool that the message calls.
    pub(super) fn tool(&self) -> Option<&Rc<Tool>> {
        match &self.item {
            Ok(Item::Tool(tool)) => Some(tool),
            _ => None,
        }
    }
}

impl Item {
    fn access(&self) -> Option<&Access> {
        match self {
            Self::None => None,
            Self::Extension(method) => Some(&method.access),
            Self::Tool(tool) => Some(&tool.access),
            Self::Prompt(prompt) => Some(&prompt.access),
            Self::Resource(resource) => Some(&resource.access),
            Self::Template(template, _) | Self::Hidden(template) => Some(&template.access),
        }
    }
}

/// Returns the operation of a request, for telemetry. Its target is a name that an item can have: a source gets names from the caller, which
/// may send any text.
pub(super) fn operation(Target { method, item }: &Target, revision: Revision) -> NewOperation<'_> {
    let (name, extension) = match item {
        Ok(Item::Tool(tool)) => (Some(tool.name()), None),
        Ok(Item::Prompt(prompt)) => (Some(&*prompt.metadata.name), None),
        Ok(Item::Extension(method)) => (None, Some(&*method.name)),
        _ => (None, None),
    };
    let method = method.map(Method::name).or(extension).unwrap_or("_OTHER");
    let target = name.filter(|name| target_attribute(method).is_some() && name_problem(name).is_none());
    NewOperation { upstream: None, method, target, revision: revision.name() }
}

/// Returns the error for a target that does not fit the method. The lookup never returns such a target.
pub(super) fn wrong_target(call: &MethodCall) -> RpcError {
    failure::internal(call.cx.host(), call.method_name(), &"its target was resolved to another kind")
}

/// Returns whether the server offers the method. It offers only methods of the capabilities that it declares
/// (2026-07-28, server/discover, "Capabilities").
fn is_offered(method: Method, server: &McpServer) -> bool {
    match method {
        Method::Initialize | Method::Ping | Method::Discover | Method::Listen => true,
        Method::ListTools | Method::CallTool => server.offers_tools(),
        Method::ListResources | Method::ListResourceTemplates | Method::ReadResource => server.offers_resources(),
        Method::ListPrompts | Method::GetPrompt => server.offers_prompts(),
        Method::Complete => server.offers_completions(),
        Method::SetLogLevel => server.definitions.logging.is_some(),
        Method::ListSkills | Method::GetSkill | Method::ReadDirectory => server.definitions.skill_methods.is_some(),
    }
}

fn tool(request: &Request<'_>, server: &McpServer) -> Result<Item, RpcError> {
    let name = params::string(request, "name")?;
    let tool = server.tool(&name).ok_or_else(|| RpcError::invalid_params(unknown_tool(&name)))?;
    // A tool that calls another one is only its address: the scopes, the log and the call are those of the other tool.
    let called = tool.called.as_ref().and_then(|called| called(request.param("arguments")?));
    let called = called.filter(|called| server.shows(&called.access) && !server.has_own_tool(called.name()));
    Ok(Item::Tool(called.map_or(tool, Rc::new)))
}

fn prompt(request: &Request<'_>, server: &McpServer) -> Result<Item, RpcError> {
    let name = params::string(request, "name")?;
    let version = params::optional_string(request, "version")?;
    prompt_versions::find(server, &name, version.as_deref()).map(Item::Prompt)
}

fn resource(request: &Request<'_>, server: &McpServer, revision: Revision) -> Result<Item, RpcError> {
    let uri = params::string(request, "uri")?;
    let found = match find(server, &uri) {
        Lookup::Item(target) => Some(target),
        // A source must not answer for a hidden item either.
        Lookup::Hidden => None,
        Lookup::Nothing => server.resource_of_sources(&uri).map(Item::Resource),
    };
    found.ok_or_else(|| resource_not_found(revision, &uri))
}

/// Returns the target of `subscriptions/listen`: the method of the tasks extension, if the request names tasks and the server has them.
#[cfg(feature = "tasks")]
fn listen(request: &Request<'_>, server: &McpServer, revision: Revision) -> Item {
    let names_tasks = request.param("notifications").is_some_and(|filter| filter.get("taskIds").is_some());
    let method = names_tasks.then(|| server.extension_method(&request.method, revision)).flatten();
    method.map_or(Item::None, Item::Extension)
}

/// Returns the target of `completion/complete`: a prompt or a template.
fn reference(request: &Request<'_>, server: &McpServer) -> Result<Item, RpcError> {
    let reference = params::object(request, "ref")?;
    let member = |name: &str| params::member(reference, "ref", name);
    match member("type")?.as_ref() {
        "ref/prompt" => prompt_versions::find(server, &member("name")?, None).map(Item::Prompt),
        "ref/resource" => {
            let uri = member("uri")?;
            // A client sends the URI template from the list, or a URI that matches it.
            let named = server.templates().find(|template| template.description.uri_template == uri);
            if let Some(template) = named {
                return Ok(Item::Template(template.clone(), BTreeMap::new()));
            }
            let found = match find(server, &uri) {
                Lookup::Item(target) => Some(target),
                Lookup::Hidden => None,
                Lookup::Nothing => {
                    server.template_of_sources(&uri).map(|template| Item::Template(template, BTreeMap::new()))
                }
            };
            found.ok_or_else(|| unknown_template(&uri))
        }
        _ => Err(RpcError::invalid_params("`params.ref.type` must be \"ref/prompt\" or \"ref/resource\"")),
    }
}

pub(super) fn unknown_template(uri: &str) -> RpcError {
    let uri = shortened(uri);
    RpcError::invalid_params(format!(
        "Unknown resource template `{uri}`. Call resources/templates/list for the available templates."
    ))
}

/// Returns the error for an unknown resource: -32002 up to 2025-11-25, and -32602 since 2026-07-28. Both have the URI in their `data`.
pub(super) fn resource_not_found(revision: Revision, uri: &str) -> RpcError {
    let has_own_code = revision.has(Feature::ResourceNotFoundCode);
    let code = if has_own_code { ErrorCode::ResourceNotFound } else { ErrorCode::InvalidParams };
    RpcError::new(code, NOT_FOUND).with_data(object(vec![("uri", uri.into())]))
}

/// The result of the lookup of a URI.
enum Lookup {
    Item(Item),
    /// Only items that the caller must not see have this URI.
    Hidden,
    Nothing,
}

/// Finds the resource at `uri`, or else the first template that matches it. If the caller must not see that item, later templates do not
/// serve the URI instead of it.
///
/// A URI has several spellings, such as `kb://payroll` and `kb://%70ayroll`, and a template reads the same variables from each of them. So
/// the function expands the template with these variables, and repeats the lookup with the result. A resource or an earlier template that
/// matches the result takes precedence, so its scopes and its visibility apply.
fn find(server: &McpServer, uri: &str) -> Lookup {
    let mut uri = Cow::Borrowed(uri);
    let mut is_hidden = false;
    // The expansion of a template matches the same template or an earlier one, so the number of lookups is bounded.
    for _ in 0..=server.definitions.templates.len() {
        if let Some(resource) = server.definitions.resource_at(&uri) {
            if server.shows(&resource.access) {
                return Lookup::Item(Item::Resource(resource.clone()));
            }
            is_hidden = true;
        }
        let found = server.definitions.templates.iter().find_map(|template| {
            let parsed = template.parsed.as_ref().ok()?;
            let variables = template.variables_of(&uri)?;
            let is_shown = server.shows(&template.access);
            is_hidden |= !is_shown;
            is_shown.then_some((template, parsed, variables))
        });
        let Some((template, parsed, variables)) = found else { break };
        match parsed.expand(&variables) {
            Ok(written) if written != uri => uri = Cow::Owned(written),
            _ if is_hidden => return Lookup::Item(Item::Hidden(template.clone())),
            _ => return Lookup::Item(Item::Template(template.clone(), variables)),
        }
    }
    if is_hidden { Lookup::Hidden } else { Lookup::Nothing }
}
