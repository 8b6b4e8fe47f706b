//! The documents to which links lead.

use percent_encoding::percent_decode_str;

/// Returns the path of the document to which a link leads.
///
/// `base` is the path of the document with the link, such as `docs/tea.md`, and `target` is a target of
/// [`add_links`](crate::rag::add_links). A target that begins with `/` starts at the root of all documents, and an empty target is the document
/// itself. Returns `None` for a URI, and for a path above the root.
///
/// ```
/// use edge_mcp::rag::resolve;
///
/// assert_eq!(resolve("docs/tea/green.md", "../pots.md").as_deref(), Some("docs/pots.md"));
/// assert_eq!(resolve("docs/tea.md", "/my%20cup.md").as_deref(), Some("my cup.md"));
/// assert_eq!(resolve("docs/tea.md", "https://example.com/"), None);
/// ```
pub fn resolve(base: &str, target: &str) -> Option<String> {
    if has_scheme(target) || target.starts_with("//") {
        return None;
    }
    let path = target.split(['?', '#']).next().unwrap_or_default();
    if path.is_empty() {
        return Some(base.to_owned());
    }
    let folder = if path.starts_with('/') { "" } else { base.rsplit_once('/').map_or("", |(folder, _)| folder) };
    let mut segments: Vec<String> = Vec::new();
    let encoded = path.split('/').map(|segment| percent_decode_str(segment).decode_utf8().ok().map(Into::into));
    for segment in folder.split('/').map(|segment| Some(segment.to_owned())).chain(encoded) {
        match segment?.as_str() {
            "" | "." => {}
            ".." => drop(segments.pop()?),
            segment if segment.contains('/') => return None,
            segment => segments.push(segment.to_owned()),
        }
    }
    (!segments.is_empty()).then(|| segments.join("/"))
}

/// Returns whether `uri` begins with a scheme, such as `https:`.
pub(super) fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.len() >= 2 && scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_part)
}
