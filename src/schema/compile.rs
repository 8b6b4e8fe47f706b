//! The compiler: from a JSON Schema to a [`Program`].
//!
//! The published schema is the enforced schema. The compiler rejects a schema that cannot be enforced, and a server with such a schema
//! cannot be built. Unknown keywords are annotations, as JSON Schema requires. Keywords of older dialects and `$dynamicRef` are rejected.
//!
//! Source: JSON Schema 2020-12, Core §§7–10 and Validation §6.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::cycles;
use super::error::SchemaError;
use super::format::Format;
use super::keyword_value::{array, boolean, count, members, must_be, number, positive_number, string, strings, types};
use super::pattern::Pattern;
use super::program::{
    Alternatives, Bound, Enum, Keyword, Measure, Names, ObjectRule, PatternId, Program, Rule, RuleId,
};
use super::references::{References, escaped};
use super::types::Types;
use crate::limits::{PATTERNS_STATES, SCHEMA_DEPTH};

/// The only supported dialect, and the default of the protocol (2025-11-25, basic, "JSON Schema Usage").
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The vocabularies that a schema may require. The keywords of some of them are enforced. The keywords of the others are annotations.
const VOCABULARIES: [&str; 6] = ["core", "applicator", "validation", "meta-data", "format-annotation", "content"];

/// Keywords about the members of an object. Together they become one [`ObjectRule`], at the position of the first of them.
const OBJECT: [&str; 7] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "dependentRequired",
    "dependentSchemas",
];

/// Keywords that compare a number.
const BOUNDS: [(&str, Bound); 4] = [
    ("minimum", Bound::Minimum),
    ("maximum", Bound::Maximum),
    ("exclusiveMinimum", Bound::ExclusiveMinimum),
    ("exclusiveMaximum", Bound::ExclusiveMaximum),
];

/// Keywords about a size: the counted parts, and whether the limit is a minimum.
const SIZES: [(&str, Measure, bool); 6] = [
    ("minLength", Measure::Characters, true),
    ("maxLength", Measure::Characters, false),
    ("minItems", Measure::Items, true),
    ("maxItems", Measure::Items, false),
    ("minProperties", Measure::Properties, true),
    ("maxProperties", Measure::Properties, false),
];

/// Keywords that are not supported, and what to do instead.
const UNSUPPORTED: [(&str, &str); 7] = [
    ("$dynamicRef", "use `$ref`"),
    ("$recursiveRef", "it is from an older dialect; use `$ref`"),
    ("unevaluatedProperties", "use `additionalProperties`"),
    ("unevaluatedItems", "use `items` beside `prefixItems`"),
    ("dependencies", "it is from an older dialect; use `dependentRequired` or `dependentSchemas`"),
    ("additionalItems", "it is from an older dialect; use `items` beside `prefixItems`"),
    ("$vocabulary", "it is only for metaschemas"),
];

/// Compiles `schema`.
///
/// # Errors
/// The schema is not valid, or it uses a keyword that cannot be enforced.
pub(super) fn compile(schema: &Value) -> Result<Program, Box<SchemaError>> {
    let references = References::of(schema)?;
    let mut compiler = Compiler {
        references,
        program: Program::default(),
        pointers: Indexed::default(),
        patterns: FxHashMap::default(),
        states: 0,
    };
    compiler.rule_at(String::new());
    // The target of a reference is compiled after the schema that refers to it, because a schema may contain itself.
    let mut next = 0;
    while let Some(pointer) = compiler.pointers.texts.get(next).cloned() {
        let schema = schema.pointer(&pointer).unwrap_or(&Value::Bool(true));
        let rule = compiler.schema(schema, &pointer)?;
        compiler.program.rules.push(rule);
        next = next.saturating_add(1);
    }
    cycles::check(&compiler.program, &compiler.pointers.texts)?;
    compiler.program.resolve_references();
    compiler.program.analyze_alternatives();
    Ok(compiler.program)
}

struct Compiler<'s> {
    references: References<'s>,
    /// The program so far. `rules` has the rules of the first `pointers`.
    program: Program,
    /// The position of each rule as a JSON pointer.
    pointers: Indexed,
    /// The index of each pattern by its source.
    patterns: FxHashMap<Rc<str>, PatternId>,
    /// The states of all patterns.
    states: usize,
}

/// Texts without duplicates, in the order in which they were added.
#[derive(Default)]
struct Indexed {
    texts: Vec<Rc<str>>,
    by_text: FxHashMap<Rc<str>, usize>,
}

