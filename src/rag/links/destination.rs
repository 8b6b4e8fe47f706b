//! The destinations and labels of links.

use std::collections::BTreeMap;

use crate::limits::{RAG_LINK_BYTES, RAG_LINKS};
use crate::words::work;

/// The nesting depth of parentheses in a destination (CommonMark requires at least 3).
const PARENTHESES: usize = 8;

/// The destinations that a document defines, by label.
pub(super) type LinkDefinitions = BTreeMap<String, String>;

/// Reads the destination at the start of `text`. Returns it without its escapes, and its length in `text`.
pub(in crate::rag) fn read(text: &str) -> Option<(String, usize)> {
    let is_angled = text.starts_with('<');
    let mut destination = String::new();
    let (mut depth, mut is_escaped) = (0_usize, false);
    let from = usize::from(is_angled);
    for (at, character) in text.char_indices().skip(from) {
        work::count(character.len_utf8());
        let is_over = destination.len() > RAG_LINK_BYTES;
        match character {
            _ if is_over => return None,
            _ if is_escaped => {
                if !character.is_ascii_punctuation() {
                    destination.push('\\');
                }
                is_escaped = false;
            }
            '\\' => {
                is_escaped = true;
                continue;
            }
            '>' if is_angled => return Some((destination, at.saturating_add(1))),
            '<' | '\n' | '\r' if is_angled => return None,
            _ if is_angled => {}
            _ if character.is_whitespace() || character.is_control() => return bare(destination, depth, at),
            '(' if depth == PARENTHESES => return None,
            '(' => depth = depth.saturating_add(1),
            ')' if depth == 0 => return bare(destination, depth, at),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        destination.push(character);
    }
    if is_angled { None } else { bare(destination, depth, text.len()) }
}

fn bare(destination: String, depth: usize, length: usize) -> Option<(String, usize)> {
    (depth == 0 && !destination.is_empty()).then_some((destination, length))
}

/// Returns the form in which equal labels are equal, or `None` if `label` is not a label.
pub(super) fn label(label: &str) -> Option<String> {
    // CommonMark allows at most 999 characters. A label that begins with `^` is a footnote.
    let is_label = label.len() <= 999 && !label.starts_with('^');
    let words = if is_label { label.split_whitespace().collect::<Vec<_>>().join(" ") } else { String::new() };
    let label: String = words.chars().flat_map(char::to_lowercase).collect();
    (!label.is_empty()).then_some(label)
}

/// Adds the definitions in `block`, such as `[label]: destination`. The first definition of a label counts.
pub(super) fn define(block: &str, definitions: &mut LinkDefinitions) {
    for line in block.split(['\n', '\r']) {
        work::count(line.len().saturating_add(1));
        if let Some((label, destination)) = definition(line)
            && definitions.len() < RAG_LINKS
        {
            definitions.entry(label).or_insert(destination);
        }
    }
}

fn definition(line: &str) -> Option<(String, String)> {
    let after = line.trim_start_matches([' ', '\t', '>']).strip_prefix('[')?;
    let (name, rest) = after.split_once("]:")?;
    let name = label(name).filter(|name| !name.contains(['[', ']']))?;
    let (destination, _) = read(rest.trim_start())?;
    Some((name, destination))
}
