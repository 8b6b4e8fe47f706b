//! The blocks of a Markdown document (CommonMark 0.31 with the tables of GitHub).
//!
//! One pass over the lines. Each line is read once, and no line is read again when a block turns out to be unclosed. Inline markup is not
//! read.

use std::ops::Range;

use super::line::{self, BlockStart, CODE_INDENT, Line, lines};

/// The list items that can begin on one line, such as `- 1. - text`. Further markers are text.
const ITEMS_PER_LINE: usize = 8;

#[derive(Debug)]
pub(crate) struct TextBlock {
    pub(crate) kind: BlockKind,
    /// The text from the first line of the block to the end of its last line, without the line break.
    pub(crate) range: Range<usize>,
    /// Whether the block belongs to the block before it: both are parts of one list, or the block before ends with a colon.
    pub(super) is_joined: bool,
}

#[derive(Debug)]
pub(crate) enum BlockKind {
    Heading {
        level: u8,
        title: String,
    },
    /// A paragraph, an item of a list without its code, or a thematic break.
    Text,
    Quote,
    Table,
    /// Indented code.
    Code,
    Fence(Fence),
    /// HTML that ends with this text.
    Raw(&'static str),
}

/// Code between fences.
#[derive(Debug)]
pub(crate) struct Fence {
    pub(super) marker: char,
    /// The number of markers.
    pub(super) length: usize,
    /// The column of the first fence.
    pub(super) indent: usize,
    /// The first fence with its info string.
    pub(super) opener: Range<usize>,
    /// The column in which the content of the list item begins that contains the code. 0 outside of lists.
    container: usize,
    pub(super) is_closed: bool,
}

impl Fence {
    /// Returns the size of the lines that open and close the code again.
    pub(super) const fn frame_length(&self) -> usize {
        let indents = self.indent.saturating_mul(2).saturating_add(2);
        self.opener.end.saturating_sub(self.opener.start).saturating_add(self.length).saturating_add(indents)
    }
}

/// Returns the blocks of the Markdown document `text` from the position `from`.
pub(crate) fn blocks(text: &str, from: usize) -> Vec<TextBlock> {
    let mut scanner = Scanner { text, blocks: Vec::new(), open: None, items: Vec::new(), last: None };
    lines(text, from).for_each(|line| scanner.line(line));
    scanner.close();
    scanner.blocks
}

/// Returns the paragraphs of the plain text `text` from the position `from`.
pub(super) fn paragraphs(text: &str, from: usize) -> Vec<TextBlock> {
    let mut blocks: Vec<TextBlock> = Vec::new();
    let mut is_after_blank = true;
    for line in lines(text, from) {
        let is_blank = line.content.is_empty();
        match blocks.last_mut() {
            _ if is_blank => {}
            Some(block) if !is_after_blank => block.range.end = line.end(),
            _ => blocks.push(TextBlock { kind: BlockKind::Text, range: line.start..line.end(), is_joined: false }),
        }
        is_after_blank = is_blank;
    }
    blocks
}

struct Scanner<'t> {
    text: &'t str,
    /// The blocks before the open one.
    blocks: Vec<TextBlock>,
    /// The block to which the next line may belong.
    open: Option<TextBlock>,
    /// The columns in which the contents of the open list items begin, from the outer item to the inner one. Ascending.
    items: Vec<usize>,
    /// The line before, if it is not blank.
    last: Option<Line<'t>>,
}

impl<'t> Scanner<'t> {
    fn line(&mut self, line: Line<'t>) {
        if line.content.is_empty() {
            self.last = None;
            return;
        }
        if !self.continues_verbatim(line) {
            self.text_line(line);
        }
        self.last = Some(line);
    }

    /// Adds the line to the open fence or the open HTML block. Returns `false` if no such block is open, or if it ended before this line.
    fn continues_verbatim(&mut self, line: Line<'t>) -> bool {
        let Some(TextBlock { kind, range, .. }) = &mut self.open else { return false };
        let is_last = match kind {
            // The end of a list item ends its code.
            BlockKind::Fence(fence) if line.indent < fence.container => {
                self.close();
                return false;
            }
            BlockKind::Fence(fence) => {
                let is_near = line.indent < fence.container.saturating_add(CODE_INDENT);
                fence.is_closed = is_near && line::closes(line.content, fence.marker, fence.length);
                fence.is_closed
            }
            BlockKind::Raw(end) => line::ends_raw(line.content, end),
            _ => return false,
        };
        range.end = line.end();
        if is_last {
            self.close();
        }
        true
    }

