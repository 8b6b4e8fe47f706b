//! The lines of a Markdown document, and the block that a line begins.

use super::heading::plain;
use crate::limits::{RAG_HEADING_BYTES, RAG_HEADING_MARKDOWN_BYTES};
use crate::words::work;

/// Code blocks are indented by at least this many columns.
pub(super) const CODE_INDENT: usize = 4;

/// HTML in which blank lines and Markdown have no meaning: the text that begins it, and the text that ends it.
const RAW: [(&str, &str); 5] = [
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];

#[derive(Clone, Copy)]
pub(super) struct Line<'t> {
    /// The position of the first byte.
    pub(super) start: usize,
    /// The position of the next line.
    pub(super) next: usize,
    /// The column in which `content` begins. A tab reaches the next multiple of 4.
    pub(super) indent: usize,
    /// The position of `content`.
    pub(super) at: usize,
    /// The text without the white space around it. Empty if the line is blank.
    pub(super) content: &'t str,
}

impl Line<'_> {
    pub(super) const fn end(&self) -> usize {
        self.at.saturating_add(self.content.len())
    }
}

/// The block that a line begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BlockStart {
    Heading {
        level: u8,
        title: String,
    },
    Fence {
        marker: char,
        length: usize,
    },
    /// HTML up to the text `end`.
    Raw {
        end: &'static str,
    },
    Quote,
    Break,
    /// An item of a list. Its content begins `width` columns after the marker begins.
    Item {
        width: usize,
        interrupts: bool,
    },
}

/// Returns the lines of `text` from the position `from`.
pub(super) fn lines(text: &str, from: usize) -> impl Iterator<Item = Line<'_>> {
    let first = (from < text.len()).then(|| read(text, from));
    std::iter::successors(first, |line| (line.next < text.len()).then(|| read(text, line.next)))
}

fn read(text: &str, start: usize) -> Line<'_> {
    let rest = text.get(start..).unwrap_or_default();
    let length = line_length(rest);
    work::count(length);
    let whole = rest.get(..length).unwrap_or_default().trim_end();
    let content = whole.trim_start_matches([' ', '\t']);
    let skipped = whole.len().saturating_sub(content.len());
    let indent = whole.bytes().take(skipped).fold(0, column_after);
    Line { start, next: start.saturating_add(length), indent, at: start.saturating_add(skipped), content }
}

/// Returns the column after `byte`, which is a space or a tab in `column`.
fn column_after(column: usize, byte: u8) -> usize {
    if byte == b'\t' { (column | 3).saturating_add(1) } else { column.saturating_add(1) }
}

/// Returns the length of the first line of `text` with its end: `\n`, `\r\n` or `\r`.
pub(super) fn line_length(text: &str) -> usize {
    let Some(end) = text.find(['\n', '\r']) else { return text.len() };
    let is_pair = text.get(end..).is_some_and(|rest| rest.starts_with("\r\n"));
    end.saturating_add(1).saturating_add(usize::from(is_pair))
}

/// Returns the block that begins with `content`, or `None` for the text of a paragraph.
pub(super) fn start(content: &str) -> Option<BlockStart> {
    match content.chars().next()? {
        '#' => heading(content),
        '`' | '~' => fence(content),
        '<' => raw(content),
        '>' => Some(BlockStart::Quote),
        '-' | '*' | '_' if is_break(content) => Some(BlockStart::Break),
        _ => item(content),
    }
}

/// Returns the text of a heading, or `None` if it is too long to be repeated with each chunk of its section.
pub(super) fn heading_text(markdown: &str) -> Option<String> {
    let text = (markdown.len() <= RAG_HEADING_MARKDOWN_BYTES).then(|| plain(markdown))?;
    (text.len() <= RAG_HEADING_BYTES).then_some(text)
}

