//! Sources: tools, resources and prompts that are not known when the server is built.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, join};
use serde_json::{Map, Value};

use super::list::ListKind;
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::tool::Tool;
use crate::call::context::Context;
use crate::limits::MISSING_SECONDS;
#[cfg(feature = "client")]
use crate::parallel::parallel;

/// The member of the `_meta` of a list, or of an agent's answer, that names the parts of sources that failed, such as servers.
pub(crate) const MISSING: &str = "edge-mcp/missing";

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

    /// Returns the resource template `uri_template`, or `None` if no template of this source can have this URI template. It sends nothing.
    /// A server uses the template only to complete its variables.
    fn resource_template(&self, uri_template: &str) -> Option<ResourceTemplate> {
        let _ = uri_template;
        None
    }

    /// Returns the prompt `name`, or `None` if no prompt of this source can have this name. It sends nothing.
    fn prompt(&self, name: &str) -> Option<Prompt> {
        let _ = name;
        None
    }

    /// Finds the items of one list for the caller of `cx`: the tools, resources, resource templates or prompts.
    fn find(&self, list: ListKind, cx: &Context) -> LocalBoxFuture<'static, SourceItems>;
}

/// The items that sources found for one list.
#[derive(Default)]
#[must_use]
pub struct SourceItems {
    pub(crate) tools: Vec<Rc<Tool>>,
    pub(crate) resources: Vec<Rc<Resource>>,
    pub(crate) templates: Vec<Rc<ResourceTemplate>>,
    pub(crate) prompts: Vec<Rc<Prompt>>,
    missing: Map<String, Value>,
    /// By the names of missing parts: functions that ask the caller to sign in, and find the items of the part again.
    #[cfg(feature = "client")]
    sign_ins: Vec<(String, AskSignIn)>,
    has_answered: bool,
}

/// Asks the caller of a call to sign in, and finds again what was missing.
#[cfg(feature = "client")]
pub(crate) type AskSignIn = Box<dyn FnOnce(Context) -> LocalBoxFuture<'static, SourceItems>>;

impl SourceItems {
    /// Adds a tool.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(Rc::new(tool));
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(Rc::new(resource));
        self
    }

    /// Adds a resource template.
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.templates.push(Rc::new(template));
        self
    }

    /// Adds a prompt.
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompts.push(Rc::new(prompt));
        self
    }

    /// Adds a part of the source that failed, such as a server, and the problem as a sentence. The `_meta` of the list contains both.
    pub fn missing(mut self, name: impl Into<String>, problem: impl Into<String>) -> Self {
        self.missing.insert(name.into(), Value::String(problem.into()));
        self
    }

    /// Adds a function that asks the caller to sign in to the missing part `name`.
    #[cfg(feature = "client")]
    pub(crate) fn after_sign_in(mut self, name: impl Into<String>, sign_in: AskSignIn) -> Self {
        self.sign_ins.push((name.into(), sign_in));
        self
    }

    /// Asks the caller of `cx` to sign in to the parts that need it, all at once, and adds what they have then. Only the handler of a call can ask.
    #[cfg(feature = "client")]
    pub(crate) async fn signed_in(mut self, cx: &Context) -> Self {
        let mut asked = Vec::new();
        for (name, sign_in) in std::mem::take(&mut self.sign_ins) {
            self.missing.remove(&name);
            asked.push(sign_in(cx.clone()));
        }
        parallel(asked.into_iter(), usize::MAX).await.into_iter().fold(self, Self::add)
    }

    /// Adds the items of another source.
    fn add(mut self, mut other: Self) -> Self {
        self.tools.append(&mut other.tools);
        self.resources.append(&mut other.resources);
        self.templates.append(&mut other.templates);
        self.prompts.append(&mut other.prompts);
        self.missing.extend(other.missing);
        #[cfg(feature = "client")]
        self.sign_ins.append(&mut other.sign_ins);
        self.has_answered |= other.has_answered;
        self
    }

    /// Notes that a part of the source answered, also if it has no items. If parts failed and no part answered, the caller gets an error
    /// instead of an empty list.
    pub fn answered(mut self) -> Self {
        self.has_answered = true;
        self
    }

    /// Returns the problems, if parts failed and no part answered.
    pub(crate) fn failure(&self) -> Option<String> {
        let problems: Vec<&str> = self.problems().collect();
        (!problems.is_empty() && !self.has_answered).then(|| problems.join(" "))
    }

    /// Returns the time for which a client may cache the list, if a part failed: it may soon answer again.
    pub(crate) fn longest_cache(&self) -> Option<Duration> {
        (!self.missing.is_empty()).then_some(Duration::from_secs(MISSING_SECONDS))
    }

    /// Returns the problems of the parts that failed.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &str> {
        self.missing.values().filter_map(Value::as_str)
    }

    /// Returns the names of the parts that failed, with their problems.
    pub(crate) fn missing_parts(&self) -> impl Iterator<Item = (String, String)> {
        self.missing.iter().filter_map(|(name, problem)| Some((name.clone(), problem.as_str()?.to_owned())))
    }

    /// Returns the `_meta` of the list, if parts of a source failed.
    pub(crate) fn meta(&self) -> Option<Map<String, Value>> {
        let missing = (!self.missing.is_empty()).then(|| Value::Object(self.missing.clone()))?;
        Some(Map::from_iter([(MISSING.to_owned(), missing)]))
    }
}

/// Adds the items of `others` whose names are not in use. Returns the names of the others.
pub(super) fn add_new<T>(items: &mut Vec<Rc<T>>, others: Vec<Rc<T>>, name_of: impl Fn(&T) -> String) -> Vec<String> {
    // `collect` would sort the names first, which needs more code.
    let mut names = BTreeSet::new();
    for item in &*items {
        names.insert(name_of(item));
    }
    let mut in_use = Vec::new();
    for other in others {
        let name = name_of(&other);
        if names.contains(&name) {
            in_use.push(name);
        } else {
            names.insert(name);
            items.push(other);
        }
    }
    in_use
}

/// Returns `second` as a source that follows `first`. Items of `first` take precedence.
pub(crate) fn after(first: Option<Rc<dyn Source>>, second: impl Source + 'static) -> Rc<dyn Source> {
    let second = Rc::new(second);
    match first {
        Some(first) => Rc::new(Two(first, second)),
        None => second,
    }
}

struct Two(Rc<dyn Source>, Rc<dyn Source>);

impl Source for Two {
    fn tool(&self, name: &str) -> Option<Tool> {
        self.0.tool(name).or_else(|| self.1.tool(name))
    }

    fn resource(&self, uri: &str) -> Option<Resource> {
        self.0.resource(uri).or_else(|| self.1.resource(uri))
    }

    fn resource_template(&self, uri_template: &str) -> Option<ResourceTemplate> {
        self.0.resource_template(uri_template).or_else(|| self.1.resource_template(uri_template))
    }

    fn prompt(&self, name: &str) -> Option<Prompt> {
        self.0.prompt(name).or_else(|| self.1.prompt(name))
    }

    /// Asks both sources at the same time.
    fn find(&self, list: ListKind, cx: &Context) -> LocalBoxFuture<'static, SourceItems> {
        join(self.0.find(list, cx), self.1.find(list, cx)).map(|(first, second)| first.add(second)).boxed_local()
    }
}
