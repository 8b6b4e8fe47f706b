//! The contents of a resource.
//!
//! Source: schema, `TextResourceContents`, `BlobResourceContents`.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::base64::STANDARD;
use crate::text::Text;

/// The contents of one resource: either text or bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
pub struct ResourceContents {
    pub(super) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<Text>,
    #[serde(flatten)]
    pub(super) body: TextOrBlob,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub(super) meta: Option<Box<Map<String, Value>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TextOrBlob {
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

impl ResourceContents {
    /// Creates the contents of `uri` from text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of_text(uri.into(), Cow::Owned(text.into()))
    }

    /// Creates the contents of `uri` from text. A literal is not copied.
    pub(crate) fn of_text(uri: String, text: Text) -> Self {
        Self { uri, mime_type: None, body: TextOrBlob::Text(text), meta: None }
    }

    /// Creates the contents of `uri` from bytes, which are sent as base64.
    pub fn blob(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self { body: TextOrBlob::Blob(STANDARD.encode(bytes)), ..Self::text(uri, "") }
    }

    /// Creates the contents of `uri` from bytes that are already in base64.
    ///
    /// # Errors
    /// [`NotBase64`] if `base64` is not valid base64 with padding.
    pub fn blob_base64(uri: impl Into<String>, base64: impl Into<String>) -> Result<Self, NotBase64> {
        let base64 = base64.into();
        STANDARD.decode(&base64).ok_or(NotBase64)?;
        Ok(Self { body: TextOrBlob::Blob(base64), ..Self::text(uri, "") })
    }

    /// Returns the URI.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the text, if the contents are text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            TextOrBlob::Text(text) => Some(text),
            TextOrBlob::Blob(_) => None,
        }
    }

    /// Returns the bytes, if the contents are bytes in valid base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match &self.body {
            TextOrBlob::Text(_) => None,
            TextOrBlob::Blob(base64) => STANDARD.decode(base64),
        }
    }

    /// Returns the media type.
    pub fn get_mime_type(&self) -> Option<&str> {
        self.mime_type.as_deref()
    }

    /// Returns the members of `_meta`.
    pub fn get_meta(&self) -> Option<&Map<String, Value>> {
        self.meta.as_deref()
    }

    /// Sets the media type.
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the media type, if it is not set.
    pub(crate) fn or_mime_type(self, mime_type: Option<&Text>) -> Self {
        Self { mime_type: self.mime_type.or_else(|| mime_type.cloned()), ..self }
    }

    /// Returns the members of `_meta`, to change them.
    #[cfg(feature = "gateway")]
    pub(crate) fn meta_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.meta.as_deref_mut()
    }

    /// Sets the URI.
    #[cfg(feature = "gateway")]
    pub(crate) fn at(self, uri: String) -> Self {
        Self { uri, ..self }
    }

    /// Sets a member of `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_a_blob_is_validated() {
        assert_eq!(ResourceContents::blob_base64("a://b", "AA=="), Ok(ResourceContents::blob("a://b", b"\0")));
        for text in ["AA", "AA=", "AB==", "A", "!!!!", "AA==\n", "_-8="] {
            assert_eq!(ResourceContents::blob_base64("a://b", text), Err(NotBase64), "{text:?}");
        }
    }
}
