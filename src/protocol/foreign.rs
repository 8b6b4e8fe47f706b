//! Content that another server sent.
//!
//! Clients show the labels of a block, so these have no hidden characters. The texts and the data of a block stay as they are.

use std::rc::Rc;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits, Kind, Value};
use serde_json::Map;

use super::content::{Block, Content, Media, PromptMessage, Typed};
use super::description::{Annotations, Icon, ResourceDescription, Role, Theme};
use super::received::{ANNOTATIONS, META, Received};
use super::resource_contents::{Body, ResourceContents};
#[cfg(feature = "gateway")]
use super::ui::SCHEME;
#[cfg(feature = "gateway")]
use crate::text::has_uri_scheme;
use crate::text::visible;

/// The members that clients show as labels.
const LABELS: [&str; 3] = ["name", "title", "description"];
/// The member with an embedded resource, which has its own `_meta`.
const RESOURCE: &str = "resource";
#[cfg(feature = "gateway")]
const URI: &str = "uri";
/// The prefix of the keys that this library adds to `_meta`. Clients would take the members of another server for ours.
const OWN_PREFIX: &str = "edge-mcp/";

impl Content {
    /// Reads a block of a result with this text. Returns `None` for a value without a type, or for a malformed block of a known type: a
    /// client would reject the whole result.
    pub(crate) fn read(block: Value<'_>, result: &Rc<str>) -> Option<Self> {
        let media = || Some(Media { data: block.string("data")?, mime_type: block.string("mimeType")?.into() });
        let parts = match &*block.string("type")? {
            "text" => Block::Text { text: block.string("text")?.into() },
            "image" => Block::Image(media()?),
            "audio" => Block::Audio(media()?),
            "resource" => Block::Resource { resource: ResourceContents::read(block.get(RESOURCE)?)? },
            "resource_link" => Block::ResourceLink(Box::new(ResourceDescription::read(block)?)),
            _ => Block::Unknown,
        };
        let received = if is_clean(block) {
            Received::new(result.clone(), block.range())
        } else {
            let text = cleaned(block);
            let range = 0..text.len();
            Received::new(text.into(), range)
        };
        let annotations = block.get(ANNOTATIONS).map(Annotations::read);
        Some(Self { typed: Typed { block: parts, annotations, meta: read_meta(block) }, received: Some(received) })
    }
}

#[cfg(feature = "gateway")]
impl Content {
    /// Replaces the URI of a link or of an embedded resource.
    pub(crate) fn map_uri(mut self, shown: impl Fn(&str) -> String) -> Self {
        let received = self.received().map(str::to_owned);
        let (uri, inner) = match &mut self.typed.block {
            Block::ResourceLink(link) => {
                link.uri = shown(&link.uri).into();
                (link.uri.to_string(), None)
            }
            Block::Resource { resource } => {
                resource.uri = shown(&resource.uri);
                if is_page(&resource.uri) {
                    resource.meta = None;
                }
                (resource.uri.clone(), Some(RESOURCE))
            }
            _ => return self,
        };
        self.received = received.and_then(|text| {
            let document = Document::parse(text.as_bytes(), JsonLimits::MOST).ok()?;
            let block = document.root();
            let text = match inner {
                None => with_member(block, URI, write::literal(&uri).get(), None),
                Some(inner) => {
                    let left_out = is_page(&uri).then_some(META);
                    let resource = with_member(block.get(inner)?, URI, write::literal(&uri).get(), left_out);
                    with_member(block, inner, &resource, None)
                }
            };
            let range = 0..text.len();
            Some(Received::new(text.into(), range))
        });
        self
    }
}

/// Returns whether an embedded resource is the page of an app. Its `_meta` is left out: nothing has checked its settings, such as the origins that
/// the page may use.
#[cfg(feature = "gateway")]
fn is_page(uri: &str) -> bool {
    has_uri_scheme(uri, SCHEME)
}

/// Returns the text of an object with another value of a member, and without the member `left_out`.
#[cfg(feature = "gateway")]
fn with_member(object: Value<'_>, name: &str, value: &str, left_out: Option<&str>) -> String {
    let members = object.members().filter(|(known, _)| Some(&**known) != left_out);
    let written = members.fold(ObjectWriter::new(), |written, (known, old)| {
        written.json(&known, if known == name { value } else { old.text() })
    });
    written.finish()
}

