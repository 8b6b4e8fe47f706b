//! The words for what a check has found.

use super::alternatives::enums;
use super::check::Check;
use super::check_alternatives::is_left;
use super::mistake::{LONGEST_NAME, Place, Step, did_you_mean};
use super::program::{Alternatives, Bound, Keyword, Measure, ObjectRule, RuleId, Tag, Types};
use super::steps::{LINE, LINE_PART, Steps};
use crate::json::Value;
use crate::limits::{CHECK_STEPS, LISTED_VALUES, MISTAKES};
use crate::protocol::error::shortened;

impl<'d> Check<'_, 'd> {
    /// Adds the line about a mistake in the value that is looked at.
    pub(super) fn note(&mut self, problem: &str) {
        self.take_line();
        let line = self.place().line(problem);
        self.mistakes.push(line);
    }

    /// Notes a mistake in a property of the object that is looked at, which is not there.
    pub(super) fn fail_at(&mut self, property: &str, problem: &str) -> bool {
        if !self.is_done() {
            self.take_line();
            let mut place = self.place();
            place.enter_property(property);
            self.mistakes.push(place.line(problem));
        }
        false
    }

    /// Takes the steps for a line.
    fn take_line(&mut self) {
        let part = |step: &Step| match step {
            Step::Item(_) => 0,
            Step::Member(name) | Step::Name(name) => self.root.at(*name).text().len().min(LONGEST_NAME),
        };
        let bytes = self.path.iter().map(part).fold(0, usize::saturating_add);
        let parts = u32::try_from(self.path.len()).unwrap_or(u32::MAX).saturating_mul(LINE_PART);
        self.steps.take(LINE.saturating_add(parts));
        self.steps.take_for(bytes, 1);
    }

    fn shown(&self, value: Value<'d>) -> String {
        self.place().shown(value)
    }

    fn place(&self) -> Place {
        Place::of(&self.path, self.root, self.manner.hides_values)
    }

    /// What is wrong with a value that is of none of these types.
    pub(super) fn wrong_type(&self, types: Types, value: Value<'d>) -> String {
        if types == Types::NONE {
            return "nothing is allowed here".to_owned();
        }
        expected(types.names(), &self.shown(value))
    }

    /// What is wrong with a value that does not fit a keyword.
    pub(super) fn problem(&mut self, keyword: &Keyword, value: Value<'d>) -> String {
        let shown = self.shown(value);
        match keyword {
            Keyword::Enum(allowed) => expected(allowed.shown.iter().map(String::as_str), &shown),
            Keyword::Bound(bound, limit) => {
                let side = match bound {
                    Bound::Minimum => "below the minimum",
                    Bound::Maximum => "above the maximum",
                    Bound::ExclusiveMinimum => "not above",
                    Bound::ExclusiveMaximum => "not below",
                };
                format!("{shown} is {side} {}", limit.exact.shown())
            }
            Keyword::MultipleOf(step) => format!("{shown} is no multiple of {}", step.exact.shown()),
            Keyword::Pattern(pattern) => {
                let source = self.program.patterns.get(*pattern).map_or("", |pattern| pattern.source());
                format!("{shown} does not match the pattern {}", shortened(source))
            }
            Keyword::Format(format) => format!("expected {}, got {shown}", format.describe()),
            Keyword::Not(_) => format!("{shown} is what is excluded here"),
            _ => "fits several of the alternatives, of which only one may hold".to_owned(),
        }
    }

    /// What is wrong with a property that the schema does not know.
    pub(super) fn unknown(&mut self, object: &ObjectRule, name: &str) -> String {
        let meant = did_you_mean(name, object, &mut self.steps);
        format!("unknown property {:?}{meant}", shortened(name))
    }

    /// Notes why no alternative holds: what the one that came closest misses. It is `false`, as the value does not fit.
    pub(super) fn none_fits(&mut self, alternatives: &Alternatives, value: Value<'d>) -> bool {
        if self.is_done() {
            return false;
        }
        let before = std::mem::take(&mut self.mistakes);
        let closest = self.with_more_steps(|check| check.closest(alternatives, value));
        self.mistakes = before;
        if closest.is_empty() {
            return self.fail(|_| format!("fits none of the {} alternatives", alternatives.rules.len()));
        }
        let room = MISTAKES.saturating_sub(self.mistakes.len());
        self.mistakes.extend(closest.into_iter().take(room));
        false
    }

    /// Does `work` with the steps for explanations, and as many of the check's own as it has taken so far: an explanation looks at
    /// what the check has looked at, and a check must not fail for want of steps because a mistake is hard to explain.
    fn with_more_steps<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        // Within another explanation there are none to add.
        let Some(more) = self.explanation.take() else { return work(self) };
        let own = self.steps.left();
        let lent = own.min(CHECK_STEPS.saturating_sub(own));
        self.steps = Steps::of(lent.saturating_add(more));
        let outcome = work(self);
        let unused = self.steps.left();
        self.explanation = Some(unused.saturating_sub(lent));
        self.steps = Steps::of(own.saturating_sub(lent).saturating_add(unused.min(lent)));
        outcome
    }

    /// The mistakes of the alternative that has the fewest; none, if the steps do not suffice.
    fn closest(&mut self, alternatives: &Alternatives, value: Value<'d>) -> Vec<String> {
        let left = self.left_by_tag(alternatives, value);
        // A misspelled name says less than one that only some alternatives know.
        let left = Some(left & self.left_by_name(alternatives, value)).filter(|left| *left != 0).unwrap_or(left);
        let mut candidates = Vec::new();
        for (nth, rule) in alternatives.rules.iter().enumerate() {
            if is_left(left, nth) && !self.is_of_another_kind(*rule, value) {
                candidates.push(*rule);
            }
        }
        if candidates.is_empty() {
            self.none_is_left(alternatives, value);
            return std::mem::take(&mut self.mistakes);
        }
        let mut closest: Vec<String> = Vec::new();
        for rule in candidates {
            self.fits(rule, value);
            let mistakes = std::mem::take(&mut self.mistakes);
            if !mistakes.is_empty() && (closest.is_empty() || mistakes.len() < closest.len()) {
                closest = mistakes;
            }
        }
        closest
    }

    /// Whether a rule is about values of another type, or about other values.
    fn is_of_another_kind(&mut self, rule: RuleId, value: Value<'d>) -> bool {
        let (program, was_trying) = (self.program, std::mem::replace(&mut self.is_trying, true));
        let rule = program.rule(rule);
        let is_of_another =
            !self.is_a(rule.types, value) || enums(&rule.keywords).any(|allowed| !self.is_one_of(allowed, value));
        self.is_trying = was_trying;
        is_of_another
    }

    /// Notes which tags, or which types and values, the alternatives are for.
    fn none_is_left(&mut self, alternatives: &Alternatives, value: Value<'d>) {
        self.take_line();
        let mut place = self.place();
        let tag = self.tag(alternatives, value).zip(alternatives.by_tag.as_ref());
        let (value, wanted) = match tag {
            Some((tag, Tag { name, wanted, .. })) => {
                place.enter_property(name);
                (tag, wanted)
            }
            None => (value, &alternatives.wanted),
        };
        let problem = expected(wanted.iter().map(String::as_str), &place.shown(value));
        self.mistakes.push(place.line(&problem));
    }
}

fn expected<'v>(wanted: impl Iterator<Item = &'v str>, got: &str) -> String {
    let mut wanted: Vec<_> = wanted.take(LISTED_VALUES.saturating_add(1)).map(shortened).collect();
    if wanted.len() > LISTED_VALUES {
        wanted.truncate(LISTED_VALUES);
        wanted.push("another of the values in the schema".into());
    }
    format!("expected {}, got {got}", wanted.join(" or "))
}

impl Measure {
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Characters => "characters",
            Self::Items => "items",
            Self::Properties => "properties",
        }
    }
}
