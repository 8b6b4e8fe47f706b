//! From a schema to what can be checked.
//!
//! A schema with a keyword that is not enforced here is refused, and so is the server that publishes it: what is published
//! is enforced.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use super::header_params::KEYWORD;

/// The one dialect: that of the protocol where none is named (2025-11-25, basic, "JSON Schema Usage").
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Why a schema is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Where in the schema, as a JSON pointer; empty for the whole.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
}

impl SchemaError {
    pub(super) fn at(place: &str, problem: impl Into<String>) -> Self {
        Self { place: place.to_owned(), problem: problem.into() }
    }

    pub(super) fn not_an_object() -> Self {
        Self::at("", "`type` must be \"object\"")
    }

    pub(super) fn unreadable(error: &serde_json::Error) -> Self {
        Self::at("", format!("it cannot be written as JSON: {error}"))
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(f, "{}", self.problem),
            place => write!(f, "{} at {place}", self.problem),
        }
    }
}

impl std::error::Error for SchemaError {}

/// A compiled schema: rules that refer to one another by index. The first is the whole schema.
#[derive(Debug, Default)]
pub(super) struct Program {
    rules: Vec<Vec<Keyword>>,
}

/// One thing to check.
#[derive(Debug)]
pub(super) enum Keyword {
    /// `false`: nothing passes.
    Never,
    Type(Vec<Type>),
    Enum(Vec<Value>),
    Minimum(f64),
    Maximum(f64),
    ExclusiveMinimum(f64),
    ExclusiveMaximum(f64),
    MinLength(u64),
    MaxLength(u64),
    MinItems(u64),
    MaxItems(u64),
    Items(usize),
    Required(Vec<String>),
    Properties {
        named: Vec<(String, usize)>,
        others: Option<usize>,
    },
    If {
        condition: usize,
        then: Option<usize>,
        otherwise: Option<usize>,
    },
    AllOf(Vec<usize>),
    AnyOf(Vec<usize>),
    OneOf(Vec<usize>),
    Reference(usize),
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

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

impl Program {
    pub(super) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let mut compiler = Compiler { program: Self::default(), root: schema, references: HashMap::new() };
        compiler.rule(schema, "")?;
        Ok(compiler.program)
    }

    pub(super) fn rule(&self, index: usize) -> &[Keyword] {
        self.rules.get(index).map_or(&[], Vec::as_slice)
    }
}

struct Compiler<'s> {
    program: Program,
    root: &'s Value,
    /// The rules that references lead to, by reference.
    references: HashMap<String, usize>,
}