impl ResourceContents {
    /// Reads contents that another server sent. Returns `None` if they are malformed.
    pub(crate) fn read(contents: Value<'_>) -> Option<Self> {
        let body = match (contents.string("text"), contents.string("blob")) {
            (Some(text), None) => Body::Text(text.into()),
            (None, Some(blob)) => Body::Blob(blob),
            _ => return None,
        };
        let mime_type = contents.string("mimeType").map(Into::into);
        Some(Self { uri: contents.string("uri")?, mime_type, body, meta: read_meta(contents) })
    }
}

impl ResourceDescription {
    fn read(link: Value<'_>) -> Option<Self> {
        let label = |name: &str| link.string(name).map(|text| visible(&text));
        let mut read = Self::new(link.string("uri")?, label("name")?);
        read.mime_type = link.string("mimeType").map(Into::into);
        read.size = link.get("size").and_then(|size| size.text().parse().ok());
        read.metadata.title = label("title").map(Into::into);
        read.metadata.description = label("description").map(Into::into);
        read.metadata.icons = link.get("icons").into_iter().flat_map(Value::items).filter_map(Icon::read).collect();
        Some(read)
    }
}

impl Icon {
    pub(crate) fn read(icon: Value<'_>) -> Option<Self> {
        let mut read = Self::new(icon.string("src")?);
        read.mime_type = icon.string("mimeType").map(Into::into);
        let sizes = icon.get("sizes").into_iter().flat_map(Value::items);
        read.sizes = sizes.filter_map(|size| Some(size.as_str()?.into_owned().into())).collect();
        read.theme = match icon.string("theme").as_deref() {
            Some("light") => Some(Theme::Light),
            Some("dark") => Some(Theme::Dark),
            _ => None,
        };
        Some(read)
    }
}

impl Annotations {
    /// Reads annotations. Values of an unknown form are left out.
    fn read(annotations: Value<'_>) -> Self {
        let mut read = Self::new();
        let roles = annotations.get("audience").into_iter().flat_map(Value::items);
        read.audience = roles.filter_map(|role| Role::named(&role.as_str()?)).collect();
        let priority = annotations.get("priority").and_then(|priority| priority.to_json()?.as_f64());
        read.priority = priority.map(|priority| priority.clamp(0.0, 1.0));
        read.last_modified = annotations.string("lastModified").map(Into::into);
        read
    }
}

impl Role {
    fn named(name: &str) -> Option<Self> {
        match name {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            _ => None,
        }
    }
}

impl PromptMessage {
    /// Reads a message of a result with this text. Returns `None` if it is malformed.
    pub(crate) fn read(message: Value<'_>, result: &Rc<str>) -> Option<Self> {
        let role = Role::named(&message.string("role")?)?;
        Some(Self { role, content: Content::read(message.get("content")?, result)? })
    }
}

/// Reads the `_meta` of a block or a result. Members that this library uses itself are left out, and so are members with a number out of the
/// range of `f64`.
pub(crate) fn read_meta(of: Value<'_>) -> Option<Box<Map<String, serde_json::Value>>> {
    let meta = of.get(META).filter(|meta| meta.kind() == Kind::Object)?;
    let members = meta.members().filter(|(name, _)| !name.starts_with(OWN_PREFIX));
    Some(Box::new(members.filter_map(|(name, value)| Some((name.into_owned(), value.to_json()?))).collect()))
}

/// Returns whether a block can be passed on as it is.
fn is_clean(block: Value<'_>) -> bool {
    let is_visible = |label: &str| block.string(label).is_none_or(|text| visible(&text) == text);
    let has_own_meta = block.get(META).is_some_and(|meta| meta.members().any(|(name, _)| name.starts_with(OWN_PREFIX)));
    LABELS.into_iter().all(is_visible) && !has_own_meta && block.get(RESOURCE).is_none_or(is_clean)
}

/// Writes a block without hidden characters in its labels, and without the members of `_meta` that begin with the prefix of this library.
/// All other values keep their text. The recursion is bounded by the nesting of JSON.
fn cleaned(block: Value<'_>) -> String {
    let mut object = ObjectWriter::new();
    for (name, value) in block.members() {
        object = match (&*name, value.as_str()) {
            (label, Some(text)) if LABELS.contains(&label) => object.text(&name, &visible(&text)),
            (META, None) if value.kind() == Kind::Object => object.json(&name, &without_own(value)),
            (RESOURCE, None) if value.kind() == Kind::Object => object.json(&name, &cleaned(value)),
            _ => object.json(&name, value.text()),
        };
    }
    object.finish()
}

fn without_own(meta: Value<'_>) -> String {
    let members = meta.members().filter(|(name, _)| !name.starts_with(OWN_PREFIX));
    members.fold(ObjectWriter::new(), |object, (name, value)| object.json(&name, value.text())).finish()
}
