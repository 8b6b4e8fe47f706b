//! The definitions of a server, and the items among them.

use std::any::Any;
use std::num::NonZeroUsize;
use std::rc::Rc;

use edge_uri_template::normalized;
use futures::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::build_error::BuildError;
use super::cache::{CacheHint, Cacheable};
use super::extension::ExtensionMethods;
use super::list::ListKind;
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::source::{Source, add_new};
use super::tool::{Tool, ToolOrigin};
use crate::call::context::{Context, Hook, PassTasks};
use crate::host::log;
use crate::protocol::description::Implementation;
use crate::protocol::log_level::LogLevel;
use crate::registry::about::RegistryData;
use crate::text::{Text, shortened};

/// The definitions of a server. They depend on the request only if the server function does. With sources, each list has its own copy.
#[derive(Clone, Default)]
pub(crate) struct Definitions {
    pub info: Implementation,
    pub about: Option<Box<RegistryData>>,
    pub instructions: Option<Text>,
    pub tools: Vec<Rc<Tool>>,
    pub resources: Vec<Rc<Resource>>,
    pub templates: Vec<Rc<ResourceTemplate>>,
    pub prompts: Vec<Rc<Prompt>>,
    pub page_size: Option<NonZeroUsize>,
    pub logging: Option<LogLevel>,
    pub extensions: Map<String, Value>,
    pub lists_all: bool,
    /// Whether clients without support for apps see the tools for apps only.
    pub lists_app_tools: bool,
    /// The kind and the name of the first app or skill with a problem, and the problem.
    pub item_problem: Option<(&'static str, Text, String)>,
    /// The hooks of all tools.
    pub hooks: Vec<Hook>,
    /// Warnings about the definitions, for the log.
    pub warnings: Vec<String>,
    /// The check of the resources. Only `McpServerBuilder::resource` sets it, so the wasm module of a server without resources does not
    /// contain the check. The same holds for the next two fields.
    pub(super) resource_check: Option<ItemCheck>,
    pub(super) template_check: Option<ItemCheck>,
    pub(super) prompt_check: Option<ItemCheck>,
    pub(super) cache: CacheHint,
    pub(super) caches: Vec<(Cacheable, CacheHint)>,
    pub sources: Option<Sources>,
    /// The first parts of `ui://` URIs that belong to mounted servers.
    pub reserved_authorities: Vec<Text>,
    pub extension_methods: ExtensionMethods,
    /// The skills and their methods. Their type belongs to the room of methods, and only that room reads it. Only `McpServerBuilder::skills`
    /// sets it, so the wasm module of a server without skills does not contain the methods.
    pub skill_methods: Option<Rc<dyn Any>>,
    /// Closes tools to the pages of other servers. Only a gateway that shows their apps sets it.
    pub close_to_pages: Option<CloseToPages>,
    /// Passes tasks of mounted servers on.
    pub passed_tasks: Option<Rc<dyn PassTasks>>,
    /// The `_meta` of a list, if parts of a source failed.
    pub found_meta: Option<Map<String, Value>>,
    /// The problems of the sources, if none of them answered.
    found_failure: Option<String>,
}

/// A function that tells clients that pages must not call these tools, except for those that say themselves who may call them.
pub(crate) type CloseToPages = fn(&mut [Rc<Tool>]);

type ItemCheck = fn(&Definitions) -> Result<(), BuildError>;

/// The sources of a server. Only `McpServerBuilder::source` creates this value, so the wasm module of a server without sources does not
/// contain the functions that it points to.
#[derive(Clone)]
pub(crate) struct Sources {
    /// All sources as one.
    pub all: Rc<dyn Source>,
    /// Returns the definitions with the items that the sources find for a list.
    pub add_found: AddItems,
}

type AddItems = fn(Rc<dyn Source>, Rc<Definitions>, ListKind, Context) -> LocalBoxFuture<'static, Rc<Definitions>>;

impl Definitions {
    pub(super) fn new(info: Implementation) -> Self {
        Self { info, ..Self::default() }
    }

    /// Returns the definitions with the items that the sources find for `list`, except for those whose names are in use.
    ///
    /// This is a copy, so the code that looks items up does not know sources, and costs nothing without them.
    pub(super) async fn with_found(self: Rc<Self>, sources: Rc<dyn Source>, list: ListKind, cx: Context) -> Rc<Self> {
        let mut found = sources.find(list, &cx).await;
        if let Some(close) = self.close_to_pages {
            close(&mut found.tools);
        }
        let mut definitions = Self::clone(&self);
        definitions.found_meta = found.meta();
        definitions.found_failure = found.failure();
        if let Some(time) = found.longest_cache() {
            definitions.cache = definitions.cache.at_most(time);
            definitions.caches.iter_mut().for_each(|(_, hint)| *hint = hint.at_most(time));
        }
        let in_use = [
            add_new(&mut definitions.tools, found.tools, |tool| tool.metadata.name.to_string()),
            add_new(&mut definitions.resources, found.resources, |resource| resource.description.uri.to_string()),
            add_new(&mut definitions.templates, found.templates, |found| found.description.uri_template.to_string()),
            add_new(&mut definitions.prompts, found.prompts, |prompt| prompt.metadata.name.to_string()),
        ];
        for name in in_use.iter().flatten() {
            let problem = format!("`{}` of a source is left out, because the name is in use", shortened(name));
            log::warning_once(cx.host(), "source", &problem);
        }
        Rc::new(definitions)
    }

