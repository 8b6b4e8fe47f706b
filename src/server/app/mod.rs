//! MCP Apps: user interfaces of tools, as HTML pages that a client shows in a frame.
//!
//! Source: ext-apps, specification 2026-01-26.

pub(crate) mod origin;

use std::rc::Rc;

use edge_json::object;
use futures::FutureExt;
use serde_json::{Map, Value};

use self::origin::{List, origin_problem};
use super::access::{Access, access_methods};
use super::builder::McpServerBuilder;
use super::cache::CacheHint;
use super::resource::{Contents, ContentsFuture, IntoContents, Resource};
use super::tool::{AppOfTool, Tool};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::handler::{AbsentArguments, Handler, Parameters};
use crate::limits::{APP_BYTES, APP_URI_BYTES};
use crate::protocol::description::{description_method, metadata_methods};
use crate::protocol::resource_contents::ResourceContents;
use crate::protocol::ui::{EXTENSION, MIME_TYPE, SCHEME, UI};
use crate::text::Text;

/// The size of a page above which the server logs a warning, in bytes.
const LARGE: u64 = 1 << 20;

/// A user interface for tools: an HTML page that the client shows in a frame ([MCP Apps](https://modelcontextprotocol.io/extensions/apps)).
///
/// [`Tool::ui`] makes a tool show it. A client without the extension shows the text of the tool's result, so the text must be useful alone.
/// The page gets the result, and can call tools of the server as the user. Clients do not let it send requests to origins that are not
/// listed: [`connect`](Self::connect) and [`resources`](Self::resources).
///
/// ```
/// use edge_mcp::{App, McpServer, Tool};
///
/// # macro_rules! include_str { ($file:literal) => { "<!doctype html><title>Parcels</title>" } }
/// let form = App::new("ui://parcels/form", include_str!("form.html")).title("Parcel form").connect("https://api.example.com");
/// let quote = Tool::new("quote", "Returns the price of a parcel.", || async { "12 €" }).ui(&form);
/// let refresh = Tool::new("refresh-quote", "Used by the form.", || async { "11 €" }).for_app_only();
/// let server = McpServer::builder("parcels", "1.0.0").app(form).tool(quote).tool(refresh).build()?;
/// # Ok::<_, edge_mcp::BuildError>(())
/// ```
#[must_use]
pub struct App {
    resource: Resource,
    access: Access,
    page_problem: Option<&'static str>,
    origins: Vec<(List, Text)>,
    permissions: Vec<AppPermission>,
    domain: Option<Text>,
    prefers_border: bool,
    is_for_development: bool,
    always_lists_tools: bool,
}

/// A permission that the page of an [`App`] asks of the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppPermission {
    /// The camera.
    Camera,
    /// The microphone.
    Microphone,
    /// The location of the device.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

impl AppPermission {
    const fn name(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Microphone => "microphone",
            Self::Geolocation => "geolocation",
            Self::ClipboardWrite => "clipboardWrite",
        }
    }
}

impl App {
    /// Creates the app at `uri`, such as `ui://parcels/form`. `html` is a whole document that begins with `<!doctype html>`, of at most 4 MiB.
    ///
    /// Clients may keep the page for long: change the URI with the page, for example `ui://parcels/form-2`.
    pub fn new(uri: impl Into<Text>, html: impl Into<Text>) -> Self {
        let (uri, html): (Text, Text) = (uri.into(), html.into());
        let problem = page_problem(&html);
        let size = u64::try_from(html.len()).unwrap_or(u64::MAX);
        let own_uri = uri.clone();
        let read = move |_: Context| {
            let contents = ResourceContents::of_text(own_uri.to_string(), html.clone());
            std::future::ready(Ok(Contents::of(vec![contents]))).boxed_local()
        };
        let resource = Resource::of_reader(uri, Box::new(read)).size(size);
        Self { page_problem: problem, ..Self::of_resource(resource) }
    }

    /// Creates the app at `uri`. `read` is an async function without parameters, or of the [`Context`]. It returns the HTML as text, or a
    /// `Result` of it. Use it if the page depends on the caller.
    pub fn of<P, H>(uri: impl Into<Text>, read: H) -> Self
    where
        P: Parameters<Arguments: AbsentArguments>,
        H: Handler<P, Output: IntoContents>,
    {
        Self::of_resource(Resource::new(uri, read))
    }

