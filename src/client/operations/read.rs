//! Reading resources, getting prompts and completing arguments.
//!
//! Source: 2026-07-28, server/resources; server/prompts; server/utilities/completion.

use std::future::IntoFuture;
use std::rc::Rc;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits, Kind, Value};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::asked::Asked;
use super::rounds::answered;
#[cfg(feature = "gateway")]
use crate::call::{call_path::Callee, context::Context};
use crate::client::connection::{Link, Peer};
use crate::client::error::{ClientError, Failure};
#[cfg(feature = "gateway")]
use crate::client::questions::passed::pass;
use crate::client::session::channel::Channel;
use crate::client::session::outgoing::Outgoing;
use crate::client::wire::message::Params;
use crate::protocol::content::PromptMessage;
use crate::protocol::foreign::read_meta;
use crate::protocol::method::Method;
use crate::protocol::resource_contents::ResourceContents;

/// The most suggestions in an answer. Source: server/utilities/completion.
const SUGGESTIONS: usize = 100;

/// The contents of a resource. A resource can have several parts.
#[derive(Clone, Debug)]
pub struct ReadResult {
    /// The parts. Parts of an unknown form are left out.
    pub contents: Vec<ResourceContents>,
    meta: Option<Box<Map<String, Json>>>,
    json: Rc<str>,
}

/// The messages of a prompt.
#[derive(Clone, Debug)]
pub struct GetPromptResult {
    /// The description of the prompt.
    pub description: Option<String>,
    /// The messages. Messages of an unknown form are left out. Content of an unknown type or form is a
    /// [`Block::Unknown`](crate::content::Block::Unknown).
    pub messages: Vec<PromptMessage>,
    meta: Option<Box<Map<String, Json>>>,
    json: Rc<str>,
}

/// Suggestions for an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions, at most 100.
    pub values: Vec<String>,
    /// The number of all suggestions, if the server states it.
    pub total: Option<u64>,
    /// Whether there are more suggestions.
    pub has_more: bool,
    meta: Option<Box<Map<String, Json>>>,
    json: Rc<str>,
}

impl CompleteResult {
    /// Returns the members of `_meta`, except for those that begin with `edge-mcp/`.
    pub fn meta(&self) -> Option<&Map<String, Json>> {
        self.meta.as_deref()
    }

    /// Returns the result as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        &self.json
    }
}

impl ReadResult {
    /// Returns the text parts, joined by line breaks.
    pub fn text(&self) -> String {
        self.contents.iter().filter_map(ResourceContents::as_text).collect::<Vec<_>>().join("\n")
    }

    /// Returns the members of `_meta`, except for those that begin with `edge-mcp/`.
    pub fn meta(&self) -> Option<&Map<String, Json>> {
        self.meta.as_deref()
    }

    /// Returns the result as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        &self.json
    }
}

impl GetPromptResult {
    /// Returns the members of `_meta`, except for those that begin with `edge-mcp/`.
    pub fn meta(&self) -> Option<&Map<String, Json>> {
        self.meta.as_deref()
    }

    /// Returns the result as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        &self.json
    }
}

