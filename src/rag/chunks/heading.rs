//! The text of a heading.

use crate::rag::links::destination::read;
use crate::rag::links::inline::code_spans;
use crate::words::work;

/// The names of characters that headings have.
const NAMED: [(&str, char); 9] = [
    ("&amp;", '&'),
    ("&gt;", '>'),
    ("&lt;", '<'),
    ("&quot;", '"'),
    ("&nbsp;", ' '),
    ("&ensp;", ' '),
    ("&emsp;", ' '),
    ("&thinsp;", ' '),
    // It separates the title from badges.
    ("&middot;", ' '),
];

/// Returns the text of a heading without its images and HTML tags, and with the text of each link. The other marks, such as those of code,
/// stay. `scripts/lib/title.mjs` reads titles by the same rule.
pub(super) fn plain(markdown: &str) -> String {
    let code = code_spans(markdown);
    let mut text = String::with_capacity(markdown.len());
    // The open brackets, with their positions in `text`.
    let mut brackets: Vec<(usize, &str)> = Vec::new();
    let last_comment = markdown.rfind("-->");
    let mut at: usize = 0;
    while let Some(rest) = markdown.get(at..)
        && let Some(first) = rest.chars().next()
    {
        work::count(first.len_utf8());
        let mut length = first.len_utf8();
        let bracket = ["![", "["].into_iter().find(|bracket| rest.starts_with(bracket));
        if let Some(end) = code.get(&at) {
            length = end.saturating_sub(at);
            text.push_str(rest.get(..length).unwrap_or_default());
        } else if let Some(bracket) = bracket {
            length = bracket.len();
            brackets.push((text.len(), bracket));
        } else if let (']', Some((begin, bracket))) = (first, brackets.pop_if(|_| first == ']')) {
            let tail = tail(rest);
            if bracket == "![" {
                text.truncate(begin);
            } else if tail.is_none() {
                text.insert_str(begin, bracket);
                text.push(']');
            }
            length = tail.unwrap_or(length);
        } else if let Some(tag) = tag(rest, last_comment.is_some_and(|last| at < last)) {
            length = tag;
            text.push(' ');
        } else if let Some((name, character)) = NAMED.into_iter().find(|(name, _)| rest.starts_with(name)) {
            length = name.len();
            text.push(character);
        } else {
            text.push(first);
        }
        at = at.saturating_add(length);
    }
    // Brackets that no bracket closes are text. The last one is first, so that the positions of the others stay.
    for (begin, bracket) in brackets.into_iter().rev() {
        text.insert_str(begin, bracket);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the length of what makes brackets a link: `](destination "title")` or `][label]`. `rest` begins with the closing bracket.
fn tail(rest: &str) -> Option<usize> {
    let after = rest.get(1..)?;
    if let Some(label) = after.strip_prefix('[') {
        let end = label.find(['[', ']'])?;
        work::count(end);
        let end = Some(end).filter(|end| label.get(*end..).is_some_and(|label| label.starts_with(']')))?;
        return Some(end.saturating_add(3));
    }
    let inner = after.strip_prefix('(')?.trim_start();
    let destination = read(inner).map_or(0, |(_, length)| length);
    let mut end = inner.get(destination..)?;
    let title = end.trim_start();
    let close = match title.chars().next() {
        Some(quote @ ('"' | '\'')) => Some(quote),
        Some('(') => Some(')'),
        _ => None,
    };
    if let Some(close) = close.filter(|_| title.len() < end.len()) {
        // A title with brackets is text, so that no byte is read for many brackets.
        let inner = title.get(1..)?;
        let length = inner.find([close, '[', ']'])?;
        work::count(length);
        end = inner.get(length..)?.strip_prefix(close)?;
    }
    let end = end.trim_start().strip_prefix(')')?;
    Some(rest.len().saturating_sub(end.len()))
}

/// Returns the length of the comment or the tag at the start of `rest`. The URI in `<https://a.example>` is no tag.
fn tag(rest: &str, has_comment_end: bool) -> Option<usize> {
    if rest.starts_with("<!--") && has_comment_end {
        let end = rest.find("-->")?.saturating_add(3);
        work::count(end);
        return Some(end);
    }
    let inner = rest.strip_prefix('<')?;
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let after = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && after.starts_with(|c: char| c.is_whitespace() || matches!(c, '/' | '>'));
    let end = rest.get(1..).filter(|_| is_tag)?.find(['<', '>'])?.saturating_add(1);
    work::count(end);
    rest.get(end..)?.starts_with('>').then_some(end.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that are read per byte of a heading. A destination with parentheses is read again for each of them, up to their deepest nesting.
    const READ_PER_BYTE: usize = 16;

    #[test]
    fn hostile_headings_take_linear_work() {
        let parts =
            ["[](a \"", "[](a (", "![](", "[][", "[]", "[", "]", "<!--", "<a ", "</", "`", "[a](<b", "-->", "(", "\\"];
        for (first, second) in parts.iter().flat_map(|first| parts.map(|second| (first, second))) {
            let heading = [first.repeat(2000 / first.len()), second.repeat(2000 / second.len())].concat();
            for heading in [heading, [*first, second].concat().repeat(400)] {
                let (_, read) = work::counted(|| plain(&heading));
                assert!(
                    read <= READ_PER_BYTE * heading.len(),
                    "{first} {second}: {read} bytes read of {}",
                    heading.len()
                );
            }
        }
    }
}
