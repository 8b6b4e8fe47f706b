//! A server, and what is refused when it is built.

use std::collections::HashSet;
use std::fmt;

use super::resource::{Resource, ResourceTemplate};
use super::tool::Tool;
use super::uri_template::has_scheme;
use crate::protocol::description::{Implementation, Text};

/// A server: what one request is answered from.
///
/// It is built anew for every request, so that what it offers may depend on the caller and on the environment.
///
/// ```
/// use edge_mcp::server::{McpServer, Tool};
///
/// let server = McpServer::builder("greeter", "1.0.0")
///     .instructions("Greet before you ask.")
///     .tool(Tool::new("greet", || async { "Hello" }).description("Says hello.").read_only())
///     .build()?;
/// # Ok::<_, edge_mcp::server::BuildError>(())
/// ```
pub struct McpServer {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<Text>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
}

impl McpServer {
    /// Begins a server of that name and version.
    pub fn builder(name: impl Into<Text>, version: impl Into<Text>) -> McpServerBuilder {
        McpServerBuilder {
            server: Self {
                info: Implementation::new(name, version),
                instructions: None,
                tools: Vec::new(),
                resources: Vec::new(),
                templates: Vec::new(),
            },
        }
    }

    pub(crate) fn offers_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub(crate) fn offers_resources(&self) -> bool {
        !self.resources.is_empty() || !self.templates.is_empty()
    }
}

/// A server that is being put together. Lists show things in the order in which they were added.
#[must_use]
pub struct McpServerBuilder {
    server: McpServer,
}

impl McpServerBuilder {
    /// The server's name for people.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.server.info.title = Some(title.into());
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
    /// template over a later one.
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.server.templates.push(template);
        self
    }

    /// The server.
    ///
    /// # Errors
    /// [`BuildError`], which names the first item that could not be served as it is defined.
    pub fn build(self) -> Result<McpServer, BuildError> {
        let server = self.server;
        check_info(&server.info)?;
        let mut names = HashSet::with_capacity(server.tools.len());
        for tool in &server.tools {
            let problem = tool_problem(tool).or_else(|| (!names.insert(&*tool.name)).then(|| "is added twice".into()));
            refuse("tool", &tool.name, problem)?;
        }
        let mut uris = HashSet::with_capacity(server.resources.len());
        for resource in &server.resources {
            let uri = &*resource.description.uri;
            let problem = match () {
                () if !has_scheme(uri) => Some("has no scheme such as `kb://`".to_owned()),
                () if resource.description.name.trim().is_empty() => Some("has an empty name".to_owned()),
                () => (!uris.insert(uri)).then(|| "is added twice".to_owned()),
            };
            refuse("resource", uri, problem)?;
        }
        let mut templates = HashSet::with_capacity(server.templates.len());
        for template in &server.templates {
            let problem = match &template.parsed {
                Err(error) => Some(format!("is not a template that can be matched: {error}")),
                Ok(_) if template.describe().name.trim().is_empty() => Some("has an empty name".to_owned()),
                Ok(_) => (!templates.insert(&*template.uri_template)).then(|| "is added twice".to_owned()),
            };
            refuse("resource template", &template.uri_template, problem)?;
        }
        Ok(server)
    }
}

fn check_info(info: &Implementation) -> Result<(), BuildError> {
    for (field, value) in [("name", &info.name), ("version", &info.version)] {
        refuse("server", &info.name, value.trim().is_empty().then(|| format!("has an empty {field}")))?;
    }
    Ok(())
}

/// What is wrong with a tool taken alone.
fn tool_problem(tool: &Tool) -> Option<String> {
    if !is_tool_name(&tool.name) {
        return Some("must be named with 1 to 64 of A-Z a-z 0-9 _ . -".into());
    }
    if tool.description.trim().is_empty() {
        return Some("has an empty description; a model chooses tools by it".into());
    }
    let input = tool.input_schema().err().map(|error| ("input", error));
    let output = || tool.output_schema().err().map(|error| ("output", error));
    let (side, error) = input.or_else(output)?;
    Some(format!("has an {side} schema that cannot be enforced: {error}"))
}

/// 2025-11-25, server/tools, "Tool Names", with the shorter length that clients hold on to.
fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

fn refuse(kind: &'static str, name: &str, problem: Option<String>) -> Result<(), BuildError> {
    match problem {
        Some(problem) => Err(BuildError { kind, name: name.to_owned(), problem }),
        None => Ok(()),
    }
}

/// A definition that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    kind: &'static str,
    name: String,
    problem: String,
}

impl BuildError {
    /// Anything else that a server function has to refuse: `kind` and `name` say what, `problem` says why.
    pub fn new(kind: &'static str, name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { kind, name: name.into(), problem: problem.into() }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} {:?} {}", self.kind, self.name, self.problem)
    }
}

impl std::error::Error for BuildError {}
