use serde_json::{Map, Value, json};

use super::{Check, RULES, SizeLimits};
use crate::protocol::description::Icon;
use crate::server::builder::{McpServer, McpServerBuilder};
use crate::server::tool::Tool;

/// The examples of the rules about schemas: a schema that breaks only this rule, and one that breaks none. The end-to-end tests confirm them.
const EXAMPLES: &str = include_str!("examples.json");

fn examples() -> Map<String, Value> {
    serde_json::from_str(EXAMPLES).expect("an object")
}

fn tool(name: &'static str, schema: &Value) -> Tool {
    Tool::with_schema(name, "Books a desk.", schema, None, |_: Value| async { "" })
}

fn good_tool(schema: &Value) -> Tool {
    tool("book", schema).title("Book").additive().closed_world()
}

fn nothing() -> Value {
    json!({ "type": "object", "properties": {} })
}

fn with_argument(name: &str, schema: Value) -> Value {
    let properties = Map::from_iter([(name.to_owned(), schema)]);
    json!({ "type": "object", "properties": properties })
}

/// Returns a schema with a condition at the root.
fn conditional(keyword: &str) -> Value {
    let mut schema = nothing();
    schema[keyword] = json!({});
    schema
}

fn good_server() -> McpServerBuilder {
    McpServer::builder("desks", "1.0.0").description("Books desks.")
}

fn check(server: McpServerBuilder) -> Check {
    server.build().expect("a server").check(SizeLimits::default())
}

fn broken(check: &Check) -> Vec<&str> {
    check.problems.iter().map(|problem| problem.rule.name).collect()
}

#[test]
fn each_rule_has_an_example_that_breaks_only_this_rule() {
    let described = json!({ "type": "string", "description": "The day" });
    let long = "x".repeat(4096);
    let large = json!({ "type": "string", "description": long });
    let many = (0..40).map(|nth| {
        good_tool(&with_argument(
            "day",
            json!({ "type": "string", "description": format!("{nth}{}", "x".repeat(1024)) }),
        ))
    });
    let mut named = 0;
    let many = many.map(|mut tool| {
        named += 1;
        tool.metadata.name = format!("book-{named}").into();
        tool
    });
    let mut cases: Vec<(String, McpServerBuilder)> = [
        ("title", tool("book", &nothing()).additive().closed_world()),
        ("title", tool("book", &nothing()).title(" ").additive().closed_world()),
        ("effect", tool("book", &nothing()).title("Book").closed_world()),
        ("open-world", tool("book", &nothing()).title("Book").read_only()),
        ("tool-name", tool("desk.book", &nothing()).title("Book").destructive().open_world()),
        (
            "description",
            Tool::with_schema("book", "x".repeat(1025), &nothing(), None, |_: Value| async { "" })
                .title("Book")
                .additive()
                .closed_world(),
        ),
        ("name-prefix", tool("book-a-desk-for-a-day1", &nothing()).title("Book").destructive().open_world()),
        ("root", good_tool(&conditional("if"))),
        ("root", good_tool(&conditional("not"))),
        ("root", good_tool(&conditional("dependentSchemas"))),
        ("root", good_tool(&json!({ "type": "object", "properties": {}, "dependentRequired": { "a": [] } }))),
        ("argument-description", good_tool(&with_argument("day", json!({ "type": "string" })))),
        ("argument-name", good_tool(&with_argument("$day", described.clone()))),
        ("argument-name", good_tool(&with_argument(&"x".repeat(65), described.clone()))),
        ("tool-size", good_tool(&with_argument("day", large))),
    ]
    .map(|(rule, tool)| (rule.to_owned(), good_server().tool(tool)))
    .into();
    cases.push(("list-size".into(), many.fold(good_server(), McpServerBuilder::tool)));
    for server in [
        McpServer::builder("desks", "1.0.0"),
        good_server().description("x".repeat(101)),
        good_server().title("x".repeat(101)),
        McpServer::builder("desks", "1.x").description("Books desks."),
        good_server().icon(Icon::new("http://example.com/icon.png")),
        good_server().website_url("http://example.com"),
    ] {
        cases.push(("server-json".into(), server));
    }
    for (rule, example) in examples() {
        cases.push((rule, good_server().tool(good_tool(&example["breaks"]))));
    }
    let mut seen: Vec<String> = vec!["access".into(), "scopes".into()];
    for (rule, server) in cases {
        let check = check(server);
        assert_eq!(broken(&check), [rule.as_str()], "{rule}: {check}");
        seen.push(rule);
    }
    for rule in RULES {
        assert!(seen.iter().any(|name| name == rule.name), "no example breaks the rule {}", rule.name);
    }
}

