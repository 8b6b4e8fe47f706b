//! What tells alternatives apart without trying each: constants, the name of an object's first member, and a tag.

use super::program::{Alternatives, Enum, Keyword, Program, Rule, RuleId, Selection, Tag, Types};
use crate::limits::LISTED_VALUES;
use crate::protocol::error::shortened;

impl Program {
    /// Finds out for each list of alternatives how they can be told apart without trying each.
    pub(super) fn distinguish_alternatives(&mut self) {
        let mut changes = Vec::new();
        for (rule, Rule { keywords, .. }) in self.rules.iter().enumerate() {
            for (nth, keyword) in keywords.iter().enumerate() {
                let (Keyword::AnyOf(Alternatives { rules, .. }) | Keyword::OneOf(Alternatives { rules, .. })) = keyword
                else {
                    continue;
                };
                let change = if let Some(constants) = self.constants(rules) {
                    Keyword::Enum(constants)
                } else {
                    let closed: Vec<_> = rules.iter().map(|rule| self.names_of_closed(*rule)).collect();
                    let (by_name, by_tag) = (Selection::of(&closed), self.tag_of(rules));
                    let alternatives =
                        Alternatives { rules: rules.clone(), by_name, by_tag, wanted: self.wanted(rules) };
                    let is_any_of = matches!(keyword, Keyword::AnyOf(_));
                    if is_any_of { Keyword::AnyOf(alternatives) } else { Keyword::OneOf(alternatives) }
                };
                changes.push((rule, nth, change));
            }
        }
        for (rule, nth, change) in changes {
            if let Some(keyword) = self.rules.get_mut(rule).and_then(|rule| rule.keywords.get_mut(nth)) {
                *keyword = change;
            }
        }
    }

    /// All values of alternatives that are nothing but different constants, as those of an enum with documented variants.
    fn constants(&self, rules: &[RuleId]) -> Option<Enum> {
        let constants = |rule: &RuleId| match (self.rule(*rule), self.rule(*rule).keywords.as_slice()) {
            (Rule { types, .. }, [Keyword::Enum(values)]) => Some(values).filter(|values| values.kinds.are_in(*types)),
            _ => None,
        };
        let mut rules = rules.iter();
        let first = constants(rules.next()?)?.clone();
        rules.try_fold(first, |all, rule| all.joined(constants(rule)?))
    }

    /// The names that the objects of a rule may have, if it is for such objects alone: a value of another type is not excluded by a
    /// name. `None` is a rule that takes any name.
    fn names_of_closed(&self, rule: RuleId) -> Option<Vec<&str>> {
        let object = self.rule(rule).keywords.iter().find_map(|keyword| match keyword {
            Keyword::Object(object) => Some(object),
            _ => None,
        })?;
        let is_closed = object.patterns.is_empty() && self.rule(object.others?).types == Types::NONE;
        is_closed.then(|| object.own_names().collect())
    }

    /// The property that has an `enum` or a `const` in the most alternatives, if that is in two of them at least, and which
    /// alternatives each of its values leaves.
    fn tag_of(&self, rules: &[RuleId]) -> Option<Tag> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for (name, _) in rules.iter().flat_map(|rule| self.enums_of(*rule)) {
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count = count.saturating_add(1),
                None => counts.push((name, 1)),
            }
        }
        let (name, _) = counts.into_iter().filter(|(_, count)| *count > 1).max_by_key(|(_, count)| *count)?;
        let allowed = |rule: &RuleId| {
            let (_, allowed) = self.enums_of(*rule).find(|(known, _)| *known == name)?;
            Some(allowed.canonical.iter().map(String::as_str).collect())
        };
        let selection = Selection::of(&rules.iter().map(allowed).collect::<Vec<_>>())?;
        let of_rules = rules.iter().flat_map(|rule| self.enums_of(*rule)).filter(|(known, _)| *known == name);
        let wanted = distinct(of_rules.flat_map(|(_, allowed)| &allowed.shown).map(String::as_str));
        Some(Tag { name: name.to_owned(), selection, wanted })
    }

    /// The values and types that alternatives are for.
    fn wanted(&self, rules: &[RuleId]) -> Vec<String> {
        let wanted = rules.iter().map(|rule| self.rule(*rule)).flat_map(|Rule { types, keywords }| {
            let values: Vec<_> = enums(keywords).flat_map(|allowed| &allowed.shown).map(String::as_str).collect();
            if values.is_empty() { types.names().collect() } else { values }
        });
        distinct(wanted)
    }

    /// The properties of a rule's objects that must be one of some values.
    fn enums_of(&self, rule: RuleId) -> impl Iterator<Item = (&str, &Enum)> {
        let objects = self.rule(rule).keywords.iter().filter_map(|keyword| match keyword {
            Keyword::Object(object) => Some(object),
            _ => None,
        });
        objects.flat_map(move |object| {
            object.properties.iter().enumerate().filter_map(move |(name, property)| {
                Some((object.names.get(name), enums(&self.rule((*property)?).keywords).next()?))
            })
        })
    }
}

/// The lists of values that keywords allow.
pub(super) fn enums(keywords: &[Keyword]) -> impl Iterator<Item = &Enum> {
    keywords.iter().filter_map(|keyword| match keyword {
        Keyword::Enum(allowed) => Some(allowed),
        _ => None,
    })
}

/// The first of these texts, each once and shortened: one more than a mistake lists.
fn distinct<'v>(texts: impl Iterator<Item = &'v str>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts.map(shortened) {
        if distinct.len() <= LISTED_VALUES && !distinct.iter().any(|known| *known == *text) {
            distinct.push(text.into_owned());
        }
    }
    distinct
}
