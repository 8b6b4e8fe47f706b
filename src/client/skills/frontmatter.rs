//! The `name` and the `description` in the frontmatter of a `SKILL.md`.
//!
//! A client compares both with those of the entry, because a person chooses a skill by them. The digest in the entry covers the other members,
//! so they are not read. YAML parsers differ, so this reader takes only forms of a text that all of them read alike: a text on one line, with
//! quotes or without, and a text over several lines after `|` or `>`. `tests/frontmatter.json` has the cases, also those of the reader for the
//! authors of skills in `scripts/lib/frontmatter.mjs`.

use edge_json::{Document, JsonLimits};

use crate::limits::FRONTMATTER_BYTES;

const BLANKS: [char; 2] = [' ', '\t'];

/// The members of a frontmatter that a client compares.
#[derive(Debug, PartialEq, Eq)]
pub struct Frontmatter {
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
}

/// Reads the frontmatter of a file.
///
/// # Errors
/// The problem with it, as a sentence without its end.
pub fn read(file: &str) -> Result<Frontmatter, String> {
    let lines = lines(file)?;
    let member = |name| {
        let problem =
            || format!("the frontmatter must have a `{name}`, once, as a text that all parsers of YAML read alike");
        member(&lines, name).ok_or_else(problem)
    };
    Ok(Frontmatter { name: member("name")?, description: member("description")? })
}

/// Returns the lines between the first line `---` and the next one.
fn lines(file: &str) -> Result<Vec<&str>, &'static str> {
    let mut rest = file.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    if rest.next() != Some("---") {
        return Err("the first line must be `---`, with nothing after the dashes");
    }
    let (mut lines, mut bytes) = (Vec::new(), 0_usize);
    for line in rest {
        if line.trim_end_matches(BLANKS) == "---" {
            return Ok(lines);
        }
        bytes = bytes.saturating_add(line.len()).saturating_add(1);
        if bytes > FRONTMATTER_BYTES {
            return Err("the frontmatter has more than 64 KiB");
        }
        if line.contains(is_special) || ["---", "..."].iter().any(|marker| line.starts_with(marker)) {
            return Err("the frontmatter has a special character, or a line that begins or ends a document");
        }
        lines.push(line);
    }
    Err("the frontmatter has no closing line `---`")
}

/// Returns whether parsers differ about a character, even in quotes.
fn is_special(character: char) -> bool {
    character != '\t' && character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns the text of a member of the whole frontmatter, if the member occurs once.
fn member(lines: &[&str], name: &str) -> Option<String> {
    let mut found = (1..).zip(lines).filter_map(|(next, line)| Some((next, value_after(line, name)?)));
    let ((next, value), None) = (found.next()?, found.next()) else { return None };
    let is_of_value = |line: &&str| is_comment(line) || line.starts_with(BLANKS);
    let more: Vec<&str> = lines.get(next..)?.iter().copied().take_while(is_of_value).collect();
    if value.starts_with(['|', '>']) {
        return block(value, &more);
    }
    let mut texts = more.iter().map(|line| line.trim_start_matches(' ')).filter(|line| !is_comment(line.trim()));
    // The value may begin on the next line. A text without `|` or `>` that continues is not read alike.
    let value = if is_comment(value) { texts.next()? } else { value };
    if texts.next().is_some() {
        return None;
    }
    match value.chars().next()? {
        '\'' => quoted(value),
        '"' => double_quoted(value),
        _ => plain(value),
    }
}

/// Returns the value on a line with the key `name`.
fn value_after<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let value = line.strip_prefix(name)?.trim_start_matches(BLANKS).strip_prefix(':')?;
    ends_token(value).then(|| value.trim_start_matches(BLANKS))
}

/// Returns whether a text is empty or begins with a blank.
fn ends_token(text: &str) -> bool {
    text.is_empty() || text.starts_with(BLANKS)
}

/// Returns whether a text is empty or a comment.
fn is_comment(text: &str) -> bool {
    text.is_empty() || text.starts_with('#')
}

/// Returns whether a value can end before `rest`.
fn is_end(rest: &str) -> bool {
    ends_token(rest) && is_comment(rest.trim_start_matches(BLANKS))
}