impl Peer {
    /// Reads the resource at `uri`.
    ///
    /// # Errors
    /// The server cannot be asked, has no such resource, or its answer is not valid.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResult, ClientError> {
        self.read(uri, &Asked::by_program(self.0.channel.cx())).await
    }

    /// Reads the resource at `uri`. The caller of `cx` answers the questions of the server, as for [`Call::ask_caller`](super::call::Call::ask_caller).
    #[cfg(feature = "gateway")]
    pub(crate) async fn read_resource_for_caller(&self, uri: &str, cx: &Context) -> Result<ReadResult, ClientError> {
        self.read(uri, &self.by_caller(uri, "{}", cx)).await
    }

    /// Creates the settings for a request whose questions the caller of `cx` answers.
    #[cfg(feature = "gateway")]
    fn by_caller(&self, target: &str, arguments: &str, cx: &Context) -> Asked {
        let callee = Callee { server: Some(&self.0.channel.server().name), tool: target };
        Asked { cx: cx.at_call(callee, arguments), pass: Some(pass), is_kept: true }
    }

    async fn read(&self, uri: &str, asked: &Asked) -> Result<ReadResult, ClientError> {
        let params = Params::default().with_text("uri", uri);
        let mut outgoing = Outgoing::new(Method::ReadResource, params, self.0.channel.upstream().timeout);
        outgoing.target = Some(uri.to_owned());
        let json = answered(&self.0.session, outgoing, asked).await?;
        read(&self.0.channel, Method::ReadResource, &json, |result| {
            let parts = array(result, "contents")?.items();
            let contents: Vec<_> = parts.filter_map(ResourceContents::read).collect();
            let is_read = !contents.is_empty() || array(result, "contents")?.items().next().is_none();
            is_read.then(|| ReadResult { contents, meta: read_meta(result), json: result.text().into() })
        })
    }

    /// Gets the messages of a prompt. The arguments are an object of strings.
    ///
    /// # Errors
    /// The server cannot be asked, has no such prompt, or its answer is not valid.
    pub async fn get_prompt(&self, name: &str, arguments: impl Serialize) -> Result<GetPromptResult, ClientError> {
        let arguments = write::to_raw_value(&arguments).map_err(|error| {
            let failure = Failure::Local("was not called: the arguments cannot be written as JSON.".into());
            ClientError::new(&self.0.channel.server().name, Method::GetPrompt.name().into(), failure).because(error)
        })?;
        self.prompt(name, arguments, &Asked::by_program(self.0.channel.cx())).await
    }

    /// Gets the messages of a prompt. The caller of `cx` answers the questions of the server, as for
    /// [`Call::ask_caller`](super::call::Call::ask_caller).
    #[cfg(feature = "gateway")]
    pub(crate) async fn get_prompt_for_caller(
        &self,
        name: &str,
        arguments: Box<RawValue>,
        cx: &Context,
    ) -> Result<GetPromptResult, ClientError> {
        let asked = self.by_caller(name, arguments.get(), cx);
        self.prompt(name, arguments, &asked).await
    }

    async fn prompt(
        &self,
        name: &str,
        arguments: Box<RawValue>,
        asked: &Asked,
    ) -> Result<GetPromptResult, ClientError> {
        let params = Params::default().with_text("name", name).with("arguments", arguments);
        let mut outgoing = Outgoing::new(Method::GetPrompt, params, self.0.channel.upstream().timeout);
        outgoing.target = Some(name.to_owned());
        let json = answered(&self.0.session, outgoing, asked).await?;
        read(&self.0.channel, Method::GetPrompt, &json, |result| {
            let json: Rc<str> = result.text().into();
            let messages = array(result, "messages")?.items();
            let messages = messages.filter_map(|message| PromptMessage::read(message, &json)).collect();
            Some(GetPromptResult { description: result.string("description"), messages, meta: read_meta(result), json })
        })
    }

    /// Requests suggestions for an argument of the prompt `name`. The request is sent when it is awaited.
    pub fn complete_prompt(&self, name: &str, argument: &str, typed: &str) -> Complete {
        self.complete([("type", "ref/prompt"), ("name", name)], argument, typed)
    }

    /// Requests suggestions for a variable of a resource template. The request is sent when it is awaited.
    pub fn complete_template(&self, uri_template: &str, variable: &str, typed: &str) -> Complete {
        self.complete([("type", "ref/resource"), ("uri", uri_template)], variable, typed)
    }

    fn complete(&self, reference: [(&'static str, &str); 2], argument: &str, typed: &str) -> Complete {
        let params = Params::default()
            .with("ref", strings(reference))
            .with("argument", strings([("name", argument), ("value", typed)]));
        Complete { link: self.0.clone(), params, known: Vec::new() }
    }
}

/// A request for suggestions. It is sent when it is awaited.
///
/// ```
/// # async fn f(weather: edge_mcp::client::Peer) -> Result<(), edge_mcp::client::ClientError> {
/// let cities = weather.complete_template("weather://{country}/{city}", "city", "L").given("country", "France").await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a request is sent when it is awaited"]
pub struct Complete {
    link: Rc<Link>,
    params: Params,
    known: Vec<(String, String)>,
}

impl Complete {
    /// Adds the value of another argument, which the suggestions may depend on.
    pub fn given(mut self, argument: impl Into<String>, value: impl Into<String>) -> Self {
        let argument = argument.into();
        self.known.retain(|(known, _)| *known != argument);
        self.known.push((argument, value.into()));
        self
    }

    async fn send(self) -> Result<CompleteResult, ClientError> {
        let Self { link, mut params, known } = self;
        if !known.is_empty() {
            let arguments = strings(known.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            let context = ObjectWriter::new().json("arguments", arguments.get());
            params = params.with("context", context.finish_raw());
        }
        let mut outgoing = Outgoing::new(Method::Complete, params, link.channel.upstream().timeout);
        let json = link.session.request(&mut outgoing).await?;
        read(&link.channel, Method::Complete, &json, |result| {
            let completion = result.get("completion")?;
            let values = array(completion, "values")?;
            let has_more = completion.get("hasMore").is_some_and(|more| more.text() == "true");
            Some(CompleteResult {
                values: values
                    .items()
                    .take(SUGGESTIONS)
                    .map(|value| Some(value.as_str()?.into_owned()))
                    .collect::<Option<_>>()?,
                total: completion.get("total").and_then(|total| total.text().parse().ok()),
                has_more: has_more || values.items().nth(SUGGESTIONS).is_some(),
                meta: read_meta(result),
                json: result.text().into(),
            })
        })
    }
}

impl IntoFuture for Complete {
    type Output = Result<CompleteResult, ClientError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.send().boxed_local()
    }
}

/// Reads a result.
fn read<T>(
    channel: &Channel,
    method: Method,
    json: &RawValue,
    read: impl Fn(Value<'_>) -> Option<T>,
) -> Result<T, ClientError> {
    let document = Document::parse(json.get().as_bytes(), JsonLimits::MOST).ok();
    document.and_then(|document| read(document.root())).ok_or_else(|| {
        let failure = Failure::Malformed("has a result without the required members");
        channel.failed(method.name().into(), failure.into())
    })
}

/// Returns the member `name` if it is an array.
fn array<'d>(value: Value<'d>, name: &str) -> Option<Value<'d>> {
    value.get(name).filter(|member| member.kind() == Kind::Array)
}

/// Returns an object of strings as JSON text. No name occurs twice.
fn strings<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> Box<RawValue> {
    members.into_iter().fold(ObjectWriter::new(), |object, (name, value)| object.text(name, value)).finish_raw()
}
