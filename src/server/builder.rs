//! Servers and their builder.

use std::future::Future;
use std::num::NonZeroUsize;
use std::rc::Rc;

use futures::FutureExt;
use serde_json::Value;

use super::access::Access;
use super::build_error::BuildError;
use super::cache::{CacheHint, Cacheable};
use super::definitions::{Definitions, Sources};
use super::extension::{ExtensionMethod, identifier_problem};
use super::hook::hook;
use super::list::CachedLists;
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::source::{Source, after};
use super::tool::Tool;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::request_info::RequestInfo;
use crate::call::tool_event::ToolEvent;
use crate::protocol::description::{Icon, Implementation};
use crate::protocol::log_level::LogLevel;
use crate::protocol::revision::Revision;
use crate::protocol::task;
use crate::text::Text;

/// A server: the tools, resources and prompts that one request can use.
///
/// The server function builds it for every request, so its items may depend on the caller and on the environment.
///
/// ```
/// use edge_mcp::{McpServer, Tool};
///
/// let server = McpServer::builder("greeter", "1.0.0")
///     .instructions("Greet before you ask.")
///     .tool(Tool::new("greet", "Says hello.", || async { "Hello" }).read_only())
///     .build()?;
/// # Ok::<_, edge_mcp::BuildError>(())
/// ```
#[derive(Clone)]
pub struct McpServer {
    pub(crate) definitions: Rc<Definitions>,
    /// The request whose caller determines which items are visible. With `None`, all items are visible.
    caller: Option<RequestInfo>,
    /// The lists that are cached as JSON. `None` if the definitions are not shared between requests.
    pub(crate) cached_lists: Option<Rc<CachedLists>>,
    /// Whether the endpoint has durable tasks.
    has_task_service: bool,
}

impl McpServer {
    /// Creates a builder for a server with this name and version.
    pub fn builder(name: impl Into<Text>, version: impl Into<Text>) -> McpServerBuilder {
        McpServerBuilder { definitions: Box::new(Definitions::new(Implementation::new(name, version))) }
    }

    /// Hides the items that the caller of `request` must not see. A hidden item is not listed and cannot be used. It is
    /// indistinguishable from one that does not exist.
    pub(crate) fn for_caller(self, request: &RequestInfo) -> Self {
        Self { caller: Some(request.clone()), ..self }
    }

    /// Offers durable tasks, if the endpoint has them.
    pub(crate) fn with_task_service(self, has_task_service: bool) -> Self {
        Self { has_task_service, ..self }
    }

    /// Returns whether calls of the server's tools can become durable tasks, or tasks of mounted servers.
    pub(crate) fn offers_tasks(&self) -> bool {
        (self.has_task_service && self.definitions.has_tasks()) || self.passes_tasks()
    }

    /// Returns whether the server passes tasks of mounted servers on.
    fn passes_tasks(&self) -> bool {
        cfg!(feature = "tasks") && self.definitions.passed_tasks.is_some()
    }

    /// Caches lists as JSON for the requests that share this server.
    pub(crate) fn caching_lists(self) -> Self {
        let cached_lists = Some(Rc::new(CachedLists::new(self.definitions.general_lists())));
        Self { cached_lists, ..self }
    }

    pub(crate) fn shows(&self, access: &Access) -> bool {
        self.caller.as_ref().is_none_or(|caller| access.shows_to(caller))
    }

    /// Returns whether the caller can see a tool. The tools for jobs exist only together with durable tasks.
    fn has(&self, tool: &Tool) -> bool {
        self.shows(&tool.access) && (self.has_task_service || !tool.is_for_jobs)
    }

