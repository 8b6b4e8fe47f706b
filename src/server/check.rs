//! The checks that run when a server is built.

use std::rc::Rc;

use edge_uri_template::{has_scheme, normalized};
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::access::Access;
use super::build_error::BuildError;
use super::cache::{CacheHint, Cacheable};
use super::checked_tools;
use super::completion::Completions;
use super::definitions::Definitions;
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::tool::{Tool, ToolOrigin};
use crate::auth::scopes;
use crate::protocol::description::{Icon, Metadata, is_blank};
use crate::protocol::ui;

const TWICE: &str = "is added twice";

impl Definitions {
    #[inline(never)]
    pub(super) fn check_all(&self) -> Result<(), BuildError> {
        let info = &self.info;
        for (field, value) in [("name", &info.name), ("version", &info.version)] {
            check_item("server", &info.name, is_blank(value).then(|| format!("has an empty {field}")))?;
        }
        check_item("server", &info.name, unless(info.version.len() <= 255, "has a version of more than 255 bytes"))?;
        check_item("server", &info.name, icon_problem(&info.icons))?;
        if let Some(about) = &self.about {
            check_item("server", &info.name, about.problem.clone())?;
        }
        if let Some((kind, name, problem)) = &self.item_problem {
            check_item(kind, name, Some(problem.clone()))?;
        }
        if !checked_tools::are_checked(&self.tools) {
            self.check_tools()?;
            checked_tools::remember(&self.tools);
        }
        for check in [self.resource_check, self.template_check, self.prompt_check].into_iter().flatten() {
            check(self)?;
        }
        self.check_caching()
    }

    pub(super) fn check_resources(&self) -> Result<(), BuildError> {
        let mut seen = FxHashSet::with_capacity_and_hasher(self.resources.len(), FxBuildHasher);
        let uris: Vec<_> = self.resources.iter().map(|resource| normalized(&resource.description.uri)).collect();
        for (resource, uri) in self.resources.iter().zip(&uris) {
            let problem = resource_problem(resource)
                .or_else(|| unless(seen.insert(&**uri), TWICE))
                .or_else(|| unless(!self.belongs_to_mount(uri), "has the URI of an app of a mounted server"));
            check_item("resource", &resource.description.uri, problem)?;
        }
        Ok(())
    }

    /// Returns whether a URI would be that of an app of a mounted server.
    fn belongs_to_mount(&self, uri: &str) -> bool {
        let mut mounts = self.reserved_authorities.iter();
        let rest = uri.strip_prefix(ui::SCHEME);
        rest.is_some_and(|rest| {
            mounts.any(|mount| rest.strip_prefix(&**mount).is_some_and(|rest| rest.starts_with('/')))
        })
    }

    pub(super) fn check_templates(&self) -> Result<(), BuildError> {
        let mut seen = FxHashSet::with_capacity_and_hasher(self.templates.len(), FxBuildHasher);
        for template in &self.templates {
            let name = &*template.description.uri_template;
            let problem = template_problem(template).or_else(|| unless(seen.insert(name), TWICE));
            check_item("resource template", name, problem)?;
        }
        Ok(())
    }

