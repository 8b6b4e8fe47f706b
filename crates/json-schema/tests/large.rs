//! Schemas with values that are as large, or as hard to check, as the limits of a request allow.
//!
//! - `full`: valid values for the schemas of real tools. Each has 4 MiB or 500 000 values, whichever is reached first.
//! - `hard`: values that take as much work as possible. Each of them tests one part of the check.

use serde_json::{Map, Value, json};

/// The limits of bytes and values in a body, minus room for the parts of the body around the value.
const BYTES: usize = (4 << 20) - 1_000;
const VALUES: usize = 499_000;

/// A schema with a value.
pub struct Large {
    pub name: String,
    pub schema: Value,
    pub value: String,
}

fn large(name: impl Into<String>, schema: Value, value: impl Into<String>) -> Large {
    Large { name: name.into(), schema, value: value.into() }
}

/// Joins parts with commas, as many as fit into `bytes` and `VALUES`. `part` returns a text and the number of values in it.
fn filled(bytes: usize, part: impl Fn(usize) -> (String, usize)) -> String {
    let (mut text, mut values) = (String::new(), 0);
    for nth in 0.. {
        let (part, count) = part(nth);
        values += count;
        if text.len() + part.len() + 1 > bytes || values > VALUES {
            break;
        }
        if nth > 0 {
            text.push(',');
        }
        text.push_str(&part);
    }
    text
}

/// Returns the schema of a real tool and its valid value, in which `text` replaces the value at `path`.
fn tool(name: &str, path: &str, text: &str) -> Large {
    let files = [
        include_str!("schemas/calendar_tool.json"),
        include_str!("schemas/filter_query.json"),
        include_str!("schemas/http_operation.json"),
        include_str!("schemas/issue_tool.json"),
        include_str!("schemas/package_manifest.json"),
        include_str!("schemas/everything.json"),
    ];
    let cases = files.iter().flat_map(|file| serde_json::from_str::<Vec<Value>>(file).expect("a list"));
    let mut case = cases.into_iter().find(|case| case["name"] == name).expect("a case with that name");
    *case.pointer_mut(&format!("/valid{path}")).expect("a value at the path") = json!("@here@");
    large(name, case["schema"].take(), case["valid"].to_string().replace("\"@here@\"", text))
}

