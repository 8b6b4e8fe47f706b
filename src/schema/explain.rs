//! What is said of a value that does not fit.

use super::mistake::did_you_mean;
use super::pattern::LONGEST_TEXT;
use super::program::{Bound, Keyword, Measure, Rule};
use super::validate::{Check, is_other, measured, missing_dependents};
use crate::protocol::error::shortened;
use crate::protocol::json::Value;

/// More would not help whoever has to mend them.
const MOST_MISTAKES: usize = 10;

impl Check<'_> {
    /// Whether there is nothing more to say, or no more that can be found out.
    fn is_done(&self) -> bool {
        self.mistakes.len() >= MOST_MISTAKES || self.is_exhausted
    }

    /// Says why `value` does not fit a rule, if it does not.
    pub(super) fn explain(&mut self, rule: Rule, value: Value<'_>) {
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
                    self.inside(&format!(" (the name {})", shortened(name.text())), |check| check.explain(*rule, name));
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
            Keyword::AnyOf(rules) => {
                if !self.keyword_fits(keyword, value) {
                    self.none_fits(rules, value);
                }
            }
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

impl Measure {
    fn unit(self) -> &'static str {
        match self {
            Self::Characters => "characters",
            Self::Items => "items",
            Self::Properties => "properties",
        }
    }
}
