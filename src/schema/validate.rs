//! From a value to the list of what is wrong with it.
//!
//! Each mistake is a line that a model can act on: where, what was expected, what was there.

use std::fmt::Write;

use super::compile::{Keyword, Program, Type};
use crate::protocol::error::shortened;
use crate::protocol::json::{Kind, Value};

/// More would not help whoever has to mend them.
const MOST_MISTAKES: usize = 10;

/// The first mistakes in `value`, or none.
pub(super) fn mistakes(program: &Program, value: Value<'_>) -> Vec<String> {
    let mut check = Check { program, mistakes: Vec::new(), place: String::new() };
    check.rule(0, value);
    check.mistakes
}

struct Check<'p> {
    program: &'p Program,
    mistakes: Vec<String>,
    /// Where the value is: `items[2].qty`.
    place: String,
}

impl Check<'_> {
    fn rule(&mut self, index: usize, value: Value<'_>) {
        for keyword in self.program.rule(index) {
            if self.mistakes.len() >= MOST_MISTAKES {
                return;
            }
            self.keyword(keyword, value);
        }
    }

    fn keyword(&mut self, keyword: &Keyword, value: Value<'_>) {
        let number = || (value.kind() == Kind::Number).then(|| value.text().parse::<f64>().ok()).flatten();
        let shown = || shortened(value.text());
        match keyword {
            Keyword::Never => self.mistake("nothing is allowed here"),
            Keyword::Type(types) => {
                if !types.iter().any(|kind| is_a(value, *kind)) {
                    let names: Vec<_> = types.iter().map(|kind| with_article(*kind)).collect();
                    self.mistake(format!("expected {}, got {}", names.join(" or "), shown()));
                }
            }
            Keyword::Enum(allowed) => {
                if !allowed.iter().any(|one| equal(value, one)) {
                    let allowed: Vec<_> = allowed.iter().map(ToString::to_string).collect();
                    self.mistake(format!("expected {}, got {}", allowed.join(" or "), shown()));
                }
            }
            Keyword::Minimum(least) => self.bound(number(), |n| n < *least, || format!("below the minimum {least}")),
            Keyword::Maximum(most) => self.bound(number(), |n| n > *most, || format!("above the maximum {most}")),
            Keyword::ExclusiveMinimum(bound) => self.bound(number(), |n| n <= *bound, || format!("not above {bound}")),
            Keyword::ExclusiveMaximum(bound) => self.bound(number(), |n| n >= *bound, || format!("not below {bound}")),
            Keyword::MinLength(least) => self.size(length(value), *least..=u64::MAX, "characters"),
            Keyword::MaxLength(most) => self.size(length(value), 0..=*most, "characters"),
            Keyword::MinItems(least) => self.size(items(value), *least..=u64::MAX, "items"),
            Keyword::MaxItems(most) => self.size(items(value), 0..=*most, "items"),
            Keyword::Items(rule) => {
                for (nth, item) in value.items().enumerate() {
                    self.inside(&format!("[{nth}]"), |check| check.rule(*rule, item));
                }
            }
            Keyword::Required(names) => {
                for name in names.iter().filter(|name| value.kind() == Kind::Object && value.get(name).is_none()) {
                    self.inside(&step(name), |check| check.mistake("is required"));
                }
            }
            Keyword::Properties { named, others } => self.properties(named, *others, value),
            Keyword::AllOf(rules) => rules.iter().for_each(|rule| self.rule(*rule, value)),
            Keyword::Reference(rule) => self.rule(*rule, value),
            Keyword::If { condition, then, otherwise } => {
                let holds = self.attempt(*condition, value).is_empty();
                if let Some(rule) = if holds { then } else { otherwise } {
                    self.rule(*rule, value);
                }
            }
            Keyword::AnyOf(rules) => {
                let tries: Vec<_> = rules.iter().map(|rule| self.attempt(*rule, value)).collect();
                if !tries.iter().any(Vec::is_empty) {
                    self.none_fits(tries, value);
                }
            }
            Keyword::OneOf(rules) => {
                let tries: Vec<_> = rules.iter().map(|rule| self.attempt(*rule, value)).collect();
                match tries.iter().filter(|mistakes| mistakes.is_empty()).count() {
                    0 => self.none_fits(tries, value),
                    1 => {}
                    _ => self.mistake("fits several of the alternatives, of which only one may hold"),
                }
            }
        }
    }

    fn properties(&mut self, named: &[(String, usize)], others: Option<usize>, value: Value<'_>) {
        for (name, member) in value.members() {
            match named.iter().find(|(known, _)| *known == name) {
                Some((_, rule)) => self.inside(&step(&name), |check| check.rule(*rule, member)),
                None => match others {
                    Some(rule) if matches!(self.program.rule(rule), [Keyword::Never]) => {
                        self.mistake(format!("unknown property {:?}", shortened(&name)));
                    }
                    Some(rule) => self.inside(&step(&name), |check| check.rule(rule, member)),
                    None => {}
                },
            }
        }
    }

    /// What one alternative has to say, without saying it.
    fn attempt(&mut self, rule: usize, value: Value<'_>) -> Vec<String> {
        let before = std::mem::take(&mut self.mistakes);
        self.rule(rule, value);
        std::mem::replace(&mut self.mistakes, before)
    }

    /// No alternative holds: the one that came closest tells what is missing.
    fn none_fits(&mut self, tries: Vec<Vec<String>>, value: Value<'_>) {
        match tries.into_iter().min_by_key(Vec::len) {
            Some(closest) => self.mistakes.extend(closest),
            None => self.mistake(format!("no alternative fits {}", shortened(value.text()))),
        }
    }

    fn bound(&mut self, number: Option<f64>, outside: impl Fn(f64) -> bool, how: impl Fn() -> String) {
        if let Some(number) = number.filter(|number| outside(*number)) {
            self.mistake(format!("{number} is {}", how()));
        }
    }

    fn size(&mut self, size: Option<u64>, allowed: std::ops::RangeInclusive<u64>, unit: &str) {
        match size {
            Some(size) if size < *allowed.start() => {
                self.mistake(format!("has {size} {unit}, at least {} are required", allowed.start()));
            }
            Some(size) if size > *allowed.end() => {
                self.mistake(format!("has {size} {unit}, at most {} are allowed", allowed.end()));
            }
            _ => {}
        }
    }

    fn inside(&mut self, step: &str, check: impl FnOnce(&mut Self)) {
        let outside = self.place.len();
        self.place.push_str(step);
        check(self);
        self.place.truncate(outside);
    }

    fn mistake(&mut self, what: impl AsRef<str>) {
        if self.mistakes.len() >= MOST_MISTAKES {
            return;
        }
        let mut line = String::new();
        let place = self.place.trim_start_matches('.');
        if !place.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(line, "{place}: ");
        }
        line.push_str(what.as_ref());
        self.mistakes.push(line);
    }
}

