//! A compiled schema.

use std::cmp::Ordering;

use crate::json::decimal::Decimal;
use crate::json::short_decimal::ShortDecimal;
use crate::json::{Kind, canonical};

use super::format::Format;
use super::pattern::Pattern;
use super::steps::COMPARED;

/// Rules that refer to one another by index. The first is the whole schema.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub rules: Vec<Rule>,
    /// For each rule: itself, or the one to which it does nothing but refer.
    targets: Vec<RuleId>,
    pub patterns: Vec<Pattern>,
}

/// The index of a rule.
pub(super) type RuleId = usize;
/// The index of a pattern.
pub(super) type PatternId = usize;

/// A schema: the types that pass, and what else is checked, in the order in which the schema has it.
#[derive(Debug)]
pub(super) struct Rule {
    pub types: Types,
    pub keywords: Vec<Keyword>,
}

/// One thing to check.
#[derive(Debug)]
pub(super) enum Keyword {
    Enum(Enum),
    Bound(Bound, Number),
    MultipleOf(Number),
    /// How many there may be, from the least to the most.
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

/// All that is said of an object's members: it is checked in one pass over them.
#[derive(Debug, Default)]
pub(super) struct ObjectRule {
    pub names: Names,
    /// By name: the rule of the property.
    pub properties: Vec<Option<RuleId>>,
    pub patterns: Vec<(PatternId, RuleId)>,
    /// The rule of properties that neither `properties` nor `patterns` have.
    pub others: Option<RuleId>,
    pub property_names: Option<RuleId>,
    pub required: Vec<NameId>,
    pub dependent_required: Vec<(NameId, Vec<NameId>)>,
    pub dependent_schemas: Vec<(NameId, RuleId)>,
}

impl ObjectRule {
    /// The names in `properties`.
    pub(super) fn own_names(&self) -> impl Iterator<Item = &str> {
        let own = self.properties.iter().enumerate().filter(|(_, rule)| rule.is_some());
        own.map(|(id, _)| self.names.get(id))
    }
}

/// The index of a name.
pub(super) type NameId = usize;

/// Names of properties, in the order of [`by_length`].
#[derive(Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn of(mut names: Vec<String>) -> Self {
        names.sort_unstable_by(|one, other| by_length(one, other));
        names.dedup();
        Self(names)
    }

    pub(super) fn find(&self, name: &str) -> Option<NameId> {
        self.0.binary_search_by(|known| by_length(known, name)).ok()
    }

    /// The steps that it takes to find a name, beside those of a short list.
    pub(super) fn cost(&self) -> u32 {
        self.0.len().checked_ilog2().unwrap_or_default() / 2
    }

    pub(super) fn get(&self, id: NameId) -> &str {
        self.0.get(id).map_or("", String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// An order in which a text is found quickly: most lengths differ, and bytes are compared only where they do not.
fn by_length(one: &str, other: &str) -> Ordering {
    match one.len().cmp(&other.len()) {
        Ordering::Equal => one.cmp(other),
        unequal => unequal,
    }
}

/// Alternatives, and what tells them apart without trying each.
#[derive(Debug)]
pub(super) struct Alternatives {
    pub rules: Vec<RuleId>,
    /// By the name of an object's first member: serde writes an enum as an object with one member.
    pub by_name: Option<Selection>,
    pub by_tag: Option<Tag>,
    /// The types and values that they are for, as a mistake lists them.
    pub wanted: Vec<String>,
}

/// A property by whose value alternatives can be told apart: the tag of a tagged enum.
#[derive(Debug)]
pub(super) struct Tag {
    pub name: String,
    pub selection: Selection,
    /// The values that it may have, as a mistake lists them.
    pub wanted: Vec<String>,
}

impl Alternatives {
    pub(super) fn of(rules: Vec<RuleId>) -> Self {
        Self { rules, by_name: None, by_tag: None, wanted: Vec::new() }
    }
}

/// Which alternatives a text leaves: a bit for each of the first 64. Later ones are always tried.
#[derive(Debug)]
pub(super) struct Selection {
    texts: Names,
    left_by_text: Vec<u64>,
    left_by_others: u64,
}

impl Selection {
    /// `texts` are those that each alternative takes; `None` is one that takes any. There is nothing to select where all take any.
    pub(super) fn of(texts: &[Option<Vec<&str>>]) -> Option<Self> {
        let bits = |takes: &dyn Fn(&Option<Vec<&str>>) -> bool| {
            (0..64).zip(texts).filter(|(_, texts)| takes(texts)).fold(0, |bits, (nth, _)| bits | 1_u64 << nth)
        };
        let known = Names::of(texts.iter().flatten().flatten().map(|text| (*text).to_owned()).collect());
        let takes = |text: &str, texts: &Option<Vec<&str>>| texts.as_ref().is_none_or(|texts| texts.contains(&text));
        let left_by_text = (0..known.len()).map(|id| bits(&|texts| takes(known.get(id), texts))).collect();
        texts.iter().any(Option::is_some).then(|| Self {
            left_by_text,
            left_by_others: bits(&|texts| texts.is_none()),
            texts: known,
        })
    }

    /// The alternatives that `text` leaves.
    pub(super) fn left_by(&self, text: &str) -> u64 {
        self.texts.find(text).and_then(|id| self.left_by_text.get(id).copied()).unwrap_or(self.left_by_others)
    }
}

/// Values that pass.
#[derive(Clone, Debug)]
pub(super) struct Enum {
    /// As the schema has them.
    pub shown: Vec<String>,
    /// Their canonical forms, in the order of [`by_length`].
    pub canonical: Vec<String>,
    pub kinds: Types,
    /// The steps that it takes to look a value up.
    pub cost: u32,
}

impl Enum {
    pub(super) fn of<'v>(values: impl IntoIterator<Item = &'v serde_json::Value>) -> Self {
        let mut of = Self { shown: Vec::new(), canonical: Vec::new(), kinds: Types::NONE, cost: 0 };
        for value in values {
            let text = value.to_string();
            of.canonical.push(canonical::of_text(&text));
            of.shown.push(text);
            of.kinds = of.kinds.and(match value {
                serde_json::Value::Null => Type::Null,
                serde_json::Value::Bool(_) => Type::Boolean,
                serde_json::Value::Number(_) => Type::Number,
                serde_json::Value::String(_) => Type::String,
                serde_json::Value::Array(_) => Type::Array,
                serde_json::Value::Object(_) => Type::Object,
            });
        }
        of.finished()
    }

    fn finished(mut self) -> Self {
        self.canonical.sort_unstable_by(|one, other| by_length(one, other));
        // Half of the values that are left are excluded by each comparison.
        let comparisons = self.canonical.len().checked_ilog2().unwrap_or_default();
        let longest = self.canonical.iter().map(String::len).max().unwrap_or_default() / COMPARED;
        let comparison = u32::try_from(longest).unwrap_or(u32::MAX).saturating_add(1);
        self.cost = comparisons.saturating_add(1).saturating_mul(comparison);
        self
    }

    /// The values of both, if none is in both.
    pub(super) fn joined(mut self, other: &Self) -> Option<Self> {
        if other.canonical.iter().any(|value| self.allows(value)) {
            return None;
        }
        self.canonical.extend_from_slice(&other.canonical);
        self.shown.extend_from_slice(&other.shown);
        self.kinds = self.kinds.or(other.kinds);
        Some(self.finished())
    }

    /// Whether one of the values is of that kind.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.kinds.have(kind)
    }

    /// Whether the value with that canonical form passes.
    pub(super) fn allows(&self, canonical: &str) -> bool {
        self.canonical.binary_search_by(|known| by_length(known, canonical)).is_ok()
    }
}

