//! The schema of the arguments.

use edge_json::object;
use serde_json::{Map, Value};

use crate::limits::{RAG_QUESTION, RAG_TOP_K};
use crate::rag::filter::Fields;

/// Returns the schema of the arguments of a tool that returns at most `most` passages.
pub(super) fn input(fields: &Fields, most: usize) -> Value {
    let question = object(vec![
        ("type", "string".into()),
        ("minLength", 1.into()),
        ("maxLength", RAG_QUESTION.into()),
        ("description", "The question or the words to search for, in the language of the documents".into()),
    ]);
    let top_k = object(vec![
        ("type", "integer".into()),
        ("minimum", 1.into()),
        ("maximum", most.into()),
        ("default", RAG_TOP_K.min(most).into()),
        ("description", "The maximum number of passages to return".into()),
    ]);
    let mut properties = Map::new();
    properties.insert("queryText".into(), question);
    properties.insert("topK".into(), top_k);
    let mut schema = vec![
        ("type", "object".into()),
        ("additionalProperties", false.into()),
        ("required", ["queryText"].into_iter().collect()),
    ];
    if fields.is_empty() {
        schema.push(("properties", properties.into()));
    } else {
        let (filter, definitions) = fields.schema();
        properties.insert("filter".into(), filter);
        schema.extend([("properties", properties.into()), ("$defs", definitions.into())]);
    }
    object(schema)
}
