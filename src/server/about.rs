//! What a server says about itself: identity, version, packages, remotes, tools.

use serde::Serialize;
use serde_json::value::RawValue;

use super::builder::{McpServer, McpServerBuilder};
use super::tool::{Origin, Tool};
use crate::protocol::description::Text;
use crate::registry::about::About;
use crate::registry::{Package, Remote, Repository, ServerDetail, ServerInfo, ServerJson};

impl McpServerBuilder {
    #[inline(never)]
    fn about(&mut self) -> &mut About {
        self.definitions.about.get_or_insert_default()
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
            id: tool.metadata.name.clone(),
            name: tool.metadata.name.clone(),
            description: tool.metadata.description.clone(),
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
    /// Returns the identity of this server.
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
        ServerInfo::new(&self.definitions.info, self.definitions.about.as_deref())
    }

    /// Returns the identity of this server, its packages and its remotes.
    pub fn server_detail(&self) -> ServerDetail {
        ServerDetail::new(&self.definitions.info, self.definitions.about.as_deref())
    }

    /// Returns this server as the MCP registry describes it, in its schema of 2025-12-11. `None` without a name: it has neither a
    /// [registry name](McpServerBuilder::registry_name), nor a URL to derive one from.
    ///
    /// `own_url` is the URL of the endpoint. It is the remote if no remote is configured. Values that the registry does not accept are
    /// adapted or left out: a title or description of more than 100 characters is cut at a word, a missing description becomes the
    /// title or the name, and only icons and websites at `https:` URLs are included. Tools, resources and prompts are not included.
    ///
    /// ```
    /// use edge_mcp::McpServer;
    ///
    /// let server = McpServer::builder("Weather", "1.0.0").description("The weather in a city.").build()?;
    /// let document = server.server_json(Some("https://mcp.example.com/mcp")).expect("a name");
    /// let json = serde_json::to_value(&document).expect("JSON");
    /// assert_eq!(json["name"], "com.example.mcp/weather");
    /// assert_eq!(json["remotes"][0]["url"], "https://mcp.example.com/mcp");
    /// # Ok::<_, edge_mcp::BuildError>(())
    /// ```
    pub fn server_json(&self, own_url: Option<&str>) -> Option<ServerJson<'_>> {
        ServerJson::new(&self.definitions.info, self.definitions.about.as_deref(), own_url)
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
        ToolList { tools: self.definitions.tools.iter().filter_map(|tool| ToolInfo::of(tool)).collect() }
    }

    /// The tool of that name, if there is one.
    pub fn tool_info(&self, name: &str) -> Option<ToolInfo> {
        self.definitions.tool(name).and_then(|tool| ToolInfo::of(tool))
    }
}
