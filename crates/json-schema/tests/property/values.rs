//! Random values that almost match a schema: they are built from its keywords, and some are then changed a little.

use serde_json::{Map, Value, json};

use crate::random::Random;
use crate::schemas::{DEFINITIONS, PATTERNS};

/// The range of the numbers in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Numbers whose text does not change if they are converted to `f64`.
    Small,
    /// Also 64-bit integers. Schemas with such numbers do not have decimal multiples.
    Large,
}

/// Integers around the limits of `f64` and of 64-bit integers.
const LARGE: [i128; 8] = [
    9_007_199_254_740_991,
    9_007_199_254_740_992,
    9_007_199_254_740_993,
    9_223_372_036_854_775_807,
    9_223_372_036_854_775_808,
    18_446_744_073_709_551_615,
    -9_007_199_254_740_993,
    -9_223_372_036_854_775_808,
];

/// Names of properties. Some are also keywords.
const NAMES: [&str; 12] = ["a", "b", "c", "ab", "x-1", "é", "a/b", "", "items", "$ref", "enum", "2026"];

const STRINGS: [&str; 16] =
    ["", "a", "b", "ab", "abc", "aaaa", "x-1", "2026-07", "é", "e\u{301}", "😀", "😀a😀", "a b", "A", "\n\"\\", "1"];

/// The types, with the keywords that apply to them.
const KEYWORDS_BY_TYPE: [(&str, &[&str]); 4] = [
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ("string", &["minLength", "maxLength", "pattern"]),
    ("array", &["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"]),
    (
        "object",
        &[
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "dependentRequired",
            "dependentSchemas",
            "minProperties",
            "maxProperties",
        ],
    ),
];

pub(crate) fn name(random: &mut Random) -> &'static str {
    random.one(&NAMES)
}

fn small_integer(random: &mut Random) -> i64 {
    i64::try_from(random.below(16)).unwrap_or_default().saturating_sub(3)
}

fn hundredths(of: i64) -> Value {
    let of = i32::try_from(of).unwrap_or_default();
    json!(f64::from(of) / 100.0)
}

pub(crate) fn number(random: &mut Random, numbers: Numbers) -> Value {
    match random.below(8) {
        0 if numbers == Numbers::Large => integer(*one(random, &LARGE)),
        0..=1 => hundredths(i64::try_from(random.below(1_500)).unwrap_or_default().saturating_sub(300)),
        2 => json!(f64::from(i32::try_from(small_integer(random)).unwrap_or_default()) / 2.0),
        _ => small_integer(random).into(),
    }
}

/// Converts to a 64-bit integer, or to `null` if it does not fit.
fn integer(number: i128) -> Value {
    let unsigned = || u64::try_from(number).map(Value::from);
    i64::try_from(number).map(Value::from).or_else(|_| unsigned()).unwrap_or(Value::Null)
}

fn string(random: &mut Random) -> Value {
    random.one(&STRINGS).into()
}

/// Creates any value of at most this depth.
pub(crate) fn any(random: &mut Random, depth: usize, numbers: Numbers) -> Value {
    match random.below(if depth == 0 { 8 } else { 10 }) {
        0 => Value::Null,
        1 => random.once_in(2).into(),
        2..=4 => number(random, numbers),
        5..=7 => string(random),
        8 => (0..random.below(4)).map(|_| any(random, depth.saturating_sub(1), numbers)).collect(),
        _ => {
            let members = (0..random.below(4)).map(|_| {
                let name = name(random).to_owned();
                (name, any(random, depth.saturating_sub(1), numbers))
            });
            Value::Object(members.collect())
        }
    }
}

/// Creates a value that matches `schema`, or almost does.
pub(crate) fn near(schema: &Value, random: &mut Random, numbers: Numbers) -> Value {
    let mut near = Near { root: schema, random, numbers };
    let mut value = near.value(&[schema], 3);
    while near.random.once_in(3) {
        near.alter(&mut value);
    }
    value
}

struct Near<'s, 'r> {
    root: &'s Value,
    random: &'r mut Random,
    numbers: Numbers,
}

type Object = Map<String, Value>;

