//! Content of results and messages.
//!
//! Source: schema, `ContentBlock`, `PromptMessage`.

use std::borrow::Cow;

use edge_json::write::Raw;
#[cfg(feature = "client")]
use edge_json::{Document, JsonLimits};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::description::{Annotations, ResourceDescription, Role};
use super::received::{ANNOTATIONS, ForeignText, META, Settable};
use super::resource_contents::{ResourceContents, TextOrBlob};
use super::revision::{Feature, Revision};
use crate::base64::STANDARD;
#[cfg(feature = "client")]
use crate::limits::UNKNOWN_CONTENT_BYTES;
use crate::text::Text;
#[cfg(feature = "client")]
use crate::text::line;

/// A block of content.
///
/// ```
/// use edge_mcp::content::{Annotations, Role};
/// use edge_mcp::{Content, ResourceDescription};
///
/// let blocks = [
///     Content::text("The picture, and where it is from.").annotations(Annotations::new().audience(Role::User)),
///     Content::image(b"\x89PNG", "image/png"),
///     Content::link(ResourceDescription::new("https://example.com/picture.png", "picture.png")),
/// ];
/// ```
///
/// [`block`](Self::block) returns the parts of a block, for example of a block that another server sent:
///
/// ```
/// use edge_mcp::content::Block;
/// use edge_mcp::Content;
///
/// let content = Content::image(b"\x89PNG", "image/png");
/// let Block::Image(image) = content.block() else { panic!("an image") };
/// assert_eq!((image.mime_type(), image.bytes().as_deref()), ("image/png", Some(&b"\x89PNG"[..])));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Content {
    pub(super) typed: ContentParts,
    /// The block as another server sent it, which is serialized instead of `typed`.
    pub(super) received: Option<ForeignText>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct ContentParts {
    #[serde(flatten)]
    pub block: Block,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<Map<String, Value>>>,
}

/// The type of a block of content, with its parts.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// A text.
    #[non_exhaustive]
    Text {
        /// The text.
        text: Text,
    },
    /// An image.
    Image(Media),
    /// A sound.
    Audio(Media),
    /// An embedded resource.
    #[non_exhaustive]
    Resource {
        /// The contents of the resource.
        resource: ResourceContents,
    },
    /// A link to a resource. The annotations and the `_meta` belong to the [`Content`].
    ResourceLink(Box<ResourceDescription>),
    /// A block of another server, of a type that this library does not know, or of a form that clients reject. [`Content::received`] returns its
    /// JSON text. A caller gets a text that names the type.
    #[serde(skip)]
    Unknown,
}

/// The data of an image or a sound.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    pub(super) data: String,
    pub(super) mime_type: Text,
}

impl Media {
    fn new(bytes: &[u8], mime_type: impl Into<Text>) -> Self {
        Self { data: STANDARD.encode(bytes), mime_type: mime_type.into() }
    }

    /// Returns the media type.
    pub fn mime_type(&self) -> &str {
        &self.mime_type
    }

    /// Returns the data as base64. Data of another server may be invalid.
    pub fn base64(&self) -> &str {
        &self.data
    }

    /// Returns the data, if it is valid base64 with padding.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.data)
    }
}

/// The longest type in the text that replaces a block, in characters.
#[cfg(feature = "client")]
const UNKNOWN_TYPE: usize = 64;

impl From<Block> for Content {
    fn from(block: Block) -> Self {
        ContentParts { block, annotations: None, meta: None }.into()
    }
}

impl From<ContentParts> for Content {
    fn from(typed: ContentParts) -> Self {
        Self { typed, received: None }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(received) = &self.received {
            let values = Settable { annotations: self.typed.annotations.as_ref(), meta: self.typed.meta.as_deref() };
            let text = received.written(&values).map_err(serde::ser::Error::custom)?;
            return Raw(&text).serialize(serializer);
        }
        self.typed.serialize(serializer)
    }
}

