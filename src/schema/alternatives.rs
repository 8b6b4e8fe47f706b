//! Compile-time analysis of `anyOf` and `oneOf`: constants become one list, and a key or a tag excludes alternatives without a check.

use super::mistake::or_list;
use super::program::{Alternatives, Enum, Keyword, ObjectRule, Program, Rule, RuleId, Selection, Tag};
use super::types::Types;

impl Program {
    /// Analyzes all lists of alternatives.
    pub(super) fn analyze_alternatives(&mut self) {
        let mut changes = Vec::new();
        for (rule, Rule { keywords, .. }) in self.rules.iter().enumerate() {
            for (nth, keyword) in keywords.iter().enumerate() {
                let (rules, is_any_of) = match keyword {
                    Keyword::AnyOf(Alternatives { rules, .. }) => (rules, true),
                    Keyword::OneOf(Alternatives { rules, .. }) => (rules, false),
                    _ => continue,
                };
                let change = match self.constants(rules) {
                    Some(constants) => Keyword::Enum(constants),
                    None if is_any_of => Keyword::AnyOf(self.analyzed(rules)),
                    None => Keyword::OneOf(self.analyzed(rules)),
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

    fn analyzed(&self, rules: &[RuleId]) -> Alternatives {
        let keys: Vec<_> = rules.iter().map(|rule| self.keys_of_closed_object(*rule)).collect();
        let mut expected: Vec<&str> = Vec::new();
        for Rule { types, keywords } in rules.iter().map(|rule| self.rule(*rule)) {
            let before = expected.len();
            for allowed in enums(keywords) {
                expected.extend(allowed.shown.iter().map(String::as_str));
            }
            if expected.len() == before {
                types.names().for_each(|name| expected.push(name));
            }
        }
        let expected = or_list(&mut expected.into_iter());
        Alternatives { rules: rules.to_vec(), by_key: Selection::of(&keys), by_tag: self.tag(rules), expected }
    }

    /// Merges alternatives that are only constants, such as the variants of an enum with documentation. Returns `None` if one
    /// has other keywords, or if two have the same value.
    fn constants(&self, rules: &[RuleId]) -> Option<Enum> {
        let mut enums = Vec::new();
        for Rule { types, keywords } in rules.iter().map(|rule| self.rule(*rule)) {
            match keywords.as_slice() {
                [Keyword::Enum(values)] if values.types.is_subset_of(*types) => enums.push(values),
                _ => return None,
            }
        }
        Enum::union(&enums)
    }

    /// Returns the keys that objects of a rule may have, or `None` if any key is allowed.
    ///
    /// The keys exclude only objects: a value of another type does not have keys.
    fn keys_of_closed_object(&self, rule: RuleId) -> Option<Vec<&str>> {
        let object = self.object_rules(rule).next()?;
        let is_closed = object.patterns.is_empty() && self.rule(object.others?).types == Types::NONE;
        is_closed.then(|| object.own_names().collect())
    }

    /// Finds the tag of the alternatives: the property that has an `enum` or a `const` in the most alternatives, and in at least two.
    fn tag(&self, rules: &[RuleId]) -> Option<Tag> {
        let properties: Vec<_> = rules.iter().map(|rule| self.properties_with_enum(*rule)).collect();
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for (name, _) in properties.iter().flatten() {
            match counts.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count = count.saturating_add(1),
                None => counts.push((name, 1)),
            }
        }
        let (name, _) = counts.into_iter().filter(|(_, count)| *count > 1).max_by_key(|(_, count)| *count)?;
        let (mut texts, mut expected) = (Vec::new(), Vec::new());
        for properties in &properties {
            let allowed = properties.iter().find(|(known, _)| *known == name).map(|(_, allowed)| *allowed);
            texts.push(allowed.map(|allowed| allowed.canonical.as_slice().iter().map(String::as_str).collect()));
            expected.extend(allowed.into_iter().flat_map(|allowed| &allowed.shown).map(String::as_str));
        }
        Some(Tag {
            name: name.to_owned(),
            selection: Selection::of(&texts)?,
            expected: or_list(&mut expected.into_iter()),
        })
    }

    /// Returns the properties of a rule that have an `enum` or a `const`, each with the first of them.
    fn properties_with_enum(&self, rule: RuleId) -> Vec<(&str, &Enum)> {
        let mut found = Vec::new();
        for object in self.object_rules(rule) {
            for (name, property) in object.properties.iter().enumerate() {
                let allowed = property.and_then(|property| enums(&self.rule(property).keywords).next());
                found.extend(allowed.map(|allowed| (object.names.get(name), allowed)));
            }
        }
        found
    }

    fn object_rules(&self, rule: RuleId) -> impl Iterator<Item = &ObjectRule> {
        self.rule(rule).keywords.iter().filter_map(|keyword| match keyword {
            Keyword::Object(object) => Some(object.as_ref()),
            _ => None,
        })
    }
}

/// Iterates over the `enum` and `const` keywords.
pub(super) fn enums(keywords: &[Keyword]) -> impl Iterator<Item = &Enum> {
    keywords.iter().filter_map(|keyword| match keyword {
        Keyword::Enum(allowed) => Some(allowed),
        _ => None,
    })
}
