//! The HTTP request that a server is built for.

use std::any::Any;
use std::cell::{Cell, RefCell};
#[cfg(feature = "gateway")]
use std::net::IpAddr;
use std::rc::Rc;

use super::client_extensions::{ClientDetails, ClientSupport};
use super::state::{MissingState, State};
use super::task_info::TaskService;
use crate::auth::{Principal, StateKeys};
use crate::config::ConfigError;
use crate::host::{Request, path_of};
use crate::limits::FOREIGN_SCHEMAS_STEPS;
use crate::protocol::description::Implementation;
use crate::schema::CheckSteps;

/// The headers with a credential of the caller. The program sees only those that it [names](crate::Endpoint::expose_header).
const CREDENTIALS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// The credentials that a program sees: a bit for each of [`CREDENTIALS`].
#[derive(Clone, Copy, Default)]
pub(crate) struct ExposedHeaders(u8);

impl ExposedHeaders {
    pub(crate) fn add(&mut self, name: &str) {
        self.0 |= bit(name);
    }

    /// Returns whether the program sees a header: a credential only if it is exposed.
    fn contains(self, name: &str) -> bool {
        let bit = bit(name);
        self.0 & bit == bit
    }
}

/// Returns the bit of a credential, or 0 for another header.
fn bit(name: &str) -> u8 {
    CREDENTIALS.iter().position(|credential| name.eq_ignore_ascii_case(credential)).map_or(0, |nth| 1 << nth)
}

/// Data that differs between callers. If the program reads it, the answer must not be cached for other callers.
pub(crate) struct PerCaller<T>(T);

impl<T> PerCaller<T> {
    pub(crate) fn new(data: T) -> Self {
        Self(data)
    }

    /// Returns the data, and makes the answer to `request` private to its caller.
    pub(crate) fn read(&self, request: &RequestInfo) -> &T {
        request.shared.was_read.set(true);
        &self.0
    }

    /// Returns the data for a check whose outcome is not visible in a cached answer.
    fn check(&self) -> &T {
        &self.0
    }
}

/// The HTTP request that a server is built for. Cloning is cheap.
#[derive(Clone)]
pub struct RequestInfo {
    shared: Rc<Shared>,
    /// The part that each message of a batch has for itself.
    client: Rc<PerCaller<ClientDetails>>,
}

/// The part of an endpoint that its requests can use.
#[derive(Default)]
pub(crate) struct Services {
    pub state: State,
    /// The service for durable tasks, if the endpoint has one.
    pub tasks: Option<TaskService>,
    /// The keys of the endpoint, or the error in their configuration.
    pub state_keys: Option<Rc<Result<StateKeys, ConfigError>>>,
    /// The configured URL of the endpoint.
    pub url: Option<Box<str>>,
    pub exposed: ExposedHeaders,
}

/// The data that all clones of a request share.
struct Shared {
    head: PerCaller<Rc<dyn Request>>,
    principal: PerCaller<Option<Principal>>,
    /// Whether the endpoint authenticates its callers, but not the one of this request.
    is_unidentified: bool,
    /// Whether data that differs between callers was read.
    was_read: Cell<bool>,
    extensions: RefCell<Vec<Rc<dyn Any>>>,
    state: RefCell<State>,
    tasks: Option<TaskService>,
    state_keys: Option<Rc<Result<StateKeys, ConfigError>>>,
    resource: Option<Box<str>>,
    exposed: ExposedHeaders,
    argument_steps: CheckSteps,
    result_steps: CheckSteps,
    foreign: ForeignSteps,
}

/// The steps that are left for schemas of other servers.
pub(crate) struct ForeignSteps {
    /// The steps to compile schemas.
    pub compilation: Cell<u32>,
    /// The steps to check results, and answers to forms.
    pub checks: CheckSteps,
}

impl Default for ForeignSteps {
    fn default() -> Self {
        Self { compilation: Cell::new(FOREIGN_SCHEMAS_STEPS), checks: CheckSteps::default() }
    }
}

impl RequestInfo {
    /// Creates the request of work that no request started, such as a cron trigger: it has no headers and no caller.
    pub fn none() -> Self {
        Self::new(Rc::new(http::Request::new(()).into_parts().0), None)
    }