    /// Returns the tools, in the order of registration, without those of sources. Each tool serializes to its description, as registries
    /// list it.
    ///
    /// A server that no request uses has all tools, including those that only some callers can see.
    ///
    /// ```
    /// use edge_mcp::{McpServer, Tool};
    ///
    /// let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
    /// let server = McpServer::builder("greeter", "1.0.0").tool(greet).build()?;
    /// let greet = server.tools().find(|tool| tool.name() == "greet").expect("a tool");
    /// assert_eq!(serde_json::to_value(greet).expect("JSON")["description"], "Says hello.");
    /// # Ok::<_, edge_mcp::BuildError>(())
    /// ```
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.definitions.tools.iter().map(|tool| &**tool).filter(|tool| self.has(tool))
    }

    /// Returns whether the server itself has the tool `name`, which takes precedence over the tool of a source.
    pub(crate) fn has_own_tool(&self, name: &str) -> bool {
        self.definitions.tool(name).is_some()
    }

    /// Returns the tool `name`, if the caller can see it.
    pub(crate) fn tool(&self, name: &str) -> Option<Rc<Tool>> {
        let tool = self.definitions.tool(name).cloned();
        let tool = tool.or_else(|| self.definitions.source()?.tool(name).map(Rc::new));
        tool.filter(|tool| self.has(tool))
    }

    /// Returns the method `name` of an extension in `revision`, if the caller can see it.
    pub(crate) fn extension_method(&self, name: &str, revision: Revision) -> Option<Rc<ExtensionMethod>> {
        let mut methods = self.definitions.extension_methods.all.iter();
        let method = methods.find(|method| method.name == name && method.since <= revision)?;
        let exists = self.has_task_service || self.passes_tasks() || method.extension != task::EXTENSION;
        (exists && self.shows(&method.access)).then(|| method.clone())
    }

    /// Returns the resources that the caller can see.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Rc<Resource>> {
        self.definitions.resources.iter().filter(|resource| self.shows(&resource.access))
    }

    /// Returns the resource templates that the caller can see.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Rc<ResourceTemplate>> {
        self.definitions.templates.iter().filter(|template| self.shows(&template.access))
    }

    /// Returns the prompts that the caller can see.
    pub(crate) fn prompts(&self) -> impl DoubleEndedIterator<Item = &Rc<Prompt>> {
        self.definitions.prompts.iter().filter(|prompt| self.shows(&prompt.access))
    }

    /// Returns the resource of a source at `uri`, if the caller can see it. The server itself has no resource or template for `uri`.
    pub(crate) fn resource_of_sources(&self, uri: &str) -> Option<Rc<Resource>> {
        let resource = self.definitions.source()?.resource(uri)?;
        self.shows(&resource.access).then(|| Rc::new(resource))
    }

    /// Returns the resource template of a source, if the caller can see it. A source does not serve a template of the server that the
    /// caller cannot see.
    pub(crate) fn template_of_sources(&self, uri_template: &str) -> Option<Rc<ResourceTemplate>> {
        let source = self.definitions.source()?;
        if self.definitions.templates.iter().any(|own| own.description.uri_template == uri_template) {
            return None;
        }
        source.resource_template(uri_template).filter(|template| self.shows(&template.access)).map(Rc::new)
    }

    /// Returns the prompt of a source, if the caller can see it. A source does not serve a prompt of the server that the caller cannot see.
    pub(crate) fn prompt_of_sources(&self, name: &str) -> Option<Rc<Prompt>> {
        let source = self.definitions.source()?;
        if self.definitions.prompts.iter().any(|own| own.metadata.name == name) {
            return None;
        }
        source.prompt(name).filter(|prompt| self.shows(&prompt.access)).map(Rc::new)
    }

    pub(crate) fn offers_tools(&self) -> bool {
        self.definitions.has_sources() || self.tools().next().is_some()
    }

    pub(crate) fn offers_resources(&self) -> bool {
        self.definitions.has_sources() || self.resources().next().is_some() || self.templates().next().is_some()
    }

    pub(crate) fn offers_prompts(&self) -> bool {
        self.definitions.has_sources() || self.prompts().next().is_some()
    }

    pub(crate) fn offers_completions(&self) -> bool {
        let of_prompts = self.prompts().any(|prompt| !prompt.completions.is_empty());
        self.definitions.has_sources()
            || of_prompts
            || self.templates().any(|template| !template.completions.is_empty())
    }
}

/// Builds an [`McpServer`]. Lists show items in the order in which they were added.
#[must_use]
pub struct McpServerBuilder {
    /// Boxed, because each method moves the builder.
    pub(crate) definitions: Box<Definitions>,
}

