//! The division of blocks into chunks.
//!
//! Blocks are packed greedily. A block that does not fit is cut into lines, a long line into sentences, a long sentence into words, and
//! these units are packed greedily too. A long word is cut between characters.

use std::ops::Range;
use std::rc::Rc;

use super::blocks::{BlockKind, TextBlock};
use super::chunk::Chunk;
use super::split::{UNITS, UnitLength, line_length, sentence_length};
use crate::limits::{RAG_CHUNK_BYTES, RAG_CHUNK_LEAST_BYTES};
use crate::words::work;

pub(super) fn pack(text: &str, blocks: Vec<TextBlock>, options: &ChunkOptions) -> Vec<Chunk> {
    let mut packer =
        Packer { text, options, chunks: Vec::new(), path: Vec::new(), open: None, plain_from: 0, frame: None };
    let mut rest = blocks.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if let BlockKind::Heading { level, title } = &first.kind {
            packer.heading(*level, title, first.range.end);
            rest = after;
            continue;
        }
        let joined = after.iter().take_while(|block| block.is_joined).count();
        let (group, after) = rest.split_at_checked(joined.saturating_add(1)).unwrap_or((rest, &[]));
        packer.group(group);
        rest = after;
    }
    packer.flush();
    packer.chunks
}

struct Packer<'t> {
    text: &'t str,
    options: &'t ChunkOptions,
    chunks: Vec<Chunk>,
    /// The headings above the next block, with their levels.
    path: Vec<(u8, Rc<str>)>,
    /// The chunk to which the next unit may be added.
    open: Option<OpenChunk>,
    /// The position from which the text before the next unit is prose of this section. Only prose is repeated as overlap.
    plain_from: usize,
    /// The block that is being cut, if its pieces are framed.
    frame: Option<Frame>,
}

struct OpenChunk {
    /// The text that is repeated from earlier chunks.
    prefix: String,
    range: Range<usize>,
}

/// The text around the pieces of a fence or a table, so that each piece is a fence or a table.
struct Frame {
    /// Begins each piece but the first: the fence with its info string, or the header of the table.
    before: String,
    /// Ends each piece but the last: the closing fence.
    after: String,
    /// Whether the first unit has been placed. Before, a chunk that ends is not part of the block.
    is_begun: bool,
}

