//! A compiled schema.

use super::budget::{COMPARED, Steps};
use super::format::Format;
use super::pattern::Pattern;
use super::sorted::sorted;
use super::types::{Type, Types};
use edge_json::canonical;
use edge_json::decimal::Decimal;
use edge_json::short_decimal::ShortDecimal;
use edge_json::write;

/// A compiled schema: rules that refer to one another by index. The first rule is the whole schema.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub rules: Vec<Rule>,
    /// For each rule its own index, or the target if the rule is only a reference.
    targets: Vec<RuleId>,
    pub patterns: Vec<Pattern>,
}

/// The index of a rule.
pub(crate) type RuleId = usize;
/// The index of a pattern.
pub(crate) type PatternId = usize;

/// A schema or subschema: the allowed types, and the other keywords in the order of the schema.
#[derive(Debug)]
pub(crate) struct Rule {
    pub types: Types,
    pub keywords: Vec<Keyword>,
}

/// A keyword, or a group of keywords that are checked together.
#[derive(Debug)]
pub(crate) enum Keyword {
    Enum(Enum),
    Bound(Bound, Number),
    MultipleOf(Number),
    /// The smallest and the largest allowed count.
    Size(Measure, u64, u64),
    Pattern(PatternId),
    Format(Format),
    Items {
        prefix: Vec<RuleId>,
        rest: Option<RuleId>,
    },
    Contains {
        rule: RuleId,
        least: u64,
        most: u64,
    },
    UniqueItems,
    Object(Box<ObjectRule>),
    If {
        condition: RuleId,
        then: Option<RuleId>,
        otherwise: Option<RuleId>,
    },
    AllOf(Vec<RuleId>),
    AnyOf(Alternatives),
    OneOf(Alternatives),
    Not(RuleId),
    Reference(RuleId),
}

/// All keywords about the members of an object. They are checked in one pass over the members.
#[derive(Debug, Default)]
pub(crate) struct ObjectRule {
    pub names: Names,
    /// The rule of each name in `properties`, by [`NameId`].
    pub properties: Vec<Option<RuleId>>,
    pub patterns: Vec<(PatternId, RuleId)>,
    /// `additionalProperties`
    pub others: Option<RuleId>,
    pub property_names: Option<RuleId>,
    pub required: Vec<NameId>,
    pub dependent_required: Vec<(NameId, Vec<NameId>)>,
    pub dependent_schemas: Vec<(NameId, RuleId)>,
}

impl ObjectRule {
    /// Iterates over the names in `properties`.
    pub(super) fn own_names(&self) -> impl Iterator<Item = &str> {
        let own = self.properties.iter().enumerate().filter(|(_, rule)| rule.is_some());
        own.map(|(id, _)| self.names.get(id))
    }
}

/// The index of a name.
pub(crate) type NameId = usize;