/// Returns valid values of about `bytes` for the schemas of real tools. `seed` varies them.
pub fn fitting(bytes: usize, seed: usize) -> Vec<Large> {
    const FILTERS: [(&str, usize); 5] = [
        (r#"{"field":"customer.country","op":"eq","value":"DE"}"#, 7),
        (r#"{"field":"total","op":"between","range":[100,250.5]}"#, 9),
        (r#"{"field":"state","op":"in","values":["open","held",null]}"#, 10),
        (r#"{"not":{"field":"vip","op":"ne","value":true}}"#, 9),
        (r#"{"or":[{"field":"a","op":"lt","value":1},{"field":"b_c","op":"ge","value":-2.5}]}"#, 17),
    ];
    let bytes = bytes.saturating_sub(2_000);
    let filter = |nth: usize| {
        let (text, values) = FILTERS[(nth + seed) % FILTERS.len()];
        (text.to_owned(), values)
    };
    let property = |nth: usize| {
        let state = r#"{"type":"string","enum":["open","closed"],"description":"The state of it, at the time"}"#;
        let text = format!(
            r#""p{nth}":{{"type":"object","properties":{{"state":{state},"s{seed}":{{"type":"array","items":{state}}}}}}}"#
        );
        (text, 28)
    };
    let package = |nth: usize| match (nth + seed) % 3 {
        0 => (format!(r#""pack{nth}":{{"version":"~2.0.{nth}","optional":true,"features":["fast","small"]}}"#), 10),
        _ => (format!(r#""@scope/package-{nth}":"^{nth}.2.{seed}""#), 2),
    };
    let characters = (bytes / 27).min(16_000);
    let body = r"x\ud83d\ude00\u00e9\n".repeat(characters);
    let location = "Room 7, ".repeat(bytes / 8);
    vec![
        tool("calendar tool", "/location", &format!("\"{location}\"")),
        tool("filter query", "/where", &format!("{{\"and\":[{}]}}", filled(bytes, filter))),
        tool(
            "HTTP operation",
            "/requestBody/content/application~1json/schema/properties",
            &format!("{{{}}}", filled(bytes, property)),
        ),
        tool("issue tool", "/body", &format!("\"{body}\"")),
        tool("package manifest", "/dependencies", &format!("{{{}}}", filled(bytes, package))),
    ]
}

/// Returns valid values that fill a body.
pub fn full() -> Vec<Large> {
    let mut all = fitting(BYTES, 0);
    // The sixth file. Most of its schemas accept one or two numbers.
    let add = tool("add", "/a", &format!("1{}", " ".repeat(BYTES)));
    all.push(add);
    all
}

/// Returns values of at most `bytes` that are hard to check. Some are invalid, and some exceed the limit of steps.
pub fn hard(bytes: usize) -> Vec<Large> {
    let bytes = bytes.min(BYTES);
    [alternatives(bytes), wide_objects(bytes), lists(bytes), scalars(bytes), patterns(bytes)]
        .into_iter()
        .flatten()
        .collect()
}

fn list(keywords: Value) -> Value {
    json!({ "type": "object", "properties": { "t": merged(json!({ "type": "array" }), keywords) } })
}

fn of_list(bytes: usize, part: impl Fn(usize) -> (String, usize)) -> String {
    format!("{{\"t\":[{}]}}", filled(bytes, part))
}

fn same(text: &'static str) -> impl Fn(usize) -> (String, usize) {
    move |_| (text.to_owned(), 1)
}

fn scalar(keywords: Value) -> Value {
    json!({ "type": "object", "properties": { "n": keywords } })
}

fn alternatives(bytes: usize) -> Vec<Large> {
    let colours: Vec<_> =
        "ABCDEFGH".chars().map(|name| json!({ "const": name.to_string(), "description": "A colour." })).collect();
    let colours = list(json!({ "items": { "oneOf": colours } }));
    let filter = r#"{"field":"customer.country","op":"eq","value":"DE"}"#;
    let filters = filled(bytes - 1_000, |_| (filter.to_owned(), 7));
    let untagged_value = format!("{{\"n\":{}2{}}}", r#"{"a":"#.repeat(90), "}".repeat(90));
    vec![
        large("constants, numbers", colours.clone(), of_list(bytes, same("7"))),
        large("constants, the last of eight", colours, of_list(bytes, same("\"H\""))),
        large("recursive tagged enum, wrong leaf, depth 8", expressions(), expression(8, "\"x\"")),
        large("recursive tagged enum, wrong leaf, depth 45", expressions(), expression(45, "\"x\"")),
        large("recursive tagged enum, depth 45", expressions(), expression(45, "1")),
        large("recursive alternatives, wrong leaf", untagged(), untagged_value),
        large(
            "filters, the last is wrong",
            fitting(10_000, 0).swap_remove(1).schema,
            format!(r#"{{"from":"x","where":{{"and":[{filters},{{"field":"x","op":"xx","value":1}}]}}}}"#),
        ),
    ]
}

fn wide_objects(bytes: usize) -> Vec<Large> {
    let wide = |key: &str| {
        let members = filled(bytes - 2_000, |nth| (format!("\"{key}{nth:x}\":0"), 2));
        let named: Vec<_> = (0..60).map(|nth| format!("\"field{nth}\":0")).collect();
        format!("{{{members},{}}}", named.join(","))
    };
    let object = |keyword: &str, keywords: Value| json!({ "type": "object", keyword: keywords });
    let names = |prefix: &str| (0..60).map(|nth| format!("{prefix}{nth}")).collect::<Vec<_>>();
    let by_name = |names: Vec<String>, value: Value| -> Value {
        Value::Object(names.into_iter().map(|name| (name, value.clone())).collect::<Map<_, _>>())
    };
    let integers = by_name(names("field"), json!({ "type": "integer" }));
    let required = merged(object("properties", integers), object("required", json!(names("field"))));
    let dependent = object("dependentRequired", by_name(names("x"), json!(["y", "z"])));
    let schemas = object("dependentSchemas", by_name(names("field"), json!({ "type": "object" })));
    let names_pattern = object("propertyNames", json!({ "pattern": "^[a-z0-9]+$" }));
    let by_pattern = object("patternProperties", json!({ "^k": { "type": "integer" }, "0$": true }));
    vec![
        large("required names, wide object", required, wide("k")),
        large("required names, wide object with escapes", object("required", json!(names("field"))), wide(r"\u006b")),
        large("dependent names, wide object", dependent, wide("k")),
        large("dependent schemas, wide object", schemas, wide("k")),
        large("names of properties, wide object", names_pattern, wide("k")),
        large("patterns of properties, wide object", by_pattern, wide("k")),
    ]
}

fn lists(bytes: usize) -> Vec<Large> {
    let unique = || list(json!({ "uniqueItems": true }));
    let object = |nth: usize| (format!("{{\"b\":\"{}\",\"a\":{nth}}}", "x".repeat(300)), 5);
    let names: Vec<_> = (0..300).map(|nth| format!("e{nth}")).collect();
    let bounds = json!({ "items": { "minimum": 0, "maximum": 1e9, "multipleOf": 0.01 } });
    let cents = |nth: usize| (format!("{}.{:02}", nth / 100, nth % 100), 1);
    let integer = |nth: usize| (nth.to_string(), 1);
    let nested = json!({
        "type": "object",
        "properties": { "t": { "$ref": "#/$defs/a" } },
        "$defs": { "a": { "type": "array", "items": { "$ref": "#/$defs/a" } } },
    });
    vec![
        large("different integers", unique(), of_list(bytes, integer)),
        large("different fractions", unique(), of_list(bytes, |nth| (format!("{nth}.5"), 1))),
        large("different objects", unique(), of_list(bytes, object)),
        large("enum of 300", list(json!({ "items": { "enum": names } })), of_list(bytes, same("\"e299\""))),
        large(
            "enum of objects",
            list(json!({ "items": { "enum": [{ "a": 1 }, { "a": 2 }] } })),
            of_list(bytes, |_| (r#"{"a":2.0}"#.to_owned(), 3)),
        ),
        large("bounds of fractions", list(bounds), of_list(bytes, cents)),
        large(
            "bounds of numbers with exponents",
            list(json!({ "items": { "minimum": 0, "multipleOf": 0.01 } })),
            of_list(bytes, |nth| (format!("{nth}e3"), 1)),
        ),
        large("integers", list(json!({ "items": { "type": "integer", "minimum": 0 } })), of_list(bytes, integer)),
        large(
            "integers with a fraction of zero",
            list(json!({ "items": { "type": "integer" } })),
            of_list(bytes, |nth| (format!("{nth}.0"), 1)),
        ),
        large("nested arrays", nested, of_list(bytes, same("[]"))),
        large("contained items", list(json!({ "contains": { "type": "string" } })), of_list(bytes, same("\"\""))),
        large(
            "integers, the last is wrong",
            list(json!({ "items": { "type": "integer" } })),
            format!("{{\"t\":[{},\"x\"]}}", filled(bytes - 100, same("1"))),
        ),
    ]
}

fn scalars(bytes: usize) -> Vec<Large> {
    let digits = format!("{{\"n\":{}}}", "7".repeat(bytes - 10));
    let escapes = format!("{{\"n\":\"{}\"}}", r"\n".repeat(bytes / 2 - 10));
    let text = format!("{{\"n\":\"{}\"}}", "x".repeat(bytes - 10));
    let sixty_times = json!({ "allOf": vec![json!({ "maxLength": bytes - 20 }); 60] });
    vec![
        large("long number, multiple", scalar(json!({ "minimum": 0, "multipleOf": 7 })), digits.clone()),
        large("long number, enum", scalar(json!({ "enum": [1, 2, 3] })), digits),
        large("length of a text with escapes", scalar(json!({ "maxLength": 5_000_000 })), escapes),
        large("length of a text, sixty times", scalar(sixty_times), text),
    ]
}

fn patterns(bytes: usize) -> Vec<Large> {
    const PATTERNS: [&str; 5] =
        ["[a-z]{1,200}x", r"^\S+@\S+$", ".{0,100}x.{0,100}y", r"(?:[a-z]|[a-z0-9]|\w){1,60}!", "(a|b)*a(a|b){400}c"];
    let of = |pattern: &str| scalar(json!({ "pattern": pattern }));
    let text = |length: usize| format!("{{\"n\":\"{}\"}}", "a".repeat(length));
    let lengths = [("64 KiB", 65_000), ("long", bytes - 10)];
    let case = |pattern: &str, (name, length)| large(format!("pattern {pattern}, {name}"), of(pattern), text(length));
    let cases = PATTERNS.iter().flat_map(|pattern| lengths.map(|length| case(pattern, length)));
    // The states of the automaton almost never repeat.
    let noise: String = noise().take(bytes / 4).collect();
    let endless = "(a|b)*a(a|b){400}c";
    let endless = large(format!("pattern {endless}, noise"), of(endless), format!("{{\"n\":\"{noise}\"}}"));
    cases.chain([endless]).collect()
}

/// Iterates over the letters `a` and `b` in pseudorandom order.
pub fn noise() -> impl Iterator<Item = char> {
    let mut state = 1_u32;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(if state & 0x1_0000 == 0 { 'a' } else { 'b' })
    })
}

fn merged(one: Value, other: Value) -> Value {
    let (Value::Object(mut one), Value::Object(other)) = (one, other) else { unreachable!("both are objects") };
    one.extend(other);
    Value::Object(one)
}

/// Returns the schema that schemars generates for a recursive tagged enum.
fn expressions() -> Value {
    let operation = |name: &str| {
        json!({ "type": "object", "required": ["op", "left", "right"], "properties": {
            "left": { "$ref": "#/$defs/Expr" }, "right": { "$ref": "#/$defs/Expr" }, "op": { "type": "string", "const": name },
        } })
    };
    let mut alternatives: Vec<_> = ["add", "sub", "mul", "div", "pow"].iter().map(|name| operation(name)).collect();
    alternatives.push(json!({ "type": "object", "required": ["op", "value"], "properties": {
        "value": { "type": "number" }, "op": { "type": "string", "const": "lit" },
    } }));
    json!({ "type": "object", "required": ["expr"], "properties": { "expr": { "$ref": "#/$defs/Expr" } }, "$defs": { "Expr": { "oneOf": alternatives } } })
}

fn expression(depth: usize, leaf: &str) -> String {
    let innermost = format!(r#"{{"op":"lit","value":{leaf}}}"#);
    let expression = (0..depth)
        .fold(innermost, |inner, _| format!(r#"{{"op":"add","left":{inner},"right":{{"op":"lit","value":1}}}}"#));
    format!(r#"{{"expr":{expression}}}"#)
}

/// Returns a schema with recursive alternatives that neither a tag nor a key distinguishes.
fn untagged() -> Value {
    let alternative = |other: &str| json!({ "type": "object", "required": ["a"], "properties": { "a": { "$ref": "#/$defs/n" }, other: { "type": "string" } } });
    json!({
        "type": "object",
        "properties": { "n": { "$ref": "#/$defs/n" } },
        "$defs": { "n": { "anyOf": [alternative("b"), alternative("c"), alternative("d"), { "const": 1 }] } },
    })
}
