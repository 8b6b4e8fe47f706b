//! The links of a Markdown document to other documents.
//!
//! `inline` finds the links within a block, and `destination` reads the destinations and labels of links. `path` resolves a link to the
//! document to which it leads.

mod destination;
mod inline;
pub(super) mod path;

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::string_slice)]
mod tests;

use super::chunks::blocks::{BlockKind, blocks};
use super::chunks::front_matter::body;
use crate::limits::RAG_LINKS;
use destination::Definitions;

/// Returns the targets of the links of a Markdown document: of inline links, reference links and autolinks.
///
/// A target is a URI, or a path that [`resolve`](crate::rag::resolve) makes absolute. Its fragment is removed. Images, code, and links within
/// the document are left out. At most 1000 targets are returned, in the order of the document.
///
/// ```
/// use edge_mcp::rag::links;
///
/// let text = "See [pots](../pots.md#iron), [cups] and `[code](x.md)`.\n\n[cups]: cups.md\n";
/// assert_eq!(links(text), ["../pots.md", "cups.md"]);
/// ```
pub fn links(text: &str) -> Vec<String> {
    let blocks = blocks(text, body(text));
    let prose =
        || blocks.iter().filter(|block| is_prose(&block.kind)).filter_map(|block| text.get(block.range.clone()));
    let mut definitions = Definitions::new();
    for block in prose() {
        destination::define(block, &mut definitions);
    }
    let mut targets = Vec::new();
    for block in prose() {
        inline::links(block, &definitions, |destination| {
            let target = destination.split('#').next().unwrap_or_default();
            if !target.is_empty() && targets.len() < RAG_LINKS {
                targets.push(target.to_owned());
            }
        });
    }
    targets
}

const fn is_prose(kind: &BlockKind) -> bool {
    matches!(kind, BlockKind::Heading { .. } | BlockKind::Text | BlockKind::Quote | BlockKind::Table)
}
