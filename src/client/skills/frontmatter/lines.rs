//! The lines of a frontmatter.

use super::Mistake;
use crate::limits::FRONTMATTER_BYTES;

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

/// Returns the lines between the first line `---` and the next one.
pub(super) fn of(file: &str) -> Result<Vec<Line<'_>>, Mistake> {
    let mut numbered =
        (1..).zip(file.split('\n')).map(|(number, line)| (number, line.strip_suffix('\r').unwrap_or(line)));
    if numbered.next().is_none_or(|(_, first)| first != "---") {
        return Err(Mistake { line: 1, problem: "must be `---`, with nothing after the dashes" });
    }
    let (mut lines, mut bytes) = (Vec::new(), 0_usize);
    for (number, raw) in numbered {
        if raw.trim_end_matches(is_blank) == "---" {
            return Ok(lines);
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

pub(super) fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

/// Returns whether parsers differ about a character, even in quotes.
fn is_special(character: char) -> bool {
    character != '\t' && character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