impl Compiler<'_> {
    fn rule(&mut self, schema: &Value, place: &str) -> Result<usize, SchemaError> {
        let index = self.program.rules.len();
        self.program.rules.push(Vec::new());
        if index == 0 {
            self.references.insert("#".into(), 0);
        }
        let keywords = match schema {
            Value::Bool(true) => Vec::new(),
            Value::Bool(false) => vec![Keyword::Never],
            Value::Object(object) => self.keywords(object, place)?,
            _ => return Err(SchemaError::at(place, "a schema is an object or a boolean")),
        };
        if let Some(rule) = self.program.rules.get_mut(index) {
            *rule = keywords;
        }
        Ok(index)
    }

    fn keywords(&mut self, object: &Map<String, Value>, place: &str) -> Result<Vec<Keyword>, SchemaError> {
        let mut keywords = Vec::new();
        for (name, value) in object {
            let at = format!("{place}/{name}");
            keywords.push(match name.as_str() {
                // The last two are part of `if`, and without it say nothing.
                "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly"
                | "$comment" | "format" | "$defs" | "$anchor" | KEYWORD | "then" | "else" => continue,
                "$schema" if value == DIALECT => continue,
                "$schema" => return Err(SchemaError::at(&at, format!("only the dialect {DIALECT} is spoken here"))),
                "type" => Keyword::Type(types(value, &at)?),
                "enum" => Keyword::Enum(value.as_array().cloned().ok_or_else(|| expected("an array", &at))?),
                "const" => Keyword::Enum(vec![value.clone()]),
                "minimum" => Keyword::Minimum(number(value, &at)?),
                "maximum" => Keyword::Maximum(number(value, &at)?),
                "exclusiveMinimum" => Keyword::ExclusiveMinimum(number(value, &at)?),
                "exclusiveMaximum" => Keyword::ExclusiveMaximum(number(value, &at)?),
                "minLength" => Keyword::MinLength(count(value, &at)?),
                "maxLength" => Keyword::MaxLength(count(value, &at)?),
                "minItems" => Keyword::MinItems(count(value, &at)?),
                "maxItems" => Keyword::MaxItems(count(value, &at)?),
                "items" => Keyword::Items(self.rule(value, &at)?),
                "required" => Keyword::Required(strings(value, &at)?),
                "properties" => {
                    let members = value.as_object().ok_or_else(|| expected("an object", &at))?;
                    let named = members
                        .iter()
                        .map(|(key, schema)| Ok((key.clone(), self.rule(schema, &format!("{at}/{key}"))?)))
                        .collect::<Result<_, _>>()?;
                    let place = format!("{place}/additionalProperties");
                    let others = self.optional_rule(object.get("additionalProperties"), &place)?;
                    Keyword::Properties { named, others }
                }
                // Beside `properties` it is part of that keyword.
                "additionalProperties" if object.contains_key("properties") => continue,
                "additionalProperties" => {
                    Keyword::Properties { named: Vec::new(), others: Some(self.rule(value, &at)?) }
                }
                "if" => Keyword::If {
                    condition: self.rule(value, &at)?,
                    then: self.optional_rule(object.get("then"), &format!("{place}/then"))?,
                    otherwise: self.optional_rule(object.get("else"), &format!("{place}/else"))?,
                },
                "allOf" => Keyword::AllOf(self.rules(value, &at)?),
                "anyOf" => Keyword::AnyOf(self.rules(value, &at)?),
                "oneOf" => Keyword::OneOf(self.rules(value, &at)?),
                "$ref" => Keyword::Reference(self.reference(value, &at)?),
                _ => return Err(SchemaError::at(&at, format!("the keyword `{name}` is not enforced here"))),
            });
        }
        Ok(keywords)
    }

    fn optional_rule(&mut self, schema: Option<&Value>, place: &str) -> Result<Option<usize>, SchemaError> {
        schema.map(|schema| self.rule(schema, place)).transpose()
    }

    fn rules(&mut self, value: &Value, place: &str) -> Result<Vec<usize>, SchemaError> {
        let schemas = value.as_array().ok_or_else(|| expected("an array", place))?;
        schemas.iter().zip(0..).map(|(schema, nth)| self.rule(schema, &format!("{place}/{nth}"))).collect()
    }

    /// A reference within the document. The rule is known before it is compiled, so that a schema may contain itself.
    fn reference(&mut self, value: &Value, place: &str) -> Result<usize, SchemaError> {
        let reference = value.as_str().ok_or_else(|| expected("a string", place))?;
        if let Some(&index) = self.references.get(reference) {
            return Ok(index);
        }
        let fragment = reference.strip_prefix('#');
        let target = fragment.and_then(|name| self.root.pointer(name).or_else(|| anchored(self.root, name)));
        let target = target.ok_or_else(|| SchemaError::at(place, format!("`{reference}` is not in this document")))?;
        self.references.insert(reference.to_owned(), self.program.rules.len());
        self.rule(target, reference)
    }
}

/// The schema within `schema` whose `$anchor` is `name`.
fn anchored<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    match schema {
        Value::Object(object) if object.get("$anchor").is_some_and(|anchor| anchor == name) => Some(schema),
        Value::Object(object) => object.values().find_map(|member| anchored(member, name)),
        Value::Array(items) => items.iter().find_map(|item| anchored(item, name)),
        _ => None,
    }
}

fn expected(what: &str, place: &str) -> SchemaError {
    SchemaError::at(place, format!("{what} is expected"))
}

fn types(value: &Value, place: &str) -> Result<Vec<Type>, SchemaError> {
    let names = match value {
        Value::String(name) => vec![name.clone()],
        _ => strings(value, place)?,
    };
    let known = |name: &String| Type::named(name).ok_or_else(|| SchemaError::at(place, format!("no type `{name}`")));
    names.iter().map(known).collect()
}

fn strings(value: &Value, place: &str) -> Result<Vec<String>, SchemaError> {
    let strings = value.as_array().map(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    strings.flatten().ok_or_else(|| expected("an array of strings", place))
}

fn number(value: &Value, place: &str) -> Result<f64, SchemaError> {
    value.as_f64().ok_or_else(|| expected("a number", place))
}

fn count(value: &Value, place: &str) -> Result<u64, SchemaError> {
    value.as_u64().ok_or_else(|| expected("a whole number from 0 on", place))
}
