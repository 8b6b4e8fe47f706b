//! Random schemas. They are small and valid, and their references never form a cycle that does not consume input.

use serde_json::{Map, Value, json};

use crate::random::Random;
use crate::values::{self, Numbers};

/// The names of definitions, with their references.
pub(crate) const DEFINITIONS: [(&str, &str); 4] =
    [("a", "#/$defs/a"), ("x/y", "#/$defs/x~1y"), ("é ~", "#/$defs/%C3%A9%20~0"), ("named", "#name")];
/// The anchor of the last definition.
const ANCHOR: &str = "name";

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Patterns with the same meaning in both engines. Each has strings, some of which match.
pub(crate) const PATTERNS: [(&str, [&str; 3]); 14] = [
    ("^a", ["a", "abc", "ba"]),
    ("b$", ["b", "ab", "bc"]),
    ("^[a-c]*$", ["", "abc", "abd"]),
    ("x|y", ["x-1", "y", "a"]),
    (r"^\d+$", ["0", "2026", "\u{663}"]),
    (r"^\w+$", ["a_1", "A", "é"]),
    (r"^\S+$", ["a-b", "é", "a\u{a0}b"]),
    (r"\s", ["a b", "\u{2003}", "ab"]),
    ("^.$", ["a", "😀", "\n"]),
    ("[^a]", ["b", "aab", "aaa"]),
    ("^(ab)+$", ["ab", "abab", "aba"]),
    ("^.{2,3}$", ["ab", "é😀", "abcd"]),
    (r"^\d{4}-\d{2}$", ["2026-07", "1999-12", "2026-7"]),
    (r"\u00e9|^$", ["é", "", "e"]),
];

/// Values of `multipleOf` with a fraction.
const DECIMALS: [f64; 5] = [0.01, 0.1, 0.5, 1.5, 2.5];

/// Creates a schema, and selects the numbers for its values. The other engine rounds numbers that an `f64` cannot represent, so decimal
/// multiples occur only with small numbers.
pub(crate) fn schema(random: &mut Random) -> (Value, Numbers) {
    let numbers = if random.once_in(4) { Numbers::Large } else { Numbers::Small };
    let depth = random.below(3).saturating_add(1);
    let mut maker = Maker { random, numbers, refers: false };
    let mut schema = maker.schema(Place { depth, first: 0, is_inside: false });
    if let Value::Object(object) = &mut schema
        && maker.refers
    {
        let definitions = (1..).zip(DEFINITIONS).map(|(next, (name, _))| {
            let place = Place { depth: maker.random.below(2).saturating_add(1), first: next, is_inside: false };
            (name.to_owned(), maker.definition(name, place))
        });
        object.insert("$defs".to_owned(), Value::Object(definitions.collect()));
    }
    (schema, numbers)
}

/// The position of a nested schema.
#[derive(Clone, Copy)]
struct Place {
    /// The remaining depth.
    depth: usize,
    /// The index of the first definition that the schema may refer to. Earlier definitions may refer back to the schema.
    first: usize,
    /// Whether the schema applies to a part of the value. Then it may refer to every definition, and to the root.
    is_inside: bool,
}

impl Place {
    /// Returns the position of a nested schema for the same value.
    fn beside(self) -> Self {
        Self { depth: self.depth.saturating_sub(1), ..self }
    }

    /// Returns the position of a nested schema for a part of the value.
    fn inside(self) -> Self {
        Self { is_inside: true, ..self.beside() }
    }
}

struct Maker<'r> {
    random: &'r mut Random,
    numbers: Numbers,
    /// Whether the schema refers to a definition.
    refers: bool,
}

type Properties = Vec<(String, Value)>;

