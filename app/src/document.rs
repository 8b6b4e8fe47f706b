//! Documents and their slugs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The prefix of the URI of a document. The slug follows it.
pub(crate) const URI_PREFIX: &str = "kb://documents/";

/// The media type of every document.
pub(crate) const MARKDOWN: &str = "text/markdown";

/// The maximum length of the name of a set, in characters.
pub(crate) const MAX_SET_CHARACTERS: usize = 100;

/// The name of a document: one or more of `a-z`, `0-9` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Slug(String);

/// The error for a text that is not a slug.
#[derive(Debug)]
pub(crate) struct NotASlug;

impl fmt::Display for NotASlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a slug is made of a-z, 0-9 and -, such as `getting-started`")
    }
}

impl std::error::Error for NotASlug {}

impl TryFrom<String> for Slug {
    type Error = NotASlug;

    fn try_from(text: String) -> Result<Self, NotASlug> {
        let is_slug = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if is_slug && !text.is_empty() { Ok(Self(text)) } else { Err(NotASlug) }
    }
}

/// Returns the URI of the document with this slug.
pub(crate) fn uri_of(slug: &str) -> String {
    format!("{URI_PREFIX}{slug}")
}

impl Slug {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the URI of the document as a resource, such as `kb://documents/getting-started`.
    pub(crate) fn uri(&self) -> String {
        uri_of(&self.0)
    }
}

// A Markdown document. Doc comments become descriptions in the published schemas, of which a model pays for each byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Document {
    /// Name of a-z, 0-9 and -, such as getting-started
    #[schemars(with = "String", length(min = 1, max = 200))]
    pub(crate) slug: Slug,
    /// Title
    #[schemars(length(min = 1, max = 300))]
    pub(crate) title: String,
    /// The whole text in Markdown
    // D1 stores rows of at most 2,000,000 bytes, and a character has at most 4 bytes.
    #[schemars(length(min = 1, max = 400_000))]
    pub(crate) text: String,
    /// The set that the document belongs to, if any
    #[schemars(length(min = 1, max = MAX_SET_CHARACTERS))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) set: Option<String>,
    /// Your hash of the document, which list-set returns
    #[schemars(length(min = 1, max = 100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hash: Option<String>,
}
