//! The compiler: from a JSON Schema to a [`Program`].
//!
//! The published schema is the enforced schema. The compiler rejects a schema that cannot be enforced, and a server with such a schema
//! cannot be built. Unknown keywords are annotations, as JSON Schema requires.
//!
//! Schemas of 2019-09, draft-07 and draft-06 are read, too. Most keywords mean the same in all dialects. Those that have another form in older
//! dialects are read in both forms, whatever dialect a schema names: `items` as a list, with `additionalItems`, and `dependencies`.
//!
//! Source: JSON Schema 2020-12, Core §§7–10 and Validation §6; draft-07, Core §8.3 and Validation §§6.4–6.5.

use std::ptr;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::budget::{DECIMAL, READ, SUBSCHEMA, Steps};
use super::cycles;
use super::error::SchemaError;
use super::format::Format;
use super::keyword_value::{array, boolean, count, members, must_be, number, positive_number, string, strings, types};
use super::pattern::Pattern;
use super::program::{
    Alternatives, Bound, Enum, Keyword, Measure, Names, ObjectRule, PatternId, Program, Rule, RuleId,
};
use super::references::{References, ResourceId, Subschema};
use super::types::Types;
use crate::limits::{PATTERNS_STATES, SCHEMA_DEPTH};
use edge_json::Kind;

/// The dialects, without the scheme, and whether a `$ref` in them hides all keywords beside it. The first one is the default of the protocol
/// (2025-11-25, basic, "JSON Schema Usage").
const DIALECTS: [(&str, bool); 4] = [
    ("json-schema.org/draft/2020-12/schema", false),
    ("json-schema.org/draft/2019-09/schema", false),
    ("json-schema.org/draft-07/schema", true),
    ("json-schema.org/draft-06/schema", true),
];

/// The vocabularies that a schema may require. The keywords of some of them are enforced. The keywords of the others are annotations.
const VOCABULARIES: [&str; 6] = ["core", "applicator", "validation", "meta-data", "format-annotation", "content"];

/// Keywords about the members of an object. Together they become one [`ObjectRule`], at the position of the first of them.
const OBJECT: [&str; 8] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
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
const UNSUPPORTED: [(&str, &str); 5] = [
    ("$dynamicRef", "use `$ref`"),
    ("$recursiveRef", "it is from an older dialect; use `$ref`"),
    ("unevaluatedProperties", "use `additionalProperties`"),
    ("unevaluatedItems", "use `items` beside `prefixItems`"),
    ("$vocabulary", "it is only for metaschemas"),
];

/// Compiles `schema`. The steps are taken before the work is done and before memory is allocated.
///
/// # Errors
/// The schema is not valid, it uses a keyword that cannot be enforced, or the steps run out.
pub(crate) fn compile(schema: &Value, steps: &mut Steps) -> Result<Program, Box<SchemaError>> {
    read(schema, 0, steps)?;
    let hides_siblings = schema.get("$schema").and_then(dialect).unwrap_or_default();
    let references = References::of(schema, hides_siblings, steps)?;
    let (rules, patterns) = (FxHashMap::default(), FxHashMap::default());
    let mut compiler = Compiler {
        references,
        program: Program::default(),
        subschemas: Vec::new(),
        rules,
        patterns,
        states: 0,
        hides_siblings,
        unsupported: None,
        steps,
    };
    compiler.rule_of(Subschema { schema, resource: 0 });
    // The target of a reference is compiled after the schema that refers to it, because a schema may contain itself.
    let mut next = 0;
    while let Some(subschema) = compiler.subschemas.get(next).copied() {
        let known = compiler.unsupported.take();
        let rule = compiler.schema(subschema).map_err(|error| error.within(schema, subschema.schema))?;
        let found = compiler.unsupported.take().map(|error| error.within(schema, subschema.schema));
        compiler.unsupported = known.or(found);
        if compiler.steps.are_exhausted() {
            return Err(SchemaError::too_costly());
        }
        compiler.program.rules.push(rule);
        next = next.saturating_add(1);
    }
    let Compiler { mut program, subschemas, unsupported, .. } = compiler;
    cycles::check(&program).map_err(|(rule, problem)| {
        let at = subschemas.get(rule).map_or(schema, |subschema| subschema.schema);
        SchemaError::at("", problem).within(schema, at)
    })?;
    if let Some(error) = unsupported {
        return Err(error);
    }
    program.resolve_references();
    program.analyze_alternatives(steps);
    if steps.are_exhausted() { Err(SchemaError::too_costly()) } else { Ok(program) }
}

