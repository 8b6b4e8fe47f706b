//! The check of an answer against its question, when the answer arrives: an answer that does not fit would end the task. Only the members are kept
//! that the question defines.

use std::cell::Cell;

use edge_json::write::ObjectWriter;
use edge_json::{Document, JsonLimits, Kind, Value};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::limits::{FOREIGN_SCHEMAS_STEPS, TASK_ANSWER_BYTES};
use crate::schema::{CheckSteps, Schema};

/// Checks an answer to the question `request`, and returns what is kept of it. The error is the end of a sentence for the caller.
pub(super) fn check(request: &RawValue, answer: &RawValue) -> Result<Box<RawValue>, String> {
    let request = Document::parse(request.get().as_bytes(), JsonLimits::MOST).map_err(|error| error.to_string())?;
    let request = request.root().to_json().unwrap_or_default();
    if answer.get().len() > TASK_ANSWER_BYTES {
        return Err(format!("it has more than {TASK_ANSWER_BYTES} bytes"));
    }
    let document =
        Document::parse(answer.get().as_bytes(), JsonLimits::default()).map_err(|error| error.to_string())?;
    let answer = document.root();
    if answer.kind() != Kind::Object {
        return Err("it must be an object".to_owned());
    }
    match request.get("method").and_then(Json::as_str) {
        Some("elicitation/create") => elicitation(&request, answer),
        Some("sampling/createMessage") if answer.get("content").is_none() || answer.get("model").is_none() => {
            Err("it must have `content` and `model`".to_owned())
        }
        Some("sampling/createMessage") => Ok(members(answer, &["role", "content", "model", "stopReason"])),
        Some("roots/list") if answer.get("roots").is_none_or(|roots| roots.kind() != Kind::Array) => {
            Err("it must have the array `roots`".to_owned())
        }
        _ => Ok(members(answer, &["roots"])),
    }
}

/// Returns the object with these members of an answer.
fn members(answer: Value<'_>, names: &[&str]) -> Box<RawValue> {
    let found = names.iter().filter_map(|name| Some((name, answer.get(name)?)));
    found.fold(ObjectWriter::new(), |object, (name, value)| object.json(name, value.text())).finish_raw()
}

fn elicitation(request: &Json, answer: Value<'_>) -> Result<Box<RawValue>, String> {
    let action = match answer.get("action").and_then(Value::as_str).as_deref() {
        Some("accept") => members(answer, &["action"]),
        Some("decline" | "cancel") => return Ok(members(answer, &["action"])),
        _ => return Err("its `action` must be \"accept\", \"decline\" or \"cancel\"".to_owned()),
    };
    let form = request.pointer("/params/requestedSchema");
    let Some(form) =
        form.filter(|form| form.get("properties").and_then(Json::as_object).is_some_and(|it| !it.is_empty()))
    else {
        return Ok(action);
    };
    let content = answer.get("content").ok_or("its `content` is missing")?;
    // The program made the form, so its steps are bounded by its length.
    let schema = Schema::of_form(form.clone(), &Cell::new(FOREIGN_SCHEMAS_STEPS));
    let schema = schema.map_err(|_| "its form cannot be checked".to_owned())?;
    let mistakes = schema.validate_form(content, &CheckSteps::default());
    if !mistakes.is_empty() {
        return Err(mistakes.join("; "));
    }
    let kept = ObjectWriter::new().text("action", "accept").json("content", &schema.form_members(content));
    Ok(kept.finish_raw())
}
