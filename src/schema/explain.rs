//! The words for what a check has found.

use super::check::{Check, MOST_MISTAKES, is_left};
use super::mistake::{Place, did_you_mean};
use super::program::{Alternatives, Bound, Enum, Keyword, Measure, ObjectRule, Rule, RuleId, Types};
use super::steps::{self, LINE, Steps};
use crate::protocol::error::shortened;
use crate::protocol::json::Value;

/// Values of an `enum` that a mistake lists.
const MOST_VALUES: usize = 50;

impl<'d> Check<'_, 'd> {
    /// Adds the line about a mistake in the value that is looked at.
    pub(super) fn note(&mut self, problem: &str) {
        self.take_line();
        let line = Place::of(&self.path, self.root, self.manner.hides_values).line(problem);
        self.mistakes.push(line);
    }

    /// Notes a mistake in a property of the object that is looked at, which is not there.
    pub(super) fn fail_at(&mut self, property: &str, problem: &str) -> bool {
        if !self.is_done() {
            self.take_line();
            let mut place = Place::of(&self.path, self.root, self.manner.hides_values);
            place.enter_property(property);
            self.mistakes.push(place.line(problem));
        }
        false
    }

    /// Takes the steps for a line.
    fn take_line(&mut self) {
        self.steps.take(LINE);
        self.steps.take_for(self.path.len().saturating_mul(LINE as usize), 4);
    }

    fn shown(&self, value: Value<'d>) -> String {
        Place::of(&self.path, self.root, self.manner.hides_values).shown(value)
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
            Keyword::Size(measure, least, most) => {
                let (size, unit) = (self.measured(*measure, value).unwrap_or_default(), measure.unit());
                if size < *least {
                    format!("has {size} {unit}, at least {least} are required")
                } else {
                    format!("has {size} {unit}, at most {most} are allowed")
                }
            }
            Keyword::Pattern(pattern) => {
                let source = self.program.patterns.get(*pattern).map_or("", |pattern| pattern.source());
                format!("{shown} does not match the pattern {source}")
            }
            Keyword::Format(format) => format!("expected {}, got {shown}", format.describe()),
            Keyword::Contains { rule, least, most } => {
                let count = self.count_fitting(*rule, value);
                if count < *least {
                    format!("has {count} items that fit what it must contain, at least {least} are required")
                } else {
                    format!("has {count} items that fit what it must contain, at most {most} are allowed")
                }
            }
            Keyword::Not(_) => format!("{shown} is what is excluded here"),
            _ => "fits several of the alternatives, of which only one may hold".to_owned(),
        }
    }

    /// What is wrong with a property that the schema does not know.
    pub(super) fn unknown(&mut self, object: &ObjectRule, name: &str) -> String {
        let meant = did_you_mean(name, object.own_names(), &mut self.steps);
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
        let room = MOST_MISTAKES.saturating_sub(self.mistakes.len());
        self.mistakes.extend(closest.into_iter().take(room));
        false
    }

    /// Does `work` with the steps for explanations, and as many of the check's own as it has taken so far: an explanation looks at
    /// what the check has looked at, and a check must not fail for want of steps because a mistake is hard to explain.
    fn with_more_steps<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        // Within another explanation there are none to add.
        let Some(more) = self.explanation.take() else { return work(self) };
        let own = self.steps.left();
        let lent = own.min(steps::CHECK.saturating_sub(own));
        self.steps = Steps::of(lent.saturating_add(more));
        let outcome = work(self);
        let left = self.steps.left();
        self.explanation = Some(left.saturating_sub(lent));
        self.steps = Steps::of(own.saturating_sub(lent).saturating_add(left.min(lent)));
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
        let program = self.program;
        let by_tag = alternatives.by_tag.as_ref().and_then(|(name, _)| Some((name, value.get(name)?)));
        if let Some((name, tag)) = by_tag {
            let of_rules = alternatives.rules.iter().flat_map(|rule| program.enums_of(*rule));
            let allowed = of_rules.filter(|(known, _)| known == name).flat_map(|(_, allowed)| &allowed.shown);
            let mut place = Place::of(&self.path, self.root, self.manner.hides_values);
            place.enter_property(name);
            let problem = expected(distinct(allowed.map(String::as_str)), &place.shown(tag));
            return self.mistakes.push(place.line(&problem));
        }
        let rules = alternatives.rules.iter().map(|rule| program.rule(*rule));
        let wanted = rules.flat_map(|Rule { types, keywords }| {
            let values: Vec<_> = enums(keywords).flat_map(|allowed| &allowed.shown).map(String::as_str).collect();
            if values.is_empty() { types.names().collect() } else { values }
        });
        let problem = expected(distinct(wanted), &self.shown(value));
        self.note(&problem);
    }
}

/// What is wrong with an array that has the same item at these two positions.
pub(super) fn same_items(value: Value<'_>, one: u32, other: u32) -> String {
    let index = |position| value.items().take_while(|item| item.position() < position).count();
    format!("has the same item twice: [{}] and [{}]", index(one), index(other))
}

/// The first of these texts, each once: one more than is listed.
fn distinct<'v>(texts: impl Iterator<Item = &'v str>) -> impl Iterator<Item = &'v str> {
    let mut distinct: Vec<&str> = Vec::new();
    for text in texts {
        if distinct.len() <= MOST_VALUES && !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct.into_iter()
}

fn enums(keywords: &[Keyword]) -> impl Iterator<Item = &Enum> {
    keywords.iter().filter_map(|keyword| match keyword {
        Keyword::Enum(allowed) => Some(allowed),
        _ => None,
    })
}

fn expected<'v>(wanted: impl Iterator<Item = &'v str>, got: &str) -> String {
    let mut wanted: Vec<_> = wanted.take(MOST_VALUES.saturating_add(1)).collect();
    if wanted.len() > MOST_VALUES {
        wanted.truncate(MOST_VALUES);
        wanted.push("another of the values in the schema");
    }
    format!("expected {}, got {got}", wanted.join(" or "))
}

impl Measure {
    fn unit(self) -> &'static str {
        match self {
            Self::Characters => "characters",
            Self::Items => "items",
            Self::Properties => "properties",
        }
    }
}
