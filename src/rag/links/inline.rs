//! The links within a block.

use std::collections::BTreeMap;

use super::destination::{LinkDefinitions, label, read};
use crate::words::work;

struct Bracket {
    /// The position after the bracket.
    after: usize,
    is_image: bool,
    /// Whether another pair of brackets is inside.
    has_inner: bool,
}

/// Calls `found` with the position and the destination of each link in `text`. The position is that of its closing bracket.
pub(super) fn links(text: &str, definitions: &LinkDefinitions, mut found: impl FnMut(usize, &str)) {
    let ends = code_spans(text);
    let mut brackets: Vec<Bracket> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        // All characters that have a meaning are ASCII.
        let skipped = rest.find(['\\', '`', '<', '!', '[', ']']).unwrap_or(rest.len());
        work::count(skipped.saturating_add(1));
        let here = at.saturating_add(skipped);
        let rest = rest.get(skipped..).unwrap_or_default();
        let mut characters = rest.chars();
        let first = characters.next();
        let next = characters.next();
        let length = match first {
            Some('\\') => 1_usize.saturating_add(next.map_or(0, char::len_utf8)),
            Some('`') => match ends.get(&here) {
                Some(end) => end.saturating_sub(here),
                None => run_length(rest),
            },
            Some('<') => match autolink(rest) {
                Some(uri) => {
                    found(here, uri);
                    uri.len().saturating_add(2)
                }
                None => 1,
            },
            Some('!') if next == Some('[') => {
                brackets.push(Bracket { after: here.saturating_add(2), is_image: true, has_inner: false });
                2
            }
            Some('[') => {
                brackets.push(Bracket { after: here.saturating_add(1), is_image: false, has_inner: false });
                1
            }
            Some(']') => match brackets.pop() {
                Some(bracket) => {
                    if let Some(outer) = brackets.last_mut() {
                        outer.has_inner = true;
                    }
                    let inner = text.get(bracket.after..here).unwrap_or_default();
                    let (destination, length) = closed(text, &bracket, inner, rest, definitions);
                    if let Some(destination) = destination.filter(|_| !bracket.is_image) {
                        found(here, &destination);
                    }
                    length
                }
                None => 1,
            },
            _ => 1,
        };
        at = here.saturating_add(length);
    }
}

/// Returns the destination of a link whose text is `inner`, and the length of what follows: `rest` begins with the closing bracket.
fn closed(
    text: &str,
    bracket: &Bracket,
    inner: &str,
    rest: &str,
    definitions: &LinkDefinitions,
) -> (Option<String>, usize) {
    let after = rest.get(1..).unwrap_or_default();
    if let Some(inline) = after.strip_prefix('(') {
        let blank = inline.len().saturating_sub(inline.trim_start().len());
        // White space is counted, because many links may precede the same white space.
        work::count(blank);
        if let Some((destination, length)) = inline.get(blank..).and_then(read)
            && let Some(end) = inline.get(blank.saturating_add(length)..)
            && end.trim_start().starts_with([')', '"', '\'', '('])
        {
            return (Some(destination), 2_usize.saturating_add(blank).saturating_add(length));
        }
    }
    let is_definition = after.starts_with(':') && begins_line(text, bracket.after.saturating_sub(1));
    if bracket.has_inner || is_definition {
        return (None, 1);
    }
    let own = |name: &str| label(name).and_then(|name| definitions.get(&name)).cloned();
    // `[text][label]`, `[label][]` or `[label]`. A label has at most 999 bytes, so a missing bracket does not cost more.
    let window = after.get(..after.floor_char_boundary(1002)).unwrap_or_default();
    if let Some((name, _)) = window.strip_prefix('[').and_then(|window| window.split_once(']')) {
        work::count(name.len());
        let destination = own(if name.is_empty() { inner } else { name });
        if destination.is_some() {
            return (destination, name.len().saturating_add(3));
        }
    }
    work::count(inner.len().min(999));
    (own(inner), 1)
}

/// Returns whether only white space and quote marks precede `at` in its line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.trim_end_matches([' ', '\t', '>']).chars().next_back().is_none_or(|last| matches!(last, '\n' | '\r'))
}

/// Returns the URI between angle brackets at the start of `text`.
fn autolink(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    let end = rest.find(|character: char| character.is_whitespace() || matches!(character, '<' | '>'))?;
    work::count(end);
    let uri = rest.get(..end).filter(|_| rest.get(end..).is_some_and(|rest| rest.starts_with('>')))?;
    has_scheme(uri).then_some(uri)
}

fn run_length(text: &str) -> usize {
    text.len().saturating_sub(text.trim_start_matches('`').len())
}

/// Returns the ends of the code spans by their starts. A run of backticks ends at the next run of the same length.
pub(in crate::rag) fn code_spans(text: &str) -> BTreeMap<usize, usize> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(skipped) = rest.find('`')
    {
        let start = at.saturating_add(skipped);
        at = start.saturating_add(run_length(rest.get(skipped..).unwrap_or_default()));
        runs.push((start, at));
    }
    work::count(text.len());
    let (mut spans, mut later) = (BTreeMap::new(), BTreeMap::new());
    for (start, end) in runs.into_iter().rev() {
        if let Some(close) = later.insert(end.saturating_sub(start), end) {
            spans.insert(start, close);
        }
    }
    spans
}

/// Returns whether `uri` begins with a scheme, such as `https:`.
pub(super) fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.len() >= 2 && scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_part)
}
