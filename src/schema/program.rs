//! A compiled schema.

use crate::protocol::decimal::Decimal;
use crate::protocol::json::Kind;

use super::format::Format;
use super::pattern::Pattern;

/// Rules that refer to one another by index. The first is the whole schema.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub rules: Vec<Vec<Keyword>>,
}

/// The index of a rule.
pub(super) type Rule = usize;

/// One thing to check.
#[derive(Debug)]
pub(super) enum Keyword {
    /// `false`: nothing passes.
    Never,
    Type(Vec<Type>),
    /// Values, each as it is shown and in its canonical form.
    Enum(Vec<(String, String)>),
    Bound(Bound, Decimal),
    MultipleOf(Decimal),
    /// How many there may be, from the least to the most.
    Size(Measure, u64, u64),
    Pattern(Pattern),
    Format(Format),
    Items {
        prefix: Vec<Rule>,
        rest: Option<Rule>,
    },
    Contains {
        rule: Rule,
        least: u64,
        most: u64,
    },
    UniqueItems,
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, Rule)>),
    PropertyNames(Rule),
    Properties {
        named: Vec<(String, Rule)>,
        patterns: Vec<(Pattern, Rule)>,
        others: Option<Rule>,
    },
    If {
        condition: Rule,
        then: Option<Rule>,
        otherwise: Option<Rule>,
    },
    AllOf(Vec<Rule>),
    AnyOf(Vec<Rule>),
    OneOf(Vec<Rule>),
    Not(Rule),
    Reference(Rule),
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

/// The types of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    const NAMES: [(&'static str, Self); 7] = [
        ("null", Self::Null),
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("string", Self::String),
        ("array", Self::Array),
        ("object", Self::Object),
    ];

    /// As it is called in a sentence.
    pub(super) fn with_article(self) -> &'static str {
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

impl Program {
    pub(super) fn rule(&self, index: Rule) -> &[Keyword] {
        self.rules.get(index).map_or(&[], Vec::as_slice)
    }

    /// The rules that are about the same value as `rule` is.
    pub(super) fn beside(&self, rule: Rule) -> Vec<Rule> {
        let mut beside = Vec::new();
        for keyword in self.rule(rule) {
            match keyword {
                Keyword::AllOf(rules) | Keyword::AnyOf(rules) | Keyword::OneOf(rules) => beside.extend(rules),
                Keyword::Not(rule) | Keyword::Reference(rule) => beside.push(*rule),
                Keyword::If { condition, then, otherwise } => {
                    beside.push(*condition);
                    beside.extend(then.iter().chain(otherwise));
                }
                Keyword::DependentSchemas(rules) => beside.extend(rules.iter().map(|(_, rule)| rule)),
                _ => {}
            }
        }
        beside
    }
}