/// Texts without duplicates, sorted by length, then by bytes. Most lengths differ, so a search compares few bytes.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    pub(super) fn of(names: Vec<String>) -> Self {
        let names = sorted(names.into_iter().map(|name| (name.len(), name)));
        let mut names: Vec<_> = names.into_iter().map(|(_, name)| name).collect();
        names.dedup();
        Self(names)
    }

    pub(super) fn find(&self, name: &str) -> Option<NameId> {
        self.0.binary_search_by(|known| (known.len(), known.as_str()).cmp(&(name.len(), name))).ok()
    }

    /// Returns the ids of these names, in their order and without duplicates. `seen` has an entry for each id. All of them are `false` before
    /// and after the call, so that several calls can share one list.
    pub(super) fn find_all(&self, names: &[&str], seen: &mut [bool]) -> Vec<NameId> {
        let mut ids = Vec::new();
        for id in names.iter().filter_map(|name| self.find(name)) {
            if seen.get_mut(id).is_some_and(|seen| !std::mem::replace(seen, true)) {
                ids.push(id);
            }
        }
        for id in &ids {
            seen.get_mut(*id).into_iter().for_each(|seen| *seen = false);
        }
        ids
    }

    /// Returns the steps of a lookup, in addition to those of a lookup in a short list.
    pub(super) fn cost(&self) -> u32 {
        self.0.len().checked_ilog2().unwrap_or_default() / 2
    }

    pub(super) fn get(&self, id: NameId) -> &str {
        self.0.get(id).map_or("", String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// The schemas of an `anyOf` or `oneOf`, with data to exclude some of them without a check.
#[derive(Debug)]
pub(crate) struct Alternatives {
    pub rules: Vec<RuleId>,
    /// Selects alternatives by the key of the first member: serde writes an enum variant as an object with one member.
    pub by_key: Option<Selection>,
    /// Selects alternatives by the value of a property.
    pub by_tag: Option<Tag>,
    /// The accepted types and values, as an error message lists them.
    pub expected: String,
}

/// A property whose value selects an alternative: the tag of a tagged enum.
#[derive(Debug)]
pub(crate) struct Tag {
    pub name: String,
    pub selection: Selection,
    /// The accepted values, as an error message lists them.
    pub expected: String,
}

impl Alternatives {
    pub(super) fn of(rules: Vec<RuleId>) -> Self {
        Self { rules, by_key: None, by_tag: None, expected: String::new() }
    }
}

/// Selects alternatives by a text. Each of the first [`SELECTABLE`] alternatives is a bit; later ones are always candidates.
#[derive(Debug)]
pub(crate) struct Selection {
    texts: Names,
    by_text: Vec<u64>,
    by_other_text: u64,
}

/// The number of alternatives that a [`Selection`] can exclude.
pub(crate) const SELECTABLE: usize = 64;

impl Selection {
    /// Creates a selection. `texts` has the texts that each of the first [`SELECTABLE`] alternatives accepts, or `None` for an alternative
    /// that accepts any text. Returns `None` if all alternatives accept any text, or if the steps run out.
    pub(super) fn of(texts: &[Option<Vec<&str>>], steps: &mut Steps) -> Option<Self> {
        let listed = || texts.iter().flatten().flatten().copied();
        if !texts.iter().any(Option::is_some) || !steps.take_for_texts(listed()) {
            return None;
        }
        let numbered = || (0..).zip(texts);
        let open = numbered().filter(|(_, texts)| texts.is_none()).fold(0, |bits, (nth, _)| bits | 1_u64 << nth);
        let known = Names::of(listed().map(str::to_owned).collect());
        let mut by_text = vec![open; known.len()];
        for (nth, texts) in numbered() {
            let Some(texts) = texts else { continue };
            for text in texts {
                if let Some(bits) = known.find(text).and_then(|id| by_text.get_mut(id)) {
                    *bits |= 1 << nth;
                }
            }
        }
        Some(Self { texts: known, by_text, by_other_text: open })
    }

    /// Returns the alternatives that accept `text`, as bits.
    pub(super) fn candidates(&self, text: &str) -> u64 {
        self.texts.find(text).and_then(|id| self.by_text.get(id).copied()).unwrap_or(self.by_other_text)
    }
}

/// The allowed values of an `enum` or a `const`.
#[derive(Debug)]
pub(crate) struct Enum {
    /// The values as JSON text.
    pub shown: Vec<String>,
    /// The canonical forms.
    pub canonical: Names,
    pub types: Types,
    /// The steps of a lookup.
    pub cost: u32,
}

impl Enum {
    pub(super) fn of<'v>(values: impl IntoIterator<Item = &'v serde_json::Value>) -> Self {
        let (mut shown, mut canonical, mut types) = (Vec::new(), Vec::new(), Types::NONE);
        for value in values {
            let text = write::text(value);
            canonical.push(canonical::of_text(&text));
            shown.push(text);
            types = types.with(match value {
                serde_json::Value::Null => Type::Null,
                serde_json::Value::Bool(_) => Type::Boolean,
                serde_json::Value::Number(_) => Type::Number,
                serde_json::Value::String(_) => Type::String,
                serde_json::Value::Array(_) => Type::Array,
                serde_json::Value::Object(_) => Type::Object,
            });
        }
        Self::new(shown, canonical, types)
    }

    fn new(shown: Vec<String>, canonical: Vec<String>, types: Types) -> Self {
        let canonical = Names::of(canonical);
        // A lookup is a binary search.
        let comparisons = canonical.len().checked_ilog2().unwrap_or_default();
        let longest = canonical.as_slice().last().map_or(0, String::len) / COMPARED;
        let comparison = u32::try_from(longest).unwrap_or(u32::MAX).saturating_add(1);
        let cost = comparisons.saturating_add(1).saturating_mul(comparison);
        Self { shown, canonical, types, cost }
    }

    /// Merges enums into one. Returns `None` if a value is in two of them, or if the steps run out.
    pub(super) fn union(enums: &[&Self], steps: &mut Steps) -> Option<Self> {
        let texts = || enums.iter().flat_map(|one| one.shown.iter().chain(one.canonical.as_slice()));
        if !steps.take_for_texts(texts().map(String::as_str)) {
            return None;
        }
        let (mut shown, mut canonical, mut types) = (Vec::new(), Vec::new(), Types::NONE);
        for one in enums {
            shown.extend_from_slice(&one.shown);
            canonical.extend_from_slice(one.canonical.as_slice());
            types = types.union(one.types);
        }
        let count = canonical.len();
        Some(Self::new(shown, canonical, types)).filter(|union| union.canonical.len() == count)
    }

    /// Returns whether the value with this canonical form is allowed.
    pub(super) fn allows(&self, canonical: &str) -> bool {
        self.canonical.find(canonical).is_some()
    }
}

/// A number in a schema, with which a value is compared.
#[derive(Debug)]
pub(crate) struct Number {
    pub exact: Decimal,
    /// The same number, if it is short.
    pub short: Option<ShortDecimal>,
    /// Whether the program may get a compared integer as an `f64`, because the schema has the type `number`.
    pub is_float: bool,
}

/// A keyword that compares a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

/// The parts of a value that a size keyword counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Characters,
    Items,
    Properties,
}

