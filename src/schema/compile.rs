//! From a schema to what can be checked.
//!
//! A schema that could not be enforced as it says is refused, and so is the server that publishes it: what is published is
//! enforced. Keywords that JSON Schema does not know are remarks, as it says itself; those of its older and its dynamic parts are
//! not.
//!
//! Source: JSON Schema 2020-12, Core §§7–10 and Validation §6.

use std::fmt;

use serde_json::{Map, Value};

use super::format::Format;
use super::pattern::Pattern;
use super::program::{Bound, Keyword, Measure, Program, Rule, Type};
use super::progress;
use super::references::References;
use crate::protocol::decimal::Decimal;
use crate::protocol::json::canonical;

/// The one dialect: that of the protocol where none is named (2025-11-25, basic, "JSON Schema Usage").
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The vocabularies that a schema may require: those that are enforced, and those that only remark.
const VOCABULARIES: [&str; 6] = ["core", "applicator", "validation", "meta-data", "format-annotation", "content"];

/// How deeply schemas may be nested in one another.
const DEPTH: usize = 128;

/// Keywords about the side of a number.
const BOUNDS: [(&str, Bound); 4] = [
    ("minimum", Bound::Minimum),
    ("maximum", Bound::Maximum),
    ("exclusiveMinimum", Bound::ExclusiveMinimum),
    ("exclusiveMaximum", Bound::ExclusiveMaximum),
];

/// Keywords about how many there are of something: what is counted, and whether it is the least or the most.
const SIZES: [(&str, Measure, bool); 6] = [
    ("minLength", Measure::Characters, true),
    ("maxLength", Measure::Characters, false),
    ("minItems", Measure::Items, true),
    ("maxItems", Measure::Items, false),
    ("minProperties", Measure::Properties, true),
    ("maxProperties", Measure::Properties, false),
];

/// Keywords that say what cannot be enforced here, and what to do instead.
const REFUSED: [(&str, &str); 7] = [
    ("$dynamicRef", "use `$ref`"),
    ("$recursiveRef", "it belongs to an older dialect; use `$ref`"),
    ("unevaluatedProperties", "use `additionalProperties`"),
    ("unevaluatedItems", "use `items` beside `prefixItems`"),
    ("dependencies", "it belongs to an older dialect; use `dependentRequired` or `dependentSchemas`"),
    ("additionalItems", "it belongs to an older dialect; use `items` beside `prefixItems`"),
    ("$vocabulary", "it belongs to metaschemas"),
];

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

/// Compiles `schema`.
pub(super) fn compile(schema: &Value) -> Result<Program, SchemaError> {
    let references = References::of(schema)?;
    let mut compiler = Compiler { schema, references, program: Program::default(), places: Vec::new() };
    compiler.rule_at(String::new());
    // What a reference leads to is compiled after what it is in, so that a schema may contain itself.
    let mut next = 0;
    while let Some(place) = compiler.places.get(next).cloned() {
        let schema = compiler.schema.pointer(&place).unwrap_or(&Value::Bool(true));
        let keywords = compiler.schema(schema, &place)?;
        compiler.program.rules.push(keywords);
        next = next.saturating_add(1);
    }
    progress::check(&compiler.program, &compiler.places)?;
    Ok(compiler.program)
}

struct Compiler<'s> {
    /// The whole document.
    schema: &'s Value,
    references: References<'s>,
    /// The rules so far: of the first of the places.
    program: Program,
    /// The place of each rule, as a JSON pointer.
    places: Vec<String>,
}

