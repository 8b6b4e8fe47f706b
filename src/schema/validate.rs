//! From a value to the list of what is wrong with it.
//!
//! A value is first asked whether it fits, without a word; only what does not is gone through again, to say why. Either is
//! bounded in depth and in steps: past the bound it is refused, and not looked at any longer.

use std::collections::HashMap;

use super::mistake::{Place, did_you_mean};
use super::pattern::{LONGEST_TEXT, Pattern};
use super::program::{Bound, Keyword, Measure, Program, Rule, Type};
use crate::protocol::decimal::Decimal;
use crate::protocol::error::shortened;
use crate::protocol::json::{Kind, Value, canonical};

/// More would not help whoever has to mend them.
const MOST_MISTAKES: usize = 10;
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

struct Check<'p> {
    program: &'p Program,
    formats: bool,
    /// Steps that are left.
    steps: u32,
    depth: u32,
    is_exhausted: bool,
    /// What was found of rules and values, once many steps were taken: schemas that contain themselves in several ways come to the
    /// same question again and again.
    known: HashMap<(Rule, u32), bool>,
    mistakes: Vec<String>,
    place: Place,
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
    fn step(&mut self, count: u32) -> bool {
        match self.steps.checked_sub(count) {
            Some(left) if !self.is_exhausted => self.steps = left,
            _ => self.is_exhausted = true,
        }
        !self.is_exhausted
    }

    /// Whether `value` fits a rule.
    fn fits(&mut self, rule: Rule, value: Value<'_>) -> bool {
        let remembers = self.steps < MOST_STEPS.saturating_sub(UNREMEMBERED);
        let question = (rule, value.position());
        if let Some(known) = self.known.get(&question).filter(|_| remembers) {
            return *known;
        }
        let fits = self.within(|check| {
            let program = check.program;
            program.rule(rule).iter().all(|keyword| check.keyword_fits(keyword, value))
        });
        if remembers && !self.is_exhausted {
            self.known.insert(question, fits);
        }
        fits
    }

    /// Does something one level deeper. Past the deepest, it is as if it did not fit.
    fn within(&mut self, work: impl FnOnce(&mut Self) -> bool) -> bool {
        if self.depth >= DEEPEST {
            self.is_exhausted = true;
            return false;
        }
        self.depth = self.depth.saturating_add(1);
        let outcome = work(self);
        self.depth = self.depth.saturating_sub(1);
        outcome
    }

    fn keyword_fits(&mut self, keyword: &Keyword, value: Value<'_>) -> bool {
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
    fn rules_of(
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
        if !self.step(u32::try_from(text.len() / 16).unwrap_or(u32::MAX)) {
            return false;
        }
        let canonical = canonical::of(value);
        allowed.iter().any(|(_, known)| *known == canonical)
    }

    fn count_fitting(&mut self, rule: Rule, value: Value<'_>) -> u64 {
        value.items().fold(0, |count: u64, item| count.saturating_add(self.fits(rule, item).into()))
    }

    /// The places of two items that are the same.
    fn repeated(&mut self, value: Value<'_>) -> Option<(usize, usize)> {
        let mut seen = HashMap::new();
        for (nth, item) in value.items().enumerate() {
            if !self.step(u32::try_from(item.text().len() / 16).unwrap_or(u32::MAX)) {
                return Some((nth, nth));
            }
            if let Some(before) = seen.insert(canonical::of(item), nth) {
                return Some((before, nth));
            }
        }
        None
    }

    /// Whether there is nothing more to say, or no more that can be found out.
    fn is_done(&self) -> bool {
        self.mistakes.len() >= MOST_MISTAKES || self.is_exhausted
    }

    /// Says why `value` does not fit a rule, if it does not.
    fn explain(&mut self, rule: Rule, value: Value<'_>) {
        if self.is_done() || self.fits(rule, value) {
            return;
        }
        self.within(|check| {
            let program = check.program;
            for keyword in program.rule(rule) {
                if check.is_done() || !check.step(1) {
                    break;
                }
                check.explain_keyword(keyword, value);
            }
            true
        });
    }

    fn explain_keyword(&mut self, keyword: &Keyword, value: Value<'_>) {
        match keyword {
            Keyword::Items { prefix, rest } => {
                for (nth, item) in value.items().enumerate() {
                    if let Some(rule) = prefix.get(nth).copied().or(*rest) {
                        self.inside(&format!("[{nth}]"), |check| check.explain(rule, item));
                    }
                }
            }
            Keyword::Required(names) => {
                for name in names.iter().filter(|name| !is_other(value) && value.get(name).is_none()) {
                    self.at_property(name, |check| check.mistake("is required"));
                }
            }
            Keyword::DependentRequired(dependents) => {
                for (given, name) in missing_dependents(dependents, value) {
                    self.at_property(name, |check| check.mistake(format!("is required where `{given}` is given")));
                }
            }
            Keyword::DependentSchemas(rules) => {
                for (_, rule) in rules.iter().filter(|(name, _)| value.get(name).is_some()) {
                    self.explain(*rule, value);
                }
            }
            Keyword::PropertyNames(rule) => {
                for name in value.names() {
                    if !self.fits(*rule, name) {
                        self.inside(&format!(" (the name {})", shortened(name.text())), |check| {
                            check.explain(*rule, name);
                        });
                    }
                }
            }
            Keyword::Properties { named, patterns, others } => {
                for (name, member) in value.members() {
                    if self.is_done() {
                        return;
                    }
                    for rule in self.rules_of(&name, named, patterns, *others) {
                        let is_unknown = Some(rule) == *others && matches!(self.program.rule(rule), [Keyword::Never]);
                        if is_unknown {
                            let known = named.iter().map(|(known, _)| known.as_str());
                            self.mistake(format!(
                                "unknown property {:?}{}",
                                shortened(&name),
                                did_you_mean(&name, known)
                            ));
                        } else {
                            self.at_property(&name, |check| check.explain(rule, member));
                        }
                    }
                }
            }
            Keyword::If { condition, then, otherwise } => {
                let rule = if self.fits(*condition, value) { then } else { otherwise };
                if let Some(rule) = rule {
                    self.explain(*rule, value);
                }
            }
            Keyword::AllOf(rules) => rules.iter().for_each(|rule| self.explain(*rule, value)),
            Keyword::Reference(rule) => self.explain(*rule, value),
            Keyword::AnyOf(rules) if !self.keyword_fits(keyword, value) => self.none_fits(rules, value),
            Keyword::OneOf(rules) => match rules.iter().filter(|rule| self.fits(**rule, value)).count() {
                0 => self.none_fits(rules, value),
                1 => {}
                _ => self.mistake("fits several of the alternatives, of which only one may hold"),
            },
            keyword => {
                if !self.keyword_fits(keyword, value) {
                    let problem = self.problem(keyword, value);
                    self.mistake(problem);
                }
            }
        }
    }

    /// What is wrong with a value that does not fit a keyword which looks at it alone.
    fn problem(&mut self, keyword: &Keyword, value: Value<'_>) -> String {
        let shown = self.place.shown(value);
        match keyword {
            Keyword::Type(types) => {
                let names: Vec<_> = types.iter().map(|kind| kind.with_article()).collect();
                format!("expected {}, got {shown}", names.join(" or "))
            }
            Keyword::Enum(allowed) => {
                let allowed: Vec<_> = allowed.iter().map(|(shown, _)| shown.as_str()).collect();
                format!("expected {}, got {shown}", allowed.join(" or "))
            }
            Keyword::Bound(bound, limit) => {
                let side = match bound {
                    Bound::Minimum => "below the minimum",
                    Bound::Maximum => "above the maximum",
                    Bound::ExclusiveMinimum => "not above",
                    Bound::ExclusiveMaximum => "not below",
                };
                format!("{shown} is {side} {}", limit.shown())
            }
            Keyword::MultipleOf(step) => format!("{shown} is no multiple of {}", step.shown()),
            Keyword::Size(measure, least, most) => {
                let (size, unit) = (measured(*measure, value).unwrap_or_default(), measure.unit());
                if size < *least {
                    format!("has {size} {unit}, at least {least} are required")
                } else {
                    format!("has {size} {unit}, at most {most} are allowed")
                }
            }
            Keyword::Pattern(pattern) if value.text().len() > LONGEST_TEXT => {
                format!("is too long to be compared with the pattern {}", pattern.source())
            }
            Keyword::Pattern(pattern) => format!("{shown} does not match the pattern {}", pattern.source()),
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
                format!("has the same item twice: [{one}] and [{other}]")
            }
            Keyword::Not(_) => format!("{shown} is what is excluded here"),
            _ => "nothing is allowed here".to_owned(),
        }
    }

    /// No alternative holds: the one that came closest tells what is missing.
    fn none_fits(&mut self, rules: &[Rule], value: Value<'_>) {
        let before = std::mem::take(&mut self.mistakes);
        // One of another type, or that is not the value which was wanted, is farther than one with several faults inside.
        let mut closest: Option<((bool, usize), Vec<String>)> = None;
        for rule in rules {
            self.explain(*rule, value);
            let mistakes = std::mem::take(&mut self.mistakes);
            let distance = (self.is_of_another_kind(*rule, value), mistakes.len());
            if !mistakes.is_empty() && closest.as_ref().is_none_or(|(least, _)| distance < *least) {
                closest = Some((distance, mistakes));
            }
        }
        let closest = closest.map(|(_, mistakes)| mistakes);
        self.mistakes = before;
        self.mistakes.extend(closest.unwrap_or_default());
        self.mistakes.truncate(MOST_MISTAKES);
    }

    /// Whether a rule is about values of another type, or about another value.
    fn is_of_another_kind(&mut self, rule: Rule, value: Value<'_>) -> bool {
        let program = self.program;
        program.rule(rule).iter().any(|keyword| match keyword {
            Keyword::Type(_) | Keyword::Enum(_) => !self.keyword_fits(keyword, value),
            Keyword::Reference(rule) => {
                let direct =
                    program.rule(*rule).iter().filter(|keyword| matches!(keyword, Keyword::Type(_) | Keyword::Enum(_)));
                direct.into_iter().any(|keyword| !self.keyword_fits(keyword, value))
            }
            _ => false,
        })
    }

    fn inside(&mut self, step: &str, check: impl FnOnce(&mut Self)) {
        let outside = self.place.enter(step);
        check(self);
        self.place.leave(outside);
    }

    fn at_property(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        let outside = self.place.enter_property(name);
        check(self);
        self.place.leave(outside);
    }

    fn mistake(&mut self, what: impl AsRef<str>) {
        if self.mistakes.len() < MOST_MISTAKES {
            self.mistakes.push(self.place.line(what.as_ref()));
        }
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
fn is_other(value: Value<'_>) -> bool {
    value.kind() != Kind::Object
}

/// What is not there although something else is: that, and what is missing.
fn missing_dependents<'k>(
    dependents: &'k [(String, Vec<String>)],
    value: Value<'_>,
) -> impl Iterator<Item = (&'k str, &'k str)> {
    let given = dependents.iter().filter(move |(name, _)| value.get(name).is_some());
    given.flat_map(move |(given, names)| {
        names.iter().filter(move |name| value.get(name).is_none()).map(|name| (given.as_str(), name.as_str()))
    })
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

/// How many there are, of a value that has any.
fn measured(measure: Measure, value: Value<'_>) -> Option<u64> {
    let count = match (measure, value.kind()) {
        (Measure::Characters, Kind::String) => value.as_str()?.chars().count(),
        (Measure::Items, Kind::Array) => value.items().count(),
        (Measure::Properties, Kind::Object) => value.names().count(),
        _ => return None,
    };
    u64::try_from(count).ok()
}