impl Content {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of_text(Cow::Owned(text.into()))
    }

    /// Creates a text block. A literal is not copied.
    pub(crate) fn of_text(text: Text) -> Self {
        Block::Text { text }.into()
    }

    /// Returns the text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match &self.typed.block {
            Block::Text { text } => Some(text),
            _ => None,
        }
    }

    /// Returns the type of the block and its parts.
    pub fn block(&self) -> &Block {
        &self.typed.block
    }

    /// Returns the JSON text of a block that another server sent, without hidden characters in its labels (`name`, `title`, `description`).
    /// The text is passed on instead of the parts, so members that this library does not know are not lost.
    pub fn received(&self) -> Option<&str> {
        self.received.as_ref()?.get()
    }

    /// Notes that the program has set a member of a block that another server sent.
    fn replace(&mut self, member: &'static str) {
        if let Some(received) = &mut self.received {
            received.replace(member);
        }
    }

    /// Returns the annotations.
    pub fn get_annotations(&self) -> Option<&Annotations> {
        self.typed.annotations.as_ref()
    }

    /// Returns the members of `_meta`.
    pub fn get_meta(&self) -> Option<&Map<String, Value>> {
        self.typed.meta.as_deref()
    }

    /// Creates an image block from bytes.
    pub fn image(bytes: &[u8], mime_type: impl Into<Text>) -> Self {
        Block::Image(Media::new(bytes, mime_type)).into()
    }

    /// Creates an audio block from bytes. Clients of 2024-11-05, which has no audio blocks, get an embedded resource.
    pub fn audio(bytes: &[u8], mime_type: impl Into<Text>) -> Self {
        Block::Audio(Media::new(bytes, mime_type)).into()
    }

    /// Creates an embedded resource, which the client does not have to read separately.
    pub fn resource(resource: ResourceContents) -> Self {
        Block::Resource { resource }.into()
    }

    /// Creates a resource link. Clients up to 2025-03-26, which have no resource links, get its name and URI as text.
    pub fn link(mut resource: ResourceDescription) -> Self {
        // A resource description and a block both have annotations and `_meta`. Move these members to the block, so that they occur once.
        let (annotations, meta) = (resource.annotations.take(), resource.metadata.meta.take());
        ContentParts { block: Block::ResourceLink(Box::new(resource)), annotations, meta }.into()
    }

    /// Sets the audience and the priority.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.typed.annotations = Some(annotations);
        self.replace(ANNOTATIONS);
        self
    }

    /// Sets a member of `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.typed.meta.get_or_insert_default().insert(key.into(), value.into());
        self.replace(META);
        self
    }

    /// Returns the text that replaces a block of an unknown type or form: clients reject a whole result because of such a block.
    #[cfg(feature = "client")]
    fn text_of_unknown(&self) -> String {
        let json = self.received().unwrap_or_default();
        let document = Document::parse(json.as_bytes(), JsonLimits::MOST).ok();
        let kind = document.and_then(|document| document.root().string("type")).unwrap_or_default();
        let kind = line(&kind, UNKNOWN_TYPE);
        if json.len() > UNKNOWN_CONTENT_BYTES {
            return format!("Content of the type `{kind}`, which is left out: it has {} bytes of JSON.", json.len());
        }
        format!("Content of the type `{kind}`: {json}")
    }

    /// Converts the block into a form that clients of `revision` accept.
    pub(crate) fn for_revision(mut self, revision: Revision) -> Self {
        let block = match self.typed.block {
            Block::Audio(Media { data, mime_type }) if !revision.has(Feature::AudioContent) => {
                // The URI is a placeholder that cannot be read. The resource contains the audio.
                let resource =
                    ResourceContents { body: TextOrBlob::Blob(data), ..ResourceContents::text("content:audio", "") };
                Block::Resource { resource: resource.mime_type(mime_type) }
            }
            Block::ResourceLink(link) if !revision.has(Feature::ResourceLinks) => {
                let name = link.metadata.title.as_ref().unwrap_or(&link.metadata.name);
                let description =
                    link.metadata.description.as_ref().map(|text| format!("\n{text}")).unwrap_or_default();
                Block::Text { text: format!("[{name}]({}){description}", link.uri).into() }
            }
            #[cfg(feature = "client")]
            Block::Unknown => {
                self.typed.block = Block::Unknown;
                Block::Text { text: self.text_of_unknown().into() }
            }
            block => {
                self.typed.block = block;
                return self;
            }
        };
        ContentParts { block, ..self.typed }.into()
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// A message of a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct PromptMessage {
    /// The sender.
    pub role: Role,
    /// The content.
    pub content: Content,
}

