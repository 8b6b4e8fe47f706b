//! The mistakes that a check reports.

use super::alternatives::enums;
use super::budget::{LINE, LINE_PART, Steps};
use super::check::Check;
use super::check_alternatives::is_candidate;
use super::mistake::{LONGEST_NAME, Place, Segment, did_you_mean, or_list};
use super::program::{Alternatives, Bound, Keyword, ObjectRule, RuleId, Tag};
use super::types::Types;
use crate::limits::{CHECK_STEPS, MISTAKES};
use edge_json::Value;
use edge_json::shortened;

impl<'d> Check<'_, 'd> {
    /// Records a mistake in the current value.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, problem: &str) {
        self.take_line();
        let line = self.place().line(problem);
        self.mistakes.push(line);
    }

    /// Records a mistake in a property of the current object, and returns `false`.
    pub(super) fn fail_at(&mut self, property: &str, problem: &str) -> bool {
        if !self.is_done() {
            self.take_line();
            let mut place = self.place();
            place.enter_property(property);
            self.mistakes.push(place.line(problem));
        }
        false
    }

    /// Takes the steps for writing a line.
    fn take_line(&mut self) {
        let part = |segment: &Segment| match segment {
            Segment::Item(_) => 0,
            Segment::Member(name) | Segment::Key(name) => self.root.at(*name).text().len().min(LONGEST_NAME),
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
        Place::new(&self.path, self.root, self.options.hides_values)
    }

    /// Describes a value of the wrong type.
    #[cold]
    #[inline(never)]
    pub(super) fn wrong_type(&self, types: Types, value: Value<'d>) -> String {
        if types == Types::NONE {
            return "is not allowed".to_owned();
        }
        must_be(&or_list(&mut types.names()), &self.shown(value))
    }

    /// Describes a value that violates a keyword.
    #[cold]
    #[inline(never)]
    pub(super) fn problem(&mut self, keyword: &Keyword, value: Value<'d>) -> String {
        let shown = self.shown(value);
        match keyword {
            Keyword::Enum(allowed) => must_be(&or_list(&mut allowed.shown.iter().map(String::as_str)), &shown),
            Keyword::Bound(bound, limit) => {
                let relation = match bound {
                    Bound::Minimum => "at least",
                    Bound::Maximum => "at most",
                    Bound::ExclusiveMinimum => "greater than",
                    Bound::ExclusiveMaximum => "less than",
                };
                must_be(&format!("{relation} {}", limit.exact.to_plain_string()), &shown)
            }
            Keyword::MultipleOf(step) => must_be(&format!("a multiple of {}", step.exact.to_plain_string()), &shown),
            Keyword::Pattern(pattern) => {
                let source = self.program.patterns.get(*pattern).map_or("", |pattern| pattern.source());
                format!("must match the pattern `{}` (got {shown})", shortened(source))
            }
            Keyword::Format(format) => must_be(format.description(), &shown),
            Keyword::Not(_) => format!("must not match the schema in `not` (got {shown})"),
            _ => "matches more than one alternative of `oneOf`".to_owned(),
        }
    }

    /// Records an unknown property, and returns `false`.
    #[cold]
    #[inline(never)]
    pub(super) fn unknown_property(&mut self, object: &ObjectRule, name: &str) -> bool {
        if self.is_done() {
            return false;
        }
        let suggestion = did_you_mean(name, object, &mut self.steps);
        self.fail_at(name, &format!("is not a known property{suggestion}"))
    }

    /// Records the mistakes of the closest alternative, because no alternative matches. Returns `false`.
    #[cold]
    #[inline(never)]
    pub(super) fn no_alternative_fits(&mut self, alternatives: &Alternatives, value: Value<'d>) -> bool {
        if self.is_done() {
            return false;
        }
        let before = std::mem::take(&mut self.mistakes);
        let closest = self.with_more_steps(|check| check.closest(alternatives, value));
        self.mistakes = before;
        if closest.is_empty() {
            return self.fail(|_| format!("does not match any of the {} alternatives", alternatives.rules.len()));
        }
        let room = MISTAKES.saturating_sub(self.mistakes.len());
        self.mistakes.extend(closest.into_iter().take(room));
        false
    }

    /// Runs `work` with the steps for explanations. An explanation visits the same values again, so it may also use as many steps of the
    /// check as the check has taken so far. The check keeps its other steps, so a mistake that is hard to explain does not end it.
    fn with_more_steps<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        // A nested explanation shares the steps of the outer one.
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

    /// Returns the mistakes of the alternative that has the fewest. Returns an empty list if the steps run out.
    fn closest(&mut self, alternatives: &Alternatives, value: Value<'d>) -> Vec<String> {
        let by_tag = self.candidates_by_tag(alternatives, value);
        // If no alternative allows the first key, the key is probably misspelled: ignore it.
        let by_both = by_tag & self.candidates_by_key(alternatives, value);
        let bits = if by_both == 0 { by_tag } else { by_both };
        let mut candidates = Vec::new();
        for (nth, rule) in alternatives.rules.iter().enumerate() {
            if is_candidate(bits, nth) && !self.is_of_another_kind(*rule, value) {
                candidates.push(*rule);
            }
        }
        if candidates.is_empty() {
            self.note_expected(alternatives, value);
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

    /// Returns whether a rule excludes the value by its type, or by an `enum` or `const`.
    fn is_of_another_kind(&mut self, rule: RuleId, value: Value<'d>) -> bool {
        let (program, was_trying) = (self.program, std::mem::replace(&mut self.is_trying, true));
        let rule = program.rule(rule);
        let is_of_another =
            !self.is_a(rule.types, value) || enums(&rule.keywords).any(|allowed| !self.is_one_of(allowed, value));
        self.is_trying = was_trying;
        is_of_another
    }

    /// Records the tags, or the types and values, that the alternatives accept.
    fn note_expected(&mut self, alternatives: &Alternatives, value: Value<'d>) {
        self.take_line();
        let mut place = self.place();
        let tag = self.tag(alternatives, value).zip(alternatives.by_tag.as_ref());
        let (value, expected) = match tag {
            Some((tag, Tag { name, expected, .. })) => {
                place.enter_property(name);
                (tag, expected)
            }
            None => (value, &alternatives.expected),
        };
        let problem = must_be(expected, &place.shown(value));
        self.mistakes.push(place.line(&problem));
    }
}

fn must_be(expected: &str, got: &str) -> String {
    format!("must be {expected} (got {got})")
}