fn heading(content: &str) -> Option<BlockStart> {
    let title = content.trim_start_matches('#');
    let level = u8::try_from(content.len().saturating_sub(title.len())).ok().filter(|level| *level <= 6)?;
    if !title.is_empty() && !title.starts_with([' ', '\t']) {
        return None;
    }
    let title = title.trim();
    // Closing `#` follow a space. They are no part of the title.
    let open = title.trim_end_matches('#');
    let title = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { title };
    Some(BlockStart::Heading { level, title: heading_text(title)? })
}

fn fence(content: &str) -> Option<BlockStart> {
    let marker = content.chars().next()?;
    let info = content.trim_start_matches(marker);
    let length = content.len().saturating_sub(info.len());
    // With a backtick in its info string, the line is a paragraph with a code span.
    let is_fence = length >= 3 && !(marker == '`' && info.contains('`'));
    is_fence.then_some(BlockStart::Fence { marker, length })
}

/// Returns whether `content` closes a fence of `length` times `marker`.
pub(super) fn closes(content: &str, marker: char, length: usize) -> bool {
    content.len() >= length && content.chars().all(|other| other == marker)
}

fn raw(content: &str) -> Option<BlockStart> {
    let (begin, end) = RAW.into_iter().find(|(begin, _)| {
        let (head, rest) = content.split_at_checked(begin.len()).unwrap_or_default();
        let is_name = *begin == "<!--" || rest.is_empty() || rest.starts_with([' ', '\t', '>']);
        is_name && head.eq_ignore_ascii_case(begin)
    })?;
    // An empty comment is `<!-->`: its end overlaps its begin.
    let after = content.get(begin.len().min(2)..).unwrap_or_default();
    Some(BlockStart::Raw { end: if ends_raw(after, end) { "" } else { end } })
}

/// Returns whether `content` contains `end`, in any case.
pub(super) fn ends_raw(content: &str, end: &str) -> bool {
    content.as_bytes().windows(end.len().max(1)).any(|window| window.eq_ignore_ascii_case(end.as_bytes()))
}

/// Returns whether `content` is a thematic break, such as `---` or `* * *`.
fn is_break(content: &str) -> bool {
    let mut marks = content.chars().filter(|other| !matches!(other, ' ' | '\t'));
    let Some(first) = marks.next() else { return false };
    let mut count = 1_usize;
    marks.all(|other| {
        count = count.saturating_add(1);
        other == first
    }) && count >= 3
}

fn item(content: &str) -> Option<BlockStart> {
    let digits = content.len().saturating_sub(content.trim_start_matches(|digit: char| digit.is_ascii_digit()).len());
    let (number, rest) = content.split_at_checked(digits)?;
    let ends: &[char] = if digits == 0 { &['-', '+', '*'] } else { &['.', ')'] };
    let after = rest.strip_prefix(ends).filter(|_| digits <= 9)?;
    let text = after.trim_start_matches([' ', '\t']);
    let spaces = after.bytes().take(after.len().saturating_sub(text.len()));
    // From the fifth column on, the spaces are the indentation of code in the item.
    let spaces = match spaces.fold(0, column_after) {
        0 if !text.is_empty() => return None,
        0 => 1,
        columns if columns > CODE_INDENT => 1,
        columns => columns,
    };
    let interrupts = !text.is_empty() && (digits == 0 || number == "1");
    Some(BlockStart::Item { width: digits.saturating_add(1).saturating_add(spaces), interrupts })
}

/// Returns the level of the setext heading whose underline is `content`.
pub(super) fn underline(content: &str) -> Option<u8> {
    let is_all = |mark: char| !content.is_empty() && content.chars().all(|other| other == mark);
    if is_all('=') { Some(1) } else { is_all('-').then_some(2) }
}