    /// Returns the problems of the sources, if they failed and the list `kind` has no items.
    pub(crate) fn only_failures(&self, kind: ListKind) -> Option<String> {
        let is_empty = match kind {
            ListKind::Tools => self.tools.is_empty(),
            ListKind::Resources => {
                self.resources.is_empty() && self.templates.iter().all(|template| template.list.is_none())
            }
            ListKind::ResourceTemplates => self.templates.is_empty(),
            ListKind::Prompts => self.prompts.is_empty(),
        };
        self.found_failure.clone().filter(|_| is_empty)
    }

    /// Returns whether there are sources. Their items are not known before a request asks for them.
    pub(crate) fn has_sources(&self) -> bool {
        self.sources.is_some()
    }

    pub(super) fn source(&self) -> Option<&dyn Source> {
        self.sources.as_ref().map(|sources| &*sources.all)
    }

    /// Returns whether a tool may ask for approval.
    pub(crate) fn requires_approval(&self) -> bool {
        self.tools.iter().any(|tool| tool.approval.is_some())
    }

    /// Returns whether calls of a tool can be durable tasks.
    pub(crate) fn has_tasks(&self) -> bool {
        self.tools.iter().any(|tool| tool.durable_task().is_some())
    }

    /// Returns whether a tool can only answer with a durable task.
    pub(crate) fn requires_tasks(&self) -> bool {
        self.tools.iter().any(|tool| tool.durable_task().is_some_and(|task| task.is_required()))
    }

    /// Returns the tool `name`.
    pub(crate) fn tool(&self, name: &str) -> Option<&Rc<Tool>> {
        self.tools.iter().find(|tool| tool.metadata.name == name)
    }

    /// Returns the resource at `uri`, in any percent-encoded spelling.
    pub(crate) fn resource_at(&self, uri: &str) -> Option<&Rc<Resource>> {
        let normal = normalized(uri);
        self.resources.iter().find(|resource| normalized(&resource.description.uri) == normal)
    }

    pub(crate) fn cache_of(&self, result: Cacheable) -> CacheHint {
        let own = self.caches.iter().rev().find(|(known, _)| *known == result);
        own.map_or(self.cache, |(_, hint)| *hint)
    }

    /// Returns the lists that are the same for all callers and in all requests.
    pub(super) fn general_lists(&self) -> Vec<ListKind> {
        let mut lists = Vec::new();
        // A page depends on its cursor, so pages are not cached. Sources can change.
        if self.page_size.is_some() || self.has_sources() {
            return lists;
        }
        let mut add = |list, is_general: bool| lists.extend(is_general.then_some(list));
        let templates_are_general = self.templates.iter().all(|template| template.access.is_general());
        // The list function of a template may return other resources each time, so the list of resources is not cached.
        let are_fixed = templates_are_general && self.templates.iter().all(|template| template.list.is_none());
        add(ListKind::ResourceTemplates, templates_are_general);
        add(ListKind::Resources, are_fixed && self.resources.iter().all(|resource| resource.access.is_general()));
        let is_listed_for_all =
            |tool: &Rc<Tool>| tool.access.is_general() && (self.lists_app_tools || tool.app_clients.is_none());
        add(ListKind::Tools, self.tools.iter().all(is_listed_for_all));
        add(ListKind::Prompts, self.prompts.iter().all(|prompt| prompt.access.is_general()));
        lists
    }

    /// Removes each tool of an agent or a workflow that has the same name as an explicitly added tool.
    #[inline(never)]
    pub(super) fn prefer_explicit_tools(&mut self) {
        if self.tools.iter().all(|tool| tool.origin.is_none()) {
            return;
        }
        let mut explicit = Vec::new();
        for tool in self.tools.iter().filter(|tool| tool.origin.is_none()) {
            explicit.push(tool.metadata.name.clone());
        }
        let warnings = &mut self.warnings;
        self.tools.retain(|tool| {
            let Some(ToolOrigin { kind, key, .. }) = &tool.origin else { return true };
            let is_replaced = explicit.contains(&tool.metadata.name);
            if is_replaced {
                warnings.push(format!("the tool `{}` replaces the tool of the {kind} `{key}`", tool.metadata.name));
            }
            !is_replaced
        });
    }
}
