//! What a server says of itself: who it is, in which version, and where it can be had.
//!
//! The members have the names that they had in the first drafts of the MCP registry; [`server_json`](super::server_json) says the
//! same in those of today.

use serde::Serialize;
use serde_json::value::RawValue;

use super::builder::{McpServer, McpServerBuilder};
use super::definition::{BuildError, is_blank};
use super::distribution::{Package, Remote, Repository, is_one_version};
use super::tool::{Origin, Tool};
use crate::protocol::description::Text;

/// What a server says of itself beyond what the protocol asks for. Most say nothing.
#[derive(Default)]
pub(crate) struct About {
    id: Option<Text>,
    pub(super) registry_name: Option<Text>,
    pub(super) repository: Option<Repository>,
    release_date: Option<Text>,
    is_outdated: bool,
    canonical_package: Option<Text>,
    pub(super) packages: Vec<Package>,
    pub(super) remotes: Vec<Remote>,
}

impl McpServerBuilder {
    #[inline(never)]
    fn about(&mut self) -> &mut About {
        self.server.about.get_or_insert_default()
    }

    /// What programs know the server by: the letters a-z and digits of this text, in lower case, with a `-` for all between
    /// them. Without it, the same of the server's name.
    pub fn id(mut self, id: impl Into<Text>) -> Self {
        self.about().id = Some(id.into());
        self
    }

    /// The server's name in the MCP registry, such as `io.github.ada/weather` or `com.example/weather`: a domain that its
    /// publisher owns, backwards, and a name within it. Without it, [`server_json`](McpServer::server_json) makes one from the
    /// server's URL.
    pub fn registry_name(mut self, name: impl Into<Text>) -> Self {
        self.about().registry_name = Some(name.into());
        self
    }

    /// Where the source is.
    pub fn repository(mut self, repository: Repository) -> Self {
        self.about().repository = Some(repository);
        self
    }

    /// When this version was released, such as `2026-07-28`. Without it nothing is said: a server that is built for each request
    /// was released before it.
    pub fn release_date(mut self, date: impl Into<Text>) -> Self {
        self.about().release_date = Some(date.into());
        self
    }

    /// Whether this version is the latest one. It is, unless it is said.
    pub fn is_latest(mut self, is_latest: bool) -> Self {
        self.about().is_outdated = !is_latest;
        self
    }

    /// The registry whose package is the one to take, such as `npm` or `docker`.
    pub fn canonical_package(mut self, registry: impl Into<Text>) -> Self {
        self.about().canonical_package = Some(registry.into());
        self
    }

    /// A package that runs the server elsewhere.
    pub fn package(mut self, package: Package) -> Self {
        self.about().packages.push(package);
        self
    }

    /// A place where the server runs. Without one, that is where it is asked.
    pub fn remote(mut self, remote: Remote) -> Self {
        self.about().remotes.push(remote);
        self
    }
}

/// Who a server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// What programs know it by.
    pub id: String,
    /// Its name.
    pub name: Text,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// Where its source is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    /// Its version.
    pub version_detail: VersionDetail,
}

/// The version of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VersionDetail {
    /// In whatever scheme the server uses.
    pub version: Text,
    /// When it was released, if that was [said](McpServerBuilder::release_date).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_date: Option<Text>,
    /// Whether there is none after it.
    pub is_latest: bool,
}

/// Who a server is, and where it can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerDetail {
    /// Who it is.
    #[serde(flatten)]
    pub info: ServerInfo,
    /// The registry whose package is the one to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package_canonical: Option<Text>,
    /// Packages that run it elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<Remote>,
}

/// The tools of a server.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ToolList {
    /// In the order of registration.
    pub tools: Vec<ToolInfo>,
}

/// A tool, as its server knows it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolInfo {
    /// The same as its name.
    pub id: Text,
    /// What it is called by.
    pub name: Text,
    /// What it is for.
    pub description: Option<Text>,
    /// The schema that its arguments are held to.
    pub input_schema: Box<RawValue>,
    /// The schema that its structured results are held to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Box<RawValue>>,
    /// What it was made from, if it is no plain function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_type: Option<ToolType>,
}

/// What a tool was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolType {
    /// An [agent](crate::Agent).
    Agent,
    /// A [workflow](crate::Workflow).
    Workflow,
}

impl ToolInfo {
    /// Schemas that cannot be published are refused when a server is built.
    fn of(tool: &Tool) -> Option<Self> {
        let (input, output) = (tool.input_schema().ok()?, tool.output_schema().ok()?);
        Some(Self {
            id: tool.face.name.clone(),
            name: tool.face.name.clone(),
            description: tool.face.description.clone(),
            input_schema: input.json().to_owned(),
            output_schema: output.map(|schema| schema.json().to_owned()),
            tool_type: match tool.origin {
                Origin::Tool => None,
                Origin::Agent { .. } => Some(ToolType::Agent),
                Origin::Workflow { .. } => Some(ToolType::Workflow),
            },
        })
    }
}