/// Returns the number of columns of the table whose delimiter row is `content`.
pub(super) fn delimiter_row(content: &str) -> Option<usize> {
    let is_cell = |cell: &str| {
        let dashes = cell.trim().trim_start_matches(':').trim_end_matches(':');
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    let is_row = content.contains('|') && content.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'));
    (is_row && inner(content).split('|').all(is_cell)).then(|| cells(content))
}

/// Returns the number of cells of a row.
pub(super) fn cells(content: &str) -> usize {
    let mut is_escaped = false;
    let bars = inner(content).bytes().filter(|byte| {
        let is_bar = *byte == b'|' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_bar
    });
    bars.count().saturating_add(1)
}

/// Returns a row without the bars at its ends.
fn inner(content: &str) -> &str {
    let row = content.strip_prefix('|').unwrap_or(content);
    row.strip_suffix('|').filter(|row| !row.ends_with('\\')).unwrap_or(row)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_any_line_break() {
        let read: Vec<_> =
            lines("a\r\n\tb \r\r  \t c\n", 0).map(|line| (line.start, line.indent, line.content)).collect();
        assert_eq!(read, [(0, 0, "a"), (3, 4, "b"), (7, 0, ""), (8, 5, "c")]);
        assert_eq!(lines("", 0).count() + lines("a", 1).count() + lines("a", 9).count(), 0);
    }

    #[test]
    fn the_first_characters_begin_a_block() {
        let heading = |level, title: &str| Some(BlockStart::Heading { level, title: title.to_owned() });
        let item = |width, interrupts| Some(BlockStart::Item { width, interrupts });
        let fence = |marker, length| Some(BlockStart::Fence { marker, length });
        let raw = |end| Some(BlockStart::Raw { end });
        for (content, expected) in [
            ("# A", heading(1, "A")),
            ("###### A ## b ##", heading(6, "A ## b")),
            ("## A#", heading(2, "A#")),
            ("#\tA #\t", heading(1, "A")),
            ("#", heading(1, "")),
            ("## ##", heading(2, "")),
            ("#A", None),
            ("####### A", None),
            ("```", fence('`', 3)),
            ("````` rust", fence('`', 5)),
            ("~~~ a`b", fence('~', 3)),
            ("``` a`b", None),
            ("``", None),
            ("> a", Some(BlockStart::Quote)),
            ("---", Some(BlockStart::Break)),
            ("* *  *", Some(BlockStart::Break)),
            ("__", None),
            ("- a", item(2, true)),
            ("-", item(2, false)),
            ("*  a", item(3, true)),
            ("+     a", item(2, true)),
            ("-a", None),
            ("1. a", item(3, true)),
            ("12) a", item(4, false)),
            ("1234567890. a", None),
            ("1", None),
            ("<!-- a", raw("-->")),
            ("<!-->", raw("")),
            ("<!-- a --> b", raw("")),
            ("<PRE class", raw("</pre>")),
            ("<pre>a</Pre>", raw("")),
            ("<prefix>", None),
            ("é", None),
            ("<é", None),
        ] {
            assert_eq!(start(content), expected, "{content}");
        }
        assert!(start(&format!("# {}", "a".repeat(RAG_HEADING_BYTES))).is_some());
        assert_eq!(start(&format!("# {}", "a".repeat(RAG_HEADING_BYTES + 1))), None);
        let badges = |count| format!("# A {}", "[![b](https://a.example/b.svg)](https://a.example/) ".repeat(count));
        assert_eq!(start(&badges(20)), heading(1, "A"));
        assert_eq!(start(&badges(100)), None);
    }

    #[test]
    fn a_delimiter_row_has_cells_of_dashes() {
        for (row, columns) in [
            ("|---|", Some(1)),
            ("| :-- | --: |", Some(2)),
            ("-|-|-", Some(3)),
            ("---", None),
            ("|", None),
            ("| a | - |", None),
            ("||", None),
            ("|:|", None),
        ] {
            assert_eq!(delimiter_row(row), columns, "{row}");
        }
        for (row, count) in [("a | b", 2), ("| a \\| b |", 1), ("| a | b | c |", 3), ("a", 1), ("", 1), ("| a \\|", 1)]
        {
            assert_eq!(cells(row), count, "{row}");
        }
    }
}
