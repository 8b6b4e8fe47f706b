//! The front matter of a Markdown document.

use std::ops::Range;

use super::line::lines;

/// Returns the front matter of a Markdown document without its delimiters: YAML between lines of `---`, or TOML between lines of `+++`.
///
/// ```
/// use edge_mcp::rag::front_matter;
///
/// assert_eq!(front_matter("---\ntitle: Tea\n---\n# Tea\n"), Some("title: Tea\n"));
/// assert_eq!(front_matter("# Tea\n"), None);
/// ```
pub fn front_matter(text: &str) -> Option<&str> {
    text.get(front_matter_lines(text)?.0)
}

/// Returns the position after the front matter.
pub(in crate::rag) fn body(text: &str) -> usize {
    front_matter_lines(text).map_or_else(|| byte_order_mark(text), |(_, end)| end)
}

pub(super) fn byte_order_mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Returns the range of the front matter, and the position after its last delimiter.
///
/// A document can also begin with a thematic break. Front matter begins with a key, so text is not mistaken for it.
fn front_matter_lines(text: &str) -> Option<(Range<usize>, usize)> {
    let mut lines = lines(text, byte_order_mark(text));
    let first = lines.next().filter(|line| line.indent == 0)?;
    let (separator, ends): (char, &[&str]) = match first.content {
        "---" => (':', &["---", "..."]),
        "+++" => ('=', &["+++"]),
        _ => return None,
    };
    let mut inner = lines.peekable();
    let (key, _) = inner.peek()?.content.split_once(separator)?;
    if key.is_empty()
        || !key.trim_end().chars().all(|character| character.is_alphanumeric() || "-_.\"'".contains(character))
    {
        return None;
    }
    let last = inner.find(|line| line.indent == 0 && ends.contains(&line.content))?;
    Some((first.next..last.start, last.next))
}