    fn of_resource(resource: Resource) -> Self {
        Self {
            resource: resource.mime_type(MIME_TYPE),
            access: Access::default(),
            page_problem: None,
            origins: Vec::new(),
            permissions: Vec::new(),
            domain: None,
            prefers_border: false,
            is_for_development: false,
            always_lists_tools: false,
        }
    }

    metadata_methods!(resource.description.metadata);
    description_method!(resource.description.metadata);
    access_methods!();

    /// Lets the page send requests to an origin: `https://api.example.com` or `wss://live.example.com`. The host may begin with `*.`.
    ///
    /// What a tool returns can leave through each origin that you list.
    pub fn connect(self, origin: impl Into<Text>) -> Self {
        self.origin(List::Connect, origin)
    }

    /// Lets the page load scripts, styles, images, fonts and media from an origin: `https://cdn.example.com`. Some clients do not support
    /// this, so put everything into the page itself if you can.
    pub fn resources(self, origin: impl Into<Text>) -> Self {
        self.origin(List::Resource, origin)
    }

    /// Lets the page show pages of an origin in frames.
    pub fn frames(self, origin: impl Into<Text>) -> Self {
        self.origin(List::Frame, origin)
    }

    /// Lets the page use an origin as its base URI.
    pub fn base_uri(self, origin: impl Into<Text>) -> Self {
        self.origin(List::BaseUri, origin)
    }

    fn origin(mut self, list: List, origin: impl Into<Text>) -> Self {
        self.origins.push((list, origin.into()));
        self
    }

    /// Asks the browser for a permission. A client may refuse it.
    pub fn permission(mut self, permission: AppPermission) -> Self {
        self.permissions.push(permission);
        self
    }

    /// Sets the origin that the page has in one client, such as `www-example-com.oaiusercontent.com`. Each client has its own form.
    pub fn domain(mut self, domain: impl Into<Text>) -> Self {
        self.domain = Some(domain.into());
        self
    }

    /// Sets whether the client draws a border around the page. The default is no border.
    pub fn prefers_border(mut self, border: bool) -> Self {
        self.prefers_border = border;
        self
    }

    /// Hides the app from `resources/list`. It can still be read.
    pub fn unlisted(mut self) -> Self {
        self.resource.is_listed = false;
        self
    }

    /// Lists the tools [for apps only](Tool::for_app_only) even for clients that declare no support for apps. Such a client may offer them to
    /// its model.
    pub fn always_list_tools(mut self) -> Self {
        self.always_lists_tools = true;
        self
    }

    /// Allows the origins `http://localhost:<port>`. Use it on your own machine only.
    pub fn for_development(mut self) -> Self {
        self.is_for_development = true;
        self
    }

    /// Sets the cache hint of the page. A page of [`App::of`] is private to its caller if it reads the caller.
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.resource.cache = Some(hint);
        self
    }

    pub(super) fn uri(&self) -> &Text {
        &self.resource.description.uri
    }

    /// Returns the problem with the app, as the predicate of a sentence.
    fn problem(&self) -> Option<String> {
        let uri = uri_problem(self.uri()).or(self.page_problem).map(str::to_owned);
        let of_origin = |(list, origin): &(List, Text)| origin_problem(*list, origin, self.is_for_development);
        uri.or_else(|| self.origins.iter().find_map(of_origin))
    }

    /// Returns the `_meta.ui` of the resource. Clients read it from the list and from the contents, so both have the same.
    fn settings(&self) -> Value {
        let mut csp = Map::new();
        for list in List::ALL {
            let origins = self.origins.iter().filter(|(of, _)| *of == list).map(|(_, origin)| origin.as_ref().into());
            let origins: Vec<Value> = origins.collect();
            if !origins.is_empty() {
                csp.insert(list.name().to_owned(), origins.into());
            }
        }
        let mut settings = vec![("csp", csp.into()), ("prefersBorder", self.prefers_border.into())];
        if !self.permissions.is_empty() {
            let permission = |permission: &AppPermission| (permission.name(), object(Vec::new()));
            settings.push(("permissions", object(self.permissions.iter().map(permission).collect())));
        }
        settings.extend(self.domain.as_deref().map(|domain| ("domain", domain.into())));
        object(settings)
    }

    fn into_resource(self) -> Resource {
        let settings = Rc::new(self.settings());
        let Self { resource: Resource { read, description, .. }, access, .. } = self;
        let of_contents = settings.clone();
        let read = move |cx: Context| -> ContentsFuture {
            let settings = of_contents.clone();
            read(cx).map(move |contents| page(contents?.parts, &settings).map(Contents::of)).boxed_local()
        };
        let description = description.meta(UI, Value::clone(&settings));
        Resource { description, access, read: Box::new(read), ..self.resource }
    }
}

