//! Resources, and templates that stand for many of them.

use std::collections::BTreeMap;
use std::error::Error;
use std::future::Future;
use std::marker::PhantomData;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as VariableError, MapDeserializer};

use super::context::Context;
use super::tool_result::causes;
use super::uri_template::{UriTemplate, UriTemplateError};
use crate::protocol::content::ResourceContents;
use crate::protocol::description::{ResourceDescription, ResourceTemplateDescription, Text};

/// Why a resource could not be read or listed.
///
/// Any error becomes [`ReadError::Failed`] by `?`.
#[derive(Clone, Debug)]
pub enum ReadError {
    /// There is no such resource.
    NotFound,
    /// It could not be had. The text is for the log; the caller learns only that it failed.
    Failed(String),
}

impl<E: Error> From<E> for ReadError {
    fn from(error: E) -> Self {
        Self::Failed(causes(&error))
    }
}

/// What the function behind a resource may return.
///
/// | returned | the caller gets |
/// |---|---|
/// | `String`, `&'static str` | text, at the URI that was asked for |
/// | `Vec<u8>` | these bytes, as base64 |
/// | [`ResourceContents`], `Vec<ResourceContents>` | these contents, each with its own URI |
/// | `Option<one of them>` | `None`: there is no such resource |
/// | `Result<one of them, E>` | an error, whose cause is in the log |
pub trait IntoContents {
    /// Makes the contents of the resource at `uri`.
    ///
    /// # Errors
    /// The function's own.
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ReadError>;
}

impl IntoContents for Vec<ResourceContents> {
    fn into_contents(self, _: &str) -> Result<Vec<ResourceContents>, ReadError> {
        Ok(self)
    }
}

impl IntoContents for ResourceContents {
    fn into_contents(self, _: &str) -> Result<Vec<ResourceContents>, ReadError> {
        Ok(vec![self])
    }
}

impl IntoContents for String {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ReadError> {
        Ok(vec![ResourceContents::text(uri, self)])
    }
}

impl IntoContents for &'static str {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ReadError> {
        Ok(vec![ResourceContents::text(uri, self)])
    }
}

impl IntoContents for Vec<u8> {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ReadError> {
        Ok(vec![ResourceContents::blob(uri, &self)])
    }
}

impl<T: IntoContents> IntoContents for Option<T> {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ReadError> {
        self.ok_or(ReadError::NotFound)?.into_contents(uri)
    }
}

impl<T: IntoContents, E: Into<ReadError>> IntoContents for Result<T, E> {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ReadError> {
        self.map_err(Into::into)?.into_contents(uri)
    }
}

/// What the function that lists a template's resources may return: the resources, or a `Result` of them.
pub trait IntoResourceList {
    /// Makes the list.
    ///
    /// # Errors
    /// The function's own.
    fn into_resource_list(self) -> Result<Vec<ResourceDescription>, ReadError>;
}

impl IntoResourceList for Vec<ResourceDescription> {
    fn into_resource_list(self) -> Result<Vec<ResourceDescription>, ReadError> {
        Ok(self)
    }
}

impl<E: Into<ReadError>> IntoResourceList for Result<Vec<ResourceDescription>, E> {
    fn into_resource_list(self) -> Result<Vec<ResourceDescription>, ReadError> {
        self.map_err(Into::into)
    }
}

pub(crate) type ContentsFuture = LocalBoxFuture<'static, Result<Vec<ResourceContents>, ReadError>>;
pub(crate) type ListFuture = LocalBoxFuture<'static, Result<Vec<ResourceDescription>, ReadError>>;
type Variables = BTreeMap<String, String>;
type ReadTemplate = Box<dyn Fn(&str, Variables, Context) -> ContentsFuture>;
type ListTemplate = Box<dyn Fn(Context) -> ListFuture>;

/// A resource at one URI.
///
/// ```
/// use edge_mcp::server::{Context, Resource};
///
/// async fn motd(_: Context) -> String {
///     "Hello".into()
/// }
///
/// let motd = Resource::new("info://motd", motd).name("Message of the day").mime_type("text/plain");
/// ```
pub struct Resource {
    pub(crate) description: ResourceDescription,
    pub(crate) read: Box<dyn Fn(Context) -> ContentsFuture>,
}

impl Resource {
    /// The resource at `uri`, which `read` reads: an async function of the [`Context`].
    pub fn new<F, Fut>(uri: impl Into<Text>, read: F) -> Self
    where
        F: Fn(Context) -> Fut + 'static,
        Fut: Future + 'static,
        Fut::Output: IntoContents,
    {
        let uri: Text = uri.into();
        let own_uri = uri.clone();
        let read = move |cx| {
            let uri = own_uri.clone();
            read(cx).map(move |contents| contents.into_contents(&uri)).boxed_local()
        };
        Self { description: ResourceDescription::new(uri.clone(), uri), read: Box::new(read) }
    }

