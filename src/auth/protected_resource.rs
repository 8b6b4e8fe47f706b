//! This server as a protected resource: the metadata from which a client discovers the authorization server.
//!
//! Source: RFC 9728; 2025-06-18 to 2026-07-28, basic/authorization.

use std::cell::OnceCell;

use serde::Serialize;

use super::scopes;
use crate::config::SecureUrl;
use crate::config::{ConfigError, Variables};
use crate::host::{is_on_localhost, origin_of};

/// The name of the metadata document (RFC 9728 §3).
pub(crate) const WELL_KNOWN: &str = "oauth-protected-resource";

/// This server as a protected resource: its URL, and the authorization servers that issue tokens for it.
///
/// If there is an authorization server, the metadata is published at `/.well-known/oauth-protected-resource`, and at this path followed by
/// the path of the server. Every challenge contains the URL of the metadata.
///
/// ```
/// use edge_mcp::auth::ProtectedResource;
///
/// let resource = ProtectedResource::at("https://kb.example.com/mcp")?
///     .authorization_server("https://auth.example.com")?
///     .scopes(["kb:read", "kb:write"])?
///     .name("Knowledge base")
///     .documentation("https://example.com/kb");
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ProtectedResource {
    pub(crate) url: Option<SecureUrl>,
    pub(crate) authorization_servers: Vec<SecureUrl>,
    pub(crate) scopes: Vec<String>,
    name: Option<String>,
    documentation: Option<String>,
}

impl ProtectedResource {
    /// Returns the protected resource as the environment configures it.
    ///
    /// # Errors
    /// A variable is missing or wrong.
    pub(crate) fn of_variables(variables: &Variables<'_>) -> Result<Self, ConfigError> {
        let mut resource = Self::local();
        if let Some(url) = variables.get("MCP_RESOURCE")? {
            resource.url = Self::at(&url)?.url;
        }
        for issuer in variables.list("MCP_AUTHORIZATION_SERVERS")? {
            resource = resource.authorization_server(&issuer)?;
        }
        let scopes =
            variables.get("MCP_SCOPES")?.map(|listed| scopes::parse_list("MCP_SCOPES", &listed)).transpose()?;
        if let Some(scopes) = scopes {
            resource.scopes = scopes;
        }
        Ok(resource)
    }

    /// Creates a resource without a configured URL. On localhost, its URL is the URL of the request. On other hosts, it has no URL.
    pub fn local() -> Self {
        Self::default()
    }

    /// Creates the resource at `url`. Spell the URL exactly as users enter it in clients, because clients compare the two spellings.
    ///
    /// # Errors
    /// `url` is neither an HTTPS URL nor on localhost, or it has a query.
    pub fn at(url: &str) -> Result<Self, ConfigError> {
        Ok(Self { url: Some(without_query("MCP_RESOURCE", url)?), ..Self::default() })
    }

    /// Adds the authorization server with this issuer URL. Clients of 2025-03-26 are redirected to the first one.
    ///
    /// # Errors
    /// `issuer` is neither an HTTPS URL nor on localhost, or it has a query.
    pub fn authorization_server(mut self, issuer: &str) -> Result<Self, ConfigError> {
        self.authorization_servers.push(without_query("MCP_AUTHORIZATION_SERVERS", issuer)?);
        Ok(self)
    }

    /// Adds scopes that a client should request.
    ///
    /// # Errors
    /// A scope has a character that scopes cannot have, or is `offline_access`.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, ConfigError> {
        for scope in scopes {
            self.scopes.append(&mut scopes::parse_list("MCP_SCOPES", &scope.into())?);
        }
        Ok(self)
    }

    /// Sets the name of the server for display.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the URL of the server's human-readable documentation.
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// Returns a copy of this resource, in which members that are not set have the values of `other`.
    pub(crate) fn or(&self, other: &Self) -> Self {
        fn either<T: Clone>(own: &[T], other: &[T]) -> Vec<T> {
            if own.is_empty() { other.to_vec() } else { own.to_vec() }
        }
        Self {
            url: self.url.clone().or_else(|| other.url.clone()),
            authorization_servers: either(&self.authorization_servers, &other.authorization_servers),
            scopes: either(&self.scopes, &other.scopes),
            name: self.name.clone().or_else(|| other.name.clone()),
            documentation: self.documentation.clone().or_else(|| other.documentation.clone()),
        }
    }

    /// Returns the metadata document for the server at `url`.
    pub(crate) fn metadata<'a>(&'a self, url: &'a SecureUrl) -> MetadataDocument<'a> {
        MetadataDocument {
            resource: url.as_str(),
            authorization_servers: self.authorization_servers.iter().map(SecureUrl::as_str).collect(),
            scopes_supported: &self.scopes,
            bearer_methods_supported: ["header"],
            resource_name: self.name.as_deref(),
            resource_documentation: self.documentation.as_deref(),
        }
    }
}

fn without_query(variable: &'static str, url: &str) -> Result<SecureUrl, ConfigError> {
    let url = SecureUrl::parse(url).map_err(|problem| ConfigError::new(variable, problem))?;
    if url.has_query() { Err(ConfigError::new(variable, "must be a URL without a query")) } else { Ok(url) }
}

/// Returns the URL of `path` at the origin of a request to localhost, or `None` for another host.
fn local_url(request_url: &str, path: &str) -> Option<SecureUrl> {
    let origin = origin_of(request_url).filter(|origin| is_on_localhost(origin))?;
    SecureUrl::parse(&format!("{origin}{path}")).ok()
}

/// The URL of this server for one request, computed on first use.
pub(crate) struct ServerUrl<'a> {
    resource: &'a ProtectedResource,
    request_url: &'a str,
    path: &'a str,
    local: OnceCell<Option<SecureUrl>>,
}

impl<'a> ServerUrl<'a> {
    pub(crate) const fn new(resource: &'a ProtectedResource, request_url: &'a str, path: &'a str) -> Self {
        Self { resource, request_url, path, local: OnceCell::new() }
    }

    /// Returns the configured URL or, on localhost, the path of the server at the origin of the request. Returns `None` on other hosts,
    /// because a client can send any `Host`.
    pub(crate) fn get(&self) -> Option<&SecureUrl> {
        match &self.resource.url {
            Some(url) => Some(url),
            None => self.local.get_or_init(|| local_url(self.request_url, self.path)).as_ref(),
        }
    }
}

/// The metadata document of RFC 9728 §2.
#[derive(Serialize)]
pub(crate) struct MetadataDocument<'a> {
    resource: &'a str,
    authorization_servers: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    scopes_supported: &'a [String],
    bearer_methods_supported: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_documentation: Option<&'a str>,
}
