//! The schemas of the arguments and of the result. A model reads each byte of them in each conversation, so they contain no keyword that
//! it does not need.

use edge_json::{Document, JsonLimits, write};
use serde_json::Value;

use crate::limits::{RAG_QUESTION, RAG_TOP_K};
use crate::rag::filter::Fields;

const INPUT: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["queryText"],
  "properties": {
    "queryText": { "type": "string", "maxLength": {question}, "description": "The question, or words to search for" },
    "topK": { "type": "integer", "minimum": 1, "maximum": {most}, "default": {default}, "description": "Number of passages" }{filter}
  }
}"#;

const OUTPUT: &str = r#"{
  "type": "object",
  "properties": {
    "relevantContext": { "type": "string" },
    "sources": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "id": { "type": "string" },
          "document": { "type": "string", "description": "Text of the passage" },
          "score": { "type": "number" },
          "uri": { "type": "string" },
          "heading": { "type": "string" },
          "metadata": { "type": "object" },
          "scores": { "type": "object" },
          "vector": { "type": "array" }
        },
        "required": ["id", "document", "score", "heading", "metadata", "scores"]
      }
    },
    "retrieval": { "type": "string" },
    "note": { "type": "string" }
  },
  "required": ["relevantContext", "sources", "retrieval"]
}"#;

/// Returns the schema of the arguments of a tool that returns at most `most` passages.
pub(super) fn input(fields: &Fields, most: usize) -> Value {
    let filter = || format!(", \"filter\": {}", write::text(&fields.schema()));
    let parts = [
        ("{question}", RAG_QUESTION.to_string()),
        ("{most}", most.to_string()),
        ("{default}", RAG_TOP_K.min(most).to_string()),
        ("{filter}", if fields.is_empty() { String::new() } else { filter() }),
    ];
    parsed(&parts.into_iter().fold(INPUT.to_owned(), |json, (place, part)| json.replace(place, &part)))
}

/// Returns the schema of a result. It is written by hand, because the schema of the Rust type would be much longer.
pub(super) fn output() -> Value {
    parsed(OUTPUT)
}

fn parsed(json: &str) -> Value {
    let document = Document::parse(json.as_bytes(), JsonLimits::MOST).ok();
    document.and_then(|document| document.root().to_json()).unwrap_or_default()
}
