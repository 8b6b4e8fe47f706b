//! The words for what a check has found.

use super::check::{Check, MOST_MISTAKES};
use super::mistake::{Place, did_you_mean};
use super::program::{Alternatives, Bound, Enum, Keyword, Measure, ObjectRule, RuleId, Types};
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
            Keyword::UniqueItems => {
                let (one, other) = self.repeated(value).unwrap_or_default();
                let index = |position| value.items().take_while(|item| item.position() < position).count();
                format!("has the same item twice: [{}] and [{}]", index(one), index(other))
            }
            Keyword::Not(_) => format!("{shown} is what is excluded here"),
            _ => "fits several of the alternatives, of which only one may hold".to_owned(),
        }
    }

    /// What is wrong with a property that the schema does not know.
    pub(super) fn unknown(&mut self, object: &ObjectRule, name: &str) -> String {
        let own = object.properties.iter().enumerate().filter(|(_, rule)| rule.is_some());
        let known = own.map(|(id, _)| object.names.get(id));
        let meant = did_you_mean(name, known, &mut self.steps);
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
        let tag = self.tag(alternatives, value);
        let mut candidates = Vec::new();
        for (nth, rule) in alternatives.rules.iter().enumerate() {
            if !self.is_excluded(alternatives, nth, tag.as_ref()) && !self.is_of_another_kind(*rule, value) {
                candidates.push(*rule);
            }
        }
        // A misspelled name says less than one that only some alternatives know.
        if let Some((name, _)) = value.pairs().next() {
            let name = self.content(name);
            let knowing: Vec<_> = candidates.iter().copied().filter(|rule| !self.is_closed_to(*rule, &name)).collect();
            if !knowing.is_empty() {
                candidates = knowing;
            }
        }
        if candidates.is_empty() {
            match tag.zip(alternatives.tag.as_ref()) {
                Some((tag, of)) => {
                    let allowed = of.allowed.iter().flatten().flat_map(|allowed| &allowed.shown).map(String::as_str);
                    let mut place = Place::of(&self.path, self.root, self.manner.hides_values);
                    place.enter_property(&of.name);
                    let problem = expected(allowed, &place.shown(tag));
                    self.mistakes.push(place.line(&problem));
                }
                None => self.none_is_of_this_kind(alternatives, value),
            }
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

    /// Notes which types and values the alternatives are for.
    fn none_is_of_this_kind(&mut self, alternatives: &Alternatives, value: Value<'d>) {
        let program = self.program;
        let mut wanted: Vec<&str> = Vec::new();
        for rule in alternatives.rules.iter().map(|rule| program.rule(*rule)) {
            let mut values = enums(&rule.keywords).flat_map(|allowed| &allowed.shown).map(String::as_str).peekable();
            let of_rule: Vec<_> = if values.peek().is_some() { values.collect() } else { rule.types.names().collect() };
            for one in of_rule {
                if wanted.len() <= MOST_VALUES && !wanted.contains(&one) {
                    wanted.push(one);
                }
            }
        }
        let problem = expected(wanted.into_iter(), &self.shown(value));
        self.note(&problem);
    }
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
