//! From a schema to what can be checked.
//!
//! A schema that could not be enforced as it says is refused, and so is the server that publishes it: what is published is
//! enforced. Keywords that JSON Schema does not know are remarks, as it says itself; those of its older and its dynamic parts are
//! not.
//!
//! Source: JSON Schema 2020-12, Core §§7–10 and Validation §6.

use std::fmt;

use serde_json::{Map, Value};

use super::cycles;
use super::format::Format;
use super::pattern::Pattern;
use super::program::{
    Alternatives, Bound, Enum, Keyword, Measure, Names, Number, ObjectRule, PatternId, Program, Rule, RuleId, Type,
    Types,
};
use super::references::References;
use crate::json::decimal::Decimal;
use crate::json::short_decimal::ShortDecimal;
use crate::limits::{PATTERNS_STATES, SCHEMA_DEPTH};

/// The one dialect: that of the protocol where none is named (2025-11-25, basic, "JSON Schema Usage").
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The vocabularies that a schema may require: those that are enforced, and those that only remark.
const VOCABULARIES: [&str; 6] = ["core", "applicator", "validation", "meta-data", "format-annotation", "content"];

/// Keywords about the members of an object: together they are one keyword of a rule, made where the first of them is met.
const OBJECT: [&str; 7] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "dependentRequired",
    "dependentSchemas",
];

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
        let rule = compiler.schema(schema, &place)?;
        compiler.program.rules.push(rule);
        next = next.saturating_add(1);
    }
    cycles::check(&compiler.program, &compiler.places)?;
    compiler.program.follow_references();
    compiler.program.distinguish_alternatives();
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
    fn rule_at(&mut self, place: String) -> RuleId {
        if let Some(rule) = self.places.iter().position(|known| *known == place) {
            return rule;
        }
        self.places.push(place);
        self.places.len().saturating_sub(1)
    }

    fn schema(&mut self, schema: &Value, place: &str) -> Result<Rule, SchemaError> {
        match schema {
            Value::Bool(true) => Ok(Rule { types: Types::ALL, keywords: Vec::new() }),
            Value::Bool(false) => Ok(Rule { types: Types::NONE, keywords: Vec::new() }),
            Value::Object(_) if place.bytes().filter(|byte| *byte == b'/').count() > SCHEMA_DEPTH => {
                Err(SchemaError::at(place, "schemas are nested too deeply"))
            }
            Value::Object(object) => {
                let types = match object.get("type") {
                    Some(names) => types(names, &format!("{place}/type"))?,
                    None => Types::ALL,
                };
                Ok(Rule { types, keywords: self.keywords(object, place)? })
            }
            _ => Err(SchemaError::at(place, "a schema is an object or a boolean")),
        }
    }

    fn keywords(&mut self, object: &Map<String, Value>, place: &str) -> Result<Vec<Keyword>, SchemaError> {
        let mut keywords = Vec::new();
        let mut has_object = false;
        for (name, value) in object {
            let at = format!("{place}/{name}");
            let keyword = match name.as_str() {
                "$schema" if value.as_str().is_some_and(|dialect| dialect.trim_end_matches('#') == DIALECT) => continue,
                "$schema" => return Err(SchemaError::at(&at, format!("only the dialect {DIALECT} is spoken here"))),
                "$vocabulary" if only_known_vocabularies(value) => continue,
                "$ref" => Keyword::Reference(self.reference(value, place, &at)?),
                "type" => continue,
                "enum" => Keyword::Enum(Enum::of(array(value, &at)?)),
                "const" => Keyword::Enum(Enum::of([value])),
                "multipleOf" => Keyword::MultipleOf(positive(value, &at)?),
                "pattern" => Keyword::Pattern(self.pattern(string(value, &at)?, &at)?),
                "format" => match Format::named(string(value, &at)?) {
                    Some(format) => Keyword::Format(format),
                    None => continue,
                },
                "items" if object.contains_key("prefixItems") => continue,
                "items" | "prefixItems" => self.items(object, place)?,
                "contains" => self.contains(object, place)?,
                "uniqueItems" => match value {
                    Value::Bool(true) => Keyword::UniqueItems,
                    Value::Bool(false) => continue,
                    _ => return Err(expected("true or false", &at)),
                },
                name if OBJECT.contains(&name) => {
                    if std::mem::replace(&mut has_object, true) {
                        continue;
                    }
                    Keyword::Object(Box::new(self.object(object, place)?))
                }
                "if" => Keyword::If {
                    condition: self.rule_at(at),
                    then: self.rule_beside(object, place, "then"),
                    otherwise: self.rule_beside(object, place, "else"),
                },
                "allOf" => Keyword::AllOf(self.rules(value, &at)?),
                "anyOf" => Keyword::AnyOf(Alternatives::of(self.rules(value, &at)?)),
                "oneOf" => Keyword::OneOf(Alternatives::of(self.rules(value, &at)?)),
                "not" => Keyword::Not(self.rule_at(at)),
                name => match by_table(name, value, &at)? {
                    Some(Keyword::Size(measure, least, most)) => match size_of(&mut keywords, measure) {
                        Some((known_least, known_most)) => {
                            (*known_least, *known_most) = (least.max(*known_least), most.min(*known_most));
                            continue;
                        }
                        None => Keyword::Size(measure, least, most),
                    },
                    Some(keyword) => keyword,
                    None => continue,
                },
            };
            keywords.push(keyword);
        }
        Ok(keywords)
    }

    fn rule_beside(&mut self, object: &Map<String, Value>, place: &str, name: &str) -> Option<RuleId> {
        object.contains_key(name).then(|| self.rule_at(format!("{place}/{name}")))
    }

    fn rules(&mut self, value: &Value, place: &str) -> Result<Vec<RuleId>, SchemaError> {
        let schemas = array(value, place)?;
        if schemas.is_empty() {
            return Err(expected("a schema or more", place));
        }
        Ok((0..schemas.len()).map(|nth| self.rule_at(format!("{place}/{nth}"))).collect())
    }

    fn rules_by_name(&mut self, value: &Value, place: &str) -> Result<Vec<(String, RuleId)>, SchemaError> {
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

    /// All keywords about the members of an object.
    fn object(&mut self, object: &Map<String, Value>, place: &str) -> Result<ObjectRule, SchemaError> {
        let at = |name: &str| format!("{place}/{name}");
        let mut by_name = |name: &str| match object.get(name) {
            Some(value) => self.rules_by_name(value, &at(name)),
            None => Ok(Vec::new()),
        };
        let properties = by_name("properties")?;
        let patterns = by_name("patternProperties")?;
        let dependent_schemas = by_name("dependentSchemas")?;
        let required = object.get("required").map_or(Ok(Vec::new()), |names| strings(names, &at("required")))?;
        let dependent_required: Vec<_> = match object.get("dependentRequired") {
            Some(value) => {
                let each = members(value, &at("dependentRequired"))?.iter();
                let each = each.map(|(name, names)| Ok((name, strings(names, &at("dependentRequired"))?)));
                each.collect::<Result<_, SchemaError>>()?
            }
            None => Vec::new(),
        };
        let of_dependents = dependent_required.iter().flat_map(|(name, names)| names.iter().chain([*name]));
        let names = properties.iter().chain(&dependent_schemas).map(|(name, _)| name);
        let names = Names::of(names.chain(&required).chain(of_dependents).cloned().collect());
        let ids = |wanted: &[String]| {
            let mut ids: Vec<_> = wanted.iter().filter_map(|name| names.find(name)).collect();
            let mut seen = vec![false; names.len()];
            ids.retain(|id| seen.get_mut(*id).is_some_and(|seen| !std::mem::replace(seen, true)));
            ids
        };
        let mut by_id = vec![None; names.len()];
        for (name, rule) in properties {
            if let Some(place) = names.find(&name).and_then(|id| by_id.get_mut(id)) {
                *place = Some(rule);
            }
        }
        let patterns = patterns.iter().map(|(text, rule)| Ok((self.pattern(text, &at("patternProperties"))?, *rule)));
        let patterns = patterns.collect::<Result<_, SchemaError>>()?;
        let find = |name: &str| names.find(name);
        Ok(ObjectRule {
            properties: by_id,
            patterns,
            others: self.rule_beside(object, place, "additionalProperties"),
            property_names: self.rule_beside(object, place, "propertyNames"),
            required: ids(&required),
            dependent_required: dependent_required
                .iter()
                .filter_map(|(name, others)| Some((find(name)?, ids(others))))
                .collect(),
            dependent_schemas: dependent_schemas.iter().filter_map(|(name, rule)| Some((find(name)?, *rule))).collect(),
            names,
        })
    }

    /// The pattern, which is compiled once however often it occurs.
    fn pattern(&mut self, text: &str, place: &str) -> Result<PatternId, SchemaError> {
        let patterns = &mut self.program.patterns;
        if let Some(known) = patterns.iter().position(|known| known.source() == text) {
            return Ok(known);
        }
        let made = Pattern::new(text);
        patterns.push(made.map_err(|problem| SchemaError::at(place, format!("the pattern `{text}` {problem}")))?);
        if patterns.iter().map(Pattern::states).sum::<usize>() > PATTERNS_STATES {
            return Err(SchemaError::at(
                place,
                format!("all patterns together have more than {PATTERNS_STATES} states"),
            ));
        }
        Ok(patterns.len().saturating_sub(1))
    }

    fn reference(&mut self, value: &Value, place: &str, at: &str) -> Result<RuleId, SchemaError> {
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

/// The bounds of a size that is already checked: the other side of it belongs there, so that it is counted once.
fn size_of(keywords: &mut [Keyword], measure: Measure) -> Option<(&mut u64, &mut u64)> {
    keywords.iter_mut().find_map(|keyword| match keyword {
        Keyword::Size(known, least, most) if *known == measure => Some((least, most)),
        _ => None,
    })
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

fn types(value: &Value, place: &str) -> Result<Types, SchemaError> {
    let names = match value {
        Value::String(name) => vec![name.clone()],
        _ => strings(value, place)?,
    };
    names.iter().try_fold(Types::NONE, |types, name| match Type::named(name) {
        Some(known) => Ok(types.and(known)),
        None => Err(SchemaError::at(place, format!("no type `{name}`"))),
    })
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

fn number(value: &Value, place: &str) -> Result<Number, SchemaError> {
    let text = if value.is_number() { value.to_string() } else { String::new() };
    let exact = Decimal::of(&text).filter(|_| value.is_number()).ok_or_else(|| expected("a number", place))?;
    Ok(Number { exact, short: ShortDecimal::of(&text) })
}

fn positive(value: &Value, place: &str) -> Result<Number, SchemaError> {
    let number = number(value, place)?;
    if number.exact > Decimal::ZERO { Ok(number) } else { Err(expected("a number above 0", place)) }
}

/// A whole number, which may be written with a fraction of zeros.
fn count(value: &Value, place: &str) -> Result<u64, SchemaError> {
    let whole = || value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..9e15).contains(number));
    // In that range every whole f64 is a u64.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = value.as_u64().or_else(|| whole().map(|number| number as u64));
    number.ok_or_else(|| expected("a whole number from 0 on", place))
}