impl McpServer {
    /// Who this server is.
    ///
    /// ```
    /// use edge_mcp::McpServer;
    ///
    /// let server = McpServer::builder("My Lab Server!", "1.0.0").release_date("2026-07-28").build()?;
    /// let info = server.server_info();
    /// assert_eq!(info.id, "my-lab-server");
    /// assert_eq!(info.version_detail.release_date.as_deref(), Some("2026-07-28"));
    /// # Ok::<_, edge_mcp::BuildError>(())
    /// ```
    pub fn server_info(&self) -> ServerInfo {
        let about = self.about.as_deref();
        ServerInfo {
            id: self.id(),
            name: self.info.name.clone(),
            description: self.info.description.clone(),
            repository: about.and_then(|about| about.repository.clone()),
            version_detail: VersionDetail {
                version: self.info.version.clone(),
                release_date: about.and_then(|about| about.release_date.clone()),
                is_latest: about.is_none_or(|about| !about.is_outdated),
            },
        }
    }

    /// Who this server is, and where it can be had.
    pub fn server_detail(&self) -> ServerDetail {
        let about = self.about.as_deref();
        ServerDetail {
            info: self.server_info(),
            package_canonical: about.and_then(|about| about.canonical_package.clone()),
            packages: about.map_or_else(Vec::new, |about| about.packages.clone()),
            remotes: about.map_or_else(Vec::new, |about| about.remotes.clone()),
        }
    }

    /// All tools, whoever may use them: those of agents and workflows are among them.
    ///
    /// ```
    /// use edge_mcp::{McpServer, Tool};
    ///
    /// let greet = Tool::new("greet", || async { "Hello" }).description("Says hello.");
    /// let server = McpServer::builder("greeter", "1.0.0").tool(greet).build()?;
    /// assert_eq!(server.tool_list().tools.len(), 1);
    /// assert!(server.tool_info("greet").is_some() && server.tool_info("Greet").is_none());
    /// # Ok::<_, edge_mcp::BuildError>(())
    /// ```
    pub fn tool_list(&self) -> ToolList {
        ToolList { tools: self.tools.iter().filter_map(ToolInfo::of).collect() }
    }

    /// The tool of that name, if there is one.
    pub fn tool_info(&self, name: &str) -> Option<ToolInfo> {
        self.tool(name).and_then(ToolInfo::of)
    }

    /// What programs know it by.
    pub(super) fn id(&self) -> String {
        let given = self.about.as_ref().and_then(|about| about.id.as_ref());
        let id = slug(given.unwrap_or(&self.info.name));
        // A name may be in letters that a slug does not have.
        if id.is_empty() { "server".into() } else { id }
    }

    /// What is said of the server, and would not hold in a registry.
    pub(super) fn check_about(&self) -> Result<(), BuildError> {
        let Some(about) = &self.about else { return Ok(()) };
        let problem = if about.id.as_ref().is_some_and(|id| slug(id).is_empty()) {
            Some("has an id with none of a-z and 0-9 in it".into())
        } else if about.registry_name.as_ref().is_some_and(|name| !is_registry_name(name)) {
            Some("has a registry name that is not one such as `io.github.ada/weather`".into())
        } else if about.registry_name.is_some() && !is_one_version(&self.info.version) {
            Some("has a registry name, and must have one version, such as `1.0.2`, and no range".into())
        } else if about.release_date.as_deref().is_some_and(is_blank) {
            Some("has an empty release date".into())
        } else if about.canonical_package.as_deref().is_some_and(is_blank) {
            Some("has an empty canonical package".into())
        } else {
            (about.repository.iter().find_map(Repository::problem))
                .or_else(|| about.packages.iter().find_map(Package::problem))
                .or_else(|| about.remotes.iter().find_map(Remote::problem))
        };
        problem.map_or(Ok(()), |problem| Err(BuildError::new("server", self.info.name.as_ref(), problem)))
    }
}

/// The letters a-z and digits of a text, in lower case, with a `-` for all between them.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        slug.push_str(if slug.is_empty() { "" } else { "-" });
        slug.push_str(word);
    }
    slug.make_ascii_lowercase();
    slug
}

/// Source: the MCP registry's schema of 2025-12-11, `name`, and the registry itself, which also asks that both parts begin and
/// end with a letter or digit, and have two of them.
fn is_registry_name(name: &str) -> bool {
    let is_part = |part: &str, others: &[u8]| {
        let is_end = |end: Option<u8>| end.is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || others.contains(&byte);
        part.len() >= 2 && is_end(part.bytes().next()) && is_end(part.bytes().last()) && part.bytes().all(is_known)
    };
    let parts = name.split_once('/');
    name.len() <= 200 && parts.is_some_and(|(domain, name)| is_part(domain, b".-") && is_part(name, b"._-"))
}
