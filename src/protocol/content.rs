//! What results are made of.
//!
//! Source: schema, `ContentBlock`, `TextResourceContents`, `BlobResourceContents`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::description::Text;

/// A block of content in a tool's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The picture, base64.
        data: String,
        /// Its media type, such as `image/png`.
        mime_type: Text,
    },
    /// The content of a resource, so that nobody has to read it.
    Resource {
        /// The content.
        resource: ResourceContents,
    },
}

impl Content {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture, given as its bytes.
    pub fn image(bytes: &[u8], mime_type: impl Into<Text>) -> Self {
        Self::Image { data: STANDARD.encode(bytes), mime_type: mime_type.into() }
    }

    /// The content of a resource.
    pub fn resource(resource: ResourceContents) -> Self {
        Self::Resource { resource }
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<Text>,
    #[serde(flatten)]
    body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Body {
    Text(String),
    Blob(String),
}

impl ResourceContents {
    /// Text at `uri`.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: Body::Text(text.into()) }
    }

    /// Bytes at `uri`; they are sent as base64.
    pub fn blob(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self { uri: uri.into(), mime_type: None, body: Body::Blob(STANDARD.encode(bytes)) }
    }

    /// The media type `mime_type`, unless this content names one.
    pub(crate) fn or_mime_type(self, mime_type: Option<&Text>) -> Self {
        Self { mime_type: self.mime_type.or_else(|| mime_type.cloned()), ..self }
    }

    /// The media type of this content.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Rules 63 and 65: binary is base64 and carries its media type; a resource has its URI and text or blob.
    #[test]
    fn each_kind_has_its_form() {
        for (content, expected) in [
            (Content::text("hi"), json!({"type": "text", "text": "hi"})),
            (
                Content::image(&[0xff, 0xfe], "image/png"),
                json!({"type": "image", "data": "//4=", "mimeType": "image/png"}),
            ),
            (
                Content::resource(ResourceContents::text("a://b", "t").mime_type("text/plain")),
                json!({"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "t"}}),
            ),
            (
                Content::resource(ResourceContents::blob("a://b", b"\0")),
                json!({"type": "resource", "resource": {"uri": "a://b", "blob": "AA=="}}),
            ),
        ] {
            assert_eq!(serde_json::to_value(content).expect("serializes"), expected);
        }
    }
}
