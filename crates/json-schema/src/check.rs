//! The check of a value against a compiled schema.
//!
//! One pass over the value finds the first ten mistakes. A trial of an alternative (`anyOf`, `oneOf`, `not`, `if`, `contains`) does not
//! record mistakes and ends at the first one. If no alternative matches, `explain` describes the closest one. The check counts its work
//! in the steps of `budget`, and rejects a value that takes too many.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

use super::budget::{
    CANONICAL, CANONICAL_VALUE, CHILD, COUNTED, CheckSteps, DECIMAL, DECODED, DIGITS, KEYWORD, MEMO, MULTIPLE, NUMBER,
    SCHEMA, Steps, WORDS,
};
use super::memo::Memo;
use super::mistake::{Segment, wrong_count};
use super::pattern::Searches;
use super::program::{Bound, Enum, Keyword, Measure, Number, Program, RuleId};
use super::types::Types;
use crate::limits::{MISTAKES, NESTED_SCHEMAS};
use edge_json::decimal::{Decimal, is_integer_literal};
use edge_json::number::Number as JsonNumber;
use edge_json::short_decimal::ShortDecimal;
use edge_json::{Kind, Value, canonical};

/// The smallest number of nested values for which results are cached. Checking a smaller value again is faster than looking it up.
const CACHEABLE: u32 = 8;

/// The options of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether `format` is enforced. Otherwise it is an annotation.
    pub checks_formats: bool,
    /// Whether mistakes show only the kind of a value.
    pub hides_values: bool,
}

/// Checks `value` against the schema, and takes the steps from `steps`. Returns a line for each of the first ten mistakes.
pub(crate) fn check(program: &Program, value: Value<'_>, options: Options, steps: &CheckSteps) -> Vec<String> {
    let mut check = Check {
        program,
        root: value,
        options,
        steps: Steps::of(steps.check.get()),
        explanation: Some(steps.explanation.get()),
        depth: 0,
        is_trying: false,
        is_rounding: false,
        forms_differ: false,
        memo: Memo::default(),
        searches: Searches::default(),
        path: Vec::new(),
        mistakes: Vec::new(),
    };
    let fits = check.fits(0, value) && check.rounded_fits(value);
    if check.mistakes.is_empty() && (!fits || check.steps.are_exhausted()) {
        check
            .mistakes
            .push("this takes too long to check: send less in one request, or nest it less deeply".to_owned());
    }
    steps.check.set(check.steps.left());
    steps.explanation.set(check.explanation.unwrap_or_default());
    check.mistakes
}

/// The state of a check.
pub(crate) struct Check<'p, 'd> {
    pub program: &'p Program,
    pub root: Value<'d>,
    pub options: Options,
    pub steps: Steps,
    /// The steps left for explanations. `None` during an explanation.
    pub explanation: Option<u32>,
    /// The nesting depth of the current rule.
    depth: u32,
    /// Whether this is a trial of an alternative, in which mistakes are not recorded.
    pub is_trying: bool,
    /// Whether long integers are compared as the `f64` that the program may get.
    is_rounding: bool,
    /// Whether a comparison with a long integer has another result for the `f64`.
    forms_differ: bool,
    memo: Memo,
    pub searches: Searches,
    /// The path of the current value.
    pub path: Vec<Segment>,
    pub mistakes: Vec<String>,
}