fn page(contents: Vec<ResourceContents>, settings: &Value) -> Result<Vec<ResourceContents>, HandlerError> {
    let broken =
        |problem: &str| HandlerError::new("The page of this app cannot be shown.").because(format!("it {problem}"));
    let Ok([page]) = <[ResourceContents; 1]>::try_from(contents) else {
        return Err(broken("must be one text"));
    };
    let html = page.as_text().ok_or_else(|| broken("must be a text"))?;
    if let Some(problem) = page_problem(html) {
        return Err(broken(problem));
    }
    Ok(vec![page.mime_type(MIME_TYPE).meta(UI, settings.clone())])
}

/// Returns the problem with the HTML of a page, as the predicate of a sentence.
fn page_problem(html: &str) -> Option<&'static str> {
    const DOCTYPE: &str = "<!doctype html";
    let begins_well = html.trim_start().get(..DOCTYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(DOCTYPE));
    if !begins_well {
        Some("must begin with `<!doctype html>`")
    } else if html.contains('\0') {
        Some("must not contain NUL")
    } else if html.len() > APP_BYTES {
        Some("has more than 4 MiB: load data with a tool instead")
    } else {
        None
    }
}

/// Returns the problem with the URI of an app, as the predicate of a sentence.
pub(crate) fn uri_problem(uri: &str) -> Option<&'static str> {
    let Some(rest) = uri.strip_prefix(SCHEME) else { return Some("must have a URI that begins with `ui://`") };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
    let segments_are_plain = rest.split('/').all(|segment| !matches!(segment, "" | "." | ".."));
    if uri.len() > APP_URI_BYTES {
        Some("has a URI of more than 512 bytes")
    } else if !segments_are_plain || !rest.bytes().all(is_plain) {
        Some("must have a URI such as `ui://parcels/form`, without a query, a fragment or percent-encoding")
    } else {
        None
    }
}

impl Tool {
    /// Shows the result of the tool in a user interface, if the client supports [MCP Apps](https://modelcontextprotocol.io/extensions/apps).
    /// The server needs the app too: [`McpServerBuilder::app`](crate::McpServerBuilder::app). Every caller of the tool must be able to read
    /// the app: the scopes of the app must be among those of the tool.
    ///
    /// The result also needs a text that is useful alone: other clients show only the text. [`Json`](crate::Json) has both.
    pub fn ui(mut self, app: &App) -> Self {
        self.app = Some(AppOfTool { uri: app.uri().clone(), problem: problem_of_tool });
        self.describe_ui();
        self
    }
}

impl McpServerBuilder {
    /// Adds an app, and declares the extension `io.modelcontextprotocol/ui`.
    pub fn app(mut self, app: App) -> Self {
        let definitions = &mut self.definitions;
        definitions.extensions.entry(EXTENSION).or_insert_with(|| object(Vec::new()));
        definitions.lists_app_tools |= app.always_lists_tools;
        if let Some(problem) = app.problem() {
            definitions.item_problem.get_or_insert_with(|| ("app", app.uri().clone(), problem));
        }
        if app.resource.description.get_size().is_some_and(|size| size > LARGE) {
            let size = "has more than 1 MiB, and each client reads all of it: load data with a tool instead";
            definitions.warnings.push(format!("the app `{}` {size}", app.uri()));
        }
        self.resource(app.into_resource())
    }
}

/// Returns the problem with the app of a tool, as the predicate of a sentence. Every caller of the tool must be able to read the page.
fn problem_of_tool(uri: &str, tool: &Tool, resource: Option<&Resource>) -> Option<String> {
    let app = resource.filter(|resource| resource.description.mime_type.as_deref() == Some(MIME_TYPE));
    let Some(Resource { access, .. }) = app else {
        return Some(format!("shows the app `{uri}`, which the server does not have; add it with `.app(…)`"));
    };
    if access.shown.is_some() != tool.access.shown.is_some() {
        return Some(format!("must have a `visible_if` if and only if its app `{uri}` has one"));
    }
    let missing = access.scopes.iter().find(|scope| !tool.access.scopes.contains(scope))?;
    Some(format!("must require the scope `{missing}`, because its app `{uri}` does"))
}
