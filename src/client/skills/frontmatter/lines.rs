//! The lines of a frontmatter.

use crate::limits::FRONTMATTER_BYTES;

/// A part of a frontmatter that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The number of the line in the file, from 1.
    pub line: usize,
    /// The problem, as the end of a sentence.
    pub problem: &'static str,
}

/// The lines of a frontmatter, of which some have been read.
pub(super) struct Lines<'t> {
    lines: Vec<Line<'t>>,
    /// The position of the next line.
    next: usize,
}

/// A line, or the rest of a line after the dash of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    pub number: usize,
    /// The column of `text`.
    pub indent: usize,
    /// The text from the first character that is not a space. It is empty if the line is blank.
    pub text: &'t str,
    /// The whole line.
    pub raw: &'t str,
}

impl Line<'_> {
    pub(super) fn mistake(&self, problem: &'static str) -> Mistake {
        Mistake { line: self.number, problem }
    }

    /// Returns whether a tab is a part of the indentation.
    pub(super) fn has_tab_indent(&self) -> bool {
        self.raw.trim_start_matches(' ').starts_with('\t')
    }
}

impl<'t> Lines<'t> {
    /// Returns the lines between the first line `---` and the next one.
    pub(super) fn of(file: &'t str) -> Result<Self, Mistake> {
        let mut numbered =
            (1..).zip(file.split('\n')).map(|(number, line)| (number, line.strip_suffix('\r').unwrap_or(line)));
        if numbered.next().is_none_or(|(_, first)| first != "---") {
            return Err(Mistake { line: 1, problem: "must be `---`, with nothing after the dashes" });
        }
        let (mut lines, mut bytes) = (Vec::new(), 0_usize);
        for (number, raw) in numbered {
            if raw.trim_end_matches(is_blank) == "---" {
                return Ok(Self { lines, next: 0 });
            }
            bytes = bytes.saturating_add(raw.len()).saturating_add(1);
            let spaces = raw.len().saturating_sub(raw.trim_start_matches(' ').len());
            let line = Line { number, indent: spaces, text: raw.trim_start_matches(is_blank), raw };
            if bytes > FRONTMATTER_BYTES {
                return Err(line.mistake("is beyond the limit of 64 KiB"));
            }
            if raw.contains(is_special) {
                return Err(line.mistake("has a control character or a line break that is not a line feed"));
            }
            lines.push(line);
        }
        Err(Mistake { line: 1, problem: "has no closing line `---`" })
    }

    /// Returns the next line, blank or not.
    pub(super) fn line(&self) -> Option<Line<'t>> {
        self.lines.get(self.next).copied()
    }

    /// Returns the next line that is not blank and not a comment.
    pub(super) fn peek(&mut self) -> Result<Option<Line<'t>>, Mistake> {
        while let Some(line) = self.line() {
            if !line.text.is_empty() && !line.text.starts_with('#') {
                let is_marker = |marker| line.raw.strip_prefix(marker).is_some_and(ends_token);
                return if line.has_tab_indent() {
                    Err(line.mistake("is indented by a tab: use spaces"))
                } else if is_marker("---") || is_marker("...") {
                    Err(line.mistake("begins or ends a document: quote it"))
                } else {
                    Ok(Some(line))
                };
            }
            self.skip();
        }
        Ok(None)
    }

    pub(super) fn skip(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// Replaces the next line by a part of it.
    pub(super) fn replace(&mut self, line: Line<'t>) {
        if let Some(next) = self.lines.get_mut(self.next) {
            *next = line;
        }
    }
}

/// Returns whether a text is empty or begins with a blank.
pub(super) fn ends_token(text: &str) -> bool {
    text.is_empty() || text.starts_with(is_blank)
}

pub(super) fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

/// Returns whether parsers differ about a character, even in quotes.
fn is_special(character: char) -> bool {
    character != '\t' && character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
