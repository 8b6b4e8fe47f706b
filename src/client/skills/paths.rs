//! The paths in the URIs of skills.

use edge_uri_template::normalized;
use percent_encoding::percent_decode_str;

use crate::server::skills::manifest::SKILL_FILE;

/// Returns the folder of a skill in normal form, and the name of the folder. Returns `None` if `uri` is not the URI of a `SKILL.md` in a folder.
pub(super) fn root(uri: &str) -> Option<(String, String)> {
    let normal = normalized(uri);
    let root = normal.strip_suffix(SKILL_FILE)?;
    let (scheme, path) = root.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let name = is_scheme.then(|| names(path)?.pop())??;
    Some((root.to_owned(), name))
}

/// Returns whether `uri` is a file in the folder `root`, which is in normal form.
pub(super) fn is_inside(root: &str, uri: &str) -> bool {
    let normal = normalized(uri);
    normal.strip_prefix(root).and_then(|rest| names(rest.strip_prefix('/')?)).is_some()
}

/// Returns the URI, in normal form, that a reference in a file of the folder `root` means. Returns `None` if a relative path leaves the folder.
pub(super) fn resolved(root: &str, reference: &str) -> Option<String> {
    let reference = normalized(reference.split('#').next()?);
    if reference.contains("://") {
        return Some(reference.into_owned());
    }
    let mut path = Vec::new();
    for segment in reference.split('/') {
        match segment {
            "." => {}
            ".." => drop(path.pop()?),
            segment => path.push(segment),
        }
    }
    Some(format!("{root}/{}", path.join("/")))
}

/// Returns the names in a path in normal form, without their escapes. Returns `None` if the path is not the only one for its names.
fn names(path: &str) -> Option<Vec<String>> {
    let is_name = |name: &str| {
        !matches!(name, "" | "." | "..") && !name.contains(|it: char| matches!(it, '/' | '\\') || it.is_control())
    };
    let name =
        |segment: &str| Some(percent_decode_str(segment).decode_utf8().ok()?.into_owned()).filter(|it| is_name(it));
    if path.contains(['?', '#']) { None } else { path.split('/').map(name).collect() }
}
