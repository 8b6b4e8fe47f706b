//! Mounted resources, resource templates and prompts.

use std::borrow::Cow;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value};
use futures::FutureExt;
use serde_json::value::RawValue;

use super::mounted::Mounted;
use super::names::{ItemName, is_shown, may_be_hashed};
use super::tools::{icons, shortened};
use super::{apps, content, pins, uris};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::client::{ClientError, Definition, Failure, Peer};
use crate::limits::GATEWAY_URI_BYTES;
use crate::protocol::description::{Annotations, Metadata, PromptArgument};
use crate::protocol::foreign::read_meta;
use crate::protocol::resource_contents::ResourceContents;
use crate::protocol::ui;
use crate::schema::{Schema, SchemaError};
use crate::server::completion::{Completion, CompletionRequest, Suggestions};
use crate::server::list::ListKind;
use crate::server::prompt::{AnyPromptHandler, Prompt, PromptFuture, PromptResult};
use crate::server::resource::{Contents, NOT_FOUND, Resource, ResourceTemplate};
use crate::text::{has_uri_scheme, visible};

impl Mounted {
    /// Returns whether the gateway shows the resource at `uri`, a URI of the server.
    pub(super) fn shows_resource(&self, uri: &str) -> bool {
        !self.hides_resource(uri) && uris::is_sendable(uri)
    }

    /// Returns whether the settings hide the resource at `uri`, a URI of the server. Skills are shown as such, or not at all. If only pinned items
    /// exist, the resource needs a pin.
    fn hides_resource(&self, uri: &str) -> bool {
        // A server may not care about the case of a scheme.
        !self.settings.has_resources
            || has_uri_scheme(uri, uris::SKILLS)
            || (has_uri_scheme(uri, ui::SCHEME) && !apps::is_shown(self, uri))
            || self.settings.pins.hides(uri)
    }

    /// Returns whether the gateway shows a resource template of the server. A template says nothing about the resources that it leads to, so it
    /// has no pin, and it cannot lead to the pages of apps and to skills.
    pub(super) fn shows_template(&self, template: &str) -> bool {
        let is_of_extension = uris::EXTENSIONS.iter().any(|scheme| has_uri_scheme(template, scheme));
        self.settings.has_resources
            && !is_of_extension
            && !self.settings.pins.excludes_others
            && template.len() <= GATEWAY_URI_BYTES
    }
}

/// Returns the resource that callers know as `shown`. `own` is its URI at the server.
pub(super) fn resource(mount: &Rc<Mounted>, shown: &str, own: String) -> Resource {
    let of_read = mount.clone();
    let read = move |cx: Context| read(of_read.clone(), own.clone(), cx).boxed_local();
    let mut resource = Resource::of_reader(shown.to_owned().into(), Box::new(read));
    resource.access = mount.access();
    resource
}

async fn read(mount: Rc<Mounted>, own: String, cx: Context) -> Result<Contents, HandlerError> {
    // A template leads here too.
    if !mount.shows_resource(&own) {
        return Err(HandlerError::not_found(NOT_FOUND));
    }
    let peer = mount.connect(&cx)?;
    let asked = mount.guard(&peer, &cx, peer.read_resource_for_caller(&own, &cx)).await;
    let result = asked.map_err(not_found)?;
    let meta = content::shown_meta(&mount, result.meta());
    let contents = result.contents;
    if mount.settings.pins.concern(&own) {
        let digest = || digest(&contents).unwrap_or_else(|| "none: it is not one text".to_owned());
        if let Err(problem) = mount.settings.pins.check(&own, digest) {
            mount.held_back(&own, &problem, &cx);
            return Err(HandlerError::not_found(NOT_FOUND));
        }
    }
    let parts = contents.into_iter().map(|contents| content::shown_contents(&mount, contents)).collect();
    Ok(Contents { parts, meta, is_foreign: true })
}

/// Returns the digest of the page of an app, for its pin.
pub(super) async fn page_digest(mount: &Mounted, own: &str, cx: &Context) -> Result<String, HandlerError> {
    let peer = mount.connect(cx)?;
    let contents = mount.guard(&peer, cx, peer.read_resource(own)).await?.contents;
    digest(&contents).ok_or_else(|| HandlerError::new(format!("The app {own:?} does not consist of one text.")))
}

fn digest(contents: &[ResourceContents]) -> Option<String> {
    let [page] = contents else { return None };
    pins::of_page(page)
}

/// Converts the error of a server that does not have a resource. Its code depends on the revision of the server.
fn not_found(error: ClientError) -> HandlerError {
    match error.failure() {
        Failure::Rpc { code: -32_002 | -32_602, .. } => HandlerError::not_found(NOT_FOUND).because(error),
        _ => error.into(),
    }
}