impl Compiler<'_> {
    /// The rule of the schema at `place`, which is compiled later if it has not been yet.
    #[inline(never)]
    fn rule_at(&mut self, place: String) -> Rule {
        if let Some(rule) = self.places.iter().position(|known| *known == place) {
            return rule;
        }
        self.places.push(place);
        self.places.len().saturating_sub(1)
    }

    fn schema(&mut self, schema: &Value, place: &str) -> Result<Vec<Keyword>, SchemaError> {
        match schema {
            Value::Bool(true) => Ok(Vec::new()),
            Value::Bool(false) => Ok(vec![Keyword::Never]),
            Value::Object(_) if place.bytes().filter(|byte| *byte == b'/').count() > DEPTH => {
                Err(SchemaError::at(place, "schemas are nested too deeply"))
            }
            Value::Object(object) => self.keywords(object, place),
            _ => Err(SchemaError::at(place, "a schema is an object or a boolean")),
        }
    }

    fn keywords(&mut self, object: &Map<String, Value>, place: &str) -> Result<Vec<Keyword>, SchemaError> {
        let mut keywords = Vec::new();
        for (name, value) in object {
            let at = format!("{place}/{name}");
            keywords.push(match name.as_str() {
                "$schema" if value.as_str().is_some_and(|dialect| dialect.trim_end_matches('#') == DIALECT) => continue,
                "$schema" => return Err(SchemaError::at(&at, format!("only the dialect {DIALECT} is spoken here"))),
                "$vocabulary" if only_known_vocabularies(value) => continue,
                "$ref" => Keyword::Reference(self.reference(value, place, &at)?),
                "type" => Keyword::Type(types(value, &at)?),
                "enum" => Keyword::Enum(array(value, &at)?.iter().map(shown_and_canonical).collect()),
                "const" => Keyword::Enum(vec![shown_and_canonical(value)]),
                "multipleOf" => Keyword::MultipleOf(positive(value, &at)?),
                "pattern" => Keyword::Pattern(pattern(string(value, &at)?, &at)?),
                "format" => match Format::named(string(value, &at)?) {
                    Some(format) => Keyword::Format(format),
                    None => continue,
                },
                // Each of these groups is one keyword here, made where the first of it is met.
                "items" if object.contains_key("prefixItems") => continue,
                "items" | "prefixItems" => self.items(object, place)?,
                "contains" => self.contains(object, place)?,
                "uniqueItems" => match value {
                    Value::Bool(true) => Keyword::UniqueItems,
                    Value::Bool(false) => continue,
                    _ => return Err(expected("true or false", &at)),
                },
                "patternProperties" if object.contains_key("properties") => continue,
                "additionalProperties"
                    if ["properties", "patternProperties"].iter().any(|name| object.contains_key(*name)) =>
                {
                    continue;
                }
                "properties" | "patternProperties" | "additionalProperties" => self.properties(object, place)?,
                "propertyNames" => Keyword::PropertyNames(self.rule_at(at)),
                "required" => Keyword::Required(strings(value, &at)?),
                "dependentRequired" => {
                    let each = members(value, &at)?.iter();
                    let each = each.map(|(name, names)| Ok((name.clone(), strings(names, &at)?)));
                    Keyword::DependentRequired(each.collect::<Result<_, _>>()?)
                }
                "dependentSchemas" => Keyword::DependentSchemas(self.rules_by_name(value, &at)?),
                "if" => Keyword::If {
                    condition: self.rule_at(at),
                    then: self.rule_beside(object, place, "then"),
                    otherwise: self.rule_beside(object, place, "else"),
                },
                "allOf" => Keyword::AllOf(self.rules(value, &at)?),
                "anyOf" => Keyword::AnyOf(self.rules(value, &at)?),
                "oneOf" => Keyword::OneOf(self.rules(value, &at)?),
                "not" => Keyword::Not(self.rule_at(at)),
                name => match by_table(name, value, &at)? {
                    Some(keyword) => keyword,
                    None => continue,
                },
            });
        }
        Ok(keywords)
    }

    fn rule_beside(&mut self, object: &Map<String, Value>, place: &str, name: &str) -> Option<Rule> {
        object.contains_key(name).then(|| self.rule_at(format!("{place}/{name}")))
    }

    fn rules(&mut self, value: &Value, place: &str) -> Result<Vec<Rule>, SchemaError> {
        let schemas = array(value, place)?;
        if schemas.is_empty() {
            return Err(expected("a schema or more", place));
        }
        Ok((0..schemas.len()).map(|nth| self.rule_at(format!("{place}/{nth}"))).collect())
    }

    fn rules_by_name(&mut self, value: &Value, place: &str) -> Result<Vec<(String, Rule)>, SchemaError> {
        let names = members(value, place)?.keys();
        Ok(names.map(|name| (name.clone(), self.rule_at(format!("{place}/{}", escaped(name))))).collect())
    }

    fn items(&mut self, object: &Map<String, Value>, place: &str) -> Result<Keyword, SchemaError> {
        let at = format!("{place}/items");
        if object.get("items").is_some_and(Value::is_array) {
            return Err(SchemaError::at(&at, "an array of schemas belongs to an older dialect: use `prefixItems`"));
        }
        let prefix = object.get("prefixItems").map(|value| self.rules(value, &format!("{place}/prefixItems")));
        Ok(Keyword::Items {
            prefix: prefix.transpose()?.unwrap_or_default(),
            rest: self.rule_beside(object, place, "items"),
        })
    }

    fn contains(&mut self, object: &Map<String, Value>, place: &str) -> Result<Keyword, SchemaError> {
        let bound = |name: &str| object.get(name).map(|value| count(value, &format!("{place}/{name}"))).transpose();
        let (least, most) = (bound("minContains")?.unwrap_or(1), bound("maxContains")?.unwrap_or(u64::MAX));
        Ok(Keyword::Contains { rule: self.rule_at(format!("{place}/contains")), least, most })
    }

    fn properties(&mut self, object: &Map<String, Value>, place: &str) -> Result<Keyword, SchemaError> {
        let named = object.get("properties").map(|value| self.rules_by_name(value, &format!("{place}/properties")));
        let at = format!("{place}/patternProperties");
        let patterns = match object.get("patternProperties") {
            Some(value) => self.rules_by_name(value, &at)?,
            None => Vec::new(),
        };
        let patterns = patterns.into_iter().map(|(text, rule)| Ok((pattern(&text, &at)?, rule)));
        Ok(Keyword::Properties {
            named: named.transpose()?.unwrap_or_default(),
            patterns: patterns.collect::<Result<_, SchemaError>>()?,
            others: self.rule_beside(object, place, "additionalProperties"),
        })
    }

    fn reference(&mut self, value: &Value, place: &str, at: &str) -> Result<Rule, SchemaError> {
        let target = self.references.resolve(string(value, at)?, place);
        let target = target.map_err(|problem| SchemaError::at(at, problem))?;
        if self.schema.pointer(&target).is_none() {
            return Err(SchemaError::at(
                at,
                format!("`{}` is not in this document", value.as_str().unwrap_or_default()),
            ));
        }
        Ok(self.rule_at(target))
    }
}