    /// Creates the request that `principal` sent, for a [`Context::for_program`](crate::Context::for_program).
    pub fn new(head: Rc<dyn Request>, principal: Option<Principal>) -> Self {
        Self::of_endpoint(head, principal, ClientDetails::default(), false, Services::default())
    }

    /// Creates the request that `principal` sent to an endpoint. Pages need no token. If calls of their endpoint need one,
    /// the caller of a page `is_unidentified`, and has no scope.
    pub(crate) fn of_endpoint(
        head: Rc<dyn Request>,
        principal: Option<Principal>,
        client: ClientDetails,
        is_unidentified: bool,
        Services { state, tasks, state_keys, url, exposed }: Services,
    ) -> Self {
        let shared = Shared {
            head: PerCaller::new(head),
            principal: PerCaller::new(principal),
            is_unidentified,
            was_read: Cell::new(false),
            extensions: RefCell::default(),
            state: RefCell::new(state),
            tasks,
            state_keys,
            resource: url,
            exposed,
            argument_steps: CheckSteps::default(),
            result_steps: CheckSteps::default(),
            foreign: ForeignSteps::default(),
        };
        Self { shared: Rc::new(shared), client: Rc::new(PerCaller::new(client)) }
    }

    /// Returns the request as a message of its batch sees it.
    pub(crate) fn of_message(&self, client: ClientDetails) -> Self {
        Self { shared: self.shared.clone(), client: Rc::new(PerCaller::new(client)) }
    }

    /// Returns the configured URL of the endpoint, if there is one.
    pub(crate) fn resource(&self) -> Option<&str> {
        self.shared.resource.as_deref()
    }

    /// Returns the name and version of the client, if it sent them in this request.
    pub(crate) fn client_info(&self) -> Option<&Implementation> {
        self.client.read(self).info()
    }

    /// Returns the service that runs durable tasks, if the endpoint has one.
    pub(crate) fn tasks(&self) -> Option<&TaskService> {
        self.shared.tasks.as_ref()
    }

    /// Returns the keys of the endpoint, if it has valid ones.
    pub(crate) fn state_keys(&self) -> Option<&StateKeys> {
        self.shared.state_keys.as_deref()?.as_ref().ok()
    }

    /// Returns the keys of the endpoint, or the error in their configuration.
    pub(crate) fn configured_keys(&self) -> Option<&Result<StateKeys, ConfigError>> {
        self.shared.state_keys.as_deref()
    }

    /// Returns the steps that are left for checks of arguments and of answers to questions. The messages of a batch share them.
    pub(crate) fn argument_steps(&self) -> &CheckSteps {
        &self.shared.argument_steps
    }

    /// Returns the steps that are left for checks of results. The messages of a batch share them.
    pub(crate) fn result_steps(&self) -> &CheckSteps {
        &self.shared.result_steps
    }

    /// Returns the steps that are left for schemas of other servers. All calls of other servers in a request share them.
    pub(crate) fn foreign_steps(&self) -> &ForeignSteps {
        &self.shared.foreign
    }

    /// Returns the caller, for a check whose outcome is not visible in a cached answer.
    pub(crate) fn checked_caller(&self) -> Option<&Principal> {
        self.shared.principal.check().as_ref()
    }

    /// Returns the IP address that the request came from, if it is known, for a check whose outcome is not visible in a cached answer.
    #[cfg(feature = "gateway")]
    pub(crate) fn client_address(&self) -> Option<IpAddr> {
        self.shared.head.check().client_address()
    }

    /// Returns whether the endpoint authenticates its callers, but not the one of this request. Such a caller has no scope.
    pub(crate) fn is_unidentified(&self) -> bool {
        self.shared.is_unidentified
    }

    /// Returns whether data that differs between callers was read.
    pub(crate) fn depends_on_caller(&self) -> bool {
        self.shared.was_read.get()
    }

    /// Returns the HTTP header `name`. Names are case-insensitive. The credentials of the caller (`Authorization`, `Cookie` and
    /// `Proxy-Authorization`) are absent, unless the program names them with [`Endpoint::expose_header`](crate::Endpoint::expose_header).
    pub fn header(&self, name: &str) -> Option<String> {
        if !self.shared.exposed.contains(name) {
            return None;
        }
        self.shared.head.read(self).header(name)
    }

