//! How a mistake is told: where it is, without what is nobody's business.

use super::program::ObjectRule;
use super::steps::{SUGGESTION, Steps};
use crate::json::type_error::{self, TypeError};
use crate::json::{Kind, Value};
use crate::protocol::error::shortened;

/// Names of a rule among which a similar one is looked for: with more, none is suggested.
const MOST_NAMES: usize = 256;
/// Bytes of a name that may have been meant.
const LONGEST_MEANT: usize = 64;
/// Bytes of a name as it is written. A longer one is not searched for the words below, but taken for that of a secret.
pub(super) const LONGEST_NAME: usize = 512;

/// Words in the names of properties whose values are never shown.
const SECRETS: [&str; 7] = ["secret", "token", "password", "passwd", "key", "credential", "auth"];

/// A step from a value to one that is in it. Names are positions in the document.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Item(u32),
    Member(u32),
    /// To the name of a member itself.
    Name(u32),
}

/// Where a value is: `items[2].qty`.
#[derive(Debug)]
pub(super) struct Place {
    path: String,
    /// Whether values are shown: not those of a property that is named like a secret, nor of what is in it.
    hides: bool,
}

impl Place {
    /// The place to which `path` leads from `root`.
    pub(super) fn of(path: &[Step], root: Value<'_>, hides: bool) -> Self {
        let mut place = Self { path: String::new(), hides };
        for step in path {
            match *step {
                Step::Item(nth) => place.enter_item(nth as usize),
                Step::Member(name) => place.enter_member(root.at(name)),
                Step::Name(name) => {
                    place.path.extend([" (the name ", &shortened(root.at(name).text()), ")"]);
                }
            }
        }
        place
    }

    fn enter_item(&mut self, nth: usize) {
        self.path.extend(["[", &nth.to_string(), "]"]);
    }

    /// Goes to a member. A long name is not decoded: it is shown as it is written, and taken for that of a secret.
    fn enter_member(&mut self, name: Value<'_>) {
        if name.text().len() > LONGEST_NAME {
            self.path.extend(["[", &shortened(name.text()), "]"]);
            self.hides = true;
        } else {
            self.enter_property(&name.as_str().unwrap_or_default());
        }
    }

    /// Goes to a property. A name that is no plain word is quoted.
    pub(super) fn enter_property(&mut self, name: &str) {
        let shown = shortened(name);
        let is_plain = !shown.is_empty() && !shown.contains(|c: char| c <= ' ' || "\"'.:()[]{}\\`".contains(c));
        if is_plain {
            self.path.extend([".", &shown]);
        } else {
            self.path.extend(["[", &format!("{shown:?}"), "]"]);
        }
        self.hides |= is_named_like_a_secret(name);
    }

    /// A value as it may be shown: shortened, and of a secret, or of what may hold one, its kind alone.
    pub(super) fn shown(&self, value: Value<'_>) -> String {
        let shown = shortened(value.text());
        // A name comes before its value, so that a value which is shown has a name which is shown, too. A name with escapes may be any.
        let has_parts = matches!(value.kind(), Kind::Object | Kind::Array);
        if self.hides || (has_parts && (is_named_like_a_secret(&shown) || shown.contains('\\'))) {
            return value.kind().with_article().to_owned();
        }
        shown.into_owned()
    }

    /// The line about a mistake here.
    pub(super) fn line(&self, what: &str) -> String {
        match self.path.trim_start_matches(['.', ' ']) {
            "" => what.to_owned(),
            place => format!("{place}: {what}"),
        }
    }
}

/// The line about what a type does not take. What is said of it may quote the value.
pub(crate) fn told(error: &TypeError) -> String {
    let mut place = Place { path: String::new(), hides: false };
    for step in error.way() {
        match step {
            type_error::Step::Member(name) => place.enter_property(name),
            type_error::Step::Item(at) => place.enter_item(*at),
        }
    }
    place.line(if place.hides { "is not what is expected there" } else { error.what() })
}

/// Whether a name, or the beginning of a text with names in it, has a word in it by which secrets are called.
fn is_named_like_a_secret(name: &str) -> bool {
    // Nobody names a property like this, and a long one is not searched.
    if name.len() > LONGEST_NAME {
        return true;
    }
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|word| name.contains(word))
}

/// What may have been meant by a name that is not known, as the end of a sentence about it.
pub(super) fn did_you_mean(name: &str, object: &ObjectRule, steps: &mut Steps) -> String {
    if object.names.len() > MOST_NAMES {
        return String::new();
    }
    let most = if name.chars().nth(3).is_none() { 1 } else { 2 };
    let mut meant: Option<(usize, &str)> = None;
    // A character may have two bytes or more in one name, and one in the other.
    for known in
        object.own_names().filter(|known| known.len().abs_diff(name.len()) <= 4 && known.len() <= LONGEST_MEANT)
    {
        // Each character is compared with each.
        if !steps.take(SUGGESTION) || !steps.take_for(known.len().saturating_mul(name.len()), 1) {
            break;
        }
        let distance = distance(name, known);
        if distance <= most && meant.is_none_or(|(least, _)| distance < least) {
            meant = Some((distance, known));
        }
    }
    meant.map_or(String::new(), |(_, meant)| format!("; did you mean {meant:?}?"))
}

/// How many characters have to be added, left out, changed or swapped with the next to make one name the other.
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
            let left_out = at(&last, j.saturating_add(1)).saturating_add(1);
            let is_swapped =
                i > 0 && j > 0 && one.get(i.wrapping_sub(1)) == Some(b) && other.get(j.wrapping_sub(1)) == Some(a);
            let swapped = if is_swapped { at(&before_last, j.wrapping_sub(1)).saturating_add(1) } else { usize::MAX };
            row.push(changed.min(added).min(left_out).min(swapped));
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::program::Names;

    #[test]
    fn near_names_are_suggested() {
        let known = ["location", "limit", "id"].map(str::to_owned);
        let known =
            ObjectRule { properties: vec![Some(0); 3], names: Names::of(known.into()), ..ObjectRule::default() };
        for (name, meant) in [
            ("locaton", "; did you mean \"location\"?"),
            ("Location", "; did you mean \"location\"?"),
            ("limti", "; did you mean \"limit\"?"),
            ("di", "; did you mean \"id\"?"),
            ("ix", "; did you mean \"id\"?"),
            ("xy", ""),
            ("place", ""),
            ("", ""),
        ] {
            assert_eq!(did_you_mean(name, &known, &mut Steps::of(10_000)), meant, "{name}");
        }
        assert_eq!(did_you_mean(&"x".repeat(10_000), &known, &mut Steps::of(10_000)), "");
    }
}
