//! The settings of the sign-in of persons.

use std::fmt;
use std::rc::Rc;

use edge_json::write;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response};

use super::own_client::OwnClient;
use super::sealed::TokenKeys;
use super::token_store::TokenStore;
use crate::client::oauth::registration::ClientMetadata;
use crate::config::{ConfigError, SecureUrl};
use crate::host::path_of;

/// This program as an OAuth client with which persons sign in to other MCP servers.
///
/// The program has three pages: one at the URL of [`new`](Self::new), which begins a sign-in ([`begin`](Self::begin)), one at
/// `<url>/callback`, which finishes it ([`finish`](Self::finish)), and the metadata of the client at `<url>/client.json`
/// ([`metadata_document`](Self::metadata_document)). The page `docs/sign-in.md` has the code.
///
/// [`Upstream::sign_in`](crate::client::Upstream::sign_in) uses the tokens of the caller of a handler. A call of a server to which the
/// caller has not signed in fails with [`Failure::SignInRequired`](crate::client::Failure::SignInRequired), which has a link.
/// [`Call::ask_caller`](crate::client::Call::ask_caller) asks the caller to open the link, and then continues.
///
/// A clone has the same settings.
///
/// ```
/// use edge_mcp::client::{MemoryTokens, SignIn, TokenKeys, Upstream};
///
/// let keys = TokenKeys::from_text("MCP_TOKEN_KEY", Some("0123456789abcdef0123456789abcdef"))?;
/// let sign_in = SignIn::new("Desk", "https://desk.example.com/sign-in", keys, MemoryTokens::new())?;
/// let tracker = Upstream::at("https://tracker.example.com/mcp")?.sign_in(&sign_in);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct SignIn(pub(super) Rc<SignInSettings>);

#[derive(Clone)]
pub(in crate::client) struct SignInSettings {
    /// The name of this program, which authorization servers show to persons.
    pub name: String,
    /// The URL of the page that begins a sign-in.
    pub url: SecureUrl,
    pub keys: TokenKeys,
    pub store: Rc<dyn TokenStore>,
    /// The URL of the metadata document of this client. It is the client id.
    pub document: Option<SecureUrl>,
    /// Whether this client registers itself if it has no client id.
    pub registers: bool,
    pub clients: Vec<OwnClient>,
    pub scopes: Vec<String>,
    /// The issuers that support PKCE, although their metadata does not say so.
    pub trusted_pkce: Vec<String>,
    /// The issuers whose endpoints may be on other hosts.
    pub trusted_issuers: Vec<String>,
    /// Whether a person must press a button before the sign-in begins.
    pub asks_consent: bool,
}

impl SignIn {
    /// Creates the settings. Authorization servers show the `name` of the program to persons. `url` is the public URL of the page that begins
    /// a sign-in.
    ///
    /// If the URL is an `https:` URL, the client id for authorization servers that support it is the URL of the metadata document.
    ///
    /// # Errors
    /// `url` is neither an `https:` URL nor on localhost, or it has a query.
    pub fn new(name: &str, url: &str, keys: TokenKeys, store: impl TokenStore + 'static) -> Result<Self, ConfigError> {
        const WHAT: &str = "the URL of the sign-in page";
        let url = SecureUrl::parse(url.trim_end_matches('/')).map_err(|problem| ConfigError::new(WHAT, problem))?;
        if url.has_query() {
            return Err(ConfigError::new(WHAT, "must not have a query"));
        }
        let document = SecureUrl::parse(&format!("{}/client.json", url.as_str())).ok().filter(SecureUrl::is_https);
        Ok(Self(Rc::new(SignInSettings {
            name: name.to_owned(),
            url,
            keys,
            store: Rc::new(store),
            document,
            registers: false,
            clients: Vec::new(),
            scopes: Vec::new(),
            trusted_pkce: Vec::new(),
            trusted_issuers: Vec::new(),
            asks_consent: false,
        })))
    }

    /// Uses a client that you registered at an authorization server, for the servers that [`OwnClient::server`] names.
    ///
    /// Persons sign in to these servers only with the clients that you registered for them. Other servers cannot use the authorization servers
    /// of these clients.
    pub fn client(self, client: OwnClient) -> Self {
        self.with(|settings| settings.clients.push(client))
    }

