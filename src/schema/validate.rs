//! Whether a value fits.
//!
//! A value is first asked whether it fits, without a word; only what does not is gone through again, to say why (`explain`). Either is
//! bounded in depth and in steps: past the bound it is refused, and not looked at any longer.

use std::collections::HashMap;

use super::mistake::Place;
use super::pattern::{LONGEST_TEXT, Pattern};
use super::program::{Bound, Keyword, Measure, Program, Rule, Type};
use crate::protocol::decimal::Decimal;
use crate::protocol::json::{Kind, Value, canonical};

/// Steps: one for each keyword that is looked at, more for texts that are matched and items that are compared.
const MOST_STEPS: u32 = 4_000_000;
/// Steps after which answers are remembered; before, it costs more than it brings.
const UNREMEMBERED: u32 = 20_000;
/// Rules within rules: each takes room on the stack.
const DEEPEST: u32 = 400;

/// How a value is checked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// `format` is more than an annotation.
    pub formats: bool,
    /// Mistakes say what kind of value they are about, and no more.
    pub hides_values: bool,
}

/// The first mistakes in `value`, or none.
pub(super) fn mistakes(program: &Program, value: Value<'_>, manner: Manner) -> Vec<String> {
    let mut check = Check::new(program, manner);
    let fits = check.fits(0, value);
    // Where the steps have run out, what was found may be wrong either way.
    if fits && !check.is_exhausted {
        return Vec::new();
    }
    if !check.is_exhausted {
        check.steps = MOST_STEPS;
        check.explain(0, value);
    }
    if check.mistakes.is_empty() {
        return vec!["this takes too long to check: send less at once, or nest it less deeply".to_owned()];
    }
    check.mistakes
}

/// A check of one value.
pub(super) struct Check<'p> {
    pub program: &'p Program,
    formats: bool,
    /// Steps that are left.
    steps: u32,
    depth: u32,
    pub is_exhausted: bool,
    /// What was found of rules and values, once many steps were taken: schemas that contain themselves in several ways come to the
    /// same question again and again.
    known: HashMap<(Rule, u32), bool>,
    pub mistakes: Vec<String>,
    pub place: Place,
}

impl<'p> Check<'p> {
    fn new(program: &'p Program, Manner { formats, hides_values }: Manner) -> Self {
        let (mistakes, place) = (Vec::new(), Place::at_the_root(hides_values));
        Self {
            program,
            formats,
            steps: MOST_STEPS,
            depth: 0,
            is_exhausted: false,
            known: HashMap::new(),
            mistakes,
            place,
        }
    }

    /// Takes `count` steps, if they are left.
    pub(super) fn step(&mut self, count: u32) -> bool {
        match self.steps.checked_sub(count) {
            Some(left) if !self.is_exhausted => self.steps = left,
            _ => self.is_exhausted = true,
        }
        !self.is_exhausted
    }

    /// Takes the steps that it costs to go through the whole of a value.
    fn step_through(&mut self, value: Value<'_>) -> bool {
        self.step(u32::try_from(value.text().len() / 16).unwrap_or(u32::MAX))
    }

    /// Whether `value` fits a rule.
    pub(super) fn fits(&mut self, rule: Rule, value: Value<'_>) -> bool {
        let question = (rule, value.position());
        if let Some(known) = self.known.get(&question) {
            return *known;
        }
        let fits = self.within(|check| {
            let program = check.program;
            program.rule(rule).iter().all(|keyword| check.keyword_fits(keyword, value))
        });
        let remembers = self.steps < MOST_STEPS.saturating_sub(UNREMEMBERED);
        if remembers && !self.is_exhausted {
            self.known.insert(question, fits);
        }
        fits
    }

    /// Does something one level deeper. Past the deepest, it is as if it did not fit.
    pub(super) fn within(&mut self, work: impl FnOnce(&mut Self) -> bool) -> bool {
        if self.depth >= DEEPEST {
            self.is_exhausted = true;
            return false;
        }
        self.depth = self.depth.saturating_add(1);
        let outcome = work(self);
        self.depth = self.depth.saturating_sub(1);
        outcome
    }

