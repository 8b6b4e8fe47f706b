//! Resources and resource templates.

use std::collections::BTreeMap;
use std::time::Duration;

use edge_uri_template::{UriTemplate, UriTemplateError};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::access::{Access, access_methods};
use super::cache::CacheHint;
use super::completion::{Completion, Completions};
use super::list::IntoList;
use super::variables;
use crate::call::context::Context;
use crate::call::deadline::{DEADLINE, deadline_method};
use crate::call::error::{HandlerError, IntoHandlerError};
use crate::call::handler::{AbsentArguments, Handler, Parameters};
use crate::protocol::description::{
    Annotations, Metadata, ResourceDescription, ResourceTemplateDescription, description_method, metadata_methods,
};
use crate::protocol::resource_contents::ResourceContents;
use crate::text::Text;

/// The types that a resource's handler may return.
///
/// | returned | the caller gets |
/// |---|---|
/// | `String`, `&'static str` | text, at the requested URI |
/// | `Vec<u8>` | these bytes, as base64 |
/// | [`ResourceContents`], `Vec<ResourceContents>` | these contents, each with its own URI |
/// | `Option<one of them>` | these contents; for `None`, a "not found" error |
/// | `Result<one of them, E>` | these contents, or an error; its cause is logged |
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "the handler must return text, bytes, `ResourceContents`, or an `Option` or a `Result` of one of them",
    note = "return a struct as JSON text: `serde_json::to_string(&value)?`, with `.mime_type(\"application/json\")` on the resource"
)]
pub trait IntoContents {
    /// Converts the value into the contents of the resource at `uri`.
    ///
    /// # Errors
    /// The handler's own error.
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, HandlerError>;
}

impl IntoContents for Vec<ResourceContents> {
    fn into_contents(self, _: &str) -> Result<Vec<ResourceContents>, HandlerError> {
        Ok(self)
    }
}

impl IntoContents for ResourceContents {
    fn into_contents(self, _: &str) -> Result<Vec<ResourceContents>, HandlerError> {
        Ok(vec![self])
    }
}

impl IntoContents for String {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, HandlerError> {
        Ok(vec![ResourceContents::text(uri, self)])
    }
}

impl IntoContents for &'static str {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, HandlerError> {
        Ok(vec![ResourceContents::of_text(uri.to_owned(), self.into())])
    }
}

impl IntoContents for Vec<u8> {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, HandlerError> {
        Ok(vec![ResourceContents::blob(uri, &self)])
    }
}

impl<T: IntoContents> IntoContents for Option<T> {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, HandlerError> {
        self.ok_or_else(|| HandlerError::not_found(NOT_FOUND))?.into_contents(uri)
    }
}

impl<T: IntoContents, E: IntoHandlerError> IntoContents for Result<T, E> {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, HandlerError> {
        self.map_err(E::into_handler_error)?.into_contents(uri)
    }
}

/// The message for a resource that does not exist.
pub(crate) const NOT_FOUND: &str =
    "Resource not found. Call resources/list and resources/templates/list for the available resources.";

/// The contents of a resource, and the `_meta` of the result.
pub(crate) struct Contents {
    pub parts: Vec<ResourceContents>,
    pub meta: Option<Map<String, Value>>,
    /// Whether another server sent the contents. It may have sent none.
    pub is_foreign: bool,
}

impl Contents {
    pub(crate) fn of(parts: Vec<ResourceContents>) -> Self {
        Self { parts, meta: None, is_foreign: false }
    }
}

pub(crate) type ContentsFuture = LocalBoxFuture<'static, Result<Contents, HandlerError>>;
pub(crate) type ListFuture = LocalBoxFuture<'static, Result<Vec<ResourceDescription>, HandlerError>>;
type TemplateVariables = BTreeMap<String, String>;
type ReadResource = Box<dyn Fn(Context) -> ContentsFuture>;
type ReadTemplate = Box<dyn Fn(&str, TemplateVariables, Context) -> ContentsFuture>;
type ListTemplate = Box<dyn Fn(Context) -> ListFuture>;

/// The builder methods of resources and templates.
macro_rules! described_methods {
    ($description:ident) => {
        /// Sets the name for programs. The default is the URI or the template.
        pub fn name(mut self, name: impl Into<Text>) -> Self {
            self.$description.metadata.name = name.into();
            self
        }

        metadata_methods!($description.metadata);
        description_method!($description.metadata);

        /// Sets the media type of contents that do not have their own media type.
        pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
            self.$description.mime_type = Some(mime_type.into());
            self
        }

        /// Sets the audience and the priority.
        pub fn annotations(mut self, annotations: Annotations) -> Self {
            self.$description.annotations = Some(annotations);
            self
        }

        /// Sets the cache hint of the contents.
        pub fn cache(mut self, hint: CacheHint) -> Self {
            self.cache = Some(hint);
            self
        }
    };
}

/// A resource at one URI.
///
/// ```
/// use edge_mcp::Resource;
///
/// async fn motd() -> &'static str {
///     "Hello"
/// }
///
/// let motd = Resource::new("info://motd", motd).name("Message of the day").mime_type("text/plain");
/// ```
#[must_use]
pub struct Resource {
    pub(crate) description: ResourceDescription,
    pub(crate) access: Access,
    pub(crate) cache: Option<CacheHint>,
    pub(crate) deadline: Duration,
    /// Whether `resources/list` has the resource.
    pub(crate) is_listed: bool,
    pub(crate) read: ReadResource,
}