    /// The name for programs; the URI where there is none.
    #[must_use]
    pub fn name(mut self, name: impl Into<Text>) -> Self {
        self.description.name = name.into();
        self
    }

    /// The name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.description.title = Some(title.into());
        self
    }

    /// What it holds, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description.description = Some(description.into());
        self
    }

    /// The media type of its content, where the content itself names none.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.description.mime_type = Some(mime_type.into());
        self
    }

    /// Bytes of the content before any encoding.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.description.size = Some(bytes);
        self
    }
}

/// `async fn(V)`
pub struct TakesVariables<V>(PhantomData<V>);
/// `async fn(V, Context)`
pub struct TakesVariablesAndContext<V>(PhantomData<V>);

/// An async function that reads the resources of a template: it takes the template's variables, as a map of strings or as
/// a struct of them, and the [`Context`] if it wants it.
pub trait TemplateHandler<Shape>: 'static {
    /// What the variables are read into.
    type Variables: DeserializeOwned;
    /// What the function returns.
    type Output: IntoContents + 'static;

    /// Calls the function.
    fn call(&self, variables: Self::Variables, cx: Context) -> impl Future<Output = Self::Output> + 'static;
}

impl<F, V, Fut, R> TemplateHandler<TakesVariables<V>> for F
where
    F: Fn(V) -> Fut + 'static,
    V: DeserializeOwned,
    Fut: Future<Output = R> + 'static,
    R: IntoContents + 'static,
{
    type Variables = V;
    type Output = R;

    fn call(&self, variables: V, _: Context) -> impl Future<Output = R> + 'static {
        self(variables)
    }
}

impl<F, V, Fut, R> TemplateHandler<TakesVariablesAndContext<V>> for F
where
    F: Fn(V, Context) -> Fut + 'static,
    V: DeserializeOwned,
    Fut: Future<Output = R> + 'static,
    R: IntoContents + 'static,
{
    type Variables = V;
    type Output = R;

    fn call(&self, variables: V, cx: Context) -> impl Future<Output = R> + 'static {
        self(variables, cx)
    }
}

/// Resources that a URI template stands for.
///
/// ```
/// use edge_mcp::protocol::description::ResourceDescription;
/// use edge_mcp::server::ResourceTemplate;
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
///     .list(|_| async { vec![ResourceDescription::new("weather://paris", "Paris")] });
/// ```
pub struct ResourceTemplate {
    pub(crate) uri_template: Text,
    pub(crate) parsed: Result<UriTemplate, UriTemplateError>,
    name: Option<Text>,
    title: Option<Text>,
    description: Option<Text>,
    pub(crate) mime_type: Option<Text>,
    pub(crate) read: ReadTemplate,
    pub(crate) list: Option<ListTemplate>,
}

impl ResourceTemplate {
    /// The resources of `uri_template` (RFC 6570 level 1, such as `weather://{city}`), which `read` reads.
    ///
    /// A URI whose variables cannot be read into the function's type is not found.
    pub fn new<Shape: 'static>(uri_template: impl Into<Text>, read: impl TemplateHandler<Shape>) -> Self {
        let uri_template = uri_template.into();
        let read = move |uri: &str, variables: Variables, cx| {
            let Ok(variables) = from_variables(variables) else {
                return std::future::ready(Err(ReadError::NotFound)).boxed_local();
            };
            let uri = uri.to_owned();
            read.call(variables, cx).map(move |contents| contents.into_contents(&uri)).boxed_local()
        };
        Self {
            parsed: UriTemplate::parse(&uri_template),
            uri_template,
            name: None,
            title: None,
            description: None,
            mime_type: None,
            read: Box::new(read),
            list: None,
        }
    }

    /// The name for programs; the template where there is none.
    #[must_use]
    pub fn name(mut self, name: impl Into<Text>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What these resources hold, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The media type of all their contents, where a content itself names none.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Lists the resources that are there: an async function of the [`Context`]. Without it they can be read, but
    /// `resources/list` does not show them.
    #[must_use]
    pub fn list<F, Fut>(mut self, list: F) -> Self
    where
        F: Fn(Context) -> Fut + 'static,
        Fut: Future + 'static,
        Fut::Output: IntoResourceList,
    {
        self.list = Some(Box::new(move |cx| list(cx).map(IntoResourceList::into_resource_list).boxed_local()));
        self
    }

    pub(crate) fn describe(&self) -> ResourceTemplateDescription<'_> {
        ResourceTemplateDescription {
            uri_template: &self.uri_template,
            name: self.name.as_deref().unwrap_or(&self.uri_template),
            title: self.title.as_deref(),
            description: self.description.as_deref(),
            mime_type: self.mime_type.as_deref(),
        }
    }
}

fn from_variables<V: DeserializeOwned>(variables: Variables) -> Result<V, VariableError> {
    V::deserialize(MapDeserializer::new(variables.into_iter()))
}
