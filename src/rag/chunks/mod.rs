//! Chunks: the parts of a document that a search finds one by one.
//! The lines of a document are joined to blocks, a long block is cut into units, and short blocks and units are packed into chunks.

pub(super) mod blocks;
pub(super) mod chunk;
pub(super) mod front_matter;
mod heading;
pub(super) mod line;
mod pack;
mod split;

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::string_slice)]
mod tests;

use blocks::{blocks, paragraphs};
use front_matter::{body, byte_order_mark};
use pack::pack;

pub use chunk::{Chunk, Link};
pub use front_matter::front_matter;
pub use pack::ChunkOptions;

/// Divides a document into chunks.
///
/// A chunk is within one section of the document. Short blocks share a chunk, and a long block is cut between lines, sentences or words.
/// Each byte of the text is in at most one chunk, and only headings, front matter and blank lines are in none.
///
/// ```
/// use edge_mcp::rag::{ChunkOptions, chunks};
///
/// let text = "# Tea\n\nWarm the pot.\n\n## Steeping\n\nThree minutes.\n";
/// let chunks = chunks(text, &ChunkOptions::new());
/// assert_eq!(chunks[1].heading, ["Tea".into(), "Steeping".into()]);
/// assert_eq!(chunks[1].text, "Three minutes.");
/// assert_eq!(&text[chunks[1].range.clone()], "Three minutes.");
/// ```
pub fn chunks(text: &str, options: &ChunkOptions) -> Vec<Chunk> {
    let options = ChunkOptions { overlap: options.overlap.min(options.size / 4), ..options.clone() };
    let blocks = if options.is_plain_text { paragraphs(text, byte_order_mark(text)) } else { blocks(text, body(text)) };
    pack(text, blocks, &options)
}