impl PromptMessage {
    /// Creates a message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Creates a message of the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }

    #[cfg(feature = "gateway")]
    pub(crate) fn map_content(self, map: impl FnOnce(Content) -> Content) -> Self {
        Self { content: map(self.content), ..self }
    }

    /// Converts the message into a form that clients of `revision` accept.
    pub(crate) fn for_revision(self, revision: Revision) -> Self {
        Self { content: self.content.for_revision(revision), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use edge_json::{Document, JsonLimits};
    use serde_json::json;

    /// Rules 63 and 65: binary data is base64 with its media type; a resource has a URI, and text or a blob.
    #[test]
    fn each_kind_of_content_is_serialized_as_in_the_schema() {
        let described = || ResourceDescription::new("a://b", "b").annotations(Annotations::new().priority(1.0));
        let notes = Annotations::new().audience(Role::User).priority(7.0).last_modified("2026-07-28");
        for (content, expected) in [
            (Content::text("hi"), json!({"type": "text", "text": "hi"})),
            (
                Content::text("hi").annotations(notes).meta("example.com/a", 1),
                json!({
                    "type": "text", "text": "hi", "_meta": {"example.com/a": 1},
                    "annotations": {"audience": ["user"], "priority": 1.0, "lastModified": "2026-07-28"},
                }),
            ),
            (
                Content::image(&[0xff, 0xfe], "image/png"),
                json!({"type": "image", "data": "//4=", "mimeType": "image/png"}),
            ),
            (Content::audio(&[1], "audio/wav"), json!({"type": "audio", "data": "AQ==", "mimeType": "audio/wav"})),
            (
                Content::resource(ResourceContents::text("a://b", "t").mime_type("text/plain")),
                json!({"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "t"}}),
            ),
            (
                Content::resource(ResourceContents::blob("a://b", b"\0").meta("example.com/a", true)),
                json!({"type": "resource", "resource": {"uri": "a://b", "blob": "AA==", "_meta": {"example.com/a": true}}}),
            ),
            (
                Content::link(described().meta("example.com/a", 1))
                    .meta("example.com/b", 2)
                    .annotations(Annotations::new()),
                json!({
                    "type": "resource_link", "uri": "a://b", "name": "b", "annotations": {},
                    "_meta": {"example.com/a": 1, "example.com/b": 2},
                }),
            ),
            (
                Content::link(ResourceDescription::new("a://b", "b").title("B").size(3)),
                json!({"type": "resource_link", "uri": "a://b", "name": "b", "title": "B", "size": 3}),
            ),
        ] {
            let text = serde_json::to_string(&content).expect("serializes");
            assert!(Document::parse(text.as_bytes(), JsonLimits::default()).is_ok(), "a key occurs twice in {text}");
            assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), expected);
        }
    }

    /// Older clients reject a result with a block of an unknown type, so they get the closest type of their revision.
    #[test]
    fn blocks_are_converted_for_older_revisions() {
        let link = || Content::link(ResourceDescription::new("a://b", "b").title("B").description("Both."));
        let audio = || Content::audio(&[1], "audio/wav");
        for (revision, link_type, audio_type) in [
            (Revision::V2024_11_05, "text", "resource"),
            (Revision::V2025_03_26, "text", "audio"),
            (Revision::V2025_06_18, "resource_link", "audio"),
            (Revision::V2025_11_25, "resource_link", "audio"),
            (Revision::V2026_07_28, "resource_link", "audio"),
        ] {
            for (content, expected) in [(link(), link_type), (audio(), audio_type)] {
                let content = serde_json::to_value(content.for_revision(revision)).expect("serializes");
                assert_eq!(content["type"], expected, "{revision}");
            }
        }
        let oldest =
            |content: Content| serde_json::to_value(content.for_revision(Revision::V2024_11_05)).expect("serializes");
        assert_eq!(oldest(link()), json!({"type": "text", "text": "[B](a://b)\nBoth."}));
        assert_eq!(
            oldest(audio())["resource"],
            json!({"uri": "content:audio", "mimeType": "audio/wav", "blob": "AQ=="})
        );
    }
}