impl Resource {
    /// Creates the resource at `uri`. `read` is an async function without parameters, or of the [`Context`].
    pub fn new<P, H>(uri: impl Into<Text>, read: H) -> Self
    where
        P: Parameters<Arguments: AbsentArguments>,
        H: Handler<P, Output: IntoContents>,
    {
        let uri: Text = uri.into();
        let own_uri = uri.clone();
        let read = move |cx| {
            let uri = own_uri.clone();
            read.call(P::of_call(P::Arguments::absent(), cx))
                .map(move |contents| contents.into_contents(&uri).map(Contents::of))
                .boxed_local()
        };
        Self::of_reader(uri, Box::new(read))
    }

    pub(crate) fn of_reader(uri: Text, read: ReadResource) -> Self {
        Self {
            description: ResourceDescription::new(uri.clone(), uri),
            access: Access::default(),
            cache: None,
            deadline: DEADLINE,
            is_listed: true,
            read,
        }
    }

    described_methods!(description);
    access_methods!();
    deadline_method!();

    /// Sets the size of the content before encoding, in bytes.
    pub fn size(mut self, bytes: u64) -> Self {
        self.description = self.description.size(bytes);
        self
    }
}

/// A resource template: a family of resources with a URI template.
///
/// ```
/// use edge_mcp::{ResourceDescription, ResourceTemplate};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct City {
///     city: String,
/// }
///
/// async fn read_city(City { city }: City) -> Option<String> {
///     (city == "paris").then(|| "21.5 °C".to_owned())
/// }
///
/// let cities = ResourceTemplate::new("weather://{city}", read_city)
///     .name("Weather of a city")
///     .list(|| async { vec![ResourceDescription::new("weather://paris", "Paris")] });
/// ```
#[must_use]
pub struct ResourceTemplate {
    pub(crate) description: ResourceTemplateDescription,
    pub(crate) parsed: Result<UriTemplate, UriTemplateError>,
    /// If it is set, all URIs with this beginning match, without variables.
    pub(super) prefix: Option<&'static str>,
    pub(crate) access: Access,
    pub(crate) cache: Option<CacheHint>,
    pub(crate) deadline: Duration,
    pub(crate) completions: Completions,
    pub(crate) read: ReadTemplate,
    pub(crate) list: Option<ListTemplate>,
}

impl ResourceTemplate {
    /// Creates a template for `uri_template` (RFC 6570 up to level 3, such as `weather://{city}`).
    ///
    /// If the variables of a URI do not fit the handler's type, the caller gets a "not found" error.
    ///
    /// `read` is an async function of the template's variables, and optionally of the [`Context`]. The variables are a
    /// map of strings, or a struct of strings, numbers, booleans, unit enums and `Option`s of them.
    pub fn new<P, H>(uri_template: impl Into<Text>, read: H) -> Self
    where
        P: Parameters,
        H: Handler<P, Output: IntoContents>,
    {
        let uri_template: Text = uri_template.into();
        let read = move |uri: &str, variables: TemplateVariables, cx| {
            let Ok(variables) = variables::read(variables) else {
                return std::future::ready(Err(HandlerError::not_found(NOT_FOUND))).boxed_local();
            };
            let uri = uri.to_owned();
            read.call(P::of_call(variables, cx))
                .map(move |contents| contents.into_contents(&uri).map(Contents::of))
                .boxed_local()
        };
        Self::of_reader(uri_template, Box::new(read))
    }

    pub(crate) fn of_reader(uri_template: Text, read: ReadTemplate) -> Self {
        Self {
            parsed: UriTemplate::parse(&uri_template),
            prefix: None,
            description: ResourceTemplateDescription {
                metadata: Metadata::new(uri_template.clone()),
                uri_template,
                mime_type: None,
                annotations: None,
            },
            access: Access::default(),
            cache: None,
            deadline: DEADLINE,
            completions: Completions::default(),
            read,
            list: None,
        }
    }

    /// Lets the template match all URIs with this beginning, without variables.
    pub(super) fn prefix(self, prefix: &'static str) -> Self {
        Self { prefix: Some(prefix), ..self }
    }

    /// Returns the variables of a URI, or `None` if the template does not match it.
    pub(crate) fn variables_of(&self, uri: &str) -> Option<TemplateVariables> {
        match self.prefix {
            Some(prefix) => uri.starts_with(prefix).then(TemplateVariables::new),
            None => self.parsed.as_ref().ok()?.matches(uri),
        }
    }

    described_methods!(description);
    access_methods!();
    deadline_method!();

    /// Sets the completion of a variable.
    pub fn complete(mut self, variable: impl Into<Text>, completion: Completion) -> Self {
        self.completions.add(variable.into(), completion);
        self
    }

    /// Sets the function that lists the resources of the template: an async function without parameters, or of the
    /// [`Context`]. Without it, the resources can be read, but `resources/list` does not show them.
    ///
    /// The function runs only for callers with the template's [scopes](Self::scopes). It makes the list private to the
    /// caller.
    pub fn list<P, H>(mut self, list: H) -> Self
    where
        P: Parameters<Arguments: AbsentArguments>,
        H: Handler<P, Output: IntoList<ResourceDescription>>,
    {
        let list = move |cx| list.call(P::of_call(P::Arguments::absent(), cx)).map(IntoList::into_list).boxed_local();
        self.list = Some(Box::new(list));
        self
    }
}