/// Returns the resource for a definition, or `None` for one that the gateway does not show.
pub(super) fn listed_resource(mount: &Rc<Mounted>, listed: &Definition, cx: &Context) -> Option<Resource> {
    let own = listed.name();
    if mount.hides_resource(own) {
        return None;
    }
    let shown = mount.shown_uri(own);
    // The scheme of some URIs has another spelling here. They cannot be read.
    if !uris::is_sendable(own) || !uris::is_url(&shown) || mount.own_uri(&shown).as_deref() != Some(own) {
        mount.left_out(cx, own, "its URI is not a valid URL, or is too long");
        return None;
    }
    let document = Document::parse(listed.raw().as_bytes(), JsonLimits::MOST).ok()?;
    let definition = document.root();
    let mut resource = resource(mount, &shown, own.to_owned());
    if mount.settings.pins.excludes_others {
        // The pin covers the contents of the resource, and no text of the list.
        resource.description.metadata = Metadata::new(shown.clone().into_owned());
        resource.description.mime_type = has_uri_scheme(own, ui::SCHEME).then(|| ui::MIME_TYPE.into());
    } else {
        resource.description.metadata = metadata(mount, name_of(listed, definition), listed, definition);
        resource.description.mime_type = definition.string("mimeType").map(Into::into);
        resource.description.annotations = Annotations::of(definition);
    }
    if mount.settings.pins.has(own) {
        // The pin covers the settings of a page itself.
        resource.description.metadata.meta = None;
    }
    if let Some(size) = definition.get("size").and_then(|size| size.text().parse().ok()) {
        resource.description = resource.description.size(size);
    }
    Some(resource)
}

/// Returns the name of a resource or a template. Clients require one, so a URI replaces a name that is absent.
fn name_of(listed: &Definition, definition: Value<'_>) -> String {
    definition.string("name").unwrap_or_else(|| listed.name().to_owned())
}

/// Returns the metadata of an item. Its `_meta` has the settings of a page that the gateway allows.
fn metadata(mount: &Mounted, name: String, listed: &Definition, definition: Value<'_>) -> Metadata {
    let mut metadata = Metadata::new(visible(&name));
    metadata.title = listed.title().map(|title| title.to_owned().into());
    let description = listed.description();
    metadata.description = (!description.is_empty()).then(|| shortened(description).into());
    metadata.icons = icons(definition);
    let meta = read_meta(definition).map(|mut meta| {
        apps::show_settings(mount, &mut meta);
        meta
    });
    metadata.meta = meta.filter(|meta| !meta.is_empty());
    metadata
}

/// Returns the resource template that callers know as `shown`. `own` is the template at the server.
pub(super) fn template(mount: &Rc<Mounted>, shown: String, own: String) -> ResourceTemplate {
    let of_read = mount.clone();
    let read = move |uri: &str, _, cx: Context| {
        let own = of_read.own_uri(uri).map(Cow::into_owned).unwrap_or_default();
        read(of_read.clone(), own, cx).boxed_local()
    };
    let mut template = ResourceTemplate::of_reader(shown.into(), Box::new(read));
    template.access = mount.access();
    template.completions.all = Some(completion(mount.clone(), Reference::Template(own)));
    template
}

/// Returns the template for a definition, or `None` for one that the gateway does not show. A template of any form is shown: its server matches the
/// URIs.
pub(super) fn listed_template(mount: &Rc<Mounted>, listed: &Definition) -> Option<ResourceTemplate> {
    let own = Some(listed.name()).filter(|own| mount.shows_template(own))?;
    let document = Document::parse(listed.raw().as_bytes(), JsonLimits::MOST).ok()?;
    let definition = document.root();
    let mut template = template(mount, mount.shown_uri(own).into_owned(), own.to_owned());
    template.description.metadata = metadata(mount, name_of(listed, definition), listed, definition);
    template.description.mime_type = definition.string("mimeType").map(Into::into);
    template.description.annotations = Annotations::of(definition);
    Some(template)
}

/// The item whose argument is completed.
#[derive(Clone)]
enum Reference {
    Prompt(ItemName),
    /// A template, as it is at the server.
    Template(String),
}

/// Returns the name of a prompt at the server, or `None` if there is no such prompt.
async fn prompt_at_server(mount: &Mounted, name: &ItemName, peer: &Peer) -> Result<Option<String>, ClientError> {
    if let ItemName::AtServer(own) = name {
        return Ok(Some(own.clone()));
    }
    let list = mount.fresh_list(ListKind::Prompts, peer).await?;
    Ok(name.find(&mount.prompts(&list)).map(|(_, prompt)| prompt.name().to_owned()))
}

fn unknown_prompt() -> HandlerError {
    HandlerError::invalid("There is no such prompt. Call prompts/list for the available prompts.")
}

