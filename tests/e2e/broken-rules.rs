//! Items that break each rule of the check. template.test.mjs adds this file to a new server, with the examples of the rules about schemas.

use edge_mcp::{McpServerBuilder, Tool};
use serde_json::{Map, Value, json};

pub fn add(server: McpServerBuilder) -> McpServerBuilder {
    let examples: Map<String, Value> = serde_json::from_str(include_str!("examples.json")).expect("an object");
    let breaking = examples.into_iter().map(|(rule, example)| (rule, example["breaks"].clone()));
    let argument = json!({ "type": "object", "properties": { "$day": { "type": "string" } } });
    let large = json!({ "type": "object", "properties": {}, "description": "x".repeat(4096) });
    let others = [("with.dot-and-a-long-name".to_owned(), argument)].into_iter().chain((0..10).map(|nth| (format!("large-{nth}"), large.clone())));
    breaking.chain(others).fold(server.description("x".repeat(101)), |server, (name, schema)| {
        let tool = Tool::with_schema(name, "x".repeat(1025), &schema, None, |_: Value| async { "" });
        server.tool(tool.scopes(["desks:write"]))
    })
}