/// Takes the steps for reading a value with everything in it.
///
/// # Errors
/// The value is nested too deeply, or the steps run out.
fn read(value: &Value, depth: usize, steps: &mut Steps) -> Result<(), Box<SchemaError>> {
    if depth > SCHEMA_DEPTH {
        return Err(SchemaError::at("", format!("schemas are nested deeper than {SCHEMA_DEPTH} levels")));
    }
    if !steps.take(READ) {
        return Err(SchemaError::too_costly());
    }
    let depth = depth.saturating_add(1);
    match value {
        Value::String(text) => drop(steps.take_for_texts([&**text].into_iter())),
        Value::Array(items) => items.iter().try_for_each(|item| read(item, depth, steps))?,
        Value::Object(members) => {
            steps.take_for_texts(members.keys().map(String::as_str));
            members.values().try_for_each(|member| read(member, depth, steps))?;
        }
        Value::Number(_) => drop(steps.take(DECIMAL)),
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

struct Compiler<'s, 'b> {
    references: References<'s>,
    /// The program so far. `rules` has the rules of the first `subschemas`.
    program: Program,
    /// The subschema of each rule.
    subschemas: Vec<Subschema<'s>>,
    /// The rule of each subschema, by its address.
    rules: FxHashMap<*const Value, RuleId>,
    /// The index of each pattern by its source.
    patterns: FxHashMap<&'s str, PatternId>,
    /// The states of all patterns.
    states: usize,
    /// Whether a `$ref` hides all keywords beside it.
    hides_siblings: bool,
    /// The first part of a valid schema that is not supported. The rest of the schema is still read, to find out whether it is valid.
    unsupported: Option<Box<SchemaError>>,
    steps: &'b mut Steps,
}

impl<'s> Compiler<'s, '_> {
    /// Returns the rule of a subschema. A subschema that is not compiled yet is queued.
    #[inline(never)]
    fn rule_of(&mut self, subschema: Subschema<'s>) -> RuleId {
        let address = ptr::from_ref(subschema.schema);
        if let Some(rule) = self.rules.get(&address) {
            return *rule;
        }
        let rule = self.subschemas.len();
        // Without steps, the compilation ends with an error, and the rule is not used.
        if self.steps.take(SUBSCHEMA) {
            let resource = self.references.resource_of(subschema);
            self.subschemas.push(Subschema { resource, ..subschema });
            self.rules.insert(address, rule);
        }
        rule
    }

    fn schema(&mut self, subschema: Subschema<'s>) -> Result<Rule, Box<SchemaError>> {
        match subschema.schema {
            Value::Bool(true) => Ok(Rule { types: Types::ALL, keywords: Vec::new() }),
            Value::Bool(false) => Ok(Rule { types: Types::NONE, keywords: Vec::new() }),
            Value::Object(members) => {
                let object = Object { members, resource: subschema.resource };
                if let Some(reference) = members.get("$ref").filter(|_| self.hides_siblings) {
                    return Ok(Rule { types: Types::ALL, keywords: vec![self.reference(reference, object)?] });
                }
                let types = members.get("type").map_or(Ok(Types::ALL), |names| types(names, "type"))?;
                Ok(Rule { types, keywords: self.keywords(object)? })
            }
            _ => Err(SchemaError::at("", "a schema must be an object or a boolean")),
        }
    }

    fn keywords(&mut self, object: Object<'s>) -> Result<Vec<Keyword>, Box<SchemaError>> {
        let mut keywords = Vec::new();
        let mut has_object = false;
        for (name, value) in object.members {
            let keyword = match name.as_str() {
                "$schema" if dialect(value).is_some() => continue,
                "$schema" => {
                    let problem = format!("the dialect is not supported; use https://{}", DIALECTS[0].0);
                    return Err(SchemaError::of_keyword(name, problem));
                }
                "$vocabulary" if only_known_vocabularies(value) => continue,
                "$ref" => self.reference(value, object)?,
                "enum" => Keyword::Enum(self.constants(array(value, name)?)?),
                "const" => Keyword::Enum(self.constants([value])?),
                "multipleOf" => Keyword::MultipleOf(positive_number(value, name, object.is_float())?),
                "pattern" => match self.pattern(string(value, name)?, name)? {
                    Some(pattern) => Keyword::Pattern(pattern),
                    None => continue,
                },
                "format" => match Format::named(string(value, name)?) {
                    Some(format) => Keyword::Format(format),
                    None => continue,
                },
                "items" if object.members.contains_key("prefixItems") => continue,
                "items" | "prefixItems" => self.items(object)?,
                "contains" => self.contains(value, object)?,
                "uniqueItems" if boolean(value, name)? => Keyword::UniqueItems,
                "type" | "uniqueItems" => continue,
                known if OBJECT.contains(&known) => {
                    if std::mem::replace(&mut has_object, true) {
                        continue;
                    }
                    Keyword::Object(Box::new(self.object(object)?))
                }
                "if" => Keyword::If {
                    condition: self.rule_of(object.subschema(value)),
                    then: self.optional_rule(object, "then"),
                    otherwise: self.optional_rule(object, "else"),
                },
                "allOf" => Keyword::AllOf(self.rules(object, name, value)?),
                "anyOf" => Keyword::AnyOf(Alternatives::of(self.rules(object, name, value)?)),
                "oneOf" => Keyword::OneOf(Alternatives::of(self.rules(object, name, value)?)),
                "not" => Keyword::Not(self.rule_of(object.subschema(value))),
                _ if self.is_unsupported(name, value, object) => continue,
                _ => match by_table(name, value, object.is_float())? {
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

    fn reference(&mut self, value: &Value, object: Object<'s>) -> Result<Keyword, Box<SchemaError>> {
        let target = self.references.resolve(string(value, "$ref")?, object.resource, self.steps)?;
        Ok(Keyword::Reference(self.rule_of(target)))
    }

    /// Returns whether a keyword is not supported, and keeps the error then.
    fn is_unsupported(&mut self, name: &str, value: &'s Value, object: Object<'s>) -> bool {
        let Some((_, instead)) = UNSUPPORTED.iter().find(|(known, _)| *known == name) else { return false };
        self.unsupported(SchemaError::of_keyword(name, format!("`{name}` is not supported: {instead}")));
        if name.starts_with("unevaluated") {
            self.rule_of(object.subschema(value));
        }
        true
    }

    /// Keeps the first part of the schema that is not supported, although it is valid.
    fn unsupported(&mut self, error: Box<SchemaError>) {
        self.unsupported.get_or_insert(error).is_unsupported = true;
    }

    /// Compiles constants. A reference can lead to a constant within a constant, so each of them takes steps of its own.
    fn constants(&mut self, values: impl IntoIterator<Item = &'s Value> + Clone) -> Result<Enum, Box<SchemaError>> {
        values.clone().into_iter().try_for_each(|value| read(value, 0, self.steps))?;
        Ok(Enum::of(values))
    }

    fn optional_rule(&mut self, object: Object<'s>, name: &str) -> Option<RuleId> {
        object.members.get(name).map(|schema| self.rule_of(object.subschema(schema)))
    }

    fn rules(&mut self, object: Object<'s>, name: &str, value: &'s Value) -> Result<Vec<RuleId>, Box<SchemaError>> {
        let schemas = array(value, name)?;
        if schemas.is_empty() {
            return Err(must_be("a non-empty array", name));
        }
        Ok(schemas.iter().map(|schema| self.rule_of(object.subschema(schema))).collect())
    }

    fn rules_by_name(&mut self, object: Object<'s>, name: &str) -> Result<Vec<(&'s str, RuleId)>, Box<SchemaError>> {
        let Some(value) = object.members.get(name) else { return Ok(Vec::new()) };
        let schemas = members(value, name)?.iter();
        Ok(schemas.map(|(name, schema)| (name.as_str(), self.rule_of(object.subschema(schema)))).collect())
    }

    fn items(&mut self, object: Object<'s>) -> Result<Keyword, Box<SchemaError>> {
        // In older dialects, `items` may be the list, and then `additionalItems` is about the other items.
        let is_list = object.members.get("items").is_some_and(Value::is_array);
        let (first, others) = if is_list { ("items", "additionalItems") } else { ("prefixItems", "items") };
        let prefix = object.members.get(first).map(|value| self.rules(object, first, value));
        Ok(Keyword::Items { prefix: prefix.transpose()?.unwrap_or_default(), rest: self.optional_rule(object, others) })
    }

    fn contains(&mut self, schema: &'s Value, object: Object<'s>) -> Result<Keyword, Box<SchemaError>> {
        let bound = |name: &str| object.members.get(name).map(|value| count(value, name)).transpose();
        let (least, most) = (bound("minContains")?.unwrap_or(1), bound("maxContains")?.unwrap_or(u64::MAX));
        Ok(Keyword::Contains { rule: self.rule_of(object.subschema(schema)), least, most })
    }

    /// Compiles all keywords about the members of an object.
    fn object(&mut self, object: Object<'s>) -> Result<ObjectRule, Box<SchemaError>> {
        let properties = self.rules_by_name(object, "properties")?;
        let patterns = self.rules_by_name(object, "patternProperties")?;
        let mut dependent_schemas = self.rules_by_name(object, "dependentSchemas")?;
        let required = object.members.get("required").map_or(Ok(Vec::new()), |names| strings(names, "required"))?;
        let mut dependent_required = Vec::new();
        if let Some(value) = object.members.get("dependentRequired") {
            for (name, names) in members(value, "dependentRequired")? {
                dependent_required.push((name.as_str(), strings(names, "dependentRequired")?));
            }
        }
        if let Some(value) = object.members.get("dependencies") {
            for (name, names_or_schema) in members(value, "dependencies")? {
                match names_or_schema {
                    Value::Array(_) => dependent_required.push((name, strings(names_or_schema, "dependencies")?)),
                    schema => dependent_schemas.push((name, self.rule_of(object.subschema(schema)))),
                }
            }
        }
        let mut names = required.clone();
        names.extend(properties.iter().chain(&dependent_schemas).map(|(name, _)| *name));
        for (name, others) in &dependent_required {
            names.push(*name);
            names.extend_from_slice(others);
        }
        let names = Names::of(names.into_iter().map(str::to_owned).collect());
        let (mut by_id, mut seen) = (vec![None; names.len()], vec![false; names.len()]);
        for (name, rule) in properties {
            if let Some(slot) = names.find(name).and_then(|id| by_id.get_mut(id)) {
                *slot = Some(rule);
            }
        }
        let mut by_pattern = Vec::new();
        for (text, rule) in patterns {
            by_pattern.extend(self.pattern(text, "patternProperties")?.map(|pattern| (pattern, rule)));
        }
        Ok(ObjectRule {
            properties: by_id,
            patterns: by_pattern,
            others: self.optional_rule(object, "additionalProperties"),
            property_names: self.optional_rule(object, "propertyNames"),
            required: names.find_all(&required, &mut seen),
            dependent_required: dependent_required
                .into_iter()
                .filter_map(|(name, others)| Some((names.find(name)?, names.find_all(&others, &mut seen))))
                .collect(),
            dependent_schemas: dependent_schemas
                .iter()
                .filter_map(|(name, rule)| Some((names.find(name)?, *rule)))
                .collect(),
            names,
        })
    }

    /// Compiles a pattern. Equal patterns are compiled only once. Returns `None` for a pattern that is valid, but not supported.
    fn pattern(&mut self, source: &'s str, keyword: &str) -> Result<Option<PatternId>, Box<SchemaError>> {
        if let Some(known) = self.patterns.get(source) {
            return Ok(Some(*known));
        }
        let pattern = match Pattern::new(source, self.steps) {
            Ok(pattern) => pattern,
            Err(problem) => {
                let error = SchemaError::of_keyword(keyword, format!("the pattern `{source}` {}", problem.text));
                if !problem.is_unsupported {
                    return Err(error);
                }
                self.unsupported(error);
                return Ok(None);
            }
        };
        self.states = self.states.saturating_add(pattern.states());
        if self.states > PATTERNS_STATES {
            let problem = format!("all patterns together have more than {PATTERNS_STATES} states");
            return Err(SchemaError::of_keyword(keyword, problem));
        }
        let id = self.program.patterns.len();
        self.program.patterns.push(pattern);
        self.patterns.insert(source, id);
        Ok(Some(id))
    }
}

/// The members of a subschema, and its schema resource.
#[derive(Clone, Copy)]
struct Object<'s> {
    members: &'s Map<String, Value>,
    resource: ResourceId,
}

impl<'s> Object<'s> {
    /// Returns whether the schema has the type `number`, as that of an `f64`.
    fn is_float(self) -> bool {
        let names = self.members.get("type");
        names.is_some_and(|names| types(names, "type").is_ok_and(|types| types.allow(Kind::Number)))
    }

    /// Returns a subschema that is nested in this one.
    fn subschema(self, schema: &'s Value) -> Subschema<'s> {
        Subschema { schema, resource: self.resource }
    }
}

/// Returns whether a `$ref` hides the keywords beside it in a dialect, or `None` for an unknown dialect.
fn dialect(uri: &Value) -> Option<bool> {
    let (_, name) = uri.as_str()?.trim_end_matches('#').split_once("://")?;
    DIALECTS.iter().find(|(known, _)| *known == name).map(|(_, hides_siblings)| *hides_siblings)
}

/// Returns the limits of an earlier keyword with the same measure. The two keywords are merged, so the check counts only once.
fn size_of(keywords: &mut [Keyword], measure: Measure) -> Option<(&mut u64, &mut u64)> {
    keywords.iter_mut().find_map(|keyword| match keyword {
        Keyword::Size(known, least, most) if *known == measure => Some((least, most)),
        _ => None,
    })
}

/// Compiles a keyword of the tables above. Returns `None` for an annotation.
fn by_table(name: &str, value: &Value, is_float: bool) -> Result<Option<Keyword>, Box<SchemaError>> {
    if let Some((_, bound)) = BOUNDS.iter().find(|(known, _)| *known == name) {
        return Ok(Some(Keyword::Bound(*bound, number(value, name, is_float)?)));
    }
    let Some((_, measure, is_least)) = SIZES.iter().find(|(known, _, _)| *known == name) else { return Ok(None) };
    let size = count(value, name)?;
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
