//! The links of a Markdown document.

pub(super) mod destination;
pub(super) mod inline;

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::string_slice)]
mod tests;

use percent_encoding::percent_decode_str;

use super::chunks::blocks::{BlockKind, blocks};
use super::chunks::front_matter::body;
use super::chunks::{Chunk, Link};
use crate::limits::RAG_LINKS;
use destination::LinkDefinitions;
use inline::has_scheme;

/// Adds the links of a Markdown document to its chunks: inline links, reference links and autolinks.
///
/// `text` is the document of which [`chunks`](super::chunks()) returned the chunks. `documents` returns the names of the documents to which a
/// target may lead. A target is a URI or a path without its fragment, and empty for a link within the document: see
/// [`resolve`](super::resolve). Images and code have no links, and only the first 1000 links of a document count. A link in a heading
/// belongs to the chunk after the heading.
///
/// ```
/// use edge_mcp::rag::{ChunkOptions, add_links, chunks, resolve};
///
/// let text = "# Tea\n\nSee [pots](../pots.md#iron-pots) and `[code](x.md)`.\n";
/// let mut chunks = chunks(text, &ChunkOptions::new());
/// add_links(&mut chunks, text, |target| resolve("drinks/tea.md", target));
/// assert_eq!(chunks[0].links[0].document, "pots.md");
/// assert_eq!(chunks[0].links[0].section.as_deref(), Some("iron-pots"));
/// ```
pub fn add_links<N: IntoIterator<Item = String>>(
    chunks: &mut [Chunk],
    text: &str,
    mut documents: impl FnMut(&str) -> N,
) {
    let last = chunks.len().saturating_sub(1);
    for (at, destination) in destinations(text) {
        let (target, fragment) = destination.split_once('#').unwrap_or((&destination, ""));
        let section = percent_decode_str(fragment).decode_utf8_lossy();
        let section = (!section.is_empty()).then_some(section);
        let position = chunks.partition_point(|chunk| chunk.range.end <= at).min(last);
        let Some(chunk) = chunks.get_mut(position) else { return };
        for document in documents(target) {
            let link = Link { document, section: section.as_deref().map(str::to_owned) };
            if !chunk.links.contains(&link) {
                chunk.links.push(link);
            }
        }
    }
}

/// Returns the positions and the destinations of the links of a Markdown document.
fn destinations(text: &str) -> Vec<(usize, String)> {
    let blocks = blocks(text, body(text));
    let prose = || {
        let prose = blocks.iter().filter(|block| is_prose(&block.kind));
        prose.filter_map(|block| Some((block.range.start, text.get(block.range.clone())?)))
    };
    let mut definitions = LinkDefinitions::new();
    for (_, block) in prose() {
        destination::define(block, &mut definitions);
    }
    let mut found = Vec::new();
    for (start, block) in prose() {
        inline::links(block, &definitions, |at, destination| {
            if !destination.is_empty() && found.len() < RAG_LINKS {
                found.push((start.saturating_add(at), destination.to_owned()));
            }
        });
    }
    found
}

const fn is_prose(kind: &BlockKind) -> bool {
    matches!(kind, BlockKind::Heading { .. } | BlockKind::Text | BlockKind::Quote | BlockKind::Table)
}

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