#[test]
fn schemas_with_the_remedy_break_no_rule() {
    for (rule, example) in examples() {
        let check = check(good_server().tool(good_tool(&example["works"])));
        assert!(check.problems.is_empty(), "{rule}: {check}");
    }
}

#[test]
fn schemas_that_libraries_read_break_no_rule() {
    for schema in [
        json!({ "type": ["null", "string"] }),
        json!({ "type": ["string", "null"] }),
        json!({ "oneOf": [{ "const": "a", "type": "string" }, { "const": "b", "type": "string" }] }),
        json!({ "allOf": [{ "type": "string" }, { "minLength": 2 }] }),
        json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
        json!({ "type": "object", "additionalProperties": true }),
        json!({ "type": "object", "properties": { "_id": { "type": "string" } } }),
        json!({ "type": "string", "const": "a" }),
        json!({ "type": "array", "items": true }),
    ] {
        let mut argument = schema.clone();
        argument["description"] = "The value".into();
        let check = check(good_server().tool(good_tool(&with_argument("value", argument))));
        assert!(check.problems.is_empty(), "{schema}: {check}");
    }
}

#[test]
fn indirect_recursion_and_references_from_a_list_are_found() {
    let with_defs = |defs: Value| {
        let argument = json!({ "$ref": "#/$defs/a", "description": "The value" });
        let mut schema = with_argument("value", argument);
        schema["$defs"] = defs;
        broken(&check(good_server().tool(good_tool(&schema)))).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let through_list = json!({
        "a": { "type": "object", "properties": { "b": { "type": "array", "items": { "$ref": "#/$defs/b" } } } },
        "b": { "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } } },
    });
    assert_eq!(with_defs(through_list), ["recursion"]);
    let shared = json!({
        "a": { "type": "object", "properties": { "b": { "$ref": "#/$defs/b" }, "c": { "$ref": "#/$defs/b" } } },
        "b": { "type": "object", "properties": { "c": { "type": "string" } } },
    });
    assert_eq!(with_defs(shared), Vec::<String>::new());
    let list_of_enum = json!({
        "a": { "type": "array", "items": { "$ref": "#/$defs/b" } },
        "b": { "type": "string", "enum": ["x"] },
    });
    assert_eq!(with_defs(list_of_enum), Vec::<String>::new(), "the enum is written in place of the reference");
}

#[test]
fn the_sizes_are_those_of_tools_list() {
    let server =
        good_server().tool(good_tool(&nothing())).tool(tool("show", &nothing()).title("Show").read_only().open_world());
    let check = check(server);
    let book = r#"{"name":"book","title":"Book","description":"Books a desk.","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}}"#;
    let [first, second] = &*check.tools else { panic!("{:?}", check.tools) };
    assert_eq!((first.name.as_str(), first.bytes, first.tokens()), ("book", book.len(), book.len().div_ceil(4)));
    assert_eq!(check.bytes(), r#"{"tools":[,]}"#.len() + first.bytes + second.bytes);
    let text = check.to_string();
    assert!(text.starts_with("   bytes   tokens  tool\n     191       48  book\n"), "{text}");
    assert!(text.ends_with("  all tools\nNo problems."), "{text}");
}

#[test]
fn the_caller_sets_the_limits_on_sizes() {
    let server = good_server().tool(good_tool(&nothing())).build().expect("a server");
    let exact = server.check(SizeLimits::default());
    let mut limits = SizeLimits { tool_tokens: exact.tools[0].tokens(), tokens: exact.tokens() };
    assert!(server.check(limits).problems.is_empty());
    limits.tool_tokens -= 1;
    limits.tokens -= 1;
    let check = server.check(limits);
    assert_eq!(broken(&check), ["tool-size", "list-size"]);
    let text = "Tool `book` has about 48 tokens: shorten its texts and schemas to 47 tokens, or split the tool (rule `tool-size`)";
    assert_eq!(check.problems[0].to_string(), text);
}

#[test]
fn the_page_contains_the_table() {
    let row =
        |rule: &super::Rule| format!("| `{}` | {} | {} | {} |\n", rule.name, rule.requires, rule.source, rule.date);
    let table: String = RULES.iter().map(row).collect();
    let page = format!("| rule | requirement | source | date |\n|---|---|---|---|\n{table}");
    assert!(include_str!("../../../docs/check.md").contains(&page), "docs/check.md must have:\n{page}");
}
