//! Whether a value fits, and the mistakes in one that does not.
//!
//! One pass over the value does both: it goes on after a mistake until it has found the first ten. Only where alternatives are tried
//! (`anyOf`, `oneOf`, `not`, `if`, `contains`) a mistake is no more than an answer, and the first one ends the question; `explain` then
//! says which alternative came closest. The work is counted (`steps`), and a value that would take too much is rejected.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

use super::memo::Memo;
use super::mistake::Step;
use super::pattern::Searches;
use super::program::{Bound, Enum, Keyword, Measure, Number, Program, RuleId, Types};
use super::steps::{
    CANONICAL, CANONICAL_VALUE, CHILD, COUNTED, DECIMAL, DECODED, DIGITS, FORMATTED, KEYWORD, MULTIPLE, NUMBER,
    REMEMBER, SCHEMA, Steps,
};
use crate::json::decimal::Decimal;
use crate::json::short_decimal::ShortDecimal;
use crate::json::{Kind, Value, canonical, is_whole};
use crate::limits::{CHECK_STEPS, EXPLANATION_STEPS, MISTAKES, RULES_WITHIN_RULES};

/// Values in one whose answer is remembered: to look at a smaller one again takes less.
const MEMORABLE: u32 = 8;

/// How a value is checked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// `format` is more than an annotation.
    pub formats: bool,
    /// Mistakes say what kind of value they are about, and no more.
    pub hides_values: bool,
}

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// A line for each of the first ten mistakes, or none.
    pub mistakes: Vec<String>,
    /// The steps that it took, at most [`Schema::MOST_STEPS`](super::Schema::MOST_STEPS).
    pub steps: u32,
}

/// Checks `value`.
pub(super) fn check(program: &Program, value: Value<'_>, manner: Manner) -> Checked {
    let mut check = Check {
        program,
        root: value,
        manner,
        steps: Steps::of(CHECK_STEPS),
        explanation: Some(EXPLANATION_STEPS),
        depth: 0,
        is_trying: false,
        memo: Memo::default(),
        searches: Searches::default(),
        path: Vec::new(),
        mistakes: Vec::new(),
    };
    let fits = check.fits(0, value);
    if check.mistakes.is_empty() && (!fits || check.steps.are_exhausted()) {
        check.mistakes.push("this takes too long to check: send less at once, or nest it less deeply".to_owned());
    }
    let left = check.steps.left().saturating_add(check.explanation.unwrap_or_default());
    let steps = CHECK_STEPS.saturating_add(EXPLANATION_STEPS).saturating_sub(left);
    Checked { mistakes: check.mistakes, steps }
}

/// A check of one value.
pub(super) struct Check<'p, 'd> {
    pub program: &'p Program,
    pub root: Value<'d>,
    pub manner: Manner,
    pub steps: Steps,
    /// Steps that are left for saying which alternatives came closest; `None` while that is done.
    pub explanation: Option<u32>,
    depth: u32,
    /// Whether an alternative is tried: mistakes are not noted then.
    pub is_trying: bool,
    memo: Memo,
    pub searches: Searches,
    /// The way to the value that is looked at.
    pub path: Vec<Step>,
    pub mistakes: Vec<String>,
}