    fn text_line(&mut self, line: Line<'t>) {
        let depth = self.items.partition_point(|column| *column <= line.indent);
        let container = depth.checked_sub(1).and_then(|item| self.items.get(item)).copied().unwrap_or_default();
        let is_indented = line.indent.saturating_sub(container) >= CODE_INDENT;
        let is_in_list = !self.items.is_empty();
        let start = if is_indented { None } else { line::start(line.content) };
        if self.last.is_some() && !is_indented && !is_in_list && self.continues_heading_or_table(line) {
            return;
        }
        // A line that begins no block continues the paragraph, also if it is indented less or more than the paragraph.
        let begins = match start {
            None => false,
            Some(BlockStart::Item { interrupts, .. }) => interrupts || is_in_list,
            Some(_) => true,
        };
        if !begins
            && self.last.is_some()
            && self.extend(line, |kind| matches!(kind, BlockKind::Text | BlockKind::Quote | BlockKind::Table))
        {
            return;
        }

        self.items.truncate(depth);
        let is_in_item = depth > 0;
        match start {
            Some(BlockStart::Heading { level, title }) if !is_in_item => {
                self.close();
                let kind = BlockKind::Heading { level, title };
                self.begin(kind, line, false);
                self.close();
            }
            Some(BlockStart::Fence { marker, length }) => {
                self.begin_fence(line, marker, length, line.at, line.indent, container);
            }
            Some(BlockStart::Raw { end }) => {
                self.begin(BlockKind::Raw(end), line, is_in_item);
                if end.is_empty() {
                    self.close();
                }
            }
            Some(BlockStart::Quote)
                if self.last.is_some() && self.extend(line, |kind| matches!(kind, BlockKind::Quote)) => {}
            Some(BlockStart::Quote) => self.begin(BlockKind::Quote, line, is_in_item),
            Some(BlockStart::Break) if !is_in_item => {
                self.begin(BlockKind::Text, line, false);
                self.close();
            }
            Some(BlockStart::Item { width, .. }) => self.begin_item(line, width, is_in_list, is_in_item),
            None if is_indented => {
                if !self.extend(line, |kind| matches!(kind, BlockKind::Code)) {
                    self.begin(BlockKind::Code, line, is_in_item);
                }
            }
            // Within a list item, headings and thematic breaks are text too.
            _ if is_in_item && self.extend(line, |kind| matches!(kind, BlockKind::Text)) => {}
            _ => self.begin(BlockKind::Text, line, is_in_item),
        }
    }

    /// Handles the underline of a setext heading, and the delimiter row of a table. Both give the line before another meaning.
    fn continues_heading_or_table(&mut self, line: Line<'t>) -> bool {
        let (Some(TextBlock { kind: kind @ BlockKind::Text, range, .. }), Some(last)) = (&mut self.open, self.last)
        else {
            return false;
        };
        if let Some(level) = line::underline(line.content) {
            // In reStructuredText, a heading also has a line of equals signs above it.
            let title = self.text.get(range.clone()).map(|title| title.trim_start_matches('='));
            let Some(title) = title.and_then(line::heading_text) else { return false };
            *kind = BlockKind::Heading { level, title };
            range.end = line.end();
            self.close();
            return true;
        }
        if line::delimiter_row(line.content).is_none_or(|columns| columns != line::cells(last.content)) {
            return false;
        }
        // The line before is the header row. The lines before it are a paragraph.
        if range.start == last.start {
            *kind = BlockKind::Table;
        } else {
            let paragraph = self.text.get(range.start..last.start).unwrap_or_default().trim_end();
            range.end = range.start.saturating_add(paragraph.len());
            self.begin(BlockKind::Table, last, false);
        }
        self.extend(line, |_| true)
    }

    /// Adds the line to the open block if its kind is accepted.
    fn extend(&mut self, line: Line<'t>, accepts: impl FnOnce(&BlockKind) -> bool) -> bool {
        let Some(block) = self.open.as_mut().filter(|block| accepts(&block.kind)) else { return false };
        block.range.end = line.end();
        true
    }

    /// Closes the open block, and begins another with the line.
    fn begin(&mut self, kind: BlockKind, line: Line<'t>, is_joined: bool) {
        self.close();
        let is_plain = matches!(kind, BlockKind::Text | BlockKind::Heading { .. });
        let is_joined = is_joined || !is_plain && self.is_announced();
        self.open = Some(TextBlock { kind, range: line.start..line.end(), is_joined });
    }

    fn begin_fence(&mut self, line: Line<'t>, marker: char, length: usize, at: usize, indent: usize, container: usize) {
        let fence = Fence { marker, length, indent, opener: at..line.end(), container, is_closed: false };
        self.begin(BlockKind::Fence(fence), line, container > 0);
    }

    /// Begins a list item whose content is `width` columns after the line's indentation, and the items within it on the same line.
    fn begin_item(&mut self, line: Line<'t>, width: usize, is_in_list: bool, is_nested: bool) {
        let (mut content, mut column, mut width) = (line.content, line.indent, width);
        let mut start = None;
        for _ in 0..ITEMS_PER_LINE {
            column = column.saturating_add(width);
            self.items.push(column);
            // A marker has no tab in it, so this is the text after it. Tabs after it are columns of `width`.
            let after = content.trim_start_matches(|mark: char| !matches!(mark, ' ' | '\t'));
            content = after.trim_start_matches([' ', '\t']);
            start = line::start(content);
            let Some(BlockStart::Item { width: next, .. }) = start else { break };
            width = next;
        }
        match start {
            Some(BlockStart::Fence { marker, length }) => {
                let at = line.end().saturating_sub(content.len());
                self.begin_fence(line, marker, length, at, column, column);
            }
            _ if is_nested && self.extend(line, |kind| matches!(kind, BlockKind::Text)) => {}
            _ => {
                self.close();
                let is_joined = is_in_list || self.is_announced();
                self.begin(BlockKind::Text, line, is_joined);
            }
        }
    }

    /// Returns whether the last block ends with a colon.
    fn is_announced(&self) -> bool {
        let last = self.blocks.last().filter(|block| matches!(block.kind, BlockKind::Text));
        last.and_then(|block| self.text.get(block.range.clone())).is_some_and(|text| text.ends_with(':'))
    }

    fn close(&mut self) {
        self.blocks.extend(self.open.take());
    }
}
