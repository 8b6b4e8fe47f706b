//! Schemas that another server may send: as large as a definition may be, and as costly to compile as possible.

/// The limit of a definition of another server, minus room for the parts around the schema.
const BYTES: usize = (64 << 10) - 1_000;

/// A schema of another server, as JSON text.
pub struct Hostile {
    pub name: &'static str,
    pub schema: String,
}

/// Joins parts with commas, as many as fit into `bytes`.
fn filled(bytes: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for nth in 0.. {
        let part = part(nth);
        if text.len() + part.len() + 1 > bytes {
            break;
        }
        if nth > 0 {
            text.push(',');
        }
        text.push_str(&part);
    }
    text
}

fn same(bytes: usize, part: &str) -> String {
    filled(bytes, |_| part.to_owned())
}

fn named(schemas: impl IntoIterator<Item = (&'static str, String)>) -> impl Iterator<Item = Hostile> {
    schemas.into_iter().map(|(name, schema)| Hostile { name, schema })
}

/// Returns the schemas. Each repeats a text, a list or an automaton as often as its size permits.
pub fn hostile() -> Vec<Hostile> {
    named(long_names()).chain(named(alternatives())).chain(named(patterns())).chain(named(large())).collect()
}

/// Schemas in which a long name could be copied for each nested schema.
fn long_names() -> [(&'static str, String); 6] {
    let half = BYTES / 2;
    let long = "n".repeat(half);
    let marked = filled(half, |nth| format!(r#""{nth:x}":{{"type":"string","x-mcp-header":"A{nth}"}}"#));
    let ids = filled(half, |nth| format!(r#"{{"$id":"{nth:x}"}}"#));
    [
        ("numbers below a long name", format!(r#"{{"properties":{{"{long}":{{"allOf":[{}]}}}}}}"#, same(half, "0"))),
        ("schemas below a long name", format!(r#"{{"properties":{{"{long}":{{"allOf":[{}]}}}}}}"#, same(half, "{}"))),
        ("schemas below a long $id", format!(r#"{{"$id":"x:{long}","allOf":[{}]}}"#, same(half, "{}"))),
        (
            "references relative to a long $id",
            format!(r#"{{"$id":"x:/{long}/","allOf":[{{"$id":"a"}},{}]}}"#, same(half, r#"{"$ref":"a"}"#)),
        ),
        ("$ids relative to a long $id", format!(r#"{{"$id":"x:/{long}/","allOf":[{ids}]}}"#)),
        (
            "marked arguments below a long name",
            format!(r#"{{"properties":{{"{long}":{{"properties":{{{marked}}}}}}}}}"#),
        ),
    ]
}

/// Schemas in which all alternatives are the same large schema, or in which many lists have the same large alternatives.
fn alternatives() -> [(&'static str, String); 7] {
    let half = BYTES / 2;
    let references = same(half, r##"{"$ref":"#/a"}"##);
    let pairs = same(half, r##"{"anyOf":[{"$ref":"#/a"},{"$ref":"#/b"}]}"##);
    let constants = |bytes: usize| filled(bytes, |nth| format!("\"{nth:x}\""));
    let closed = |properties: String| format!(r#"{{"additionalProperties":false,"properties":{{{properties}}}}}"#);
    let tagged = |bytes: usize, tag: u8| closed(filled(bytes, |nth| format!(r#""{nth:x}":{{"const":{tag}}}"#)));
    let (quarter, open) = (half / 2, filled(half, |nth| format!(r#""{nth:x}":{{}}"#)));
    let long = "x".repeat(quarter);
    [
        ("alternatives of one closed object", format!(r#"{{"a":{},"anyOf":[{references}]}}"#, closed(open))),
        ("alternatives of one object with constants", format!(r#"{{"a":{},"anyOf":[{references}]}}"#, tagged(half, 1))),
        ("alternatives of one enum", format!(r#"{{"a":{{"enum":[{}]}},"oneOf":[{references}]}}"#, constants(half))),
        (
            "pairs of the same enums",
            format!(r#"{{"a":{{"enum":[{}]}},"b":{{"enum":["{long}"]}},"allOf":[{pairs}]}}"#, constants(quarter)),
        ),
        (
            "pairs of the same objects",
            format!(r#"{{"a":{},"b":{},"allOf":[{pairs}]}}"#, tagged(quarter, 1), tagged(quarter, 2)),
        ),
        (
            "alternatives of an object with many required names",
            format!(
                r#"{{"additionalProperties":false,"required":[{}],"prefixItems":[{}]}}"#,
                constants(half),
                same(half, &format!(r#"{{"anyOf":[{}]}}"#, vec![r##"{"$ref":"#"}"##; 64].join(",")))
            ),
        ),
        ("conjunctions of one schema", format!(r#"{{"a":{{"allOf":[{}]}},"allOf":[{references}]}}"#, same(half, "{}"))),
    ]
}

/// Schemas with patterns whose automata are large, or whose parts are repeated often.
fn patterns() -> [(&'static str, String); 8] {
    let chinese = |nth: usize| u32::try_from(nth).ok().and_then(|nth| char::from_u32(0x4e00 + nth)).unwrap_or('x');
    let all = |pattern: &dyn Fn(usize) -> String| {
        format!(r#"{{"allOf":[{}]}}"#, filled(BYTES, |nth| format!(r#"{{"pattern":"{}"}}"#, pattern(nth))))
    };
    let one = |pattern: String| format!(r#"{{"pattern":"{pattern}"}}"#);
    let classes = |nth: usize| (0..1000).map(|other| chinese(nth * 1000 + other)).collect::<String>() + "{4}";
    let names: Vec<_> = (0..BYTES / 12).map(|nth| format!("(?<g{nth:x}>)")).collect();
    let by_name = filled(BYTES, |nth| format!(r#""{nth:x}":0"#));
    [
        ("short patterns", all(&|nth| format!("{nth:x}"))),
        ("names that are patterns", format!(r#"{{"patternProperties":{{{by_name}}}}}"#)),
        ("patterns of many states", all(&|nth| format!("a{{4{:03}}}", nth % 1000))),
        ("patterns of many classes", all(&classes)),
        ("a pattern of different characters", one((0..5000).map(chinese).collect())),
        ("a pattern of empty groups that is repeated", one(format!("(?:a{}){{4000}}", "()".repeat(BYTES / 3)))),
        ("a pattern of named groups", one(names.concat())),
        ("a pattern of wide classes", one(format!("(?:{}){{9}}", "[\\\\W\\\\S]".repeat(500)))),
    ]
}

/// Schemas with many or deeply nested parts.
fn large() -> [(&'static str, String); 9] {
    let half = BYTES / 2;
    let nested = |open: &str, inside: &str, close: &str| format!("{}{inside}{}", open.repeat(110), close.repeat(110));
    let dependencies = filled(BYTES, |nth| format!(r#""{nth:x}":[]"#));
    let properties = filled(half, |nth| format!(r#""{nth:x}":{{}}"#));
    let required = filled(half, |nth| format!("\"{nth:x}\""));
    let pointers = same(BYTES - 2000, &format!(r##"{{"$ref":"#/a{}"}}"##, "/not".repeat(60)));
    let deepest = format!(r#"{{"allOf":[{}]}}"#, same(BYTES - 2000, "{}"));
    [
        ("dependencies of many names", format!(r#"{{"dependentRequired":{{{dependencies}}}}}"#)),
        ("properties and required names", format!(r#"{{"properties":{{{properties}}},"required":[{required}]}}"#)),
        ("anchors", format!(r#"{{"allOf":[{}]}}"#, filled(BYTES, |nth| format!(r#"{{"$anchor":"a{nth:x}"}}"#)))),
        ("alternatives that are booleans", format!(r#"{{"oneOf":[{}]}}"#, same(BYTES, "true"))),
        ("nested conditions", nested(r#"{"if":{},"then":"#, "{}", "}")),
        ("many schemas at the greatest depth", nested(r#"{"not":"#, &deepest, "}")),
        (
            "references through long pointers",
            format!(r#"{{"a":{},"allOf":[{pointers}]}}"#, nested(r#"{"not":"#, "{}", "}")),
        ),
        (
            "constants within constants",
            format!(
                r#"{{"x":{}[{}]{},"prefixItems":[{}]}}"#,
                r#"{"const":"#.repeat(90),
                same(BYTES - 30_000, "1e20"),
                "}".repeat(90),
                filled(29_000, |nth| format!(r##"{{"$ref":"#/x{}"}}"##, "/const".repeat(nth % 90)))
            ),
        ),
        ("long numbers", format!(r#"{{"enum":[{}]}}"#, filled(BYTES, |nth| format!("{nth}e-300")))),
    ]
}