impl Compiler<'_> {
    /// Returns the rule for the schema at `pointer`. A schema that is not compiled yet is queued.
    #[inline(never)]
    fn rule_at(&mut self, pointer: String) -> RuleId {
        let Indexed { texts, by_text } = &mut self.pointers;
        if let Some(rule) = by_text.get(pointer.as_str()) {
            return *rule;
        }
        let pointer: Rc<str> = pointer.into();
        let rule = texts.len();
        texts.push(Rc::clone(&pointer));
        by_text.insert(pointer, rule);
        rule
    }

    fn schema(&mut self, schema: &Value, pointer: &str) -> Result<Rule, Box<SchemaError>> {
        match schema {
            Value::Bool(true) => Ok(Rule { types: Types::ALL, keywords: Vec::new() }),
            Value::Bool(false) => Ok(Rule { types: Types::NONE, keywords: Vec::new() }),
            Value::Object(_) if pointer.bytes().filter(|byte| *byte == b'/').count() > SCHEMA_DEPTH => {
                Err(SchemaError::at(pointer, format!("schemas are nested deeper than {SCHEMA_DEPTH} levels")))
            }
            Value::Object(object) => {
                let types = match object.get("type") {
                    Some(names) => types(names, &format!("{pointer}/type"))?,
                    None => Types::ALL,
                };
                Ok(Rule { types, keywords: self.keywords(object, pointer)? })
            }
            _ => Err(SchemaError::at(pointer, "a schema must be an object or a boolean")),
        }
    }

    fn keywords(&mut self, object: &Map<String, Value>, pointer: &str) -> Result<Vec<Keyword>, Box<SchemaError>> {
        let mut keywords = Vec::new();
        let mut has_object = false;
        for (name, value) in object {
            let at = format!("{pointer}/{name}");
            let keyword = match name.as_str() {
                "$schema" if value.as_str().is_some_and(|dialect| dialect.trim_end_matches('#') == DIALECT) => continue,
                "$schema" => return Err(SchemaError::at(&at, format!("the dialect is not supported; use {DIALECT}"))),
                "$vocabulary" if only_known_vocabularies(value) => continue,
                "$ref" => Keyword::Reference(self.reference(value, pointer, &at)?),
                "enum" => Keyword::Enum(Enum::of(array(value, &at)?)),
                "const" => Keyword::Enum(Enum::of([value])),
                "multipleOf" => Keyword::MultipleOf(positive_number(value, &at)?),
                "pattern" => Keyword::Pattern(self.pattern(string(value, &at)?, &at)?),
                "format" => match Format::named(string(value, &at)?) {
                    Some(format) => Keyword::Format(format),
                    None => continue,
                },
                "items" if object.contains_key("prefixItems") => continue,
                "items" | "prefixItems" => self.items(object, pointer)?,
                "contains" => self.contains(object, pointer)?,
                "uniqueItems" if boolean(value, &at)? => Keyword::UniqueItems,
                "type" | "uniqueItems" => continue,
                name if OBJECT.contains(&name) => {
                    if std::mem::replace(&mut has_object, true) {
                        continue;
                    }
                    Keyword::Object(Box::new(self.object(object, pointer)?))
                }
                "if" => Keyword::If {
                    condition: self.rule_at(at),
                    then: self.optional_rule_at(object, pointer, "then"),
                    otherwise: self.optional_rule_at(object, pointer, "else"),
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

    fn optional_rule_at(&mut self, object: &Map<String, Value>, pointer: &str, name: &str) -> Option<RuleId> {
        object.contains_key(name).then(|| self.rule_at(format!("{pointer}/{name}")))
    }

    fn rules(&mut self, value: &Value, pointer: &str) -> Result<Vec<RuleId>, Box<SchemaError>> {
        let schemas = array(value, pointer)?;
        if schemas.is_empty() {
            return Err(must_be("a non-empty array", pointer));
        }
        Ok((0..schemas.len()).map(|nth| self.rule_at(format!("{pointer}/{nth}"))).collect())
    }

    fn rules_by_name(&mut self, value: &Value, pointer: &str) -> Result<Vec<(String, RuleId)>, Box<SchemaError>> {
        let names = members(value, pointer)?.keys();
        Ok(names.map(|name| (name.clone(), self.rule_at(format!("{pointer}/{}", escaped(name))))).collect())
    }

    fn items(&mut self, object: &Map<String, Value>, pointer: &str) -> Result<Keyword, Box<SchemaError>> {
        let at = format!("{pointer}/items");
        if object.get("items").is_some_and(Value::is_array) {
            return Err(SchemaError::at(&at, "an array of schemas is from an older dialect; use `prefixItems`"));
        }
        let prefix = object.get("prefixItems").map(|value| self.rules(value, &format!("{pointer}/prefixItems")));
        Ok(Keyword::Items {
            prefix: prefix.transpose()?.unwrap_or_default(),
            rest: self.optional_rule_at(object, pointer, "items"),
        })
    }

    fn contains(&mut self, object: &Map<String, Value>, pointer: &str) -> Result<Keyword, Box<SchemaError>> {
        let bound = |name: &str| object.get(name).map(|value| count(value, &format!("{pointer}/{name}"))).transpose();
        let (least, most) = (bound("minContains")?.unwrap_or(1), bound("maxContains")?.unwrap_or(u64::MAX));
        Ok(Keyword::Contains { rule: self.rule_at(format!("{pointer}/contains")), least, most })
    }

    /// Compiles all keywords about the members of an object.
    fn object(&mut self, object: &Map<String, Value>, pointer: &str) -> Result<ObjectRule, Box<SchemaError>> {
        let at = |name: &str| format!("{pointer}/{name}");
        let mut by_name = |name: &str| match object.get(name) {
            Some(value) => self.rules_by_name(value, &at(name)),
            None => Ok(Vec::new()),
        };
        let properties = by_name("properties")?;
        let patterns = by_name("patternProperties")?;
        let dependent_schemas = by_name("dependentSchemas")?;
        let required = object.get("required").map_or(Ok(Vec::new()), |names| strings(names, &at("required")))?;
        let mut dependent_required = Vec::new();
        if let Some(value) = object.get("dependentRequired") {
            for (name, names) in members(value, &at("dependentRequired"))? {
                dependent_required.push((name, strings(names, &at("dependentRequired"))?));
            }
        }
        let mut names = required.clone();
        names.extend(properties.iter().map(|(name, _)| name.clone()));
        names.extend(dependent_schemas.iter().map(|(name, _)| name.clone()));
        for (name, others) in &dependent_required {
            names.push((*name).clone());
            names.extend_from_slice(others);
        }
        let names = Names::of(names);
        let ids = |wanted: &[String]| {
            let (mut ids, mut seen) = (Vec::new(), vec![false; names.len()]);
            for id in wanted.iter().filter_map(|name| names.find(name)) {
                if seen.get_mut(id).is_some_and(|seen| !std::mem::replace(seen, true)) {
                    ids.push(id);
                }
            }
            ids
        };
        let mut by_id = vec![None; names.len()];
        for (name, rule) in properties {
            if let Some(slot) = names.find(&name).and_then(|id| by_id.get_mut(id)) {
                *slot = Some(rule);
            }
        }
        let mut by_pattern = Vec::new();
        for (text, rule) in patterns {
            by_pattern.push((self.pattern(&text, &at("patternProperties"))?, rule));
        }
        Ok(ObjectRule {
            properties: by_id,
            patterns: by_pattern,
            others: self.optional_rule_at(object, pointer, "additionalProperties"),
            property_names: self.optional_rule_at(object, pointer, "propertyNames"),
            required: ids(&required),
            dependent_required: dependent_required
                .iter()
                .filter_map(|(name, others)| Some((names.find(name)?, ids(others))))
                .collect(),
            dependent_schemas: dependent_schemas
                .iter()
                .filter_map(|(name, rule)| Some((names.find(name)?, *rule)))
                .collect(),
            names,
        })
    }

    /// Compiles a pattern. Equal patterns are compiled only once.
    fn pattern(&mut self, source: &str, pointer: &str) -> Result<PatternId, Box<SchemaError>> {
        if let Some(known) = self.patterns.get(source) {
            return Ok(*known);
        }
        let pattern = Pattern::new(source)
            .map_err(|problem| SchemaError::at(pointer, format!("the pattern `{source}` {problem}")))?;
        self.states = self.states.saturating_add(pattern.states());
        if self.states > PATTERNS_STATES {
            let problem = format!("all patterns together have more than {PATTERNS_STATES} states");
            return Err(SchemaError::at(pointer, problem));
        }
        let id = self.program.patterns.len();
        self.program.patterns.push(pattern);
        self.patterns.insert(source.into(), id);
        Ok(id)
    }

    fn reference(&mut self, value: &Value, pointer: &str, at: &str) -> Result<RuleId, Box<SchemaError>> {
        let target = self.references.resolve(string(value, at)?, pointer);
        Ok(self.rule_at(target.map_err(|problem| SchemaError::at(at, problem))?))
    }
}

/// Returns the limits of an earlier keyword with the same measure. The two keywords are merged, so the check counts only once.
fn size_of(keywords: &mut [Keyword], measure: Measure) -> Option<(&mut u64, &mut u64)> {
    keywords.iter_mut().find_map(|keyword| match keyword {
        Keyword::Size(known, least, most) if *known == measure => Some((least, most)),
        _ => None,
    })
}

/// Compiles a keyword of the tables above. Returns `None` for an annotation.
fn by_table(name: &str, value: &Value, pointer: &str) -> Result<Option<Keyword>, Box<SchemaError>> {
    if let Some((_, instead)) = UNSUPPORTED.iter().find(|(unsupported, _)| *unsupported == name) {
        return Err(SchemaError::at(pointer, format!("`{name}` is not supported: {instead}")));
    }
    if let Some((_, bound)) = BOUNDS.iter().find(|(known, _)| *known == name) {
        return Ok(Some(Keyword::Bound(*bound, number(value, pointer)?)));
    }
    let Some((_, measure, is_least)) = SIZES.iter().find(|(known, _, _)| *known == name) else { return Ok(None) };
    let size = count(value, pointer)?;
    let (least, most) = if *is_least { (size, u64::MAX) } else { (0, size) };
    Ok(Some(Keyword::Size(*measure, least, most)))
}

/// Returns whether all required vocabularies are known.
fn only_known_vocabularies(value: &Value) -> bool {
    let is_known = |name: &str| {
        let name = name.strip_prefix("https://json-schema.org/draft/2020-12/vocab/");
        name.is_some_and(|name| VOCABULARIES.contains(&name))
    };
    value
        .as_object()
        .is_some_and(|all| all.iter().all(|(name, required)| *required == Value::Bool(false) || is_known(name)))
}
