//! The description of a server: identity, version, packages, remotes, tools.

use edge_json::object;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::builder::{McpServer, McpServerBuilder};
use super::tool::Tool;
use crate::protocol::description::Metadata;
use crate::registry::about::{RegistryData, blank_problem, id, id_problem, registry_name_problem};
use crate::registry::{Package, Remote, Repository, ServerJson};
use crate::text::Text;

impl McpServerBuilder {
    /// Returns the data about the server, and stores the problem of a new value if it is the first one.
    #[inline(never)]
    fn about(&mut self, problem: Option<String>) -> &mut RegistryData {
        let about = self.definitions.about.get_or_insert_default();
        about.problem = about.problem.take().or(problem);
        about
    }

    /// Sets the id of the server. The text is reduced to the letters a-z and digits in lower case, with a `-` between
    /// words. The default is derived from the server's name.
    pub fn id(mut self, id: impl Into<Text>) -> Self {
        let id = id.into();
        let problem = id_problem(&id);
        self.about(problem).id = Some(id);
        self
    }

    /// Sets the server's name in the MCP registry, such as `io.github.ada/weather` or `com.example/weather`: a reversed
    /// domain that its publisher owns, and a name within it. Without it, [`server_json`](McpServer::server_json)
    /// derives a name from the server's URL.
    pub fn registry_name(mut self, name: impl Into<Text>) -> Self {
        let name = name.into();
        let problem = registry_name_problem(&name, &self.definitions.info.version);
        self.about(problem).registry_name = Some(name);
        self
    }

    /// Sets the repository of the source code.
    pub fn repository(mut self, repository: Repository) -> Self {
        let problem = repository.problem();
        self.about(problem).repository = Some(repository);
        self
    }

    /// Sets the release date of this version, such as `2026-07-28`. There is no default.
    pub fn release_date(mut self, date: impl Into<Text>) -> Self {
        let date = date.into();
        let problem = blank_problem(&date, "release date");
        self.about(problem).release_date = Some(date);
        self
    }

    /// Sets whether this version is the latest one. The default is `true`.
    pub fn is_latest(mut self, is_latest: bool) -> Self {
        self.about(None).is_outdated = !is_latest;
        self
    }

    /// Sets the registry of the recommended package, such as `npm` or `docker`.
    pub fn canonical_package(mut self, registry: impl Into<Text>) -> Self {
        let registry = registry.into();
        let problem = blank_problem(&registry, "canonical package");
        self.about(problem).canonical_package = Some(registry);
        self
    }

    /// Adds a package that runs the server elsewhere.
    pub fn package(mut self, package: Package) -> Self {
        let problem = package.problem();
        self.about(problem).packages.push(package);
        self
    }

    /// Adds a URL at which the server runs. The default is the URL of the endpoint.
    pub fn remote(mut self, remote: Remote) -> Self {
        let problem = remote.problem();
        self.about(problem).remotes.push(remote);
        self
    }
}

/// A tool, as registries describe it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolInfo<'a> {
    id: &'a Text,
    name: &'a Text,
    description: &'a Option<Text>,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a RawValue>,
    /// The origin of the tool: `agent` or `workflow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_type: Option<&'static str>,
}

/// The members are `id` (the name), `name`, `description`, `inputSchema`, `outputSchema`, and `toolType` (`agent` or `workflow`).
impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let input = self.input_schema().map_err(S::Error::custom)?;
        let output = self.output_schema().map_err(S::Error::custom)?;
        let Metadata { name, description, .. } = &self.metadata;
        let (input_schema, output_schema) = (input.json(), output.as_ref().map(|schema| schema.json()));
        let tool_type = self.origin.as_ref().map(|origin| origin.kind);
        ToolInfo { id: name, name, description, input_schema, output_schema, tool_type }.serialize(serializer)
    }
}

impl McpServer {
    /// Returns the identity of this server as a JSON object: `id`, `name`, `description`, `repository`, and `version_detail` with `version`,
    /// `release_date` and `is_latest`. The members have the names of the first drafts of the MCP registry. Unset ones are left out.
    ///
    /// ```
    /// use edge_mcp::McpServer;
    ///
    /// let server = McpServer::builder("My Lab Server!", "1.0.0").release_date("2026-07-28").build()?;
    /// let info = server.server_info();
    /// assert_eq!(info["id"], "my-lab-server");
    /// assert_eq!(info["version_detail"]["release_date"], "2026-07-28");
    /// # Ok::<_, edge_mcp::BuildError>(())
    /// ```
    pub fn server_info(&self) -> Value {
        object(self.identity())
    }

    /// Returns the members of [`server_info`](Self::server_info), and `package_canonical`, `packages` and `remotes`.
    pub fn server_detail(&self) -> Value {
        let mut members = self.identity();
        if let Some(about) = &self.definitions.about {
            members.extend(about.canonical_package.as_deref().map(|registry| ("package_canonical", registry.into())));
            let packages: Vec<_> = about.packages.iter().map(|package| package.0.draft.clone()).collect();
            let remotes: Vec<_> = about.remotes.iter().map(|remote| remote.0.draft.clone()).collect();
            let lists = [("packages", packages), ("remotes", remotes)];
            members
                .extend(lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| (name, list.into())));
        }
        object(members)
    }

    fn identity(&self) -> Vec<(&'static str, Value)> {
        let (info, about) = (&self.definitions.info, self.definitions.about.as_deref());
        let is_latest = about.is_none_or(|about| !about.is_outdated);
        let mut version = vec![("version", (&*info.version).into()), ("is_latest", is_latest.into())];
        let mut members = vec![("id", id(info, about).into()), ("name", (&*info.name).into())];
        members.extend(info.description.as_deref().map(|text| ("description", text.into())));
        if let Some(about) = about {
            version.extend(about.release_date.as_deref().map(|date| ("release_date", date.into())));
            members
                .extend(about.repository.as_ref().map(|repository| ("repository", repository.0.draft.clone().into())));
        }
        members.push(("version_detail", object(version)));
        members
    }

    /// Returns the description of this server for the MCP registry, in its schema of 2025-12-11.
    ///
    /// Returns `None` if the description would have no name: the server has no
    /// [registry name](McpServerBuilder::registry_name), and no URL from which a name can be derived.
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
    pub fn server_json(&self, own_url: Option<&str>) -> Option<ServerJson> {
        ServerJson::new(&self.definitions.info, self.definitions.about.as_deref(), own_url)
    }
}
