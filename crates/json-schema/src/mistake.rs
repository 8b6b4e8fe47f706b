//! The text of a mistake: the path of the value and the problem, without secrets.

use std::ops::RangeInclusive;

use super::budget::{SUGGESTION, Steps};
use super::program::{Measure, ObjectRule};
use crate::limits::LISTED_VALUES;
use edge_json::shortened;
use edge_json::type_error::{PathSegment, TypeError};
use edge_json::{Kind, Value};

/// The largest number of known names that are compared with an unknown one. With more known names, there is no suggestion.
const SUGGESTION_NAMES: usize = 256;
/// The longest name that is suggested, in bytes.
const LONGEST_SUGGESTION: usize = 64;
/// The longest name that is unescaped and searched for [`SECRETS`], in bytes. A longer name counts as the name of a secret.
pub(crate) const LONGEST_NAME: usize = 512;

/// Words in the names of properties whose values are never shown.
const SECRETS: [&str; 7] = ["secret", "token", "password", "passwd", "key", "credential", "auth"];

/// A segment of the path from a value to a nested one. Names are positions in the document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Segment {
    Item(u32),
    Member(u32),
    /// The key of a member.
    Key(u32),
}

/// The place of a mistake, such as `items[2].qty`.
#[derive(Debug)]
pub(crate) struct Place {
    path: String,
    /// If the mistake is in a key, that key.
    key: Option<String>,
    /// Whether values are hidden, because the path has the name of a secret or because the line is for the log.
    hides_values: bool,
}

impl Place {
    /// Follows `path` from `root`.
    pub(super) fn new(path: &[Segment], root: Value<'_>, hides_values: bool) -> Self {
        let mut place = Self { path: String::new(), key: None, hides_values };
        for segment in path {
            match *segment {
                Segment::Item(index) => place.enter_item(index as usize),
                Segment::Member(name) => place.enter_member(root.at(name)),
                Segment::Key(name) => place.key = Some(shortened(root.at(name).text()).into_owned()),
            }
        }
        place
    }

    fn enter_item(&mut self, index: usize) {
        self.path.extend(["[", &index.to_string(), "]"]);
    }

    /// Adds a member to the path. A long key is not unescaped. It counts as the name of a secret.
    fn enter_member(&mut self, name: Value<'_>) {
        if name.text().len() > LONGEST_NAME {
            self.path.extend(["[", &shortened(name.text()), "]"]);
            self.hides_values = true;
        } else {
            self.enter_property(&name.as_str().unwrap_or_default());
        }
    }

    /// Adds a property to the path. A name with special characters is quoted.
    pub(super) fn enter_property(&mut self, name: &str) {
        let shown = shortened(name);
        let is_plain = !shown.is_empty() && !shown.contains(|c: char| c <= ' ' || "\"'.:()[]{}\\`".contains(c));
        if is_plain {
            self.path.extend([".", &shown]);
        } else {
            self.path.extend(["[", &format!("{shown:?}"), "]"]);
        }
        self.hides_values |= is_named_like_a_secret(name);
    }

    /// Returns the text for a value: shortened, or only its kind if it is or may contain a secret.
    pub(super) fn shown(&self, value: Value<'_>) -> String {
        let shown = shortened(value.text());
        // A key precedes its value, so each value in the shortened text has its key there, too. An escaped key may hide any word.
        let has_parts = matches!(value.kind(), Kind::Object | Kind::Array);
        if self.hides_values || (has_parts && (is_named_like_a_secret(&shown) || shown.contains('\\'))) {
            return value.kind().with_article().to_owned();
        }
        shown.into_owned()
    }

    /// Returns the line about a mistake here. `problem` is the predicate of the sentence.
    pub(super) fn line(&self, problem: &str) -> String {
        match (self.path.trim_start_matches('.'), &self.key) {
            ("", None) => format!("the value {problem}"),
            (path, None) => format!("`{path}` {problem}"),
            ("", Some(key)) => format!("the property name {key} {problem}"),
            (path, Some(key)) => format!("the property name {key} in `{path}` {problem}"),
        }
    }
}

/// Returns the line about a value that a type rejects. The message of a user-defined type may quote the value.
pub fn describe_type_error(error: &TypeError) -> String {
    let mut place = Place { path: String::new(), key: None, hides_values: false };
    for segment in error.path() {
        match segment {
            PathSegment::Member(name) => place.enter_property(name),
            PathSegment::Item(index) => place.enter_item(*index),
        }
    }
    match place.path.trim_start_matches('.') {
        _ if place.hides_values => place.line("is not valid"),
        "" => error.message().to_owned(),
        path => format!("`{path}`: {}", error.message()),
    }
}