impl<'s> Near<'s, '_> {
    /// Collects the subschemas that a value should match at the same time. Of alternatives, it selects one.
    fn parts(&mut self, schema: &'s Value, parts: &mut Vec<&'s Object>) {
        let Value::Object(object) = schema else { return };
        parts.push(object);
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    if let Some(schema) = self.referred(reference) {
                        self.parts(schema, parts);
                    }
                }
                ("allOf", Value::Array(schemas)) => schemas.iter().for_each(|schema| self.parts(schema, parts)),
                ("anyOf" | "oneOf", Value::Array(schemas)) => {
                    let schema = one(self.random, schemas);
                    self.parts(schema, parts);
                }
                ("then" | "else", schema) if object.contains_key("if") && self.random.once_in(2) => {
                    self.parts(schema, parts);
                }
                ("if", schema) if !self.random.once_in(3) => self.parts(schema, parts),
                ("not", schema) if self.random.once_in(2) => self.parts(schema, parts),
                ("dependentSchemas", Value::Object(schemas)) if self.random.once_in(2) => {
                    schemas.values().for_each(|schema| self.parts(schema, parts));
                }
                _ => {}
            }
        }
    }

    /// Returns the target of a reference.
    fn referred(&self, reference: &str) -> Option<&'s Value> {
        if reference == "#" {
            return Some(self.root);
        }
        let (name, _) = DEFINITIONS.iter().find(|(_, known)| *known == reference)?;
        self.root.get("$defs")?.get(name)
    }

    /// Creates a value for all of these schemas.
    fn value(&mut self, schemas: &[&'s Value], depth: usize) -> Value {
        let mut parts = Vec::new();
        for schema in schemas {
            self.parts(schema, &mut parts);
        }
        let chosen: Vec<&Value> = values_of(&parts, "const").chain(values_of(&parts, "enum").flat_map(items)).collect();
        if !chosen.is_empty() && !self.random.once_in(6) {
            return (*one(self.random, &chosen)).clone();
        }
        match self.kind(&parts) {
            "null" => Value::Null,
            "boolean" => self.random.once_in(2).into(),
            "integer" | "number" => self.number(&parts),
            "string" => self.string(&parts),
            "array" => self.array(&parts, depth),
            "object" => self.object(&parts, depth),
            _ => any(self.random, depth.min(2), self.numbers),
        }
    }

    /// Selects a type that all subschemas allow, or else a type to which their keywords apply.
    fn kind(&mut self, parts: &[&'s Object]) -> &'s str {
        let allowed: Vec<Vec<&str>> = values_of(parts, "type").map(|kind| texts(kind).collect()).collect();
        let is_allowed = |kind: &&str| allowed.iter().all(|kinds| kinds.contains(kind));
        let allowed: Vec<_> = allowed.iter().flatten().copied().filter(is_allowed).collect();
        let has_keyword = |keywords: &[&str]| keywords.iter().any(|keyword| values_of(parts, keyword).next().is_some());
        let implied = KEYWORDS_BY_TYPE.iter().filter(|(_, keywords)| has_keyword(keywords));
        let implied: Vec<_> = implied.map(|(kind, _)| *kind).collect();
        let ignores_type = allowed.is_empty() || (!implied.is_empty() && self.random.once_in(8));
        let kinds = if ignores_type { implied } else { allowed };
        if kinds.is_empty() || self.random.once_in(16) { "any" } else { self.random.one(&kinds) }
    }

    /// Creates a number at or near a bound, or a multiple.
    fn number(&mut self, parts: &[&'s Object]) -> Value {
        let bounds: Vec<_> = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
            .into_iter()
            .flat_map(|name| values_of(parts, name))
            .collect();
        let steps: Vec<_> = values_of(parts, "multipleOf").filter_map(Value::as_f64).collect();
        match self.random.below(4) {
            0 | 1 if !bounds.is_empty() => {
                let bound = *one(self.random, &bounds);
                self.beside(bound)
            }
            0..=2 if !steps.is_empty() => {
                // Steps have at most two digits after the point, so the multiple in hundredths is exact.
                #[expect(clippy::cast_possible_truncation)]
                let step = (*one(self.random, &steps) * 100.0).round() as i64;
                let times = small_integer(self.random);
                let sum = step.saturating_mul(times);
                if sum % 100 == 0 { (sum / 100).into() } else { hundredths(sum) }
            }
            _ => number(self.random, self.numbers),
        }
    }

    /// Returns the number, or one that is a little smaller or larger.
    fn beside(&mut self, number: &Value) -> Value {
        let by = i64::try_from(self.random.below(3)).unwrap_or_default().saturating_sub(1);
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match (whole, number.as_f64()) {
            (Some(whole), _) => match integer(whole.saturating_add(by.into())) {
                Value::Null => number.clone(),
                moved => moved,
            },
            #[expect(clippy::cast_possible_truncation)]
            (None, Some(fraction)) => hundredths(((fraction * 100.0).round() as i64).saturating_add(by)),
            (None, None) => number.clone(),
        }
    }

    /// Creates a string for one of the patterns, or with about the required length.
    fn string(&mut self, parts: &[&'s Object]) -> Value {
        let patterns: Vec<_> = values_of(parts, "pattern").filter_map(Value::as_str).collect();
        if !patterns.is_empty() && !self.random.once_in(4) {
            let pattern = self.random.one(&patterns);
            return self.matching(pattern).into();
        }
        let sizes: Vec<_> = ["minLength", "maxLength"].into_iter().flat_map(|name| values_of(parts, name)).collect();
        if sizes.is_empty() || self.random.once_in(4) {
            return string(self.random);
        }
        let size = *one(self.random, &sizes);
        let size = self.near_size(size);
        (0..size).map(|_| self.random.one(&["a", "b", "é", "😀"])).collect::<String>().into()
    }

    fn matching(&mut self, pattern: &str) -> &'static str {
        let known = PATTERNS.iter().find(|(known, _)| *known == pattern);
        known.map_or("", |(_, strings)| self.random.one(strings))
    }

    fn near_size(&mut self, size: &Value) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let size = size.as_f64().unwrap_or_default() as usize;
        match self.random.below(4) {
            0 => size.saturating_add(1),
            1 => size.saturating_sub(1),
            _ => size,
        }
    }

    fn array(&mut self, parts: &[&'s Object], depth: usize) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return json!([]) };
        let sizes: Vec<_> = ["minItems", "maxItems", "minContains", "maxContains"]
            .into_iter()
            .flat_map(|name| values_of(parts, name))
            .collect();
        let longest = values_of(parts, "prefixItems").map(|prefix| items(prefix).count()).max().unwrap_or_default();
        let size = match self.random.below(3) {
            0 if !sizes.is_empty() => {
                let size = *one(self.random, &sizes);
                self.near_size(size)
            }
            1 => longest.saturating_add(self.random.below(2)),
            _ => self.random.below(4),
        };
        let mut array: Vec<Value> = Vec::new();
        for nth in 0..size {
            if nth > 0 && self.random.once_in(8) {
                array.push(array[self.random.below(nth)].clone());
                continue;
            }
            let mut schemas: Vec<&Value> = Vec::new();
            for part in parts {
                let prefix = part.get("prefixItems").into_iter().flat_map(items).nth(nth);
                schemas.extend(prefix.or_else(|| part.get("items")));
                schemas.extend(part.get("contains").filter(|_| !self.random.once_in(3)));
            }
            array.push(self.value(&schemas, depth));
        }
        array.into()
    }

    fn object(&mut self, parts: &[&'s Object], depth: usize) -> Value {
        let mut object = Object::new();
        let Some(depth) = depth.checked_sub(1) else { return object.into() };
        let mut open = self.names(parts);
        while !open.is_empty() {
            let name = open.swap_remove(self.random.below(open.len()));
            let mut schemas: Vec<&Value> = Vec::new();
            for part in parts {
                let named = part.get("properties").and_then(|properties| properties.get(&name));
                schemas.extend(named.or_else(|| part.get("additionalProperties")));
                schemas.extend(
                    members(part, "patternProperties").map(|(_, schema)| schema).filter(|_| self.random.once_in(2)),
                );
            }
            object.insert(name, self.value(&schemas, depth));
        }
        object.into()
    }

    /// Selects most of the names in the keywords, and sometimes other names.
    fn names(&mut self, parts: &[&'s Object]) -> Vec<String> {
        let mut names = Vec::new();
        for part in parts {
            for keyword in ["properties", "dependentRequired", "dependentSchemas"] {
                names.extend(members(part, keyword).map(|(name, _)| name.clone()).filter(|_| !self.random.once_in(3)));
            }
            let dependents = members(part, "dependentRequired").flat_map(|(_, names)| texts(names));
            let required = part.get("required").into_iter().flat_map(texts).chain(dependents);
            names.extend(required.map(str::to_owned).filter(|_| !self.random.once_in(8)));
            for (pattern, _) in members(part, "patternProperties") {
                names.push(self.matching(pattern).to_owned());
            }
            if let Some(schema) = part.get("propertyNames") {
                names.extend(self.value(&[schema], 0).as_str().map(str::to_owned));
            }
        }
        names.extend((0..self.random.below(2)).map(|_| name(self.random).to_owned()));
        names
    }

    /// Changes one part of the value.
    fn alter(&mut self, value: &mut Value) {
        let goes_deeper = !self.random.once_in(3);
        match value {
            Value::Array(items) if goes_deeper && !items.is_empty() => {
                let nth = self.random.below(items.len());
                self.alter(&mut items[nth]);
            }
            Value::Object(members) if goes_deeper && !members.is_empty() => {
                let nth = self.random.below(members.len());
                if let Some(member) = members.values_mut().nth(nth) {
                    self.alter(member);
                }
            }
            Value::Array(items) => match self.random.below(3) {
                0 if !items.is_empty() => drop(items.remove(self.random.below(items.len()))),
                1 if !items.is_empty() => items.push(one(self.random, items).clone()),
                _ => items.push(any(self.random, 1, self.numbers)),
            },
            Value::Object(members) => {
                let known = members.keys().nth(self.random.below(members.len().max(1))).cloned();
                match known.filter(|_| self.random.once_in(2)) {
                    Some(name) => drop(members.shift_remove(&name)),
                    None => drop(members.insert(name(self.random).to_owned(), any(self.random, 1, self.numbers))),
                }
            }
            Value::Number(_) if goes_deeper => *value = self.beside(value),
            Value::String(text) if goes_deeper => {
                if text.pop().is_none() || self.random.once_in(2) {
                    text.push_str(self.random.one(&["a", "b", "é", "😀", " "]));
                }
            }
            value => *value = any(self.random, 1, self.numbers),
        }
    }
}

/// Iterates over the values of a keyword in all parts.
fn values_of<'s>(parts: &[&'s Object], keyword: &str) -> impl Iterator<Item = &'s Value> {
    parts.iter().filter_map(move |part| part.get(keyword))
}

/// Iterates over the members of the object under a keyword.
fn members<'s>(part: &'s Object, keyword: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    part.get(keyword).and_then(Value::as_object).into_iter().flatten()
}

/// Iterates over the texts of a list, or returns a single text.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_str().into_iter().chain(items(value).filter_map(Value::as_str))
}

