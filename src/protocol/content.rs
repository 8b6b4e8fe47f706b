//! What results and messages are made of.
//!
//! Source: schema, `ContentBlock`, `TextResourceContents`, `BlobResourceContents`, `PromptMessage`.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value};

use super::description::{Annotations, ResourceDescription, Role, Text};
use super::revision::{Feature, Revision};
use crate::json::long;

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
    Text {
        #[serde(serialize_with = "long::serialize")]
        text: String,
    },
    Image(Media),
    Audio(Media),
    Resource {
        resource: ResourceContents,
    },
    ResourceLink(Box<ResourceDescription>),
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Media {
    #[serde(serialize_with = "long::serialize")]
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
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text { text: text.into() }.into()
    }

    /// What it says, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.block {
            Block::Text { text } => Some(text),
            _ => None,
        }
    }

    /// A picture, given as its bytes.
    pub fn image(bytes: &[u8], mime_type: impl Into<Text>) -> Self {
        Block::Image(Media::new(bytes, mime_type)).into()
    }

    /// A sound, given as its bytes. Clients of 2024-11-05, which has no such block, get it as a resource.
    pub fn audio(bytes: &[u8], mime_type: impl Into<Text>) -> Self {
        Block::Audio(Media::new(bytes, mime_type)).into()
    }

    /// The content of a resource, so that nobody has to read it.
    pub fn resource(resource: ResourceContents) -> Self {
        Block::Resource { resource }.into()
    }

    /// A resource that can be read. Clients up to 2025-03-26, which have no such block, get its name and URI as text.
    pub fn link(mut resource: ResourceDescription) -> Self {
        // A link is a description and a block at once: what both may have is kept in one place.
        let (annotations, meta) = (resource.annotations.take(), resource.metadata.meta.take());
        Self { block: Block::ResourceLink(Box::new(resource)), annotations, meta }
    }

    /// For whom it is meant, and how much it matters.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// A member of its `_meta`, for clients that know it.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// The block in a form that a client of `revision` does not reject.
    pub(crate) fn for_revision(self, revision: Revision) -> Self {
        let block = match self.block {
            Block::Audio(Media { data, mime_type }) if !revision.knows(Feature::AudioContent) => {
                // Nothing is at this URI: the sound is all here.
                let resource =
                    ResourceContents { body: Body::Blob(data), ..ResourceContents::text("content:audio", "") };
                Block::Resource { resource: resource.mime_type(mime_type) }
            }
            Block::ResourceLink(link) if !revision.knows(Feature::ResourceLinks) => {
                let name = link.metadata.title.as_ref().unwrap_or(&link.metadata.name);
                let what = link.metadata.description.as_ref().map(|text| format!("\n{text}")).unwrap_or_default();
                Block::Text { text: format!("[{name}]({}){what}", link.uri) }
            }
            block => block,
        };
        Self { block, ..self }
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

/// The content of one resource: text or bytes, never both.
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
    Text(#[serde(serialize_with = "long::serialize")] String),
    Blob(#[serde(serialize_with = "long::serialize")] String),
}

/// A text was given as base64 and is none: wrong alphabet, padding or stray bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotBase64;

impl fmt::Display for NotBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the blob is not base64 with padding")
    }
}

impl std::error::Error for NotBase64 {}

impl ResourceContents {
    /// Text at `uri`.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: Body::Text(text.into()), meta: None }
    }

    /// Bytes at `uri`; they are sent as base64.
    pub fn blob(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self { body: Body::Blob(STANDARD.encode(bytes)), ..Self::text(uri, "") }
    }

    /// Bytes at `uri` that are base64 already.
    ///
    /// # Errors
    /// [`NotBase64`]
    pub fn blob_base64(uri: impl Into<String>, base64: impl Into<String>) -> Result<Self, NotBase64> {
        let base64 = base64.into();
        STANDARD.decode(&base64).map_err(|_| NotBase64)?;
        Ok(Self { body: Body::Blob(base64), ..Self::text(uri, "") })
    }

    /// The media type of this content.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// The media type `mime_type`, unless this content names one.
    pub(crate) fn or_mime_type(self, mime_type: Option<&Text>) -> Self {
        Self { mime_type: self.mime_type.or_else(|| mime_type.cloned()), ..self }
    }

    /// A member of its `_meta`, for clients that know it.
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
    /// What the person says.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// What the model says.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }

    /// The message in a form that a client of `revision` does not reject.
    pub(crate) fn for_revision(self, revision: Revision) -> Self {
        Self { content: self.content.for_revision(revision), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, JsonLimits};
    use serde_json::json;

    /// Rules 63 and 65: binary is base64 and carries its media type; a resource has its URI and text or blob.
    #[test]
    fn each_kind_has_its_form() {
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
            assert!(Document::parse(text.as_bytes(), JsonLimits::default()).is_ok(), "no key twice in {text}");
            assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), expected);
        }
    }

    #[test]
    fn a_blob_given_as_text_is_checked() {
        assert_eq!(ResourceContents::blob_base64("a://b", "AA=="), Ok(ResourceContents::blob("a://b", b"\0")));
        for text in ["AA", "AA=", "AB==", "A", "!!!!", "AA==\n", "_-8="] {
            assert_eq!(ResourceContents::blob_base64("a://b", text), Err(NotBase64), "{text:?}");
        }
    }

    /// Older clients reject a result with a block that they do not know: they get the nearest that they do.
    #[test]
    fn blocks_suit_the_revision() {
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
