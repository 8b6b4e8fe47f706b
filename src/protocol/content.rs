//! Content of results and messages.
//!
//! Source: schema, `ContentBlock`, `TextResourceContents`, `BlobResourceContents`, `PromptMessage`.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::description::{Annotations, ResourceDescription, Role};
use super::revision::{Feature, Revision};
use crate::base64::STANDARD;
use crate::text::Text;
#[cfg(feature = "client")]
use crate::text::visible;

/// A block of content.
///
/// ```
/// use edge_mcp::{Annotations, Content, ResourceDescription, Role};
///
/// let blocks = [
///     Content::text("The picture, and where it is from.").annotations(Annotations::new().audience(Role::User)),
///     Content::image(b"\x89PNG", "image/png"),
///     Content::link(ResourceDescription::new("https://example.com/picture.png", "picture.png")),
/// ];
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Content {
    #[serde(flatten)]
    block: Block,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Annotations>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Box<Map<String, Value>>>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text { text: Text },
    Image(Media),
    Audio(Media),
    Resource { resource: ResourceContents },
    ResourceLink(Box<ResourceDescription>),
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Media {
    data: String,
    mime_type: Text,
}

impl Media {
    fn new(bytes: &[u8], mime_type: impl Into<Text>) -> Self {
        Self { data: STANDARD.encode(bytes), mime_type: mime_type.into() }
    }
}

impl From<Block> for Content {
    fn from(block: Block) -> Self {
        Self { block, annotations: None, meta: None }
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
        match &self.block {
            Block::Text { text } => Some(text),
            _ => None,
        }
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
        Self { block: Block::ResourceLink(Box::new(resource)), annotations, meta }
    }

    /// Sets the audience and the priority.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Sets a member of `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Converts the block into a form that clients of `revision` accept.
    pub(crate) fn for_revision(self, revision: Revision) -> Self {
        let block = match self.block {
            Block::Audio(Media { data, mime_type }) if !revision.has(Feature::AudioContent) => {
                // The URI is a placeholder that cannot be read. The resource contains the audio.
                let resource =
                    ResourceContents { body: Body::Blob(data), ..ResourceContents::text("content:audio", "") };
                Block::Resource { resource: resource.mime_type(mime_type) }
            }
            Block::ResourceLink(link) if !revision.has(Feature::ResourceLinks) => {
                let name = link.metadata.title.as_ref().unwrap_or(&link.metadata.name);
                let description =
                    link.metadata.description.as_ref().map(|text| format!("\n{text}")).unwrap_or_default();
                Block::Text { text: format!("[{name}]({}){description}", link.uri).into() }
            }
            block => block,
        };
        Self { block, ..self }
    }
}

#[cfg(feature = "client")]
impl Content {
    /// Reads a block that another server sent. Returns `None` for an unknown type or a malformed block.
    pub(crate) fn read(block: edge_json::Value<'_>) -> Option<Self> {
        let text = |name: &str| block.string(name);
        let media = || Some(Media { data: text("data")?, mime_type: text("mimeType")?.into() });
        let content = match &*text("type")? {
            "text" => Block::Text { text: text("text")?.into() },
            "image" => Block::Image(media()?),
            "audio" => Block::Audio(media()?),
            "resource" => Block::Resource { resource: ResourceContents::read(block.get("resource")?)? },
            "resource_link" => {
                let text = |name: &str| block.string(name).map(|text| visible(&text));
                let mut link = ResourceDescription::new(block.string("uri")?, text("name")?);
                link.mime_type = text("mimeType").map(Into::into);
                link.metadata.title = text("title").map(Into::into);
                link.metadata.description = text("description").map(Into::into);
                Block::ResourceLink(Box::new(link))
            }
            _ => return None,
        };
        Some(Self { meta: read_meta(block), ..content.into() })
    }
}

/// Reads the `_meta` of a block that another server sent. Keys with the prefix of this library are left out, because clients would take
/// their members for ours.
#[cfg(feature = "client")]
fn read_meta(block: edge_json::Value<'_>) -> Option<Box<Map<String, Value>>> {
    let mut meta = block.get("_meta").and_then(edge_json::Value::to_map)?;
    meta.retain(|key, _| !key.starts_with("edge-mcp/"));
    Some(Box::new(meta))
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

/// The contents of one resource: either text or bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<Text>,
    #[serde(flatten)]
    body: Body,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Box<Map<String, Value>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Body {
    Text(Text),
    Blob(String),
}

/// The error for a text that is not valid base64 with padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotBase64;

impl fmt::Display for NotBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the blob is not base64 with padding")
    }
}

