//! Compile-time analysis of `anyOf` and `oneOf`: constants become one list, and a key or a tag excludes alternatives without a check.

use super::budget::{COMPARED, Steps};
use super::mistake::or_list;
use super::program::{Alternatives, Enum, Keyword, ObjectRule, Program, Rule, RuleId, SELECTABLE, Selection, Tag};
use super::sorted::sorted;
use super::types::Types;

impl Program {
    /// Analyzes all lists of alternatives. If the steps run out, the other lists are not analyzed.
    pub(super) fn analyze_alternatives(&mut self, steps: &mut Steps) {
        let mut changes = Vec::new();
        for (rule, Rule { keywords, .. }) in self.rules.iter().enumerate() {
            for (nth, keyword) in keywords.iter().enumerate() {
                let (rules, is_any_of) = match keyword {
                    Keyword::AnyOf(Alternatives { rules, .. }) => (rules, true),
                    Keyword::OneOf(Alternatives { rules, .. }) => (rules, false),
                    _ => continue,
                };
                let change = match self.constants(rules, steps) {
                    Some(constants) => Keyword::Enum(constants),
                    None if is_any_of => Keyword::AnyOf(self.analyzed(rules, steps)),
                    None => Keyword::OneOf(self.analyzed(rules, steps)),
                };
                changes.push((rule, nth, change));
                if steps.are_exhausted() {
                    return;
                }
            }
        }
        for (rule, nth, change) in changes {
            if let Some(keyword) = self.rules.get_mut(rule).and_then(|rule| rule.keywords.get_mut(nth)) {
                *keyword = change;
            }
        }
    }

    fn analyzed(&self, rules: &[RuleId], steps: &mut Steps) -> Alternatives {
        // Several alternatives may be the same large schema, so take the steps for all texts before any list of them is created.
        let first = rules.get(..SELECTABLE).unwrap_or(rules);
        if !first.iter().all(|rule| self.take_for_texts(*rule, steps)) {
            return Alternatives::of(rules.to_vec());
        }
        let keys: Vec<_> = first.iter().map(|rule| self.keys_of_closed_object(*rule)).collect();
        let mut expected: Vec<&str> = Vec::new();
        for Rule { types, keywords } in first.iter().map(|rule| self.rule(*rule)) {
            let before = expected.len();
            for allowed in enums(keywords) {
                expected.extend(allowed.shown.iter().map(String::as_str));
            }
            if expected.len() == before {
                types.names().for_each(|name| expected.push(name));
            }
        }
        let expected = or_list(&mut expected.into_iter());
        let (by_key, by_tag) = (Selection::of(&keys, steps), self.tag(first, steps));
        Alternatives { rules: rules.to_vec(), by_key, by_tag, expected }
    }

    /// Takes the steps for the texts of an alternative that [`analyzed`](Self::analyzed) reads. Returns `false` if fewer are left.
    fn take_for_texts(&self, rule: RuleId, steps: &mut Steps) -> bool {
        let own = enums(&self.rule(rule).keywords).flat_map(|allowed| &allowed.shown);
        // The names of an object include those that only `required` and similar keywords have.
        self.object_rules(rule).all(|object| steps.take_for(object.names.len(), COMPARED))
            && steps.take_for_texts(own.map(String::as_str))
            && steps.take_for_texts(self.object_rules(rule).flat_map(ObjectRule::own_names))
    }

    /// Merges alternatives that are only constants, such as the variants of an enum with documentation. Returns `None` if one
    /// has other keywords, if two have the same value, or if the steps run out.
    fn constants(&self, rules: &[RuleId], steps: &mut Steps) -> Option<Enum> {
        let mut enums = Vec::new();
        for Rule { types, keywords } in rules.iter().map(|rule| self.rule(*rule)) {
            match keywords.as_slice() {
                [Keyword::Enum(values)] if values.types.is_subset_of(*types) => enums.push(values),
                _ => return None,
            }
        }
        Enum::union(&enums, steps)
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
    fn tag<'s>(&'s self, rules: &[RuleId], steps: &mut Steps) -> Option<Tag> {
        let properties: Vec<_> = rules.iter().map(|rule| self.properties_with_enum(*rule)).collect();
        let names = sorted(properties.iter().flatten().map(|(name, _)| *name));
        let groups = names.chunk_by(|one, other| one == other).filter(|group| group.len() > 1);
        let name = *groups.max_by_key(|group| group.len())?.first()?;
        let of_name = |properties: &Vec<(&str, &'s Enum)>| {
            properties.iter().find(|(known, _)| *known == name).map(|(_, allowed)| *allowed)
        };
        let allowed: Vec<_> = properties.iter().map(of_name).collect();
        let expected = || allowed.iter().flatten().flat_map(|allowed| &allowed.shown).map(String::as_str);
        if !steps.take_for_texts(expected()) {
            return None;
        }
        let texts = allowed
            .iter()
            .map(|allowed| allowed.map(|allowed| allowed.canonical.as_slice().iter().map(String::as_str).collect()));
        Some(Tag {
            name: name.to_owned(),
            selection: Selection::of(&texts.collect::<Vec<_>>(), steps)?,
            expected: or_list(&mut expected()),
        })
    }

    /// Returns the properties of a rule that have an `enum` or a `const`, each with the first of them.
    fn properties_with_enum(&self, rule: RuleId) -> Vec<(&str, &Enum)> {
        let mut found = Vec::new();
        for object in self.object_rules(rule) {
            for (name, property) in object.properties.iter().enumerate() {
                if let Some(allowed) = property.and_then(|property| enums(&self.rule(property).keywords).next()) {
                    found.push((object.names.get(name), allowed));
                }
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
pub(crate) fn enums(keywords: &[Keyword]) -> impl Iterator<Item = &Enum> {
    keywords.iter().filter_map(|keyword| match keyword {
        Keyword::Enum(allowed) => Some(allowed),
        _ => None,
    })
}