    pub(super) fn check_prompts(&self) -> Result<(), BuildError> {
        let mut seen = FxHashSet::with_capacity_and_hasher(self.prompts.len(), FxBuildHasher);
        for (nth, prompt) in self.prompts.iter().enumerate() {
            let name = &*prompt.metadata.name;
            let earlier = if seen.insert(name) { None } else { self.prompts.get(..nth) };
            let problem = prompt_problem(prompt).or_else(|| version_problem(prompt, earlier.unwrap_or_default()));
            check_item("prompt", name, problem)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn check_tools(&self) -> Result<(), BuildError> {
        let mut seen = FxHashSet::with_capacity_and_hasher(self.tools.len(), FxBuildHasher);
        for tool in &self.tools {
            let name = &*tool.metadata.name;
            if let Some(ToolOrigin { kind, key, problem, .. }) = &tool.origin {
                check_item(kind, key, problem(&|name| self.tool(name).is_some_and(|tool| !tool.is_for_app_only())))?;
            }
            let of_app = || {
                tool.app.as_ref().and_then(|app| {
                    (app.problem)(&app.uri, tool, self.resource_at(&app.uri).map(|resource| &**resource))
                })
            };
            let problem = tool_problem(tool).or_else(|| unless(seen.insert(name), TWICE)).or_else(of_app);
            check_item("tool", name, problem)?;
        }
        Ok(())
    }

    /// Checks that the results that differ between callers do not have a public cache hint (2026-07-28,
    /// server/utilities/caching, "Cache Scope").
    #[inline(never)]
    fn check_caching(&self) -> Result<(), BuildError> {
        let is_listed_for_all =
            |access: &Access| access.shown.is_none() && (self.lists_all || access.scopes.is_empty());
        let tools_differ = !self.tools.iter().all(|tool| is_listed_for_all(&tool.access));
        let prompts_differ = !self.prompts.iter().all(|prompt| is_listed_for_all(&prompt.access));
        let resources_differ = !self.resources.iter().all(|resource| is_listed_for_all(&resource.access));
        let templates_differ = !self.templates.iter().all(|template| is_listed_for_all(&template.access));
        let readable = self.resources.iter().map(|resource| &resource.access);
        let readable = readable.chain(self.templates.iter().map(|template| &template.access));
        let contents_differ = !readable.into_iter().all(Access::is_general);
        for (result, name, differs) in [
            (
                Cacheable::Discover,
                "server/discover",
                tools_differ || prompts_differ || resources_differ || templates_differ,
            ),
            (Cacheable::Tools, "tools/list", tools_differ),
            (Cacheable::Prompts, "prompts/list", prompts_differ),
            (Cacheable::Resources, "resources/list", resources_differ || templates_differ),
            (Cacheable::ResourceTemplates, "resources/templates/list", templates_differ),
            (Cacheable::ReadResource, "resources/read", contents_differ),
        ] {
            let problem = || format!("has a public cache hint for {name}, but its result differs between callers");
            check_item("server", &self.info.name, (differs && self.cache_of(result).is_public()).then(problem))?;
        }
        Ok(())
    }
}

/// Checks an item: a problem with it becomes an error about the item. `problem` is the predicate of the error's sentence.
fn check_item(kind: &'static str, name: &str, problem: Option<String>) -> Result<(), BuildError> {
    problem.map_or(Ok(()), |problem| Err(BuildError::new(kind, name, problem)))
}

/// Returns `problem`, unless the condition `holds`.
fn unless(holds: bool, problem: &str) -> Option<String> {
    (!holds).then(|| problem.to_owned())
}

#[inline(never)]
fn tool_problem(tool: &Tool) -> Option<String> {
    if let Some(problem) = name_problem(&tool.metadata.name).or_else(|| tool.problem.clone()) {
        return Some(problem);
    }
    if tool.metadata.description.as_deref().is_none_or(is_blank) {
        return Some("has an empty description; a model needs it to choose a tool".into());
    }
    if let Some(problem) = icon_problem(&tool.metadata.icons).or_else(|| scope_problem(&tool.access)) {
        return Some(problem);
    }
    let input = tool.input_schema().err().map(|error| ("input", error));
    let output = || tool.output_schema().err().map(|error| ("output", error));
    let (side, error) = input.or_else(output)?;
    Some(format!("has an {side} schema that cannot be enforced: {error}"))
}

#[inline(never)]
fn resource_problem(Resource { description, access, cache, .. }: &Resource) -> Option<String> {
    unless(has_scheme(&description.uri), "has no scheme such as `kb://`")
        .or_else(|| metadata_problem(&description.metadata))
        .or_else(|| scope_problem(access))
        .or_else(|| caching_problem(access, *cache))
}

#[inline(never)]
fn template_problem(template: &ResourceTemplate) -> Option<String> {
    let parsed = match &template.parsed {
        Ok(parsed) => parsed,
        Err(error) => return Some(format!("is not a template that can be matched: {error}")),
    };
    metadata_problem(&template.description.metadata)
        .or_else(|| scope_problem(&template.access))
        .or_else(|| caching_problem(&template.access, template.cache))
        .or_else(|| completion_problem(&template.completions, |name| parsed.variables().any(|known| known == name)))
}

/// Compares `prompt` with its versions among the `earlier` prompts, and returns the problem, if there is one. All versions must require
/// the same scopes, because they are listed as one prompt.
#[inline(never)]
fn version_problem(prompt: &Prompt, earlier: &[Rc<Prompt>]) -> Option<String> {
    let mut versions = earlier.iter().filter(|other| other.metadata.name == prompt.metadata.name);
    let is_new = versions.clone().all(|other| other.version != prompt.version);
    let agrees = versions.all(|other| other.access.scopes == prompt.access.scopes);
    unless(is_new, "is added twice; give each its own version")
        .or_else(|| unless(agrees, "must need the same scopes as its other versions"))
}

#[inline(never)]
fn prompt_problem(prompt: &Prompt) -> Option<String> {
    let version = prompt.version.as_deref();
    let problem = name_problem(&prompt.metadata.name)
        .or_else(|| metadata_problem(&prompt.metadata))
        .or_else(|| scope_problem(&prompt.access))
        .or_else(|| version.and_then(name_problem).map(|problem| format!("has a version that {problem}")))
        .or_else(|| prompt.declares_twice().map(|name| format!("declares the argument `{name}` twice")))
        .or_else(|| {
            prompt
                .non_scalar_argument()
                .map(|name| format!("has the argument `{name}`, whose type cannot be read from a string"))
        });
    if problem.is_some() {
        return problem;
    }
    match prompt.arguments() {
        Err(error) => Some(format!("has arguments that cannot be checked: {error}")),
        Ok(arguments) => {
            completion_problem(&prompt.completions, |name| arguments.iter().any(|argument| argument.name == name))
        }
    }
}

/// Returns the problem with the name of a tool or a prompt, or with the version of a prompt. Names of prompts follow the
/// rule for tools, because `@` separates name and version in `name@version`.
///
/// Source: 2025-11-25, server/tools, "Tool Names", with the shorter length that clients enforce.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    unless(
        name.bytes().all(is_name_byte) && (1..=64).contains(&name.len()),
        "must be named with 1 to 64 characters of A-Z a-z 0-9 _ . -",
    )
}

/// Returns whether the name of a tool or a prompt can have this character.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
}

fn metadata_problem(metadata: &Metadata) -> Option<String> {
    let blank = metadata.description.as_deref().is_some_and(is_blank);
    unless(!is_blank(&metadata.name), "has an empty name")
        .or_else(|| unless(!blank, "has an empty description"))
        .or_else(|| icon_problem(&metadata.icons))
}

fn icon_problem(icons: &[Icon]) -> Option<String> {
    unless(icons.iter().all(Icon::is_well_formed), "has an icon that is not at an `https:` or `data:` URL")
}

fn scope_problem(access: &Access) -> Option<String> {
    access.scopes.iter().find_map(|scope| scopes::problem(scope)).map(str::to_owned)
}

fn caching_problem(access: &Access, cache: Option<CacheHint>) -> Option<String> {
    let public = cache.is_some_and(CacheHint::is_public);
    unless(access.is_general() || !public, "has a public cache hint, but is not available to all callers")
}

fn completion_problem(completions: &Completions, exists: impl Fn(&str) -> bool) -> Option<String> {
    let name = completions.first_invalid(&exists)?;
    let why = if exists(name) { "twice" } else { "but has no argument or variable of that name" };
    Some(format!("completes `{name}` {why}"))
}
