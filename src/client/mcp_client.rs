//! The client and its builder.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_json::write::ObjectWriter;
use http::HeaderValue;
use serde_json::value::RawValue;

use super::operations::list_cache::ListCache;
use super::session::negotiation::Knowledge;
use super::upstream::Upstream;
use crate::server::build_error::BuildError;
use crate::text::Text;

/// The longest name of a server, in bytes.
const NAME: usize = 24;

/// A client of other MCP servers. Cloning is cheap.
///
/// A client holds the settings and the revisions of its servers, cached lists, and tokens of the program itself. It holds no connection, no
/// session and no credential of a caller. Create it once: a new client must negotiate and list again.
///
/// ```
/// use edge_mcp::client::{McpClient, Upstream};
///
/// let client = McpClient::builder("desk", "1.0.0")
///     .server("weather", Upstream::at("https://weather.example.com/mcp")?)
///     .build()?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct McpClient(pub(super) Rc<ClientSettings>);

pub(super) struct ClientSettings {
    /// The name and the version, as JSON text.
    pub info: Box<RawValue>,
    pub user_agent: HeaderValue,
    pub servers: Vec<Rc<Server>>,
    pub lists: ListCache,
    /// The name of the gateway that uses the client, which each request has in its `_meta`.
    pub gateway: Option<Text>,
}

pub(super) struct Server {
    pub name: Text,
    pub upstream: Upstream,
    /// The knowledge from answers of the server, and the time until which it is valid, in milliseconds since 1970.
    pub learned: RefCell<(Knowledge, u64)>,
    /// Whether the server declares skills, and then whether it lists their folders, and the time until which this is known.
    pub skills: Cell<(Option<bool>, u64)>,
    /// The number of times that the server said that its lists have changed.
    pub changes: Cell<u64>,
}

/// Builds an [`McpClient`].
#[must_use]
pub struct McpClientBuilder {
    name: Text,
    version: Text,
    servers: Vec<(Text, Upstream)>,
    gateway: Option<Text>,
}

impl McpClient {
    /// Creates a builder for a client with this name and version, which it sends to its servers.
    pub fn builder(name: impl Into<Text>, version: impl Into<Text>) -> McpClientBuilder {
        McpClientBuilder { name: name.into(), version: version.into(), servers: Vec::new(), gateway: None }
    }

    /// Returns the names of the servers.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.0.servers.iter().map(|server| &*server.name)
    }

    pub(super) fn sign_in_pages(&self) -> Vec<&str> {
        self.0.servers.iter().filter_map(|server| server.upstream.sign_in_page()).collect()
    }

    pub(super) fn server(&self, name: &str) -> Option<&Rc<Server>> {
        self.0.servers.iter().find(|server| server.name == name)
    }
}

impl McpClientBuilder {
    /// Adds a server. Its name is the prefix of the full names of its tools. It begins with a letter and has at most 24 letters, digits and
    /// hyphens.
    pub fn server(mut self, name: impl Into<Text>, upstream: Upstream) -> Self {
        self.servers.push((name.into(), upstream));
        self
    }

    /// Makes the client that of a gateway with this name.
    #[cfg(feature = "gateway")]
    pub(crate) fn gateway(mut self, name: Text) -> Self {
        self.gateway = Some(name);
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    /// [`BuildError`] names the first server with an invalid name, or with a name that is used twice. Case does not matter. An
    /// [untrusted](Upstream::untrusted) server must not get a secret of the program.
    pub fn build(self) -> Result<McpClient, BuildError> {
        let Self { name, version, servers, gateway } = self;
        for (nth, (name, _)) in servers.iter().enumerate() {
            if !is_name(name) {
                let problem = "must begin with a letter and have at most 24 letters, digits and hyphens";
                return Err(BuildError::new("server name of the client", name.clone(), problem));
            }
            if servers.iter().take(nth).any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                return Err(BuildError::new("server name of the client", name.clone(), "is used twice"));
            }
        }
        for (name, upstream) in &servers {
            if upstream.is_untrusted && upstream.sends_secrets() {
                let problem = "is untrusted, so it must not get a token, a header or client credentials of this program, or a header or \
                     `_meta` of its caller";
                return Err(BuildError::new("server name of the client", name.clone(), problem));
            }
        }
        let server = |(name, upstream)| {
            let learned = RefCell::new((Knowledge::Nothing, 0));
            Rc::new(Server { name, upstream, learned, skills: Cell::default(), changes: Cell::default() })
        };
        let servers = servers.into_iter().map(server).collect();
        let lists = ListCache::default();
        let info = ObjectWriter::new().text("name", &name).text("version", &version).finish_raw();
        Ok(McpClient(Rc::new(ClientSettings {
            info,
            user_agent: user_agent(&name, &version),
            servers,
            lists,
            gateway,
        })))
    }
}

pub(super) fn is_name(name: &str) -> bool {
    name.len() <= NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the `User-Agent` header. Characters that a product name cannot have are replaced.
fn user_agent(name: &str, version: &str) -> HeaderValue {
    let clean = |text: &str| {
        let allowed = |c: char| if c.is_ascii_alphanumeric() || "-._+".contains(c) { c } else { '-' };
        text.chars().take(64).map(allowed).collect::<String>()
    };
    let own = concat!("edge-mcp/", env!("CARGO_PKG_VERSION"));
    let text = format!("{}/{} {own}", clean(name), clean(version));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(own))
}