impl<'d> Check<'_, 'd> {
    /// Returns whether the check can end at the next mistake.
    pub(super) fn is_done(&self) -> bool {
        self.is_trying || self.mistakes.len() >= MISTAKES || self.steps.are_exhausted()
    }

    /// Returns whether `value` matches a rule. Records the mistakes, except in a trial.
    pub(super) fn fits(&mut self, id: RuleId, value: Value<'d>) -> bool {
        if self.depth >= NESTED_SCHEMAS {
            self.steps.exhaust();
        }
        if !self.steps.take(SCHEMA) {
            return false;
        }
        let rule = self.program.rule(id);
        if !self.is_a(rule.types, value) {
            return self.fail(|check| check.wrong_type(rule.types, value));
        }
        // Recursive alternatives check the same value against the same rule many times.
        let uses_cache = value.count() >= CACHEABLE && Memo::is_worth_it(&self.steps) && self.steps.take(MEMO);
        if uses_cache && let Some(fits) = self.memo.get(id, value.position()) {
            // The mistakes of a trial were not recorded, so find them again.
            if fits || self.is_trying {
                return fits;
            }
        }
        self.depth = self.depth.saturating_add(1);
        let program = self.program;
        let mut fits = true;
        for keyword in &program.rule(id).keywords {
            fits &= self.steps.take(KEYWORD) && self.keyword_fits(keyword, value);
            if !fits && self.is_done() {
                break;
            }
        }
        self.depth = self.depth.saturating_sub(1);
        if uses_cache && !self.steps.are_exhausted() {
            self.memo.set(id, value.position(), fits);
        }
        fits
    }

    /// Checks the whole value once more, with long integers as the `f64` that the program may get, if a comparison has another result for
    /// it. A comparison must not combine both results, because `not` turns them around.
    fn rounded_fits(&mut self, value: Value<'d>) -> bool {
        if !self.forms_differ {
            return true;
        }
        self.is_rounding = true;
        self.memo = Memo::default();
        self.fits(0, value)
    }

    /// Checks a value nested in the current one.
    pub(super) fn fits_inside(&mut self, segment: Segment, rule: RuleId, value: Value<'d>) -> bool {
        if self.is_trying {
            return self.fits(rule, value);
        }
        self.path.push(segment);
        let fits = self.fits(rule, value);
        self.path.pop();
        fits
    }

    /// Returns whether `value` matches a rule. Does not record mistakes.
    pub(super) fn would_fit(&mut self, rule: RuleId, value: Value<'d>) -> bool {
        let was_trying = std::mem::replace(&mut self.is_trying, true);
        let fits = self.fits(rule, value);
        self.is_trying = was_trying;
        fits
    }

    /// Records a mistake, except in a trial, and returns `false`.
    pub(super) fn fail(&mut self, mistake: impl FnOnce(&mut Self) -> String) -> bool {
        if !self.is_trying && !self.steps.are_exhausted() && self.mistakes.len() < MISTAKES {
            let mistake = mistake(self);
            self.note(&mistake);
        }
        false
    }

    fn keyword_fits(&mut self, keyword: &Keyword, value: Value<'d>) -> bool {
        let fits = match keyword {
            // An arm with `return` has recorded its mistakes. The mistakes of the other arms are recorded below.
            Keyword::Items { prefix, rest } => return self.items_fit(prefix, *rest, value),
            Keyword::Object(object) => return value.kind() != Kind::Object || self.object_fits(object, value),
            Keyword::If { condition, then, otherwise } => {
                let rule = if self.would_fit(*condition, value) { then } else { otherwise };
                return rule.is_none_or(|rule| self.fits(rule, value));
            }
            Keyword::AllOf(rules) => {
                let mut fits = true;
                for rule in rules {
                    fits &= self.fits(*rule, value);
                    if !fits && self.is_done() {
                        break;
                    }
                }
                return fits;
            }
            Keyword::AnyOf(alternatives) => {
                return self.count_alternatives(alternatives, value, 1) > 0
                    || self.no_alternative_fits(alternatives, value);
            }
            Keyword::OneOf(alternatives) => match self.count_alternatives(alternatives, value, 2) {
                0 => return self.no_alternative_fits(alternatives, value),
                count => count == 1,
            },
            Keyword::Reference(rule) => return self.fits(*rule, value),
            Keyword::Enum(allowed) => self.is_one_of(allowed, value),
            Keyword::Bound(bound, limit) => value.kind() != Kind::Number || self.is_within(*bound, limit, value),
            Keyword::MultipleOf(step) => value.kind() != Kind::Number || self.is_multiple(step, value),
            Keyword::Size(measure, least, most) => return self.size_fits(*measure, *least..=*most, value),
            Keyword::Pattern(pattern) => value.kind() != Kind::String || self.matches(*pattern, value),
            Keyword::Format(format) => {
                !self.options.checks_formats
                    || value.kind() != Kind::String
                    || format.matches(&self.content(value), &mut self.steps)
            }
            Keyword::Contains { rule, least, most } => {
                return value.kind() != Kind::Array || self.contains(*rule, *least..=*most, value);
            }
            Keyword::UniqueItems => return value.kind() != Kind::Array || self.items_are_unique(value),
            // If the steps ran out, the result is unknown, so the value does not match.
            Keyword::Not(rule) => !self.would_fit(*rule, value) && !self.steps.are_exhausted(),
        };
        fits || self.fail(|check| check.problem(keyword, value))
    }

    #[inline(never)]
    fn size_fits(&mut self, measure: Measure, allowed: RangeInclusive<u64>, value: Value<'d>) -> bool {
        if is_surely_within(measure, &allowed, value) {
            return true;
        }
        let Some(size) = self.measured(measure, value) else { return true };
        allowed.contains(&size) || self.fail(|_| wrong_count("have", measure.noun(), size, &allowed))
    }

    #[inline(never)]
    fn contains(&mut self, rule: RuleId, allowed: RangeInclusive<u64>, value: Value<'d>) -> bool {
        let mut count = 0_u64;
        for item in value.items() {
            if !self.steps.take(CHILD) {
                return false;
            }
            count = count.saturating_add(self.would_fit(rule, item).into());
        }
        let noun = ["matching item", "matching items"];
        allowed.contains(&count) || self.fail(|_| wrong_count("contain", noun, count, &allowed))
    }

    pub(super) fn is_a(&mut self, types: Types, value: Value<'d>) -> bool {
        if types.allow(value.kind()) {
            return true;
        }
        value.kind() == Kind::Number && types.allow_integers() && self.is_integer(value.text())
    }

    /// Returns whether a number is an integer, such as `7`, `7.0` or `7e2`.
    fn is_integer(&mut self, number: &str) -> bool {
        if !self.steps.take_for(number.len(), DIGITS) {
            return false;
        }
        match number.split_once('.') {
            _ if is_integer_literal(number) => true,
            Some((_, fraction)) if fraction.bytes().all(|digit| digit == b'0') => true,
            _ => self.decimal(number).is_some_and(|number| number.is_integer()),
        }
    }

    #[inline(never)]
    fn items_fit(&mut self, prefix: &[RuleId], rest: Option<RuleId>, value: Value<'d>) -> bool {
        let mut fits = true;
        for (nth, item) in (0_u32..).zip(value.items()) {
            let Some(rule) = prefix.get(nth as usize).copied().or(rest) else { break };
            if !self.steps.take(CHILD) {
                return false;
            }
            fits &= self.fits_inside(Segment::Item(nth), rule, item);
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    #[inline(never)]
    pub(super) fn is_one_of(&mut self, allowed: &Enum, value: Value<'d>) -> bool {
        if !allowed.types.allow(value.kind()) || !self.steps.take(allowed.cost) {
            return false;
        }
        match self.canonical(value) {
            Some(canonical) => allowed.allows(&canonical),
            None => false,
        }
    }

    /// Returns the canonical form of a value, or `None` if the steps run out.
    pub(super) fn canonical(&mut self, value: Value<'d>) -> Option<Cow<'d, str>> {
        if let Some(canonical) = canonical::borrowed(value) {
            return Some(Cow::Borrowed(canonical));
        }
        let takes = self.steps.take_for(value.text().len(), CANONICAL)
            && self.steps.take(value.count().saturating_mul(CANONICAL_VALUE))
            && self.steps.take_for(rounding_words(value), WORDS);
        takes.then(|| Cow::Owned(canonical::of(value)))
    }

    #[inline(never)]
    fn is_within(&mut self, bound: Bound, limit: &Number, value: Value<'d>) -> bool {
        self.steps.take(NUMBER);
        let allows = |ordering| match bound {
            Bound::Minimum => ordering != Ordering::Less,
            Bound::Maximum => ordering != Ordering::Greater,
            Bound::ExclusiveMinimum => ordering == Ordering::Greater,
            Bound::ExclusiveMaximum => ordering == Ordering::Less,
        };
        match (ShortDecimal::of(value.text()), limit.short) {
            (Some(number), Some(limit)) => allows(number.cmp(&limit)),
            _ => self.accepts(value.text(), limit, &|number| allows(number.cmp(&limit.exact))),
        }
    }

    #[inline(never)]
    fn is_multiple(&mut self, step: &Number, value: Value<'d>) -> bool {
        self.steps.take(MULTIPLE);
        match (ShortDecimal::of(value.text()), step.short) {
            (Some(number), Some(step)) => number.is_multiple_of(step),
            _ => self.accepts(value.text(), step, &|number| number.is_multiple_of(&step.exact)),
        }
    }

    /// Returns whether `accepts` holds for a number. The program may get a long integer as it is, or as an `f64`: if the type is `number`,
    /// or in a JSON value if the integer has more than 64 bits. If the results differ, the value is checked in both forms.
    fn accepts(&mut self, number: &str, compared: &Number, accepts: &dyn Fn(&Decimal) -> bool) -> bool {
        let Some(decimal) = self.decimal(number) else { return false };
        let exact = accepts(&decimal);
        let may_round =
            decimal.is_integer() && (compared.is_float || matches!(JsonNumber::of(number), Some(JsonNumber::Float(_))));
        if !may_round {
            return exact;
        }
        let rounded = accepts(&decimal.as_double());
        self.forms_differ |= exact != rounded;
        if self.is_rounding { rounded } else { exact }
    }

    /// Parses a number that is long, is rounded or has an exponent. Returns `None` if the steps run out.
    #[inline(never)]
    fn decimal(&mut self, number: &str) -> Option<Decimal> {
        if !self.steps.take(DECIMAL) || !self.steps.take_for(number.len(), DIGITS) {
            return None;
        }
        let number = Decimal::exact(number);
        self.steps.take_for(number.rounding_words(), WORDS).then(|| number.rounded())
    }

    #[inline(never)]
    pub(super) fn matches(&mut self, pattern: usize, value: Value<'d>) -> bool {
        let text = self.content(value);
        self.searches.is_found(&self.program.patterns, pattern, &text, &mut self.steps)
    }

    /// Returns the content of a string. If the steps run out, it is empty, and the check rejects the value.
    pub(super) fn content(&mut self, value: Value<'d>) -> Cow<'d, str> {
        if !value.has_escapes() {
            return Cow::Borrowed(value.inner_text());
        }
        if !self.steps.take_for(value.text().len(), DECODED) {
            return Cow::Borrowed("");
        }
        value.as_str().unwrap_or_default()
    }

    /// Returns the size of `value` by `measure`, or `None` for a value of another kind.
    fn measured(&mut self, measure: Measure, value: Value<'d>) -> Option<u64> {
        let count = match (measure, value.kind()) {
            (Measure::Characters, Kind::String) => {
                self.steps.take_for(value.text().len(), if value.has_escapes() { DECODED } else { COUNTED });
                value.length()
            }
            (Measure::Items, Kind::Array) => value.items().take_while(|_| self.steps.take(1)).count(),
            (Measure::Properties, Kind::Object) => value.pairs().take_while(|_| self.steps.take(1)).count(),
            _ => return None,
        };
        u64::try_from(count).ok()
    }
}

/// Returns the work of rounding the numbers in a value.
fn rounding_words(value: Value<'_>) -> usize {
    let nested = (0..value.count()).map(|nth| value.at(value.position().saturating_add(nth)));
    let rounded = nested.filter(|value| value.kind() == Kind::Number && canonical::borrowed(*value).is_none());
    rounded.map(|number| Decimal::exact(number.text()).rounding_words()).fold(0, usize::saturating_add)
}

/// Returns whether the length of a string in bytes shows that its length in characters is allowed. A character has 1 to 4 bytes.
fn is_surely_within(measure: Measure, allowed: &RangeInclusive<u64>, value: Value<'_>) -> bool {
    let bytes = value.text().len().saturating_sub(2) as u64;
    measure == Measure::Characters
        && value.kind() == Kind::String
        && !value.has_escapes()
        && bytes <= *allowed.end()
        && bytes.div_ceil(4) >= *allowed.start()
}
