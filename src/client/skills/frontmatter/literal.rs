//! Texts over several lines, after `|` or `>`.

use super::lines::{Line, Lines, Mistake, is_blank};

/// Reads the text whose header is at the end of `line`. Its lines are indented more than `indent`.
pub(super) fn read<'t>(lines: &mut Lines<'t>, header: &str, line: Line<'t>, indent: usize) -> Result<String, Mistake> {
    let is_folded = header.starts_with('>');
    let after = header.get(1..).unwrap_or_default();
    let end = after.chars().next().filter(|end| matches!(end, '+' | '-'));
    let after = if end.is_some() { after.get(1..).unwrap_or_default() } else { after };
    let comment = after.trim_start_matches(is_blank);
    if !(comment.is_empty() || comment.starts_with('#') && comment.len() < after.len()) {
        return Err(line.mistake("must have nothing behind `|` or `>` but `-` or `+`"));
    }
    let mut text = String::new();
    let mut blank = 0_usize;
    let (mut is_begun, mut is_indented) = (false, false);
    for content in contents(lines, indent)? {
        if content.is_empty() {
            blank = blank.saturating_add(1);
            continue;
        }
        // A line that is indented further keeps its line breaks.
        let was_indented = std::mem::replace(&mut is_indented, is_folded && content.starts_with(is_blank));
        let is_joined = is_folded && !is_indented && !was_indented;
        match (is_joined, blank) {
            (true, 0) if is_begun => text.push(' '),
            (true, _) => breaks(&mut text, blank),
            (false, _) => breaks(&mut text, blank.saturating_add(usize::from(is_begun))),
        }
        text.push_str(content);
        (is_begun, blank) = (true, 0);
    }
    let is_kept = end == Some('+');
    let last = usize::from(is_begun && end != Some('-'));
    breaks(&mut text, if is_kept { blank.saturating_add(last) } else { last });
    Ok(text)
}

fn breaks(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n('\n', count));
}

/// Returns the lines of a text without their indentation, which is that of the first line that is not blank.
fn contents<'t>(lines: &mut Lines<'t>, indent: usize) -> Result<Vec<&'t str>, Mistake> {
    let mut contents = Vec::new();
    let (mut column, mut widest) = (None, 0);
    while let Some(line) = lines.line() {
        let is_spaces = line.raw.len() == line.indent;
        if column.is_none() && !is_spaces && line.indent > indent {
            if widest > line.indent {
                return Err(line.mistake("is indented less than the blank line before it"));
            }
            column = Some(line.indent);
        }
        match column {
            Some(column) if line.indent >= column => contents.push(line.raw.get(column..).unwrap_or_default()),
            _ if is_spaces => {
                widest = widest.max(if column.is_none() { line.indent } else { 0 });
                contents.push("");
            }
            _ if line.has_tab_indent() => return Err(line.mistake("is indented by a tab: use spaces")),
            _ => break,
        }
        lines.skip();
    }
    Ok(contents)
}
