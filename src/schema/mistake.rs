//! How a mistake is told: where it is, without what is nobody's business.

use crate::protocol::error::shortened;
use crate::protocol::json::misfit::{Misfit, Step};
use crate::protocol::json::{Kind, Value};

/// Words in the names of properties whose values are never shown.
const SECRETS: [&str; 7] = ["secret", "token", "password", "passwd", "key", "credential", "auth"];

/// Where a value is: `items[2].qty`.
#[derive(Debug)]
pub(super) struct Place {
    path: String,
    /// Whether values are shown: not those of a property that is named like a secret, nor of what is in it.
    hides: bool,
}

/// The place outside of one that was entered.
pub(super) struct Outside {
    length: usize,
    hides: bool,
}

impl Place {
    /// The whole value.
    pub(super) fn at_the_root(hides: bool) -> Self {
        Self { path: String::new(), hides }
    }

    /// Goes one step further.
    pub(super) fn enter(&mut self, step: &str) -> Outside {
        let outside = Outside { length: self.path.len(), hides: self.hides };
        self.path.push_str(step);
        outside
    }

    /// Goes to a property. A name that is no plain word is quoted.
    pub(super) fn enter_property(&mut self, name: &str) -> Outside {
        let plain = !name.is_empty() && !name.contains(|c: char| c <= ' ' || "\"'.:()[]{}\\`".contains(c));
        let outside =
            self.enter(&if plain { format!(".{}", shortened(name)) } else { format!("[{:?}]", shortened(name)) });
        self.hides |= is_named_like_a_secret(name);
        outside
    }

    /// Goes back.
    pub(super) fn leave(&mut self, Outside { length, hides }: Outside) {
        self.path.truncate(length);
        self.hides = hides;
    }

    /// A value as it may be shown: shortened, and of a secret, or of what may hold one, its kind alone.
    pub(super) fn shown(&self, value: Value<'_>) -> String {
        if !self.hides && !may_hold_a_secret(value) {
            return shortened(value.text()).into_owned();
        }
        value.kind().with_article().to_owned()
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
pub(crate) fn told(misfit: &Misfit) -> String {
    let mut place = Place::at_the_root(false);
    for step in misfit.way() {
        match step {
            Step::Member(name) => place.enter_property(name),
            Step::Item(at) => place.enter(&format!("[{at}]")),
        };
    }
    place.line(if place.hides { "is not what is expected there" } else { misfit.what() })
}

/// Whether a value has parts, of which one may be named like a secret.
fn may_hold_a_secret(value: Value<'_>) -> bool {
    matches!(value.kind(), Kind::Object | Kind::Array) && is_named_like_a_secret(value.text())
}

/// Whether a name, or a path of names, has a word in it by which secrets are called.
fn is_named_like_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|word| name.contains(word))
}

/// What may have been meant by a name that is not known.
pub(super) fn did_you_mean<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    let near = |known: &&str| {
        let most = if name.chars().count() < 4 { 1 } else { 2 };
        name.len() <= 64 && known.len() <= 64 && distance(name, known) <= most
    };
    let meant = known.filter(near).min_by_key(|known| distance(name, known));
    meant.map_or(String::new(), |meant| format!("; did you mean {meant:?}?"))
}

/// How many characters have to be added, left out, changed or swapped with the next.
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
    use super::did_you_mean;

    #[test]
    fn near_names_are_suggested() {
        let known = ["location", "limit", "id"];
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
            assert_eq!(did_you_mean(name, known.into_iter()), meant, "{name}");
        }
        assert_eq!(did_you_mean(&"x".repeat(10_000), known.into_iter()), "");
    }
}