impl std::error::Error for NotBase64 {}

#[cfg(feature = "client")]
impl ResourceContents {
    /// Reads contents that another server sent. Returns `None` if they are malformed.
    pub(crate) fn read(contents: edge_json::Value<'_>) -> Option<Self> {
        let body = match (contents.string("text"), contents.string("blob")) {
            (Some(text), None) => Body::Text(text.into()),
            (None, Some(blob)) => Body::Blob(blob),
            _ => return None,
        };
        let mime_type = contents.string("mimeType").map(Into::into);
        Some(Self { uri: contents.string("uri")?, mime_type, body, meta: read_meta(contents) })
    }
}

impl ResourceContents {
    /// Creates the contents of `uri` from text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of_text(uri.into(), Cow::Owned(text.into()))
    }

    /// Creates the contents of `uri` from text. A literal is not copied.
    pub(crate) fn of_text(uri: String, text: Text) -> Self {
        Self { uri, mime_type: None, body: Body::Text(text), meta: None }
    }

    /// Creates the contents of `uri` from bytes, which are sent as base64.
    pub fn blob(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self { body: Body::Blob(STANDARD.encode(bytes)), ..Self::text(uri, "") }
    }

    /// Creates the contents of `uri` from bytes that are already in base64.
    ///
    /// # Errors
    /// [`NotBase64`] if `base64` is not valid base64 with padding.
    pub fn blob_base64(uri: impl Into<String>, base64: impl Into<String>) -> Result<Self, NotBase64> {
        let base64 = base64.into();
        STANDARD.decode(&base64).ok_or(NotBase64)?;
        Ok(Self { body: Body::Blob(base64), ..Self::text(uri, "") })
    }

    /// Returns the URI.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the text, if the contents are text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            Body::Blob(_) => None,
        }
    }

    /// Returns the bytes, if the contents are bytes in valid base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match &self.body {
            Body::Text(_) => None,
            Body::Blob(base64) => STANDARD.decode(base64),
        }
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the media type, if it is not set.
    pub(crate) fn or_mime_type(self, mime_type: Option<&Text>) -> Self {
        Self { mime_type: self.mime_type.or_else(|| mime_type.cloned()), ..self }
    }

    /// Sets a member of `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }
}

/// A message of a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct PromptMessage {
    role: Role,
    content: Content,
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

    /// Reads a message that another server sent. Returns `None` if it is malformed or has content of an unknown type.
    #[cfg(feature = "client")]
    pub(crate) fn read(message: edge_json::Value<'_>) -> Option<Self> {
        let role = match &*message.string("role")? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return None,
        };
        Some(Self { role, content: Content::read(message.get("content")?)? })
    }

    /// Returns the sender.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the content.
    pub fn content(&self) -> &Content {
        &self.content
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

    #[test]
    fn base64_of_a_blob_is_validated() {
        assert_eq!(ResourceContents::blob_base64("a://b", "AA=="), Ok(ResourceContents::blob("a://b", b"\0")));
        for text in ["AA", "AA=", "AB==", "A", "!!!!", "AA==\n", "_-8="] {
            assert_eq!(ResourceContents::blob_base64("a://b", text), Err(NotBase64), "{text:?}");
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