    /// Returns the cookies, for a page of this library.
    #[cfg(feature = "client")]
    pub(crate) fn cookies(&self) -> String {
        self.shared.head.read(self).header("cookie").unwrap_or_default()
    }

    /// Adds a value to the state of work without a request to an endpoint. As for [`Endpoint::state`](crate::Endpoint::state), a second
    /// value of the same type is a mistake: [`state`](Self::state) then returns an error for this type.
    pub fn add_state<T: 'static>(&self, value: T) {
        self.shared.state.borrow_mut().add(value);
    }

    /// Returns the value of type `T` that [`Endpoint::state`](crate::Endpoint::state) shares between all requests.
    ///
    /// # Errors
    /// [`MissingState`] if there is no such value, or if there are two. It names the types that the endpoint has.
    ///
    /// ```
    /// use edge_mcp::{BuildError, McpServer, RequestInfo, Tool};
    ///
    /// struct Features {
    ///     export: bool,
    /// }
    ///
    /// fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    ///     let server = McpServer::builder("parcels", "1.0.0");
    ///     let export = || Tool::new("export", "Exports all parcels.", async || "done");
    ///     if request.state::<Features>()?.export { server.tool(export()).build() } else { server.build() }
    /// }
    /// ```
    pub fn state<T: 'static>(&self) -> Result<Rc<T>, MissingState> {
        self.shared.state.borrow().get()
    }

    /// Stores `value` for the handlers of this request. It replaces an earlier value of the same type. Handlers read it with
    /// [`Context::extension`](crate::Context::extension).
    ///
    /// ```
    /// use edge_mcp::{BuildError, Context, McpServer, RequestInfo, Tool};
    ///
    /// struct Tenant(String);
    ///
    /// fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    ///     request.extend(Tenant(request.header("X-Tenant").unwrap_or_default()));
    ///     let tenant = |cx: Context| async move { cx.extension::<Tenant>().map_or(String::new(), |tenant| tenant.0.clone()) };
    ///     McpServer::builder("tenants", "1.0.0").tool(Tool::new("tenant", "Names the tenant.", tenant)).build()
    /// }
    /// ```
    pub fn extend<T: 'static>(&self, value: T) {
        let mut extensions = self.shared.extensions.borrow_mut();
        extensions.retain(|kept| !kept.is::<T>());
        extensions.push(Rc::new(value));
    }

    /// Returns the stored value of type `T`.
    pub fn extension<T: 'static>(&self) -> Option<Rc<T>> {
        self.shared.extensions.borrow().iter().find_map(|kept| kept.clone().downcast().ok())
    }

    /// Returns whether the client supports an extension of the protocol, such as `com.example/ledger`. It makes the answer private to the
    /// caller: another client of the same caller may not support the extension.
    ///
    /// ```
    /// use edge_mcp::call::ClientSupport;
    /// use edge_mcp::Tool;
    ///
    /// let watch = Tool::new("watch-entry", "Watches an entry of the ledger.", async || "watching").visible_if(|request| {
    ///     !matches!(request.client_supports("com.example/ledger"), ClientSupport::No)
    /// });
    /// ```
    pub fn client_supports(&self, extension: &str) -> ClientSupport {
        self.client.read(self).supports(extension)
    }

    /// Returns the `_meta` of the request's parameters, as it was sent.
    pub(crate) fn meta(&self) -> Option<&str> {
        self.client.read(self).meta.as_deref()
    }

    /// Returns the path of the URL, without the query.
    pub fn path(&self) -> String {
        // Every request to an endpoint has the same path, so the path does not differ between callers.
        path_of(&self.shared.head.check().url()).to_owned()
    }

    /// Returns the HTTP method of the request.
    #[cfg(feature = "client")]
    pub(crate) fn method(&self) -> String {
        // A method is not data of the caller.
        self.shared.head.check().method()
    }

    /// Returns the URL of the request. Its host comes from the client.
    pub(crate) fn url(&self) -> String {
        self.shared.head.read(self).url()
    }

    /// Returns the caller, or `None` on an endpoint without authentication.
    pub fn caller(&self) -> Option<&Principal> {
        self.shared.principal.read(self).as_ref()
    }
}