    pub(super) fn keyword_fits(&mut self, keyword: &Keyword, value: Value<'_>) -> bool {
        if !self.step(1) {
            return false;
        }
        match keyword {
            Keyword::Never => false,
            Keyword::Type(types) => types.iter().any(|kind| is_a(value, *kind)),
            Keyword::Enum(allowed) => self.is_one_of(allowed, value),
            Keyword::Bound(bound, limit) => is_within(*bound, limit, value),
            Keyword::MultipleOf(step) => {
                value.kind() != Kind::Number || number(value).is_some_and(|number| number.is_multiple_of(step))
            }
            Keyword::Size(measure, least, most) => {
                measured(*measure, value).is_none_or(|size| (*least..=*most).contains(&size))
            }
            Keyword::Pattern(pattern) => value.as_str().is_none_or(|text| self.matches(pattern, &text)),
            Keyword::Format(format) => !self.formats || value.as_str().is_none_or(|text| format.fits(&text)),
            Keyword::Items { prefix, rest } => {
                value.items().enumerate().all(|(nth, item)| match prefix.get(nth).copied().or(*rest) {
                    Some(rule) => self.fits(rule, item),
                    None => true,
                })
            }
            Keyword::Contains { rule, least, most } => {
                value.kind() != Kind::Array || (*least..=*most).contains(&self.count_fitting(*rule, value))
            }
            Keyword::UniqueItems => self.repeated(value).is_none(),
            Keyword::Required(names) => is_other(value) || names.iter().all(|name| value.get(name).is_some()),
            Keyword::DependentRequired(dependents) => missing_dependents(dependents, value).next().is_none(),
            Keyword::DependentSchemas(rules) => {
                rules.iter().all(|(name, rule)| value.get(name).is_none() || self.fits(*rule, value))
            }
            Keyword::PropertyNames(rule) => value.names().all(|name| self.fits(*rule, name)),
            // Most schemas have no patterns, and then there is one rule for a property, or none.
            Keyword::Properties { named, patterns, others } if patterns.is_empty() => {
                value.members().all(|(name, member)| {
                    let own = named.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule);
                    own.or(*others).is_none_or(|rule| self.fits(rule, member))
                })
            }
            Keyword::Properties { named, patterns, others } => value.members().all(|(name, member)| {
                let rules = self.rules_of(&name, named, patterns, *others);
                rules.into_iter().all(|rule| self.fits(rule, member))
            }),
            Keyword::If { condition, then, otherwise } => {
                let rule = if self.fits(*condition, value) { then } else { otherwise };
                rule.is_none_or(|rule| self.fits(rule, value))
            }
            Keyword::AllOf(rules) => rules.iter().all(|rule| self.fits(*rule, value)),
            Keyword::AnyOf(rules) => rules.iter().any(|rule| self.fits(*rule, value)),
            Keyword::OneOf(rules) => rules.iter().filter(|rule| self.fits(**rule, value)).take(2).count() == 1,
            // Where the steps run out nothing is known, and nothing fits.
            Keyword::Not(rule) => !self.fits(*rule, value) && !self.is_exhausted,
            Keyword::Reference(rule) => self.fits(*rule, value),
        }
    }

    /// The rules for a property: those of its name and of the patterns that it matches, else the one for all others.
    pub(super) fn rules_of(
        &mut self,
        name: &str,
        named: &[(String, Rule)],
        patterns: &[(Pattern, Rule)],
        others: Option<Rule>,
    ) -> Vec<Rule> {
        let mut rules: Vec<Rule> = named.iter().filter(|(known, _)| known == name).map(|(_, rule)| *rule).collect();
        rules.extend(patterns.iter().filter(|(pattern, _)| self.matches(pattern, name)).map(|(_, rule)| *rule));
        if rules.is_empty() { others.into_iter().collect() } else { rules }
    }

    /// Whether a pattern is found in a text. What is too long for that takes all steps that are left.
    fn matches(&mut self, pattern: &Pattern, text: &str) -> bool {
        let pieces = u32::try_from(text.len() / 32).unwrap_or(u32::MAX).saturating_add(1);
        let cost = if text.len() > LONGEST_TEXT { u32::MAX } else { pieces.saturating_mul(pattern.weight()) };
        self.step(cost) && pattern.is_in(text)
    }

    fn is_one_of(&mut self, allowed: &[(String, String)], value: Value<'_>) -> bool {
        // Most values are written as they are shown, and those of another kind begin with another sign.
        let text = value.text();
        if allowed.iter().any(|(shown, _)| shown == text) {
            return true;
        }
        let sign = |text: &str| text.bytes().next().map(|first| if first.is_ascii_digit() { b'-' } else { first });
        if !allowed.iter().any(|(shown, _)| sign(shown) == sign(text)) {
            return false;
        }
        if !self.step_through(value) {
            return false;
        }
        let canonical = canonical::of(value);
        allowed.iter().any(|(_, known)| *known == canonical)
    }

    pub(super) fn count_fitting(&mut self, rule: Rule, value: Value<'_>) -> u64 {
        value.items().fold(0, |count: u64, item| count.saturating_add(self.fits(rule, item).into()))
    }

    /// The places of two items that are the same.
    pub(super) fn repeated(&mut self, value: Value<'_>) -> Option<(usize, usize)> {
        let mut seen = HashMap::new();
        for (nth, item) in value.items().enumerate() {
            if !self.step_through(item) {
                return Some((nth, nth));
            }
            if let Some(before) = seen.insert(canonical::of(item), nth) {
                return Some((before, nth));
            }
        }
        None
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
    !number.contains(['.', 'e', 'E']) || Decimal::of(number).is_some_and(|number| number.is_integer())
}

fn number(value: Value<'_>) -> Option<Decimal> {
    (value.kind() == Kind::Number).then(|| Decimal::of(value.text())).flatten()
}

fn is_within(bound: Bound, limit: &Decimal, value: Value<'_>) -> bool {
    let fits = |number: Decimal| match bound {
        Bound::Minimum => number >= *limit,
        Bound::Maximum => number <= *limit,
        Bound::ExclusiveMinimum => number > *limit,
        Bound::ExclusiveMaximum => number < *limit,
    };
    // A number whose exponent is beyond all use is within nothing.
    value.kind() != Kind::Number || number(value).is_some_and(fits)
}

/// Whether a value is no object.
pub(super) fn is_other(value: Value<'_>) -> bool {
    value.kind() != Kind::Object
}

/// What is not there although something else is: that, and what is missing.
pub(super) fn missing_dependents<'k>(
    dependents: &'k [(String, Vec<String>)],
    value: Value<'_>,
) -> impl Iterator<Item = (&'k str, &'k str)> {
    let given = dependents.iter().filter(move |(name, _)| value.get(name).is_some());
    given.flat_map(move |(given, names)| {
        names.iter().filter(move |name| value.get(name).is_none()).map(|name| (given.as_str(), name.as_str()))
    })
}

/// How many there are, of a value that has any.
pub(super) fn measured(measure: Measure, value: Value<'_>) -> Option<u64> {
    let count = match (measure, value.kind()) {
        (Measure::Characters, Kind::String) => value.as_str()?.chars().count(),
        (Measure::Items, Kind::Array) => value.items().count(),
        (Measure::Properties, Kind::Object) => value.names().count(),
        _ => return None,
    };
    u64::try_from(count).ok()
}
