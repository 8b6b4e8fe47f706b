//! Reading JSON from models.

use edge_json::number::Number;
use edge_json::{Document, JsonLimits, Kind, Value};

use crate::limits::MODEL_TREE;

/// Parses JSON from another server. Returns `None` also for a value that takes much more memory than its text.
pub(crate) fn json(text: &[u8]) -> Option<serde_json::Value> {
    let document = Document::parse(text, JsonLimits::MOST).ok()?;
    if document.root().tree_bytes() > MODEL_TREE { None } else { document.root().to_json() }
}

/// Returns the number of a JSON value. Returns `None` for another kind, and for a number out of the range of `f64`.
pub(crate) fn number(value: Value<'_>) -> Option<f64> {
    if value.kind() == Kind::Number { Number::of(value.text()).map(Number::to_f64) } else { None }
}