impl Maker<'_> {
    fn schema(&mut self, place: Place) -> Value {
        if self.random.once_in(12) {
            return Value::Bool(!self.random.once_in(3));
        }
        let mut members = Properties::new();
        let groups = if self.random.once_in(3) { 2 } else { 1 };
        for _ in 0..groups {
            self.group(place, &mut members);
        }
        if self.random.once_in(8) {
            self.annotation(&mut members);
        }
        // If a keyword occurs twice, the last value applies. The order of keywords does not matter, so it is random.
        let mut object = Map::new();
        while !members.is_empty() {
            let (name, value) = members.swap_remove(self.random.below(members.len()));
            object.insert(name, value);
        }
        Value::Object(object)
    }

    /// Creates the schema of a definition, with the anchor if it is the last one.
    fn definition(&mut self, name: &str, place: Place) -> Value {
        let schema = self.schema(place);
        match schema {
            Value::Object(mut object) if name == "named" => {
                object.insert("$anchor".to_owned(), ANCHOR.into());
                Value::Object(object)
            }
            schema if name == "named" => json!({ "$anchor": ANCHOR, "allOf": [schema] }),
            schema => schema,
        }
    }

    /// Adds a group of related keywords.
    fn group(&mut self, place: Place, members: &mut Properties) {
        let is_deepest = place.depth == 0;
        let (kind, own): (&[&str], Properties) = match self.random.below(if is_deepest { 6 } else { 16 }) {
            0 => (&[], self.choice()),
            1 => (&["number", "integer"], self.number_keywords()),
            2 => (&["string"], self.string_keywords()),
            3 => (&TYPES, Properties::new()),
            4 | 5 => (&[], self.reference(place)),
            6..=8 => (&["array"], self.array_keywords(place)),
            9..=12 => (&["object"], self.object_keywords(place)),
            _ => (&[], self.combination(place)),
        };
        members.extend(own);
        if !kind.is_empty() && !self.random.once_in(4) {
            let kinds: Value = match self.random.below(4) {
                0 => [self.random.one(kind), self.random.one(&TYPES)].into_iter().collect(),
                _ => self.random.one(kind).into(),
            };
            // A list must not contain a type twice.
            let is_repeated = kinds.as_array().is_some_and(|kinds| kinds.first() == kinds.last());
            members.push(("type".to_owned(), if is_repeated { kinds[0].clone() } else { kinds }));
        }
    }

    /// Adds a keyword that does not affect the verdict.
    fn annotation(&mut self, members: &mut Properties) {
        let (name, value) = match self.random.below(8) {
            0 => ("title", json!("A title")),
            1 => ("default", json!({ "type": "string" })),
            2 => ("format", json!("email")),
            3 => ("x-unknown", json!([{ "not": {} }])),
            4 => ("then", json!(false)),
            5 => ("minContains", json!(2)),
            6 => ("uniqueItems", json!(false)),
            _ => ("contentMediaType", json!("application/json")),
        };
        if members.iter().all(|(known, _)| known != name) {
            members.push((name.to_owned(), value));
        }
    }

    /// Adds a keyword with a probability of one in `times`.
    fn maybe(&mut self, times: usize, name: &str, make: impl FnOnce(&mut Self) -> Value, members: &mut Properties) {
        if self.random.once_in(times) {
            let value = make(self);
            members.push((name.to_owned(), value));
        }
    }

    fn choice(&mut self) -> Properties {
        let numbers = self.numbers;
        let (name, value) = if self.random.once_in(2) {
            let count = self.random.below(3).saturating_add(1);
            let choices: Vec<_> = (0..count).map(|_| values::any(self.random, 2, numbers)).collect();
            ("enum", Value::Array(choices))
        } else {
            ("const", values::any(self.random, 2, numbers))
        };
        vec![(name.to_owned(), value)]
    }

    fn number_keywords(&mut self) -> Properties {
        let (mut members, numbers) = (Properties::new(), self.numbers);
        for name in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
            self.maybe(3, name, |maker| values::number(maker.random, numbers), &mut members);
        }
        let multiple = |maker: &mut Self| match numbers {
            Numbers::Small if maker.random.once_in(2) => json!(DECIMALS[maker.random.below(DECIMALS.len())]),
            _ => json!(maker.random.below(5).saturating_add(1)),
        };
        self.maybe(2, "multipleOf", multiple, &mut members);
        members
    }

    fn string_keywords(&mut self) -> Properties {
        let mut members = Properties::new();
        self.maybe(2, "minLength", |maker| maker.size(3), &mut members);
        self.maybe(2, "maxLength", |maker| maker.size(4), &mut members);
        self.maybe(2, "pattern", |maker| maker.pattern().into(), &mut members);
        members
    }

    /// Creates a size, sometimes with a fraction such as `2.0`.
    fn size(&mut self, most: usize) -> Value {
        let size = u32::try_from(self.random.below(most.saturating_add(1))).unwrap_or_default();
        if self.random.once_in(8) { f64::from(size).into() } else { size.into() }
    }

    fn pattern(&mut self) -> &'static str {
        PATTERNS[self.random.below(PATTERNS.len())].0
    }

    fn reference(&mut self, place: Place) -> Properties {
        let open = if place.is_inside { 0 } else { place.first };
        let count = DEFINITIONS.len().saturating_sub(open);
        let whole = usize::from(place.is_inside);
        if count.saturating_add(whole) == 0 {
            return self.choice();
        }
        let chosen = self.random.below(count.saturating_add(whole));
        let known = DEFINITIONS.get(open.saturating_add(chosen)).map(|(_, reference)| *reference);
        self.refers |= known.is_some();
        vec![("$ref".to_owned(), known.unwrap_or("#").into())]
    }

    fn list(&mut self, place: Place) -> Value {
        let count = self.random.below(3).saturating_add(1);
        (0..count).map(|_| self.schema(place)).collect()
    }

    fn array_keywords(&mut self, place: Place) -> Properties {
        let (mut members, inside) = (Properties::new(), place.inside());
        self.maybe(3, "prefixItems", |maker| maker.list(inside), &mut members);
        self.maybe(2, "items", |maker| maker.schema(inside), &mut members);
        self.maybe(5, "minItems", |maker| maker.size(2), &mut members);
        self.maybe(5, "maxItems", |maker| maker.size(4), &mut members);
        self.maybe(4, "uniqueItems", |_| true.into(), &mut members);
        if self.random.once_in(3) {
            let contained = self.schema(inside);
            members.push(("contains".to_owned(), contained));
            self.maybe(2, "minContains", |maker| maker.size(2), &mut members);
            self.maybe(2, "maxContains", |maker| maker.size(2), &mut members);
        }
        members
    }

    fn name(&mut self) -> String {
        values::name(self.random).to_owned()
    }

    /// Creates names without duplicates.
    fn names(&mut self) -> Value {
        let mut names: Vec<_> = (0..self.random.below(3)).map(|_| self.name()).collect();
        names.sort();
        names.dedup();
        names.into()
    }

    fn by_name(&mut self, place: Place) -> Value {
        let count = self.random.below(3).saturating_add(1);
        Value::Object((0..count).map(|_| (self.name(), self.schema(place))).collect())
    }

    fn object_keywords(&mut self, place: Place) -> Properties {
        let (mut members, inside) = (Properties::new(), place.inside());
        let by_pattern = |maker: &mut Self| {
            let pattern = maker.pattern().to_owned();
            Value::Object([(pattern, maker.schema(inside))].into_iter().collect())
        };
        let required = |maker: &mut Self| {
            let (given, names) = (maker.name(), maker.names());
            Value::Object([(given, names)].into_iter().collect())
        };
        self.maybe(2, "properties", |maker| maker.by_name(inside), &mut members);
        self.maybe(4, "patternProperties", by_pattern, &mut members);
        self.maybe(4, "additionalProperties", |maker| maker.schema(inside), &mut members);
        self.maybe(6, "propertyNames", |maker| maker.schema(inside), &mut members);
        self.maybe(3, "required", Self::names, &mut members);
        self.maybe(6, "dependentRequired", required, &mut members);
        self.maybe(6, "dependentSchemas", |maker| maker.by_name(place.beside()), &mut members);
        self.maybe(6, "minProperties", |maker| maker.size(2), &mut members);
        self.maybe(6, "maxProperties", |maker| maker.size(3), &mut members);
        members
    }

    fn combination(&mut self, place: Place) -> Properties {
        let beside = place.beside();
        let mut members = Properties::new();
        match self.random.below(5) {
            0 => members.push(("allOf".to_owned(), self.list(beside))),
            1 => members.push(("anyOf".to_owned(), self.list(beside))),
            2 => members.push(("oneOf".to_owned(), self.list(beside))),
            3 => members.push(("not".to_owned(), self.schema(beside))),
            _ => {
                members.push(("if".to_owned(), self.schema(beside)));
                self.maybe(2, "then", |maker| maker.schema(beside), &mut members);
                self.maybe(2, "else", |maker| maker.schema(beside), &mut members);
            }
        }
        members
    }
}
