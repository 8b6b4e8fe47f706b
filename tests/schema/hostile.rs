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

/// Returns the schemas. Each repeats a text, a list or an automaton as often as its size permits.
pub fn hostile() -> Vec<Hostile> {
    let half = BYTES / 2;
    let (long, chinese) = ("n".repeat(half), |nth: usize| char::from_u32(0x4e00 + nth as u32).unwrap_or('x'));
    let references = same(half, r##"{"$ref":"#/a"}"##);
    let constants = |bytes: usize| filled(bytes, |nth| format!("\"{nth:x}\""));
    let pairs = same(half, r##"{"anyOf":[{"$ref":"#/a"},{"$ref":"#/b"}]}"##);
    let closed = |properties: String| format!(r#"{{"additionalProperties":false,"properties":{{{properties}}}}}"#);
    let patterns = |pattern: &dyn Fn(usize) -> String| {
        format!(r#"{{"allOf":[{}]}}"#, filled(BYTES, |nth| format!(r#"{{"pattern":"{}"}}"#, pattern(nth))))
    };
    let one_pattern = |pattern: String| format!(r#"{{"pattern":"{pattern}"}}"#);
    let nested = |open: &str, inside: &str, close: &str| format!("{}{inside}{}", open.repeat(110), close.repeat(110));
    [
        ("numbers below a long name", format!(r#"{{"properties":{{"{long}":{{"allOf":[{}]}}}}}}"#, same(half, "0"))),
        ("schemas below a long name", format!(r#"{{"properties":{{"{long}":{{"allOf":[{}]}}}}}}"#, same(half, "{}"))),
        ("schemas below a long $id", format!(r#"{{"$id":"x:{long}","allOf":[{}]}}"#, same(half, "{}"))),
        (
            "references relative to a long $id",
            format!(r#"{{"$id":"x:/{long}/","b":0,"allOf":[{{"$id":"a"}},{}]}}"#, same(half, r#"{"$ref":"a"}"#)),
        ),
        (
            "$ids relative to a long $id",
            format!(r#"{{"$id":"x:/{long}/","allOf":[{}]}}"#, filled(half, |nth| format!(r#"{{"$id":"{nth:x}"}}"#))),
        ),
        (
            "alternatives of one closed object",
            format!(r#"{{"a":{},"anyOf":[{references}]}}"#, closed(filled(half, |nth| format!(r#""{nth:x}":{{}}"#)))),
        ),
        (
            "alternatives of one object with constants",
            format!(
                r#"{{"a":{},"anyOf":[{references}]}}"#,
                closed(filled(half, |nth| format!(r#""{nth:x}":{{"const":1}}"#)))
            ),
        ),
        ("alternatives of one enum", format!(r#"{{"a":{{"enum":[{}]}},"oneOf":[{references}]}}"#, constants(half))),
        (
            "pairs of the same enums",
            format!(
                r#"{{"a":{{"enum":[{}]}},"b":{{"enum":["{}"]}},"allOf":[{pairs}]}}"#,
                constants(half / 2),
                "x".repeat(half / 2)
            ),
        ),
        (
            "pairs of the same objects",
            format!(
                r#"{{"a":{},"b":{},"allOf":[{pairs}]}}"#,
                closed(filled(half / 2, |nth| format!(r#""{nth:x}":{{"const":1}}"#))),
                closed(filled(half / 2, |nth| format!(r#""{nth:x}":{{"const":2}}"#)))
            ),
        ),
        ("conjunctions of one schema", format!(r#"{{"a":{{"allOf":[{}]}},"allOf":[{references}]}}"#, same(half, "{}"))),
        ("short patterns", patterns(&|nth| format!("{nth:x}"))),
        (
            "names that are patterns",
            format!(r#"{{"patternProperties":{{{}}}}}"#, filled(BYTES, |nth| format!(r#""{nth:x}":0"#))),
        ),
        ("patterns of many states", patterns(&|nth| format!("a{{4{:03}}}", nth % 1000))),
        (
            "patterns of many classes",
            patterns(&|nth| (0..1000).map(|other| chinese(nth * 1000 + other)).collect::<String>() + "{4}"),
        ),
        ("a pattern of different characters", one_pattern((0..5000).map(chinese).collect())),
        ("a pattern of empty groups that is repeated", one_pattern(format!("(?:a{}){{4000}}", "()".repeat(BYTES / 3)))),
        (
            "a pattern of named groups",
            one_pattern((0..BYTES / 12).map(|nth| format!("(?<g{nth:x}>)")).collect::<String>()),
        ),
        ("a pattern of wide classes", one_pattern(format!("(?:{}){{9}}", "[\\\\W\\\\S]".repeat(500)))),
        (
            "dependencies of many names",
            format!(r#"{{"dependentRequired":{{{}}}}}"#, filled(BYTES, |nth| format!(r#""{nth:x}":[]"#))),
        ),
        (
            "properties and required names",
            format!(
                r#"{{"properties":{{{}}},"required":[{}]}}"#,
                filled(half, |nth| format!(r#""{nth:x}":{{}}"#)),
                constants(half)
            ),
        ),
        ("anchors", format!(r#"{{"allOf":[{}]}}"#, filled(BYTES, |nth| format!(r#"{{"$anchor":"a{nth:x}"}}"#)))),
        ("alternatives that are booleans", format!(r#"{{"oneOf":[{}]}}"#, same(BYTES, "true"))),
        ("nested conditions", nested(r#"{"if":{},"then":"#, "{}", "}")),
        (
            "many schemas at the greatest depth",
            nested(r#"{"not":"#, &format!(r#"{{"allOf":[{}]}}"#, same(BYTES - 2000, "{}")), "}"),
        ),
        (
            "references through long pointers",
            format!(r#"{{"a":{},"allOf":[{}]}}"#, nested(r#"{"not":"#, "{}", "}"), {
                let pointer = "/not".repeat(60);
                same(BYTES - 2000, &format!(r##"{{"$ref":"#/a{pointer}"}}"##))
            }),
        ),
        ("marked arguments below a long name", {
            let marked = filled(half, |nth| format!(r#""{nth:x}":{{"type":"string","x-mcp-header":"A{nth}"}}"#));
            format!(r#"{{"properties":{{"{long}":{{"properties":{{{marked}}}}}}}}}"#)
        }),
        ("long numbers", format!(r#"{{"enum":[{}]}}"#, filled(BYTES, |nth| format!("{nth}e-300")))),
    ]
    .into_iter()
    .map(|(name, schema)| Hostile { name, schema })
    .collect()
}
