//! Documents and their slugs.

use std::fmt;

use edge_mcp::rag::is_word_character;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The prefix of the URI of a document. The slug follows it.
pub(crate) const URI_PREFIX: &str = "kb://documents/";

/// The media type of every document.
pub(crate) const MARKDOWN: &str = "text/markdown";

/// The maximum length of the name of a set, in characters.
pub(crate) const MAX_SET_CHARACTERS: usize = 100;

/// The characters that are percent-encoded in the URI of a document: all except letters and digits of ASCII, and `-`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-');

/// The name of a document: letters and digits of any script in lower case, and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Slug(String);

/// The error for a text that is not a slug.
#[derive(Debug)]
pub(crate) struct NotASlug;

impl fmt::Display for NotASlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a slug is made of lower-case letters, digits and -, such as `getting-started`")
    }
}

impl std::error::Error for NotASlug {}

impl TryFrom<String> for Slug {
    type Error = NotASlug;

    /// Reads a slug. A model may copy it from the URI of the document, where it is percent-encoded.
    fn try_from(text: String) -> Result<Self, NotASlug> {
        let slug = percent_decode_str(&text).decode_utf8().map_err(|_| NotASlug)?;
        let is_slug = slug.chars().all(|c| c == '-' || is_slug_letter(c));
        if is_slug && !slug.is_empty() { Ok(Self(slug.into_owned())) } else { Err(NotASlug) }
    }
}

/// Returns whether a slug can contain the character, which is not `-`.
pub(crate) fn is_slug_letter(c: char) -> bool {
    // Diacritics that are not part of their letters have two spellings.
    is_word_character(c) && c.to_lowercase().eq([c]) && !matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns the URI of the document with this slug.
pub(crate) fn uri_of(slug: &str) -> String {
    format!("{URI_PREFIX}{}", utf8_percent_encode(slug, ENCODED))
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
    /// Name of lower-case letters, digits and -, such as getting-started
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_have_letters_of_any_script_and_their_uris_are_encoded() {
        for (slug, uri) in [
            ("getting-started-2", "kb://documents/getting-started-2"),
            ("日本語", "kb://documents/%E6%97%A5%E6%9C%AC%E8%AA%9E"),
            ("हिन्दी", "kb://documents/%E0%A4%B9%E0%A4%BF%E0%A4%A8%E0%A5%8D%E0%A4%A6%E0%A5%80"),
        ] {
            let read = |text: &str| Slug::try_from(text.to_owned()).expect("a slug");
            assert_eq!(read(slug).uri(), uri);
            assert_eq!(read(uri.strip_prefix(URI_PREFIX).expect("the prefix")), read(slug));
        }
        for text in [
            "",
            "Tea",
            "Ärger",
            "a b",
            "a/b",
            "a%2fb",
            "%2e%2e",
            "a_b",
            "日本。",
            "😀",
            "a\u{301}",
            "a\u{202e}b",
            "%ff",
            "𝐀\0",
        ] {
            assert!(Slug::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