impl Program {
    /// Returns the rule with the index `id`, or its target if the rule is only a reference.
    pub(super) fn rule(&self, id: RuleId) -> &Rule {
        static EMPTY: Rule = Rule { types: Types::ALL, keywords: Vec::new() };
        // Every index comes from the compiler, so the fallback is never used.
        self.rules.get(self.targets.get(id).copied().unwrap_or(id)).unwrap_or(&EMPTY)
    }

    /// Resolves the rules that are only a reference. Call `cycles::check` first: a cycle would cause an endless loop.
    pub(super) fn resolve_references(&mut self) {
        let target = |mut id: RuleId| {
            while let Some(Rule { types: Types::ALL, keywords }) = self.rules.get(id)
                && let [Keyword::Reference(next)] = keywords.as_slice()
            {
                id = *next;
            }
            id
        };
        self.targets = (0..self.rules.len()).map(target).collect();
    }

    /// Returns the rules that the rule `id` applies to the same value.
    pub(super) fn rules_for_same_value(&self, id: RuleId) -> Vec<RuleId> {
        let mut rules = Vec::new();
        for keyword in &self.rule(id).keywords {
            match keyword {
                Keyword::AllOf(all) => rules.extend(all),
                Keyword::AnyOf(alternatives) | Keyword::OneOf(alternatives) => rules.extend(&alternatives.rules),
                Keyword::Not(rule) | Keyword::Reference(rule) => rules.push(*rule),
                Keyword::If { condition, then, otherwise } => {
                    rules.push(*condition);
                    rules.extend(then.iter().chain(otherwise));
                }
                Keyword::Object(object) => rules.extend(object.dependent_schemas.iter().map(|(_, rule)| rule)),
                _ => {}
            }
        }
        rules
    }
}