/// A property as a step of a path; one that is no plain word is quoted.
fn step(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if plain { format!(".{}", shortened(name)) } else { format!("[{:?}]", shortened(name)) }
}

fn with_article(kind: Type) -> &'static str {
    match kind {
        Type::Null => "null",
        Type::Boolean => "a boolean",
        Type::Integer => "an integer",
        Type::Number => "a number",
        Type::String => "a string",
        Type::Array => "an array",
        Type::Object => "an object",
    }
}

fn is_a(value: Value<'_>, kind: Type) -> bool {
    match value.kind() {
        Kind::Null => kind == Type::Null,
        Kind::Boolean => kind == Type::Boolean,
        Kind::String => kind == Type::String,
        Kind::Array => kind == Type::Array,
        Kind::Object => kind == Type::Object,
        Kind::Number => kind == Type::Number || (kind == Type::Integer && is_integer(value.text())),
    }
}

/// Whether the number has no fraction, however it is written: `7`, `7.0`, `7e2`.
fn is_integer(number: &str) -> bool {
    !number.contains(['.', 'e', 'E']) || number.parse::<f64>().is_ok_and(|number| number.fract() == 0.0)
}

fn length(value: Value<'_>) -> Option<u64> {
    value.as_str().map(|text| (0..).zip(text.chars()).last().map_or(0, |(last, _): (u64, _)| last.saturating_add(1)))
}

fn items(value: Value<'_>) -> Option<u64> {
    (value.kind() == Kind::Array).then(|| u64::try_from(value.items().count()).unwrap_or(u64::MAX))
}

fn equal(value: Value<'_>, other: &serde_json::Value) -> bool {
    use serde_json::Value as Other;
    match (value.kind(), other) {
        (Kind::Null, Other::Null) => true,
        (Kind::Boolean, Other::Bool(other)) => (value.text() == "true") == *other,
        (Kind::Number, Other::Number(other)) => value.text().parse::<f64>().ok() == other.as_f64(),
        (Kind::String, Other::String(other)) => value.as_str().is_some_and(|text| text == *other),
        (Kind::Array, Other::Array(other)) => {
            value.items().count() == other.len() && value.items().zip(other).all(|(one, other)| equal(one, other))
        }
        (Kind::Object, Other::Object(other)) => {
            value.members().count() == other.len()
                && value.members().all(|(key, one)| other.get(&*key).is_some_and(|other| equal(one, other)))
        }
        _ => false,
    }
}