/// Selects an element of a non-empty slice.
pub(crate) fn one<'a, T>(random: &mut Random, of: &'a [T]) -> &'a T {
    &of[random.below(of.len())]
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Writes the value as JSON in a random spelling: `1`, `1.0` and `10e-1` are the same number.
pub(crate) fn spelled(value: &Value, random: &mut Random) -> String {
    let mut text = String::new();
    spell(value, random, &mut text);
    text
}

fn spell(value: &Value, random: &mut Random, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) => text.push_str(&value.to_string()),
        Value::Number(number) => text.push_str(&spelled_number(number, random)),
        Value::String(string) => spell_string(string, random, text),
        Value::Array(items) => {
            text.push('[');
            for (nth, item) in items.iter().enumerate() {
                text.push_str(if nth == 0 { "" } else { "," });
                spell(item, random, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (nth, (name, member)) in members.iter().enumerate() {
                text.push_str(if nth == 0 { "" } else { ", " });
                spell_string(name, random, text);
                text.push(':');
                spell(member, random, text);
            }
            text.push('}');
        }
    }
}

fn spelled_number(number: &serde_json::Number, random: &mut Random) -> String {
    let plain = number.to_string();
    // Other spellings of a long number would be rounded by the reader.
    if plain.len() > 10 || random.once_in(2) {
        return plain;
    }
    match (number.as_i64(), random.below(4)) {
        (Some(0), 0) => "-0".to_owned(),
        (Some(_), 0) => format!("{plain}.0"),
        (Some(1..), 1) => format!("{plain}0e-1"),
        (Some(_), 2) | (None, 1) => format!("{plain}e0"),
        (Some(whole), _) if whole % 10 == 0 => format!("{}E+1", whole / 10),
        (None, 0) => format!("{plain}0"),
        (None, _) => match plain.split_once('.') {
            // `0.5` would become `05e-1`, and JSON does not allow a leading zero.
            Some((whole, fraction)) if !whole.ends_with('0') => format!("{whole}{fraction}e-{}", fraction.len()),
            _ => plain,
        },
        _ => plain,
    }
}

fn spell_string(string: &str, random: &mut Random, text: &mut String) {
    let plain = Value::from(string).to_string();
    let first = string.chars().next().filter(|first| random.once_in(6) && first.is_ascii_alphanumeric());
    match first {
        Some(first) => {
            let rest = plain.get(2..).unwrap_or_default();
            text.extend([format!("\"\\u{:04x}", u32::from(first)).as_str(), rest]);
        }
        None => text.push_str(&plain),
    }
}