/// A number of a schema.
#[derive(Debug)]
pub(super) struct Number {
    pub exact: Decimal,
    /// The same, if it is short.
    pub short: Option<ShortDecimal>,
}

/// On which side of a number a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Characters,
    Items,
    Properties,
}

/// The types of JSON Schema, each a bit of [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Boolean = 1,
    Integer = 2,
    Number = 4,
    String = 8,
    Array = 16,
    Object = 32,
    Null = 64,
}

impl Type {
    const NAMES: [(&'static str, Self); 7] = [
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("string", Self::String),
        ("array", Self::Array),
        ("object", Self::Object),
        ("null", Self::Null),
    ];

    /// As it is called in a sentence.
    fn with_article(self) -> &'static str {
        match self {
            Self::Null => Kind::Null,
            Self::Boolean => Kind::Boolean,
            Self::Integer => return "an integer",
            Self::Number => Kind::Number,
            Self::String => Kind::String,
            Self::Array => Kind::Array,
            Self::Object => Kind::Object,
        }
        .with_article()
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// A set of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const ALL: Self = Self(127);
    /// Those of `false`: nothing passes.
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn and(self, other: Type) -> Self {
        Self(self.0 | other as u8)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether values of that kind pass; of numbers, all of them.
    pub(super) const fn have(self, kind: Kind) -> bool {
        let kind = match kind {
            Kind::Null => Type::Null,
            Kind::Boolean => Type::Boolean,
            Kind::Number => Type::Number,
            Kind::String => Type::String,
            Kind::Array => Type::Array,
            Kind::Object => Type::Object,
        };
        self.0 & kind as u8 != 0
    }

    /// Whether integers pass, though not all numbers need to.
    pub(super) const fn have_integers(self) -> bool {
        self.0 & (Type::Integer as u8 | Type::Number as u8) != 0
    }

    pub(super) const fn are_in(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Their names, for a sentence.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        let is_in = move |kind: Type| self.0 & kind as u8 != 0;
        Type::NAMES.into_iter().filter(move |(_, kind)| is_in(*kind)).map(|(_, kind)| kind.with_article())
    }
}

impl Program {
    /// The rule with that index, or the one to which it does nothing but refer.
    pub(super) fn rule(&self, id: RuleId) -> &Rule {
        static EMPTY: Rule = Rule { types: Types::ALL, keywords: Vec::new() };
        // Every index was given out by the compiler.
        self.rules.get(self.targets.get(id).copied().unwrap_or(id)).unwrap_or(&EMPTY)
    }

    /// Finds the rules to which others do nothing but refer. References must be known not to form cycles.
    pub(super) fn follow_references(&mut self) {
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

    /// The rules that are about the same value as `rule` is.
    pub(super) fn beside(&self, id: RuleId) -> Vec<RuleId> {
        let mut beside = Vec::new();
        for keyword in &self.rule(id).keywords {
            match keyword {
                Keyword::AllOf(rules) => beside.extend(rules),
                Keyword::AnyOf(alternatives) | Keyword::OneOf(alternatives) => beside.extend(&alternatives.rules),
                Keyword::Not(rule) | Keyword::Reference(rule) => beside.push(*rule),
                Keyword::If { condition, then, otherwise } => {
                    beside.push(*condition);
                    beside.extend(then.iter().chain(otherwise));
                }
                Keyword::Object(object) => beside.extend(object.dependent_schemas.iter().map(|(_, rule)| rule)),
                _ => {}
            }
        }
        beside
    }
}