impl Packer<'_> {
    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    fn heading(&mut self, level: u8, title: &str, end: usize) {
        self.flush();
        self.path.retain(|(other, _)| *other < level);
        if !title.is_empty() {
            self.path.push((level, title.into()));
        }
        self.plain_from = end;
    }

    /// Places blocks that belong together. They stay together if they fit into one chunk.
    fn group(&mut self, group: &[TextBlock]) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let whole = first.range.start..last.range.end;
        if !self.fits(whole.end) && whole.len() <= self.options.size {
            self.flush();
        }
        for block in group {
            let is_added = self.add(block.range.clone());
            if !matches!(block.kind, BlockKind::Text) {
                self.plain_from = block.range.end;
            }
            if !is_added {
                self.cut(block);
            }
        }
    }

    /// Returns whether the text up to `end` fits into the open chunk.
    fn fits(&self, end: usize) -> bool {
        let after = self.after();
        self.open.as_ref().is_some_and(|open| {
            let own = end.saturating_sub(open.range.start);
            open.prefix.len().saturating_add(own).saturating_add(after) <= self.options.size
        })
    }

    /// Adds `range` to the open chunk if it fits, or else begins a chunk with it. Returns `false` if it does not fit into any chunk.
    fn add(&mut self, range: Range<usize>) -> bool {
        if self.fits(range.end) {
            if let Some(open) = &mut self.open {
                open.range.end = range.end;
            }
            return true;
        }
        let most = self.most();
        if range.len() > most {
            return false;
        }
        self.flush();
        let prefix = match &self.frame {
            Some(frame) if frame.is_begun => frame.before.clone(),
            _ => Some(self.overlap(range.start))
                .filter(|overlap| overlap.len().saturating_add(range.len()) <= most)
                .unwrap_or_default(),
        };
        self.open = Some(OpenChunk { prefix, range });
        true
    }

    /// Cuts a block that is longer than a chunk.
    fn cut(&mut self, block: &TextBlock) {
        // A chunk that is nearly full would get only a small piece.
        if self.open.as_ref().is_some_and(|open| open.range.len() > self.options.size / 2) {
            self.flush();
        }
        let Range { mut start, end } = block.range.clone();
        let (head, last) = self.frame_of(block);
        if let Some(head) = head {
            let row = head.saturating_add(line_length(self.slice(head..end)));
            let row_end = start.saturating_add(self.slice(start..row).trim_end().len());
            start = if self.add(start..row_end) { row } else { head };
            if start == head {
                self.place(block.range.start..head, &UNITS);
            }
        }
        if let Some(frame) = &mut self.frame {
            frame.is_begun = true;
        }
        let last = last.max(start);
        self.place_all(start..last, &UNITS);
        // The closing fence of the document takes the place that was reserved for ours.
        let reserved = self.frame.as_mut().map(|frame| std::mem::take(&mut frame.after)).unwrap_or_default();
        if !self.fits(end)
            && let Some(frame) = &mut self.frame
        {
            frame.after = reserved;
        }
        self.place_all(last..end, &UNITS);
        self.frame = None;
    }

    /// Sets the frame of a fence or a table. Returns the end of the lines that the frame repeats, and the start of the closing fence.
    fn frame_of(&mut self, block: &TextBlock) -> (Option<usize>, usize) {
        let Range { start, end } = block.range.clone();
        // A frame that needs more than half of a chunk is not repeated.
        let most = self.options.size / 2;
        let line_end = |from: usize| from.saturating_add(line_length(self.slice(from..end)));
        let (head, last, before, after) = match &block.kind {
            BlockKind::Fence(fence) if fence.frame_length() <= most => {
                let head = line_end(start);
                let last_line = self.slice(head..end).rfind(['\n', '\r']).map_or(0, |at| at.saturating_add(1));
                let last = if fence.is_closed { head.saturating_add(last_line) } else { end };
                let indent = " ".repeat(fence.indent);
                let closing = fence.marker.to_string().repeat(fence.length);
                (head, last, format!("{indent}{}\n", self.slice(fence.opener.clone())), format!("\n{indent}{closing}"))
            }
            BlockKind::Table => {
                let head = line_end(line_end(start));
                if head.saturating_sub(start) > most {
                    return (None, end);
                }
                (head, end, self.slice(start..head).to_owned(), String::new())
            }
            _ => return (None, end),
        };
        self.frame = Some(Frame { before, after, is_begun: false });
        (Some(head), last)
    }

    /// Places the units of `range`.
    fn place_all(&mut self, range: Range<usize>, units: &[UnitLength]) {
        let Some((first, smaller)) = units.split_first() else { return };
        let mut start = range.start;
        while start < range.end {
            let length = first(self.slice(start..range.end)).max(1);
            let end = start.saturating_add(length);
            self.place(start..end, smaller);
            start = end;
        }
    }

    /// Places one unit. Cuts it into smaller units if it is longer than a chunk.
    fn place(&mut self, range: Range<usize>, smaller: &[UnitLength]) {
        let content = self.slice(range.clone()).trim_end();
        work::count(range.len());
        let own = range.start..range.start.saturating_add(content.len());
        if own.is_empty() || self.add(own.clone()) {
            return;
        }
        if smaller.is_empty() {
            self.place_characters(own);
        } else {
            self.place_all(range, smaller);
        }
    }

    /// Places a word that is longer than a chunk. Cuts it at the last character that fits.
    fn place_characters(&mut self, range: Range<usize>) {
        let mut start = range.start;
        while start < range.end {
            let rest = self.slice(start..range.end);
            let most = self.most();
            let free = self.open.as_ref().map_or(most, |open| {
                let used = open.prefix.len().saturating_add(start.saturating_sub(open.range.start));
                self.options.size.saturating_sub(used).saturating_sub(self.after())
            });
            let length = match rest.floor_char_boundary(free) {
                0 => rest.floor_char_boundary(most),
                length => length,
            };
            // A character always fits, because a frame takes at most half of a chunk.
            let end = start.saturating_add(length.max(1));
            self.add(start..end);
            start = end;
        }
    }

    /// Returns the size of the frame's end.
    fn after(&self) -> usize {
        self.frame.as_ref().map_or(0, |frame| frame.after.len())
    }

    /// Returns the size of the text that fits into a chunk of its own.
    fn most(&self) -> usize {
        let before = self.frame.as_ref().filter(|frame| frame.is_begun).map_or(0, |frame| frame.before.len());
        self.options.size.saturating_sub(before).saturating_sub(self.after())
    }

    /// Returns the whole sentences before `start` that the next chunk repeats.
    fn overlap(&self, start: usize) -> String {
        let Some(last) = self.chunks.last().filter(|_| self.options.overlap > 0) else { return String::new() };
        let from = start.saturating_sub(self.options.overlap);
        let mut at = last.range.start.max(self.plain_from);
        while at < from {
            at = at.saturating_add(sentence_length(self.slice(at..start)).max(1));
        }
        self.slice(at..start).trim_start().to_owned()
    }

    fn flush(&mut self) {
        let Some(OpenChunk { prefix: mut text, range }) = self.open.take() else { return };
        text.push_str(self.slice(range.clone()));
        if let Some(frame) = self.frame.as_ref().filter(|frame| frame.is_begun) {
            text.push_str(&frame.after);
        }
        let heading = self.path.iter().map(|(_, title)| title.clone()).collect();
        self.chunks.push(Chunk { heading, text, range, ..Chunk::default() });
    }
}

/// The settings of [`chunks`](super::chunks).
///
/// ```
/// use edge_mcp::rag::ChunkOptions;
///
/// let options = ChunkOptions::new().size(1000).overlap(150);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ChunkOptions {
    pub(super) size: usize,
    pub(super) overlap: usize,
    pub(super) is_plain_text: bool,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self { size: RAG_CHUNK_BYTES, overlap: 0, is_plain_text: false }
    }
}

impl ChunkOptions {
    /// Creates the default settings: chunks of at most 1500 bytes of Markdown, without overlap.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the size of the longest chunk in bytes of UTF-8. At least 64. The default is 1500.
    pub fn size(mut self, bytes: usize) -> Self {
        self.size = bytes.max(RAG_CHUNK_LEAST_BYTES);
        self
    }

    /// Sets the number of bytes that a chunk may repeat from the end of the chunk before it, in whole sentences of the same section. At
    /// most a quarter of the size. The default is 0.
    pub fn overlap(mut self, bytes: usize) -> Self {
        self.overlap = bytes;
        self
    }

    /// Declares that the documents are plain text. The whole text is one section, and Markdown has no meaning.
    pub fn plain_text(mut self) -> Self {
        self.is_plain_text = true;
        self
    }
}