/// Reads a text in single quotes, in which `''` is a quote.
fn quoted(value: &str) -> Option<String> {
    let (mut text, mut rest) = (String::new(), value.strip_prefix('\'')?);
    loop {
        let (part, after) = rest.split_once('\'')?;
        text.push_str(part);
        match after.strip_prefix('\'') {
            Some(after) => (text, rest) = (text + "'", after),
            None => return is_end(after).then_some(text),
        }
    }
}

/// Reads a text in double quotes with the escapes of JSON, which are escapes of YAML.
fn double_quoted(value: &str) -> Option<String> {
    let mut is_escaped = false;
    let is_closing = |(_, character): &(usize, char)| {
        let was_escaped = is_escaped;
        is_escaped = *character == '\\' && !was_escaped;
        *character == '"' && !was_escaped
    };
    let (closing, _) = value.char_indices().skip(1).find(is_closing)?;
    let (text, after) = value.split_at_checked(closing.saturating_add(1))?;
    let document = Document::parse(text.as_bytes(), JsonLimits::DEFAULT).ok()?;
    document.root().as_str().filter(|_| is_end(after)).map(Into::into)
}

/// Reads a text without quotes: up to a comment.
fn plain(value: &str) -> Option<String> {
    let is_behind_blank = |(at, _): &(usize, &str)| value.get(..*at).is_some_and(|before| before.ends_with(BLANKS));
    let end = value.match_indices('#').find(is_behind_blank).map_or(value.len(), |(at, _)| at);
    let text = value.get(..end)?.trim_end_matches(BLANKS);
    let is_indicator = text.starts_with(|first| "[]{},#&*!|>'\"%@`\t".contains(first))
        || text.strip_prefix(['-', '?', ':']).is_some_and(ends_token);
    let has_value = text.split(':').skip(1).any(ends_token);
    (!is_indicator && !has_value && !is_other_value(text)).then(|| text.to_owned())
}

/// Returns whether parsers may read a text without quotes as another value than a text: a number, a truth value or nothing.
fn is_other_value(text: &str) -> bool {
    const VALUES: [&str; 16] = [
        "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE", ".inf", ".Inf", ".INF", ".nan",
        ".NaN", ".NAN",
    ];
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number =
        unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') && unsigned.parse::<f64>().is_ok();
    let mut digits = ["0x", "0o", "0b"].iter().filter_map(|prefix| unsigned.strip_prefix(prefix));
    is_number
        || VALUES.contains(&text)
        || VALUES.contains(&unsigned)
        || digits.any(|digits| digits.starts_with(|first: char| first.is_ascii_hexdigit()))
}

/// Reads a text over several lines, after a header that begins with `|` or `>`.
fn block(header: &str, lines: &[&str]) -> Option<String> {
    let (is_folded, end) = (header.starts_with('>'), header.get(1..)?);
    let is_blank = |line: &&str| line.trim_start_matches(' ').is_empty();
    let first = lines.iter().copied().find(|line| !is_blank(line)).unwrap_or(" ");
    let spaces = first.get(..first.len().saturating_sub(first.trim_start_matches(' ').len()))?;
    if spaces.is_empty() || !is_end(end.strip_prefix(['-', '+']).unwrap_or(end)) {
        return None;
    }
    let (mut text, mut blanks, mut is_indented) = (String::new(), 0_usize, false);
    for line in lines.iter().copied().take_while(|line| !line.starts_with('#')) {
        let content = line.strip_prefix(spaces).or_else(|| is_blank(&line).then_some(""))?;
        if content.is_empty() {
            blanks = blanks.saturating_add(1);
            continue;
        }
        let is_begun = !text.is_empty();
        // Parsers differ about a blank line that is longer than the indentation of the text after it.
        if !is_begun && is_blank(&line) {
            return None;
        }
        // A line that is indented further keeps its line breaks.
        let was_indented = std::mem::replace(&mut is_indented, content.starts_with(BLANKS));
        let is_joined = is_folded && !is_indented && !was_indented;
        if is_joined && is_begun && blanks == 0 {
            text.push(' ');
        }
        text.push_str(&"\n".repeat(blanks.saturating_add(usize::from(is_begun && !is_joined))));
        text.push_str(content);
        blanks = 0;
    }
    let kept = if end.starts_with('+') { blanks } else { 0 };
    let last = usize::from(!text.is_empty() && !end.starts_with('-'));
    text.push_str(&"\n".repeat(kept.saturating_add(last)));
    Some(text)
}