/// A keyword of the tables above; `None` for one that is a remark.
fn by_table(name: &str, value: &Value, place: &str) -> Result<Option<Keyword>, SchemaError> {
    if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Err(SchemaError::at(place, format!("`{name}` is not enforced here: {instead}")));
    }
    if let Some((_, bound)) = BOUNDS.iter().find(|(known, _)| *known == name) {
        return Ok(Some(Keyword::Bound(*bound, number(value, place)?)));
    }
    let Some((_, measure, is_least)) = SIZES.iter().find(|(known, _, _)| *known == name) else { return Ok(None) };
    let size = count(value, place)?;
    let (least, most) = if *is_least { (size, u64::MAX) } else { (0, size) };
    Ok(Some(Keyword::Size(*measure, least, most)))
}

/// Whether all vocabularies that are required are known.
fn only_known_vocabularies(value: &Value) -> bool {
    let is_known = |name: &str| {
        let name = name.strip_prefix("https://json-schema.org/draft/2020-12/vocab/");
        name.is_some_and(|name| VOCABULARIES.contains(&name))
    };
    value
        .as_object()
        .is_some_and(|all| all.iter().all(|(name, required)| *required == Value::Bool(false) || is_known(name)))
}

/// A name as a step of a JSON pointer (RFC 6901 §3).
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn expected(what: &str, place: &str) -> SchemaError {
    SchemaError::at(place, format!("{what} is expected"))
}

fn shown_and_canonical(value: &Value) -> (String, String) {
    let text = value.to_string();
    let canonical = canonical::of_text(&text);
    (text, canonical)
}

fn types(value: &Value, place: &str) -> Result<Vec<Type>, SchemaError> {
    let names = match value {
        Value::String(name) => vec![name.clone()],
        _ => strings(value, place)?,
    };
    let known = |name: &String| Type::named(name).ok_or_else(|| SchemaError::at(place, format!("no type `{name}`")));
    names.iter().map(known).collect()
}

fn array<'v>(value: &'v Value, place: &str) -> Result<&'v Vec<Value>, SchemaError> {
    value.as_array().ok_or_else(|| expected("an array", place))
}

fn members<'v>(value: &'v Value, place: &str) -> Result<&'v Map<String, Value>, SchemaError> {
    value.as_object().ok_or_else(|| expected("an object", place))
}

fn string<'v>(value: &'v Value, place: &str) -> Result<&'v str, SchemaError> {
    value.as_str().ok_or_else(|| expected("a string", place))
}

fn strings(value: &Value, place: &str) -> Result<Vec<String>, SchemaError> {
    let strings = array(value, place)?.iter().map(|item| item.as_str().map(str::to_owned));
    strings.collect::<Option<_>>().ok_or_else(|| expected("an array of strings", place))
}

fn number(value: &Value, place: &str) -> Result<Decimal, SchemaError> {
    let text = value.is_number().then(|| value.to_string());
    text.and_then(|text| Decimal::of(&text)).ok_or_else(|| expected("a number", place))
}

fn positive(value: &Value, place: &str) -> Result<Decimal, SchemaError> {
    let number = number(value, place)?;
    if number > Decimal::ZERO { Ok(number) } else { Err(expected("a number above 0", place)) }
}

/// A whole number, which may be written with a fraction of zeros.
fn count(value: &Value, place: &str) -> Result<u64, SchemaError> {
    let whole = || value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..9e15).contains(number));
    // In that range every whole f64 is a u64.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = value.as_u64().or_else(|| whole().map(|number| number as u64));
    number.ok_or_else(|| expected("a whole number from 0 on", place))
}

fn pattern(text: &str, place: &str) -> Result<Pattern, SchemaError> {
    Pattern::new(text).map_err(|problem| SchemaError::at(place, format!("the pattern `{text}` {problem}")))
}
