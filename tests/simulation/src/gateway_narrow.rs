//! The rules of the narrowest clients in use: the official TypeScript SDK, versions 1.32 and 2.4. They reject a whole list if one item violates
//! a rule.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::gateway_plan::Listed;

/// A rule for a member: its name, whether it is required, and whether a value is permitted.
type Rule = (&'static str, bool, fn(&Value) -> bool);

const TOOL: &[Rule] = &[
    ("name", true, is_tool_name),
    ("title", false, Value::is_string),
    ("description", false, Value::is_string),
    ("inputSchema", true, is_schema),
    ("outputSchema", false, is_output_schema),
    ("annotations", false, are_annotations_of_tool),
    ("icons", false, are_icons),
    ("_meta", false, Value::is_object),
    ("execution", false, Value::is_object),
];

const RESOURCE: &[Rule] = &[
    ("uri", true, Value::is_string),
    ("name", true, Value::is_string),
    ("title", false, Value::is_string),
    ("description", false, Value::is_string),
    ("mimeType", false, Value::is_string),
    ("size", false, Value::is_number),
    ("annotations", false, are_annotations),
    ("icons", false, are_icons),
    ("_meta", false, Value::is_object),
];

const TEMPLATE: &[Rule] = &[
    ("uriTemplate", true, Value::is_string),
    ("name", true, Value::is_string),
    ("title", false, Value::is_string),
    ("description", false, Value::is_string),
    ("mimeType", false, Value::is_string),
    ("annotations", false, are_annotations),
    ("icons", false, are_icons),
    ("_meta", false, Value::is_object),
];

const PROMPT: &[Rule] = &[
    ("name", true, Value::is_string),
    ("title", false, Value::is_string),
    ("description", false, Value::is_string),
    ("arguments", false, are_arguments),
    ("icons", false, are_icons),
    ("_meta", false, Value::is_object),
];

const LIST: &[Rule] = &[("nextCursor", false, Value::is_string), ("_meta", false, Value::is_object)];

const RESULT: &[Rule] =
    &[("content", true, are_blocks), ("isError", false, Value::is_boolean), ("_meta", false, Value::is_object)];

/// Returns the problem that a client has with a list. Since revision 2026-07-28, an output schema can be that of any value.
pub fn problem_of_list(listed: Listed, result: &Value, is_modern: bool) -> Option<String> {
    if let Some(problem) = problem(LIST, result) {
        return Some(problem);
    }
    let member = listed.names().1;
    let Some(items) = result[member].as_array() else { return Some(format!("`{member}` is not a list")) };
    let (rules, key) = match listed {
        Listed::Tools => (TOOL, "name"),
        Listed::Resources => (RESOURCE, "uri"),
        Listed::Templates => (TEMPLATE, "uriTemplate"),
        Listed::Prompts => (PROMPT, "name"),
    };
    let of_revision: &[Rule] = if is_modern { &[] } else { &[("outputSchema", false, is_schema)] };
    let mut names = BTreeSet::new();
    items.iter().find_map(|item| {
        let is_new = names.insert(item[key].to_string());
        let problem = problem(rules, item).or_else(|| problem(of_revision, item));
        problem.or_else(|| (!is_new).then(|| format!("there are two items with the name {}", item[key])))
    })
}

/// Returns the problem that a client has with the result of a call. Since revision 2026-07-28, structured content can be any value.
pub fn problem_of_result(result: &Value, is_modern: bool) -> Option<String> {
    let structured: &[Rule] = &[("structuredContent", false, Value::is_object)];
    problem(RESULT, result).or_else(|| if is_modern { None } else { problem(structured, result) })
}

fn problem(rules: &[Rule], value: &Value) -> Option<String> {
    let Some(members) = value.as_object() else { return Some(format!("{value} is not an object")) };
    rules.iter().find_map(|(name, is_required, is_permitted)| match members.get(*name) {
        None => is_required.then(|| format!("`{name}` is missing in {value}")),
        Some(member) => (!is_permitted(member)).then(|| format!("`{name}` is not permitted in {value}")),
    })
}

fn is_tool_name(name: &Value) -> bool {
    let is_character = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    name.as_str().is_some_and(|name| (1..=64).contains(&name.len()) && name.bytes().all(is_character))
}

fn is_schema(schema: &Value) -> bool {
    let are_objects =
        |properties: &Value| properties.as_object().is_some_and(|properties| properties.values().all(Value::is_object));
    schema["type"] == "object"
        && schema.get("properties").is_none_or(are_objects)
        && schema.get("required").is_none_or(are_strings)
}

fn is_output_schema(schema: &Value) -> bool {
    schema.is_object() && (schema["type"] != "object" || is_schema(schema))
}

fn are_strings(values: &Value) -> bool {
    values.as_array().is_some_and(|values| values.iter().all(Value::is_string))
}

fn are_annotations_of_tool(annotations: &Value) -> bool {
    let rules: &[Rule] = &[
        ("title", false, Value::is_string),
        ("readOnlyHint", false, Value::is_boolean),
        ("destructiveHint", false, Value::is_boolean),
        ("idempotentHint", false, Value::is_boolean),
        ("openWorldHint", false, Value::is_boolean),
    ];
    problem(rules, annotations).is_none()
}

fn are_annotations(annotations: &Value) -> bool {
    let is_audience = |audience: &Value| {
        audience.as_array().is_some_and(|all| all.iter().all(|one| *one == "user" || *one == "assistant"))
    };
    let is_priority = |priority: &Value| priority.as_f64().is_some_and(|priority| (0.0..=1.0).contains(&priority));
    let rules: &[Rule] = &[
        ("audience", false, is_audience),
        ("priority", false, is_priority),
        ("lastModified", false, Value::is_string),
    ];
    problem(rules, annotations).is_none()
}

fn are_icons(icons: &Value) -> bool {
    let rules: &[Rule] =
        &[("src", true, Value::is_string), ("mimeType", false, Value::is_string), ("sizes", false, are_strings)];
    icons.as_array().is_some_and(|icons| icons.iter().all(|icon| problem(rules, icon).is_none()))
}

fn are_arguments(arguments: &Value) -> bool {
    let rules: &[Rule] = &[
        ("name", true, Value::is_string),
        ("title", false, Value::is_string),
        ("description", false, Value::is_string),
        ("required", false, Value::is_boolean),
    ];
    arguments.as_array().is_some_and(|arguments| arguments.iter().all(|argument| problem(rules, argument).is_none()))
}

fn are_blocks(blocks: &Value) -> bool {
    let is_resource = |resource: &Value| {
        resource["uri"].is_string() && (resource["text"].is_string() || resource["blob"].is_string())
    };
    let is_block = |block: &Value| {
        let rules: &[Rule] = match block["type"].as_str() {
            Some("text") => &[("text", true, Value::is_string)],
            Some("image" | "audio") => &[("data", true, Value::is_string), ("mimeType", true, Value::is_string)],
            Some("resource_link") => RESOURCE,
            Some("resource") => &[("resource", true, is_resource)],
            _ => return false,
        };
        let of_all: &[Rule] = &[("annotations", false, are_annotations), ("_meta", false, Value::is_object)];
        problem(rules, block).is_none() && problem(of_all, block).is_none()
    };
    blocks.as_array().is_some_and(|blocks| blocks.iter().all(is_block))
}