impl McpServerBuilder {
    /// Sets the server's name for display.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.definitions.info.title = Some(title.into());
        self
    }

    /// Sets the description of the server.
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.definitions.info.description = Some(description.into());
        self
    }

    /// Adds an icon of the server.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definitions.info.icons.push(icon);
        self
    }

    /// Sets the URL of a page about the server.
    pub fn website_url(mut self, url: impl Into<Text>) -> Self {
        self.definitions.info.website_url = Some(url.into());
        self
    }

    /// Sets the instructions for the model on how to use the server.
    pub fn instructions(mut self, instructions: impl Into<Text>) -> Self {
        self.definitions.instructions = Some(instructions.into());
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.definitions.tools.push(Rc::new(tool));
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, resource: Resource) -> Self {
        self.definitions.resources.push(Rc::new(resource));
        self.definitions.resource_check = Some(Definitions::check_resources);
        self
    }

    /// Adds a resource template. A resource with a fixed URI takes precedence over a template, and an earlier template
    /// over a later one. URIs that differ only in percent-encoding are equal.
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.definitions.templates.push(Rc::new(template));
        self.definitions.template_check = Some(Definitions::check_templates);
        self
    }

    /// Adds a prompt, or a further version of a prompt.
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.definitions.prompts.push(Rc::new(prompt));
        self.definitions.prompt_check = Some(Definitions::check_prompts);
        self
    }

    /// Adds a source of tools, resources and prompts that are not known yet, such as the tools of another MCP server.
    pub fn source(mut self, source: impl Source + 'static) -> Self {
        let others = self.definitions.sources.take().map(|sources| sources.all);
        self.definitions.sources = Some(Sources {
            all: after(others, source),
            add_found: |sources, definitions, list, cx| definitions.with_found(sources, list, cx).boxed_local(),
        });
        self
    }

    /// Sets the page size of lists. By default a list is one page, because some older clients read only the first page.
    pub fn page_size(mut self, items: NonZeroUsize) -> Self {
        self.definitions.page_size = Some(items);
        self
    }

    /// Shows items in lists even if the caller lacks their [scopes](crate::Tool::scopes). A client can then request the
    /// scopes when it first uses an item. A template's own [list function](ResourceTemplate::list) still
    /// runs only for callers with the template's scopes.
    pub fn list_all(mut self) -> Self {
        self.definitions.lists_all = true;
        self
    }

    /// Declares that the server sends log messages ([`Context::log`](crate::Context::log)). Each request of a client
    /// of 2026-07-28 contains the lowest level that the client wants. Other clients get messages of `level` and above.
    ///
    /// Revision 2026-07-28 of the protocol deprecates log messages to the client. A revision from 2027-07-28 on can remove them.
    pub fn logging(mut self, level: LogLevel) -> Self {
        self.definitions.logging = Some(level);
        self
    }

    /// Declares an extension of the protocol, such as `example.com/search`. `settings` is an object. The server's own
    /// tools, resources and prompts implement the extension. [`serve`](Self::serve) adds one with methods of its own.
    pub fn extension(mut self, name: impl Into<String>, settings: Value) -> Self {
        let name = name.into();
        if let Some(problem) = identifier_problem(&name, &settings) {
            let problem = || ("extension", name.clone().into(), problem.to_owned());
            self.definitions.item_problem.get_or_insert_with(problem);
        }
        self.definitions.extensions.insert(name, settings);
        self
    }

    /// Adds a hook to all tools, including the tools of agents and workflows. The hook is an async function of the name of the tool, an
    /// event of a call, and the call's context. It runs before the tool's own [hooks](Tool::hook), and the rules
    /// of those hooks for arguments and questions apply.
    ///
    /// ```
    /// use std::borrow::Cow;
    ///
    /// use edge_mcp::call::ToolEvent;
    /// use edge_mcp::{Context, McpServer, Tool};
    ///
    /// let server = McpServer::builder("greeter", "1.0.0")
    ///     .tool(Tool::new("greet", "Says hello.", || async { "Hello" }))
    ///     .hook(|tool: Cow<'static, str>, event, cx: Context| async move {
    ///         if let ToolEvent::Error(message) = event {
    ///             println!("{tool} failed for {:?}: {message}", cx.caller().ok().map(|caller| caller.subject.clone()));
    ///         }
    ///         Ok(())
    ///     });
    /// ```
    pub fn hook<F>(mut self, observe: impl Fn(Text, ToolEvent, Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), HandlerError>> + 'static,
    {
        self.definitions.hooks.push(hook(move |tool, event, cx| observe(tool.clone(), event, cx)));
        self
    }

    /// Sets the default cache hint of all results. Without it, results are not cached.
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.definitions.cache = hint;
        self
    }

    /// Sets the cache hint of one kind of result.
    pub fn cache_of(mut self, result: Cacheable, hint: CacheHint) -> Self {
        self.definitions.caches.push((result, hint));
        self
    }

    /// Adds a warning about the configuration of the server, such as an item that was left out and how to enable it. It
    /// is logged once per isolate.
    pub fn warn(mut self, problem: impl Into<String>) -> Self {
        self.definitions.warnings.push(problem.into());
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    /// [`BuildError`] names the first item with an invalid definition.
    pub fn build(mut self) -> Result<McpServer, BuildError> {
        let definitions = &mut self.definitions;
        if let Some(task) = definitions.tools.iter().find_map(|tool| tool.durable_task()) {
            task.install(&mut definitions.extension_methods);
        }
        if let Some(job_tools) = definitions.tools.iter().find_map(|tool| tool.job_tools) {
            definitions.tools.extend(job_tools().map(Rc::new));
        }
        self.definitions.prefer_explicit_tools();
        if let Some(close) = self.definitions.close_to_pages {
            close(&mut self.definitions.tools);
        }
        self.definitions.check_all()?;
        Ok(McpServer {
            definitions: Rc::from(self.definitions),
            caller: None,
            cached_lists: None,
            has_task_service: false,
        })
    }
}