/// Joins the expected values or types of a message: without duplicates, each shortened, and at most [`LISTED_VALUES`] of them.
pub(crate) fn or_list(texts: &mut dyn Iterator<Item = &str>) -> String {
    let mut listed = Vec::new();
    for text in texts.map(shortened) {
        if listed.contains(&text) {
            continue;
        }
        if listed.len() == LISTED_VALUES {
            listed.push("another value in the schema".into());
            break;
        }
        listed.push(text);
    }
    listed.join(" or ")
}

/// Describes a count that is not in the allowed range. `noun` is the singular and the plural.
pub(crate) fn wrong_count(verb: &str, noun: [&str; 2], count: u64, allowed: &RangeInclusive<u64>) -> String {
    let (relation, limit) =
        if count < *allowed.start() { ("at least", allowed.start()) } else { ("at most", allowed.end()) };
    let [singular, plural] = noun;
    format!("must {verb} {relation} {limit} {} (got {count})", if *limit == 1 { singular } else { plural })
}

impl Measure {
    /// Returns the singular and the plural of the counted parts.
    pub(super) fn noun(self) -> [&'static str; 2] {
        match self {
            Self::Characters => ["character", "characters"],
            Self::Items => ["item", "items"],
            Self::Properties => ["property", "properties"],
        }
    }
}

/// Returns whether a name, or a text with names in it, contains one of the words in [`SECRETS`].
fn is_named_like_a_secret(name: &str) -> bool {
    // A long name is not searched. It counts as the name of a secret.
    if name.len() > LONGEST_NAME {
        return true;
    }
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|word| name.contains(word))
}

/// Suggests a known name for an unknown one, as the end of a sentence.
pub(crate) fn did_you_mean(name: &str, object: &ObjectRule, steps: &mut Steps) -> String {
    if object.names.len() > SUGGESTION_NAMES {
        return String::new();
    }
    let most = if name.chars().nth(3).is_none() { 1 } else { 2 };
    let mut meant: Option<(usize, &str)> = None;
    // The lengths are in bytes, and a character may have several bytes, so the difference may be larger than the distance.
    for known in
        object.own_names().filter(|known| known.len().abs_diff(name.len()) <= 4 && known.len() <= LONGEST_SUGGESTION)
    {
        // The distance compares each pair of characters.
        if !steps.take(SUGGESTION) || !steps.take_for(known.len().saturating_mul(name.len()), 1) {
            break;
        }
        let distance = distance(name, known);
        if distance <= most && meant.is_none_or(|(least, _)| distance < least) {
            meant = Some((distance, known));
        }
    }
    meant.map_or(String::new(), |(_, meant)| format!("; did you mean `{meant}`?"))
}

/// Returns the edit distance of two names: insertions, deletions, replacements and swaps of adjacent characters, ignoring ASCII case.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) =
        (one.to_ascii_lowercase().chars().collect(), other.to_ascii_lowercase().chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i.saturating_add(1)];
        for (j, b) in other.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX);
            let changed = at(&last, j).saturating_add(usize::from(a != b));
            let added = at(&row, j).saturating_add(1);
            let removed = at(&last, j.saturating_add(1)).saturating_add(1);
            let is_swapped =
                i > 0 && j > 0 && one.get(i.wrapping_sub(1)) == Some(b) && other.get(j.wrapping_sub(1)) == Some(a);
            let swapped = if is_swapped { at(&before_last, j.wrapping_sub(1)).saturating_add(1) } else { usize::MAX };
            row.push(changed.min(added).min(removed).min(swapped));
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Names;

    #[test]
    fn similar_names_are_suggested() {
        let known = ["location", "limit", "id"].map(str::to_owned);
        let known =
            ObjectRule { properties: vec![Some(0); 3], names: Names::of(known.into()), ..ObjectRule::default() };
        for (name, meant) in [
            ("locaton", "; did you mean `location`?"),
            ("Location", "; did you mean `location`?"),
            ("limti", "; did you mean `limit`?"),
            ("di", "; did you mean `id`?"),
            ("ix", "; did you mean `id`?"),
            ("xy", ""),
            ("place", ""),
            ("", ""),
        ] {
            assert_eq!(did_you_mean(name, &known, &mut Steps::of(10_000)), meant, "{name}");
        }
        assert_eq!(did_you_mean(&"x".repeat(10_000), &known, &mut Steps::of(10_000)), "");
    }
}