impl<'d> Check<'_, 'd> {
    /// Whether nothing that is still found would matter, once there is a mistake.
    pub(super) fn is_done(&self) -> bool {
        self.is_trying || self.mistakes.len() >= MISTAKES || self.steps.are_exhausted()
    }

    /// Whether `value` fits a rule; if not, the mistakes are noted.
    pub(super) fn fits(&mut self, id: RuleId, value: Value<'d>) -> bool {
        if self.depth >= RULES_WITHIN_RULES {
            self.steps.exhaust();
        }
        if !self.steps.take(SCHEMA) {
            return false;
        }
        let rule = self.program.rule(id);
        if !self.is_a(rule.types, value) {
            return self.fail(|check| check.wrong_type(rule.types, value));
        }
        // Alternatives that contain themselves lead to the same questions again and again.
        let is_remembered = value.count() >= MEMORABLE && Memo::is_worth_it(&self.steps) && self.steps.take(REMEMBER);
        if is_remembered && let Some(fits) = self.memo.get(id, value.position()) {
            // A mistake that was found while an alternative was tried has not been noted.
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
        if is_remembered && !self.steps.are_exhausted() {
            self.memo.set(id, value.position(), fits);
        }
        fits
    }

    /// The same for a value that is in the one that is looked at.
    pub(super) fn fits_inside(&mut self, step: Step, rule: RuleId, value: Value<'d>) -> bool {
        if self.is_trying {
            return self.fits(rule, value);
        }
        self.path.push(step);
        let fits = self.fits(rule, value);
        self.path.pop();
        fits
    }

    /// Whether `value` fits a rule, without a word.
    pub(super) fn would_fit(&mut self, rule: RuleId, value: Value<'d>) -> bool {
        let was_trying = std::mem::replace(&mut self.is_trying, true);
        let fits = self.fits(rule, value);
        self.is_trying = was_trying;
        fits
    }

    /// Notes a mistake, and is `false`.
    pub(super) fn fail(&mut self, mistake: impl FnOnce(&mut Self) -> String) -> bool {
        if !self.is_trying && !self.steps.are_exhausted() && self.mistakes.len() < MISTAKES {
            let mistake = mistake(self);
            self.note(&mistake);
        }
        false
    }

    fn keyword_fits(&mut self, keyword: &Keyword, value: Value<'d>) -> bool {
        let fits = match keyword {
            // These note their mistakes themselves.
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
                return self.count_alternatives(alternatives, value, 1) > 0 || self.none_fits(alternatives, value);
            }
            Keyword::OneOf(alternatives) => match self.count_alternatives(alternatives, value, 2) {
                0 => return self.none_fits(alternatives, value),
                count => count == 1,
            },
            Keyword::Reference(rule) => return self.fits(*rule, value),
            Keyword::Enum(allowed) => self.is_one_of(allowed, value),
            Keyword::Bound(bound, limit) => value.kind() != Kind::Number || self.is_within(*bound, limit, value),
            Keyword::MultipleOf(step) => value.kind() != Kind::Number || self.is_multiple(step, value),
            Keyword::Size(measure, least, most) => return self.size_fits(*measure, *least..=*most, value),
            Keyword::Pattern(pattern) => value.kind() != Kind::String || self.matches(*pattern, value),
            Keyword::Format(format) => {
                !self.manner.formats
                    || value.kind() != Kind::String
                    || (self.steps.take_for(value.text().len(), FORMATTED) && format.fits(&self.content(value)))
            }
            Keyword::Contains { rule, least, most } => {
                return value.kind() != Kind::Array || self.contains(*rule, *least..=*most, value);
            }
            Keyword::UniqueItems => return value.kind() != Kind::Array || self.items_are_unique(value),
            // Where the steps run out nothing is known, and nothing fits.
            Keyword::Not(rule) => !self.would_fit(*rule, value) && !self.steps.are_exhausted(),
        };
        fits || self.fail(|check| check.problem(keyword, value))
    }

    fn size_fits(&mut self, measure: Measure, allowed: RangeInclusive<u64>, value: Value<'d>) -> bool {
        if is_surely_within(measure, &allowed, value) {
            return true;
        }
        let Some(size) = self.measured(measure, value) else { return true };
        allowed.contains(&size) || self.fail(|_| wrong_count(&format!("has {size} {}", measure.unit()), size, &allowed))
    }

    fn contains(&mut self, rule: RuleId, allowed: RangeInclusive<u64>, value: Value<'d>) -> bool {
        let mut count = 0_u64;
        for item in value.items() {
            if !self.steps.take(CHILD) {
                return false;
            }
            count = count.saturating_add(self.would_fit(rule, item).into());
        }
        let has = || format!("has {count} items that fit what it must contain");
        allowed.contains(&count) || self.fail(|_| wrong_count(&has(), count, &allowed))
    }

    pub(super) fn is_a(&mut self, types: Types, value: Value<'d>) -> bool {
        if types.have(value.kind()) {
            return true;
        }
        value.kind() == Kind::Number && types.have_integers() && self.is_integer(value.text())
    }

    /// Whether a number has no fraction, however it is written: `7`, `7.0`, `7e2`.
    fn is_integer(&mut self, number: &str) -> bool {
        if !self.steps.take_for(number.len(), DIGITS) {
            return false;
        }
        match number.split_once('.') {
            _ if is_whole(number) => true,
            Some((_, fraction)) if is_whole(fraction) => fraction.bytes().all(|digit| digit == b'0'),
            _ => self.decimal(number).is_some_and(|number| number.is_integer()),
        }
    }

    fn items_fit(&mut self, prefix: &[RuleId], rest: Option<RuleId>, value: Value<'d>) -> bool {
        let mut fits = true;
        for (nth, item) in (0_u32..).zip(value.items()) {
            let Some(rule) = prefix.get(nth as usize).copied().or(rest) else { break };
            if !self.steps.take(CHILD) {
                return false;
            }
            fits &= self.fits_inside(Step::Item(nth), rule, item);
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    pub(super) fn is_one_of(&mut self, allowed: &Enum, value: Value<'d>) -> bool {
        if !allowed.has(value.kind()) || !self.steps.take(allowed.cost) {
            return false;
        }
        match self.canonical(value) {
            Some(canonical) => allowed.allows(&canonical),
            None => false,
        }
    }

    /// The canonical form of a value; `None` if the steps do not suffice.
    pub(super) fn canonical(&mut self, value: Value<'d>) -> Option<Cow<'d, str>> {
        if let Some(canonical) = canonical::within(value) {
            return Some(Cow::Borrowed(canonical));
        }
        let takes = self.steps.take_for(value.text().len(), CANONICAL)
            && self.steps.take(value.count().saturating_mul(CANONICAL_VALUE));
        takes.then(|| Cow::Owned(canonical::of(value)))
    }

    fn is_within(&mut self, bound: Bound, limit: &Number, value: Value<'d>) -> bool {
        self.steps.take(NUMBER);
        let ordering = match (ShortDecimal::of(value.text()), limit.short) {
            (Some(number), Some(limit)) => Some(number.cmp(&limit)),
            _ => self.decimal(value.text()).map(|number| number.cmp(&limit.exact)),
        };
        ordering.is_some_and(|ordering| match bound {
            Bound::Minimum => ordering != Ordering::Less,
            Bound::Maximum => ordering != Ordering::Greater,
            Bound::ExclusiveMinimum => ordering == Ordering::Greater,
            Bound::ExclusiveMaximum => ordering == Ordering::Less,
        })
    }

    fn is_multiple(&mut self, step: &Number, value: Value<'d>) -> bool {
        self.steps.take(MULTIPLE);
        match (ShortDecimal::of(value.text()), step.short) {
            (Some(number), Some(step)) => number.is_multiple_of(step),
            _ => self.decimal(value.text()).is_some_and(|number| number.is_multiple_of(&step.exact)),
        }
    }

    /// A number that is long or has an exponent. Of one whose exponent is beyond all use nothing is known, and the check ends.
    fn decimal(&mut self, number: &str) -> Option<Decimal> {
        if !self.steps.take(DECIMAL) || !self.steps.take_for(number.len(), DIGITS) {
            return None;
        }
        let decimal = Decimal::of(number);
        if decimal.is_none() {
            self.steps.exhaust();
        }
        decimal
    }

    pub(super) fn matches(&mut self, pattern: usize, value: Value<'d>) -> bool {
        let text = self.content(value);
        self.searches.is_found(&self.program.patterns, pattern, &text, &mut self.steps)
    }

    /// The content of a string. Where the steps run out it is empty, and nothing counts.
    pub(super) fn content(&mut self, value: Value<'d>) -> Cow<'d, str> {
        if !value.is_escaped() {
            return Cow::Borrowed(value.unescaped());
        }
        if !self.steps.take_for(value.text().len(), DECODED) {
            return Cow::Borrowed("");
        }
        value.as_str().unwrap_or_default()
    }

    /// How many there are, of a value that has any.
    fn measured(&mut self, measure: Measure, value: Value<'d>) -> Option<u64> {
        let count = match (measure, value.kind()) {
            (Measure::Characters, Kind::String) => {
                self.steps.take_for(value.text().len(), if value.is_escaped() { DECODED } else { COUNTED });
                value.length()
            }
            (Measure::Items, Kind::Array) => value.items().take_while(|_| self.steps.take(1)).count(),
            (Measure::Properties, Kind::Object) => value.pairs().take_while(|_| self.steps.take(1)).count(),
            _ => return None,
        };
        u64::try_from(count).ok()
    }
}

/// Whether the length of a text in bytes alone tells that its length in characters is right: each has one byte to four.
fn is_surely_within(measure: Measure, allowed: &RangeInclusive<u64>, value: Value<'_>) -> bool {
    let bytes = value.text().len().saturating_sub(2) as u64;
    measure == Measure::Characters
        && value.kind() == Kind::String
        && !value.is_escaped()
        && bytes <= *allowed.end()
        && bytes.div_ceil(4) >= *allowed.start()
}

/// What is wrong with a count that is not among those that are allowed.
fn wrong_count(has: &str, count: u64, allowed: &RangeInclusive<u64>) -> String {
    if count < *allowed.start() {
        format!("{has}, at least {} are required", allowed.start())
    } else {
        format!("{has}, at most {} are allowed", allowed.end())
    }
}
