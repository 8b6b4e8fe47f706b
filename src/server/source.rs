//! Sources: tools, resources and prompts that are not known when the server is built.

use std::collections::BTreeSet;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::cache::Cacheable;
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::tool::Tool;
use crate::call::context::Context;
use crate::parallel::parallel;

/// The member of a list's `_meta` that names the parts of sources that failed, such as servers.
const MISSING: &str = "edge-mcp/missing";

/// A provider of tools, resources and prompts that are not known when the server is built, such as those of another MCP server.
///
/// The items of the server take precedence. Scopes, deadlines, hooks, pagination and limits apply to the items of a source as to any other.
pub trait Source {
    /// Returns the tool `name`, or `None` if no tool of this source can have this name. It sends nothing.
    ///
    /// A server calls only tools that this method returns, and an agent calls the tools that [`find`](Self::find) returned.
    fn tool(&self, name: &str) -> Option<Tool> {
        let _ = name;
        None
    }

    /// Returns the resource at `uri`, or `None` if no resource of this source can have this URI. It sends nothing.
    fn resource(&self, uri: &str) -> Option<Resource> {
        let _ = uri;
        None
    }

    /// Returns the prompt `name`, or `None` if no prompt of this source can have this name. It sends nothing.
    fn prompt(&self, name: &str) -> Option<Prompt> {
        let _ = name;
        None
    }

    /// Finds the items of one list for the caller of `cx`: the tools, resources, resource templates or prompts.
    fn find(&self, list: Cacheable, cx: &Context) -> LocalBoxFuture<'static, Found>;
}

/// The items that sources found for one list.
#[derive(Default)]
pub struct Found {
    pub(crate) tools: Vec<Rc<Tool>>,
    pub(crate) resources: Vec<Rc<Resource>>,
    pub(crate) templates: Vec<Rc<ResourceTemplate>>,
    pub(crate) prompts: Vec<Rc<Prompt>>,
    missing: Map<String, Value>,
}

impl Found {
    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(Rc::new(tool));
        self
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(Rc::new(resource));
        self
    }

    /// Adds a resource template.
    #[must_use]
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.templates.push(Rc::new(template));
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompts.push(Rc::new(prompt));
        self
    }

    /// Adds a part of the source that failed, such as a server, and the problem as a sentence. The `_meta` of the list contains both.
    #[must_use]
    pub fn missing(mut self, name: impl Into<String>, problem: impl Into<String>) -> Self {
        self.missing.insert(name.into(), Value::String(problem.into()));
        self
    }

    /// Adds the items of another source. An item whose name is in use is dropped.
    fn add(&mut self, other: Self) {
        let Self { tools, resources, templates, prompts, missing } = other;
        add_new(&mut self.tools, tools, |tool| tool.metadata.name.to_string());
        add_new(&mut self.resources, resources, |resource| resource.description.uri.to_string());
        add_new(&mut self.templates, templates, |template| template.description.uri_template.to_string());
        add_new(&mut self.prompts, prompts, |prompt| prompt.metadata.name.to_string());
        self.missing.extend(missing);
    }

    /// Returns the problems of the parts that failed.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &str> {
        self.missing.values().filter_map(Value::as_str)
    }

    /// Returns the `_meta` of the list, if parts of a source failed.
    pub(crate) fn meta(&self) -> Option<Map<String, Value>> {
        let missing = (!self.missing.is_empty()).then(|| Value::Object(self.missing.clone()))?;
        Some(Map::from_iter([(MISSING.to_owned(), missing)]))
    }
}

fn add_new<T>(items: &mut Vec<Rc<T>>, others: Vec<Rc<T>>, name_of: impl Fn(&T) -> String) {
    // `collect` would sort the names first, which needs more code.
    let mut names = BTreeSet::new();
    for item in &*items {
        names.insert(name_of(item));
    }
    items.extend(others.into_iter().filter(|other| names.insert(name_of(other))));
}

/// The sources of a server.
#[derive(Clone, Default)]
pub(crate) struct Sources(Vec<Rc<dyn Source>>);

impl Sources {
    pub(crate) fn add(&mut self, source: impl Source + 'static) {
        self.0.push(Rc::new(source));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Rc<Tool>> {
        self.0.iter().find_map(|source| source.tool(name)).map(Rc::new)
    }

    pub(crate) fn resource(&self, uri: &str) -> Option<Rc<Resource>> {
        self.0.iter().find_map(|source| source.resource(uri)).map(Rc::new)
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<Rc<Prompt>> {
        self.0.iter().find_map(|source| source.prompt(name)).map(Rc::new)
    }

    /// Asks all sources at the same time. Their items are in the order of the sources.
    pub(crate) async fn find(&self, list: Cacheable, cx: &Context) -> Found {
        let found = parallel(self.0.iter().map(|source| source.find(list, cx)), usize::MAX).await;
        found.into_iter().fold(Found::default(), |mut all, found| {
            all.add(found);
            all
        })
    }
}