    /// Sets the URL of the metadata document of this client, if another server than this program serves it.
    ///
    /// # Errors
    /// `url` is not an `https:` URL with a path.
    pub fn document_at(self, url: &str) -> Result<Self, ConfigError> {
        let document = SecureUrl::parse(url).ok().filter(|url| url.is_https() && path_of(url.as_str()) != "/");
        let problem = "must be an https: URL with a path";
        let document = document.ok_or_else(|| ConfigError::new("the URL of the client metadata document", problem))?;
        Ok(self.with(|settings| settings.document = Some(document)))
    }

    /// Registers this client at an authorization server for which it has no client id and which does not read metadata documents (RFC 7591).
    ///
    /// Revision 2026-07-28 of the protocol deprecates this. A revision from 2027-07-28 on can remove it. Use a
    /// [client metadata document](Self::document_at) instead, if the authorization server reads such documents.
    pub fn dynamic_registration(self) -> Self {
        self.with(|settings| settings.registers = true)
    }

    /// Requests these scopes from a server that names none.
    pub fn scopes(self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(|settings| settings.scopes = scopes.into_iter().map(Into::into).collect())
    }

    /// States that the authorization server `issuer` supports PKCE with `S256`, although its metadata does not say so. Without PKCE, a
    /// stolen code could be used.
    pub fn trust_pkce(self, issuer: &str) -> Self {
        self.with(|settings| settings.trusted_pkce.push(issuer.to_owned()))
    }

    /// States that the endpoints of the authorization server `issuer` may be on other hosts than the issuer itself.
    ///
    /// Otherwise, such an authorization server is not used, because a server that an attacker controls could send the browser to another
    /// authorization server, and would get its code. The issuer of an [`OwnClient`] is trusted for the servers of this client.
    pub fn trust_issuer(self, issuer: &str) -> Self {
        self.with(|settings| settings.trusted_issuers.push(issuer.to_owned()))
    }

    /// Shows a page before each sign-in, with the server, the host to which the browser goes, the authorization server and the scopes. The
    /// sign-in begins when the person presses its button. Use it if the program does not decide which servers there are, for example in a
    /// gateway: an authorization server that knows the person could otherwise give access without a question.
    ///
    /// For an [untrusted](crate::client::Upstream::untrusted) server, the page is always shown.
    pub fn ask_consent(self) -> Self {
        self.with(|settings| settings.asks_consent = true)
    }

    /// Returns the metadata document of this client, for the page at `<url>/client.json`. Its URL is the client id, and authorization servers read
    /// it (Internet-Draft "OAuth Client ID Metadata Document").
    pub fn metadata_document(&self) -> Response<Vec<u8>> {
        let SignInSettings { name, document, .. } = &*self.0;
        let own = format!("{}/client.json", self.0.url.as_str());
        let redirect_uri = self.0.redirect_uri();
        let client_id = document.as_ref().map_or(&*own, |url| url.as_str());
        let document = ClientMetadata::new(name, &redirect_uri).client_id(client_id);
        // Strings always serialize.
        let mut response = Response::new(write::to_vec(&document).unwrap_or_default());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
        response
    }

    /// Returns the URL of the page that begins a sign-in.
    pub(in crate::client) fn url(&self) -> &SecureUrl {
        &self.0.url
    }

    fn with(mut self, change: impl FnOnce(&mut SignInSettings)) -> Self {
        change(Rc::make_mut(&mut self.0));
        self
    }
}

impl SignInSettings {
    /// Returns the URL to which authorization servers send the browser back.
    pub(super) fn redirect_uri(&self) -> String {
        format!("{}/callback", self.url.as_str())
    }

    /// Returns the client with this id that the operator registered at an authorization server.
    pub(super) fn own_client(&self, issuer: &str, id: &str) -> Option<&OwnClient> {
        self.clients.iter().find(|own| own.issuer == issuer && own.id == id)
    }

    /// Returns whether a client id is the URL of the metadata document.
    pub(super) fn is_document(&self, id: &str) -> bool {
        self.document.as_ref().is_some_and(|document| document.as_str() == id)
    }

    /// Returns the scopes that the operator allows for a server at an authorization server, or `None` if the operator has no client there.
    pub(super) fn allowed_scopes(&self, issuer: &str, server: &str) -> Option<&[String]> {
        self.clients.iter().filter(|own| own.issuer == issuer).find_map(|own| own.scopes_for(server))
    }
}

impl fmt::Debug for SignIn {
    /// Writes the name and the URL, but no key and no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SignInSettings { name, url, .. } = &*self.0;
        f.debug_struct("SignIn").field("name", name).field("url", &url.as_str()).finish_non_exhaustive()
    }
}
