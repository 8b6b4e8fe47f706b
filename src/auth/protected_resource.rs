//! What a client must know to get a token for this server.
//!
//! Source: RFC 9728; 2025-06-18 to 2026-07-28, basic/authorization.

use serde::Serialize;

use super::config::ConfigError;
use super::scopes;
use super::secure_url::SecureUrl;

/// The name of the document that says it all (RFC 9728 §3).
pub(crate) const WELL_KNOWN: &str = "oauth-protected-resource";

/// This server as a protected resource: its URL, and who issues tokens for it.
///
/// Where it names an authorization server, it is published at `/.well-known/oauth-protected-resource`, with and without the path of the
/// URL after it, and every challenge says so.
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
pub struct ProtectedResource {
    pub(crate) url: Option<SecureUrl>,
    pub(crate) authorization_servers: Vec<SecureUrl>,
    pub(crate) scopes: Vec<String>,
    name: Option<String>,
    documentation: Option<String>,
}

impl ProtectedResource {
    /// A server on localhost, whose URL is that of each request. Elsewhere it has none.
    pub fn local() -> Self {
        Self::default()
    }

    /// The server at `url`, to the letter as clients use it: they compare it with what they were given.
    ///
    /// # Errors
    /// It is no HTTPS URL, nor one on localhost, or has a query.
    pub fn at(url: &str) -> Result<Self, ConfigError> {
        Ok(Self { url: Some(without_query("MCP_RESOURCE", url)?), ..Self::default() })
    }

    /// Tokens are issued by the authorization server `issuer`; the first that is added is the one that older clients are sent to.
    ///
    /// # Errors
    /// It is no HTTPS URL, nor one on localhost, or has a query.
    pub fn authorization_server(mut self, issuer: &str) -> Result<Self, ConfigError> {
        self.authorization_servers.push(without_query("MCP_AUTHORIZATION_SERVERS", issuer)?);
        Ok(self)
    }

    /// The scopes that a client should ask for.
    ///
    /// # Errors
    /// One is no scope, or is `offline_access`.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, ConfigError> {
        for scope in scopes {
            self.scopes.append(&mut scopes::list("MCP_SCOPES", &scope.into())?);
        }
        Ok(self)
    }

    /// The server's name for people.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Where people read about the server.
    #[must_use]
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// The document, for the server at `url`.
    pub(crate) fn metadata<'a>(&'a self, url: &'a SecureUrl) -> Metadata<'a> {
        Metadata {
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

/// The document of RFC 9728 §2.
#[derive(Serialize)]
pub(crate) struct Metadata<'a> {
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
