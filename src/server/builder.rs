//! A server, and what is refused when it is built.

use std::num::NonZeroUsize;

use serde_json::{Map, Value};

use super::build_error::BuildError;
use super::cache::{CacheHint, Cacheable};
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::tool::{Origin, Tool};
use crate::call::request_info::RequestInfo;
use crate::protocol::description::{Icon, Implementation, Text};
use crate::protocol::log_level::LogLevel;
use crate::registry::about::About;

/// A server: what one request is answered from.
///
/// It is built anew for every request, so that what it offers may depend on the caller and on the environment.
///
/// ```
/// use edge_mcp::{McpServer, Tool};
///
/// let server = McpServer::builder("greeter", "1.0.0")
///     .instructions("Greet before you ask.")
///     .tool(Tool::new("greet", || async { "Hello" }).description("Says hello.").read_only())
///     .build()?;
/// # Ok::<_, edge_mcp::BuildError>(())
/// ```
pub struct McpServer {
    pub(crate) info: Implementation,
    pub(super) about: Option<Box<About>>,
    pub(crate) instructions: Option<Text>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    /// Those that this caller may not see. No template reads them in their place.
    pub(crate) hidden_resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) page_size: Option<NonZeroUsize>,
    pub(crate) logging: Option<LogLevel>,
    pub(crate) extensions: Map<String, Value>,
    pub(crate) lists_all: bool,
    /// What the log is to be told of how it was put together.
    pub(crate) warnings: Vec<String>,
    cache: CacheHint,
    caches: Vec<(Cacheable, CacheHint)>,
}

impl McpServer {
    /// Begins a server of that name and version.
    pub fn builder(name: impl Into<Text>, version: impl Into<Text>) -> McpServerBuilder {
        McpServerBuilder {
            server: Box::new(Self {
                info: Implementation::new(name, version),
                about: None,
                instructions: None,
                tools: Vec::new(),
                resources: Vec::new(),
                hidden_resources: Vec::new(),
                templates: Vec::new(),
                prompts: Vec::new(),
                page_size: None,
                logging: None,
                extensions: Map::new(),
                lists_all: false,
                warnings: Vec::new(),
                cache: CacheHint::NONE,
                caches: Vec::new(),
            }),
        }
    }

    /// The tool of that name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.face.name == name)
    }

    pub(crate) fn offers_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub(crate) fn offers_resources(&self) -> bool {
        !self.resources.is_empty() || !self.templates.is_empty()
    }

    pub(crate) fn offers_prompts(&self) -> bool {
        !self.prompts.is_empty()
    }

    pub(crate) fn offers_completions(&self) -> bool {
        let of_prompts = self.prompts.iter().any(|prompt| !prompt.completions.is_empty());
        of_prompts || self.templates.iter().any(|template| !template.completions.is_empty())
    }

    /// The hint for a result.
    pub(crate) fn cache_of(&self, result: Cacheable) -> CacheHint {
        let own = self.caches.iter().rev().find(|(known, _)| *known == result);
        own.map_or(self.cache, |(_, hint)| *hint)
    }

    /// Where a tool has the name of one that was made from something else, that one goes.
    fn prefer_explicit_tools(&mut self) {
        let is_derived = |tool: &Tool| tool.origin != Origin::Tool;
        if !self.tools.iter().any(is_derived) {
            return;
        }
        let explicit: Vec<_> =
            self.tools.iter().filter(|tool| !is_derived(tool)).map(|tool| tool.face.name.clone()).collect();
        let warnings = &mut self.warnings;
        self.tools.retain(|tool| {
            let is_replaced = is_derived(tool) && explicit.contains(&tool.face.name);
            if is_replaced {
                warnings.push(format!(
                    "the tool `{}` takes the place of the one that {} would be",
                    tool.face.name, tool.origin
                ));
            }
            !is_replaced
        });
    }

    /// The server without the items that this caller may not see. A hidden item is not listed and cannot be used, and is
    /// indistinguishable from one that does not exist.
    pub(crate) fn for_caller(mut self, request: &RequestInfo) -> Self {
        self.tools.retain(|tool| tool.access.shows_to(request));
        self.hidden_resources = self.resources.extract_if(.., |resource| !resource.access.shows_to(request)).collect();
        self.templates.retain(|template| template.access.shows_to(request));
        self.prompts.retain(|prompt| prompt.access.shows_to(request));
        self
    }
}

/// A server that is being put together. Lists show things in the order in which they were added.
#[must_use]
pub struct McpServerBuilder {
    /// In a box, since a builder is moved each time something is added.
    pub(super) server: Box<McpServer>,
}

impl McpServerBuilder {
    /// The server's name for people.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.server.info.title = Some(title.into());
        self
    }

    /// What the server is for.
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.server.info.description = Some(description.into());
        self
    }

    /// A picture of the server.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.server.info.icons.push(icon);
        self
    }

    /// Where to read about the server.
    pub fn website_url(mut self, url: impl Into<Text>) -> Self {
        self.server.info.website_url = Some(url.into());
        self
    }

    /// How to use the server, for the model.
    pub fn instructions(mut self, instructions: impl Into<Text>) -> Self {
        self.server.instructions = Some(instructions.into());
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.server.tools.push(tool);
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, resource: Resource) -> Self {
        self.server.resources.push(resource);
        self
    }

    /// Adds resources that a template stands for. A resource at a URI of its own wins over a template, an earlier
    /// template over a later one, however the URI is percent-encoded.
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.server.templates.push(template);
        self
    }

    /// Adds a prompt, or a version of one.
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.server.prompts.push(prompt);
        self
    }

    /// Gives lists in pages of this many. Without it a list is one page, which is all that some older clients read.
    pub fn page_size(mut self, items: NonZeroUsize) -> Self {
        self.server.page_size = Some(items);
        self
    }

    /// Lists also what a caller lacks the [scopes](crate::Tool::scopes) for, so that clients can ask for them when it is
    /// first used. A template's own [list function](ResourceTemplate::list) still runs only for callers with the template's scopes.
    pub fn list_all(mut self) -> Self {
        self.server.lists_all = true;
        self
    }

    /// Declares log messages to the client ([`Context::log`](crate::Context::log)). A client of 2026-07-28 says in each
    /// request from which level on it wants them; others get those from `level` on.
    pub fn logging(mut self, level: LogLevel) -> Self {
        self.server.logging = Some(level);
        self
    }

    /// Declares an extension of the protocol that this server speaks, such as `example.com/search`, with its settings: an
    /// object. What it does is for the server's own tools, resources and prompts.
    pub fn extension(mut self, name: impl Into<String>, settings: Value) -> Self {
        self.server.extensions.insert(name.into(), settings);
        self
    }

    /// For how long clients may keep what they are told, unless something else is said of it. Nothing, without it.
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.server.cache = hint;
        self
    }

    /// For how long clients may keep one kind of result.
    pub fn cache_of(mut self, result: Cacheable, hint: CacheHint) -> Self {
        self.server.caches.push((result, hint));
        self
    }

    /// Tells the log something of how the server was put together, once for as long as the isolate lives: what was left out, say, and
    /// how to have it.
    pub fn warn(mut self, problem: impl Into<String>) -> Self {
        self.server.warnings.push(problem.into());
        self
    }

    /// The server.
    ///
    /// # Errors
    /// [`BuildError`], which names the first item that could not be served as it is defined.
    pub fn build(mut self) -> Result<McpServer, BuildError> {
        self.server.prefer_explicit_tools();
        self.server.check_definitions()?;
        Ok(*self.server)
    }
}
