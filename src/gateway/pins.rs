//! The pins of definitions: a tool that has changed since a person read its definition is held back.
//!
//! A pin is a digest of everything of a definition that a model or a person relies on. A digest of the name alone, or without the
//! description, would miss the attack.

use edge_json::{Document, JsonLimits, canonical, write};
use sha2::{Digest, Sha256};

use crate::base64::STANDARD;
use crate::protocol::resource_contents::ResourceContents;
use crate::protocol::ui::{FLAT_RESOURCE_URI, UI};
use crate::text::Text;

/// The members of a definition that a pin covers, besides the user interface in `_meta`.
const PINNED: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// The pins of a mount: names of tools and URIs of apps, with their digests.
#[derive(Default)]
pub(super) struct Pins {
    pub(super) pinned: Vec<(Text, Text)>,
    /// Whether only pinned tools and apps exist.
    pub(super) excludes_others: bool,
}

impl Pins {
    pub(super) fn is_empty(&self) -> bool {
        self.pinned.is_empty() && !self.excludes_others
    }

    /// Returns the names that have a pin.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.pinned.iter().map(|(name, _)| &**name)
    }

    /// Returns whether there is a pin for a tool or an app.
    pub(super) fn has(&self, name: &str) -> bool {
        self.of(name).is_some()
    }

    /// Returns whether a tool or an app does not exist, because it has no pin.
    pub(super) fn hides(&self, name: &str) -> bool {
        self.excludes_others && !self.has(name)
    }

    /// Returns whether a tool or an app must be checked before it is used.
    pub(super) fn concern(&self, name: &str) -> bool {
        self.excludes_others || self.has(name)
    }

    fn of(&self, name: &str) -> Option<&str> {
        self.pinned.iter().find(|(known, _)| known == name).map(|(_, digest)| &**digest)
    }

    /// Checks the digest of the tool or the app `name`.
    ///
    /// # Errors
    /// The reason why it is held back, for the log.
    pub(super) fn check(&self, name: &str, digest: impl FnOnce() -> String) -> Result<(), String> {
        match self.of(name) {
            None if self.excludes_others => Err("it is not pinned".to_owned()),
            None => Ok(()),
            Some(expected) => {
                let found = digest();
                if found == expected {
                    Ok(())
                } else {
                    Err(format!("its digest is {found}, and the pin is {expected}"))
                }
            }
        }
    }
}

/// Returns whether a text has the form of a digest.
pub(super) fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256-").and_then(|digest| STANDARD.decode(digest)).is_some_and(|bytes| bytes.len() == 32)
}

/// Returns the digest of the definition of a tool, which is JSON text. Spelling does not matter: white space, escapes and the order of members.
pub(super) fn of_definition(json: &str) -> String {
    let mut text = String::new();
    if let Ok(document) = Document::parse(json.as_bytes(), JsonLimits::MOST) {
        let definition = document.root();
        canonical::write_members(definition, |name, _| PINNED.contains(&name), &mut text);
        if let Some(meta) = definition.get("_meta") {
            canonical::write_members(meta, |name, _| name == UI || name == FLAT_RESOURCE_URI, &mut text);
        }
    }
    of_text(&text)
}

/// Returns the digest of the page of an app, with its settings: a page may use the origins that they name.
pub(super) fn of_page(page: &ResourceContents) -> Option<String> {
    let mut text = page.as_text()?.to_owned();
    text.push('\0');
    if let Some(ui) = page.get_meta().and_then(|meta| meta.get(UI)) {
        let ui = write::text(ui);
        canonical::write(Document::parse(ui.as_bytes(), JsonLimits::MOST).ok()?.root(), &mut text);
    }
    Some(of_text(&text))
}

fn of_text(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
