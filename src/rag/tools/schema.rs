//! The schemas of the arguments and of the result. A model reads each byte of them in each conversation, so they contain no keyword that
//! it does not need.

use edge_json::object;
use serde_json::{Map, Value};

use crate::limits::{RAG_QUESTION, RAG_TOP_K};
use crate::rag::filter::Fields;

/// Returns the schema of the arguments of a tool that returns at most `most` passages.
pub(super) fn input(fields: &Fields, most: usize) -> Value {
    let question = object(vec![
        ("type", "string".into()),
        ("maxLength", RAG_QUESTION.into()),
        ("description", "The question, or words to search for".into()),
    ]);
    let top_k = object(vec![
        ("type", "integer".into()),
        ("minimum", 1.into()),
        ("maximum", most.into()),
        ("default", RAG_TOP_K.min(most).into()),
        ("description", "Number of passages".into()),
    ]);
    let mut properties = Map::new();
    properties.insert("queryText".into(), question);
    properties.insert("topK".into(), top_k);
    if !fields.is_empty() {
        properties.insert("filter".into(), fields.schema());
    }
    object(vec![
        ("type", "object".into()),
        ("additionalProperties", false.into()),
        ("required", ["queryText"].into_iter().collect()),
        ("properties", properties.into()),
    ])
}

/// Returns the schema of the structured content of a result. It is written by hand, because the schema of the Rust type would be much longer.
pub(super) fn output() -> Value {
    let mut source = members(&[
        ("id", "string", ""),
        ("document", "string", "Text of the passage"),
        ("score", "number", ""),
        ("uri", "string", ""),
        ("heading", "string", ""),
        ("metadata", "object", ""),
        ("scores", "object", ""),
    ]);
    source.insert("vector".into(), object(vec![("type", "array".into())]));
    let required = ["id", "document", "score", "heading", "metadata", "scores"];
    let source = object(vec![
        ("type", "object".into()),
        ("properties", source.into()),
        ("required", required.into_iter().collect()),
    ]);
    let mut properties = members(&[("relevantContext", "string", "")]);
    properties.insert("sources".into(), object(vec![("type", "array".into()), ("items", source)]));
    properties.extend(members(&[("retrieval", "string", ""), ("note", "string", "")]));
    object(vec![
        ("type", "object".into()),
        ("properties", properties.into()),
        ("required", ["relevantContext", "sources", "retrieval"].into_iter().collect()),
    ])
}

/// Returns the schemas of members from their names, types and descriptions.
fn members(members: &[(&str, &str, &str)]) -> Map<String, Value> {
    let mut schemas = Map::new();
    for (name, kind, description) in members {
        let mut schema = vec![("type", (*kind).into())];
        if !description.is_empty() {
            schema.push(("description", (*description).into()));
        }
        schemas.insert((*name).to_owned(), object(schema));
    }
    schemas
}
