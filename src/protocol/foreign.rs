//! Content that another server sent.
//!
//! Clients show the labels of a block, so these have no hidden characters. Members that strict clients reject are left out. The texts and the data of a
//! block stay as they are.

use std::borrow::Cow;
use std::rc::Rc;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits, Kind, Value};
use serde_json::Map;

use super::accepted::{is_accepted, is_base64, priority_of};
use super::content::{Block, Content, ContentParts, Media, PromptMessage};
use super::description::{Annotations, Icon, ResourceDescription, Role, Theme};
use super::received::{ANNOTATIONS, ForeignText, META};
use super::resource_contents::{ResourceContents, TextOrBlob};
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
const PROGRESS_TOKEN: &str = "progressToken";

impl Content {
    /// Reads a block of a result with this text. A block of an unknown type, or of a form that clients reject, is a [`Block::Unknown`]. Returns
    /// `None` for a value without a type.
    pub(crate) fn read(block: Value<'_>, result: &Rc<str>) -> Option<Self> {
        let parts = known_block(&block.string("type")?, block).unwrap_or(Block::Unknown);
        let received = match accepted(block) {
            Cow::Borrowed(_) => ForeignText::new(result.clone(), block.range()),
            Cow::Owned(text) => {
                let range = 0..text.len();
                ForeignText::new(text.into(), range)
            }
        };
        let annotations = Annotations::of(block);
        Some(Self {
            typed: ContentParts { block: parts, annotations, meta: read_meta(block) },
            received: Some(received),
        })
    }
}

/// Reads a block of a known type. Returns `None` for another type, or for a form that clients reject.
fn known_block(kind: &str, block: Value<'_>) -> Option<Block> {
    let media = || {
        let data = block.string("data").filter(|data| is_base64(data))?;
        Some(Media { data, mime_type: block.string("mimeType")?.into() })
    };
    Some(match kind {
        "text" => Block::Text { text: block.string("text")?.into() },
        "image" => Block::Image(media()?),
        "audio" => Block::Audio(media()?),
        "resource" => Block::Resource { resource: ResourceContents::read(block.get(RESOURCE)?)? },
        "resource_link" => Block::ResourceLink(Box::new(ResourceDescription::read(block)?)),
        _ => return None,
    })
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
            Some(ForeignText::new(text.into(), range))
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
            (Some(text), None) => TextOrBlob::Text(text.into()),
            (None, Some(blob)) if is_base64(&blob) => TextOrBlob::Blob(blob),
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
    /// Returns the `annotations` of a block, a resource or a template. Values that clients reject are left out.
    pub(crate) fn of(item: Value<'_>) -> Option<Self> {
        let annotations = item.get(ANNOTATIONS).filter(|annotations| annotations.kind() == Kind::Object)?;
        let member = |name| annotations.get(name).filter(|value| is_accepted(name, *value));
        let roles = member("audience").into_iter().flat_map(Value::items);
        Some(Self {
            audience: roles.filter_map(Role::read).collect(),
            priority: member("priority").and_then(priority_of),
            last_modified: member("lastModified").and_then(Value::as_str).map(|time| time.into_owned().into()),
        })
    }
}

impl Role {
    fn read(role: Value<'_>) -> Option<Self> {
        match &*role.as_str()? {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            _ => None,
        }
    }
}

impl PromptMessage {
    /// Reads a message of a result with this text. Returns `None` if it is malformed.
    pub(crate) fn read(message: Value<'_>, result: &Rc<str>) -> Option<Self> {
        let role = Role::read(message.get("role")?)?;
        Some(Self { role, content: Content::read(message.get("content")?, result)? })
    }
}

/// Reads the `_meta` of a block or a result. Members that this library uses itself are left out, and so are members with a number out of the
/// range of `f64`, and the progress token, which belongs to requests and which strict clients check.
pub(crate) fn read_meta(of: Value<'_>) -> Option<Box<Map<String, serde_json::Value>>> {
    let meta = of.get(META).filter(|meta| meta.kind() == Kind::Object)?;
    let members = meta.members().filter(|(name, _)| !name.starts_with(OWN_PREFIX) && name != PROGRESS_TOKEN);
    Some(Box::new(members.filter_map(|(name, value)| Some((name.into_owned(), value.to_json()?))).collect()))
}

/// Returns the text of a block without hidden characters in its labels, and without the members that strict clients reject. In `_meta`, it has no
/// members with the prefix of this library. All other values keep their text. The recursion is bounded by the nesting of JSON.
fn accepted(block: Value<'_>) -> Cow<'_, str> {
    filtered(block, |name, value| {
        let is_object = value.kind() == Kind::Object;
        let label = value.as_str().filter(|_| LABELS.contains(&name));
        match label.map(|text| (visible(&text), text)) {
            _ if !is_accepted(name, value) => None,
            Some((visible, text)) if visible != text => Some(Cow::Owned(write::literal(&visible).get().to_owned())),
            None if name == META => Some(filtered(value, |name, value| {
                (!name.starts_with(OWN_PREFIX)).then(|| Cow::Borrowed(value.text()))
            })),
            None if is_object && [RESOURCE, ANNOTATIONS].contains(&name) => Some(accepted(value)),
            _ => Some(Cow::Borrowed(value.text())),
        }
    })
}

/// Returns the text of an object with the members that `member` returns. If all members stay as they are, the text does too.
fn filtered<'d>(object: Value<'d>, member: impl Fn(&str, Value<'d>) -> Option<Cow<'d, str>>) -> Cow<'d, str> {
    let members: Vec<_> = object.members().map(|(name, value)| (member(&name, value), name)).collect();
    if members.iter().all(|(value, _)| matches!(value, Some(Cow::Borrowed(_)))) {
        return Cow::Borrowed(object.text());
    }
    let present = members.iter().filter_map(|(value, name)| Some((name, value.as_ref()?)));
    Cow::Owned(present.fold(ObjectWriter::new(), |object, (name, value)| object.json(name, value)).finish())
}
