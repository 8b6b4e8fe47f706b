//! The names of mounted tools and prompts.
//!
//! A name is `<mount>_<name>`. The name of a mount has no `_`, so the first `_` divides. A name that is too long, or that has characters
//! that clients do not allow, ends with a hash. No name depends on the order of a list or on other tools.

use std::borrow::Cow;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::client::Definition;
use crate::server::check::is_name_byte;

/// The number of hexadecimal digits of a hash.
const HASH: usize = 8;

/// The item of a server that a name stands for: a tool or a prompt.
#[derive(Clone)]
pub(super) enum ItemName {
    /// The item with this name at the server.
    AtServer(String),
    /// The item of the server whose list has this name here. A hash does not say which item it is, and a server may read a name that resembles
    /// another one as that one.
    InList(String),
}

impl ItemName {
    pub(super) fn text(&self) -> &str {
        let (Self::AtServer(name) | Self::InList(name)) = self;
        name
    }

    /// Finds the item among those of a list, which have the names by which callers know them.
    pub(super) fn find<'t, 'l>(&self, items: &'t [(String, &'l Definition)]) -> Option<&'t (String, &'l Definition)> {
        items.iter().find(|(shown, item)| match self {
            Self::AtServer(own) => item.name() == own,
            Self::InList(name) => shown == name,
        })
    }
}

/// Returns the name of the item `name` of a mount. `mount` is `None` for a mount without a prefix.
pub(super) fn full_name(mount: Option<&str>, name: &str, longest: usize) -> String {
    let prefix = mount.map_or(Cow::Borrowed(""), |mount| Cow::Owned(format!("{mount}_")));
    let full = format!("{prefix}{name}");
    if is_shown(&full, longest) {
        return full;
    }
    let hash = hash(mount.unwrap_or_default(), name);
    let left = longest.saturating_sub(prefix.len()).saturating_sub(HASH).saturating_sub(1);
    let beginning: String =
        name.chars().map(|c| if c.is_ascii() && is_name_byte(c as u8) { c } else { '_' }).take(left).collect();
    format!("{prefix}{beginning}_{hash}")
}

/// Returns whether callers can know an item by this name. The name is not too long, and has only characters that clients allow.
pub(super) fn is_shown(full: &str, longest: usize) -> bool {
    full.len() <= longest && full.bytes().all(is_name_byte)
}

/// Returns whether a name may end with a hash. Only the list of its server then says which tool it is.
pub(super) fn may_be_hashed(name: &str) -> bool {
    name.rsplit_once('_')
        .is_some_and(|(_, hash)| hash.len() == HASH && hash.bytes().all(|byte| b"0123456789abcdef".contains(&byte)))
}

fn hash(mount: &str, name: &str) -> String {
    let mut digest = Sha256::new();
    for part in [mount.as_bytes(), b"\0", name.as_bytes()] {
        digest.update(part);
    }
    let mut text = String::new();
    for byte in digest.finalize().iter().take(HASH.div_ceil(2)) {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C87, C88, C89: a name has the prefix of its mount. A long name, or one with other characters, ends with a hash.
    #[test]
    fn names_have_a_prefix_and_are_short() {
        for (mount, name, expected) in [
            (Some("github"), "create_issue", "github_create_issue"),
            (None, "create_issue", "create_issue"),
            (Some("github"), "a.b-c_D9", "github_a.b-c_D9"),
        ] {
            assert_eq!(full_name(mount, name, 48), expected);
            assert!(!may_be_hashed(expected));
        }
        let long = "x".repeat(200);
        for name in ["créer", "a b", "a/b", "日本", &long, "a\nb"] {
            let full = full_name(Some("github"), name, 48);
            assert!(full.starts_with("github_") && full.len() <= 48 && may_be_hashed(&full), "{full}");
            assert!(full.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)), "{full}");
            assert_ne!(
                full,
                full_name(Some("gitlab"), name, 48).replace("gitlab", "github"),
                "the hash covers the mount"
            );
        }
        assert_ne!(full_name(None, "a b", 48), full_name(None, "a/b", 48));
        assert_eq!(full_name(Some("m"), &"y".repeat(46), 48).len(), 48);
        assert!(may_be_hashed(&full_name(Some("m"), &"y".repeat(47), 48)));
        assert_eq!(full_name(Some(&"m".repeat(24)), &long, 40).len(), 40);
    }
}