fn completion(mount: Rc<Mounted>, reference: Reference) -> Completion {
    Completion(Box::new(move |request: CompletionRequest, cx: Context| {
        let (mount, reference) = (mount.clone(), reference.clone());
        async move {
            let CompletionRequest { argument, value, arguments } = request;
            let peer = mount.connect(&cx)?;
            let asked = async {
                let complete = match &reference {
                    Reference::Prompt(prompt) => match prompt_at_server(&mount, prompt, &peer).await? {
                        Some(name) => peer.complete_prompt(&name, &argument, &value),
                        None => return Ok(None),
                    },
                    Reference::Template(template) => peer.complete_template(template, &argument, &value),
                };
                arguments
                    .into_iter()
                    .fold(complete, |complete, (name, value)| complete.given(name, value))
                    .await
                    .map(Some)
            };
            let result = mount.guard(&peer, &cx, asked).await?.ok_or_else(unknown_prompt)?;
            let meta = content::shown_meta(&mount, result.meta());
            Ok(Suggestions { meta, total: result.total, has_more: result.has_more, values: result.values })
        }
        .boxed_local()
    }))
}

/// Gets a prompt of a mounted server.
struct MountedPrompt {
    mount: Rc<Mounted>,
    name: ItemName,
}

/// Returns the prompt that callers know as `shown`, or `None` if the server can have none. `rest` is the name without the prefix.
pub(super) fn prompt_named(mount: &Rc<Mounted>, shown: &str, rest: &str) -> Option<Prompt> {
    // A hash at the end of a name does not say which prompt it is.
    if may_be_hashed(rest) && is_shown(shown, mount.longest_name) {
        return Some(prompt(mount, shown.to_owned(), ItemName::InList(shown.to_owned())));
    }
    let exists = mount.prompt_name(rest) == shown;
    exists.then(|| prompt(mount, shown.to_owned(), ItemName::AtServer(rest.to_owned())))
}

fn prompt(mount: &Rc<Mounted>, shown: String, name: ItemName) -> Prompt {
    let handler = MountedPrompt { mount: mount.clone(), name: name.clone() };
    let mut prompt = Prompt::of_handler(shown.into(), Box::new(handler));
    prompt.access = mount.access();
    prompt.completions.all = Some(completion(mount.clone(), Reference::Prompt(name)));
    prompt
}

/// Returns the prompt for a definition. `shown` is the name by which callers know it.
pub(super) fn listed_prompt(mount: &Rc<Mounted>, shown: String, listed: &Definition) -> Option<Prompt> {
    let document = Document::parse(listed.raw().as_bytes(), JsonLimits::MOST).ok()?;
    let definition = document.root();
    let mut prompt = prompt(mount, shown.clone(), ItemName::AtServer(listed.name().to_owned()));
    prompt.metadata = metadata(mount, shown, listed, definition);
    for argument in definition.get("arguments").into_iter().flat_map(Value::items) {
        let Some(name) = argument.string("name") else { continue };
        let mut declared = PromptArgument::new(name);
        if let Some(title) = argument.string("title") {
            declared = declared.title(visible(&title));
        }
        if let Some(description) = argument.string("description") {
            declared = declared.description(shortened(&visible(&description)));
        }
        if argument.get("required").is_some_and(|required| required.text() == "true") {
            declared = declared.required();
        }
        prompt = prompt.argument(declared);
    }
    Some(prompt)
}

impl AnyPromptHandler for MountedPrompt {
    /// Returns the schema of any strings. The server checks its arguments itself.
    fn schema(&self) -> Result<Rc<Schema>, SchemaError> {
        Schema::of_value(&edge_json::object(vec![
            ("type", "object".into()),
            ("additionalProperties", edge_json::object(vec![("type", "string".into())])),
        ]))
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<PromptFuture, String> {
        let arguments = arguments.to_raw().unwrap_or_else(|| RawValue::NULL.to_owned());
        let (mount, name) = (self.mount.clone(), self.name.clone());
        let get = async move {
            let peer = mount.connect(&cx)?;
            let asked = async {
                let Some(own) = prompt_at_server(&mount, &name, &peer).await? else { return Ok(None) };
                peer.get_prompt_for_caller(&own, arguments, &cx).await.map(Some)
            };
            let got = mount.guard(&peer, &cx, asked).await.map_err(invalid)?.ok_or_else(unknown_prompt)?;
            let meta = content::shown_meta(&mount, got.meta());
            let mut result =
                PromptResult::new(got.messages.into_iter().map(|message| content::shown_message(&mount, message)));
            if let Some(description) = got.description {
                result = result.description(visible(&description));
            }
            result.meta = meta;
            Ok(result)
        };
        Ok(get.boxed_local())
    }
}

/// Converts the error of a server that rejects the name or the arguments of a prompt.
fn invalid(error: ClientError) -> HandlerError {
    match error.failure() {
        Failure::Rpc { code: -32_602, .. } => HandlerError::invalid(error.to_string()).because(error),
        _ => error.into(),
    }
}
