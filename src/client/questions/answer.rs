//! The answers to the questions of a server, in the form of the protocol.
//!
//! Only the methods of `Upstream` that register a function call these functions, so a program without such a function does not contain them.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use crate::call::elicitation::FormAnswer;
use crate::call::error::HandlerError;
use crate::call::roots::Root;
use crate::call::sampling::ModelAnswer;
use crate::client::error::{Failed, Failure};
use crate::schema::{CheckSteps, NotEnforceable, Schema};

/// A form of a question.
pub(in crate::client) struct Form {
    schema: Json,
    /// The compiled schema, or `None` for a schema that cannot be enforced. The server checks the answer again.
    enforced: Option<Rc<Schema>>,
}

impl Form {
    /// Compiles the schema of a form. `left` is the number of steps that the request has left to compile schemas.
    ///
    /// # Errors
    /// The compilation takes too many steps.
    pub(in crate::client) fn of(schema: Json, left: &Cell<u32>) -> Result<Self, Failure> {
        match Schema::of_form(schema.clone(), left) {
            Ok(enforced) => Ok(Self { schema, enforced: Some(enforced) }),
            Err(NotEnforceable::Unsupported(_) | NotEnforceable::Invalid(_)) => Ok(Self { schema, enforced: None }),
            Err(NotEnforceable::TooCostly) => {
                Err(Failure::Malformed("asks with a form that takes too long to compile"))
            }
        }
    }
}

/// Returns the answer to a form, from the outcome of a function of the program.
///
/// # Errors
/// The function fails, or its answer does not fit the form.
pub(in crate::client) fn to_form(
    outcome: Result<FormAnswer<Json>, HandlerError>,
    form: &Form,
    steps: &CheckSteps,
) -> Result<Box<RawValue>, Failed> {
    of_form(outcome.map_err(unanswered)?, form, steps)
}

/// Returns the answer to a URL.
///
/// # Errors
/// The function fails.
pub(in crate::client) fn to_url(outcome: Result<FormAnswer<()>, HandlerError>) -> Result<Box<RawValue>, Failed> {
    Ok(action(&outcome.map_err(unanswered)?).finish_raw())
}

/// Returns the answer to a request for text from a model.
///
/// # Errors
/// The function fails.
pub(in crate::client) fn to_sampling(outcome: Result<ModelAnswer, HandlerError>) -> Result<Box<RawValue>, Failed> {
    Ok(of_sampled(&outcome.map_err(unanswered)?))
}

/// Returns the answer to a request for the roots.
pub(in crate::client) fn to_roots(roots: &[Root]) -> Box<RawValue> {
    let roots: Vec<_> = roots.iter().map(of_root).collect();
    ObjectWriter::new().json("roots", &format!("[{}]", roots.join(","))).finish_raw()
}

fn unanswered(error: HandlerError) -> Failed {
    let problem = format!("asked a question that this program did not answer: {}", error.message());
    Failed::new(Failure::Local(problem), error.0.cause)
}

/// Writes the answer to an elicitation, without its content.
fn action<T>(elicited: &FormAnswer<T>) -> ObjectWriter {
    let action = match elicited {
        FormAnswer::Accepted(_) => "accept",
        FormAnswer::Declined => "decline",
        FormAnswer::Cancelled => "cancel",
    };
    ObjectWriter::new().text("action", action)
}

/// Completes the content of a form with the defaults of its fields, and checks it.
///
/// Source: 2026-07-28, client/elicitation, "Requested Schema".
fn of_form(answer: FormAnswer<Json>, form: &Form, steps: &CheckSteps) -> Result<Box<RawValue>, Failed> {
    let written = action(&answer);
    let content = match answer {
        FormAnswer::Accepted(Json::Object(content)) => content,
        FormAnswer::Accepted(_) => return Err(unfit("it is not an object")),
        FormAnswer::Declined | FormAnswer::Cancelled => return Ok(written.finish_raw()),
    };
    let text = write::text(&completed(content, &form.schema));
    if let Some(schema) = &form.enforced {
        let document = Document::parse(text.as_bytes(), JsonLimits::default());
        let document = document.map_err(|error| unfit(&error.to_string()))?;
        let mistakes = schema.validate_form_for_log(document.root(), steps);
        if !mistakes.is_empty() {
            return Err(unfit(&mistakes.join("; ")));
        }
    }
    Ok(written.json("content", &text).finish_raw())
}

/// Adds the defaults of the fields that are absent.
fn completed(mut content: Map<String, Json>, schema: &Json) -> Json {
    for (name, field) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        if let Some(default) = field.get("default")
            && !content.contains_key(name)
        {
            content.insert(name.clone(), default.clone());
        }
    }
    Json::Object(content)
}

fn unfit(problem: &str) -> Failed {
    let message = "asked for a form, and the answer of this program does not fit the form.";
    Failed::new(Failure::Local(message.into()), Some(problem.to_owned()))
}

fn of_sampled(ModelAnswer { text, model, stop_reason }: &ModelAnswer) -> Box<RawValue> {
    let content = ObjectWriter::new().text("type", "text").text("text", text).finish();
    let mut answer = ObjectWriter::new().text("role", "assistant").json("content", &content).text("model", model);
    if let Some(reason) = stop_reason {
        answer = answer.text("stopReason", reason);
    }
    answer.finish_raw()
}

fn of_root(Root { uri, name }: &Root) -> String {
    let mut root = ObjectWriter::new().text("uri", uri);
    if let Some(name) = name {
        root = root.text("name", name);
    }
    root.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(schema: &Json) -> Form {
        Form::of(schema.clone(), &Cell::new(1_000_000)).expect("a form")
    }

    /// C34: defaults are filled in, and the content must fit the form.
    #[test]
    fn an_answer_has_the_defaults_of_its_form() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "default": "Lyon" },
                "days": { "type": "integer", "default": 3, "minimum": 1 },
                "express": { "type": "boolean" },
                "mail": { "type": "string", "format": "email" },
            },
            "required": ["city"],
        });
        for (answer, expected) in [
            (FormAnswer::Accepted(json!({})), json!({ "action": "accept", "content": { "city": "Lyon", "days": 3 } })),
            (
                FormAnswer::Accepted(json!({ "city": "Bern", "express": false })),
                json!({ "action": "accept", "content": { "city": "Bern", "express": false, "days": 3 } }),
            ),
            (FormAnswer::Declined, json!({ "action": "decline" })),
            (FormAnswer::Cancelled, json!({ "action": "cancel" })),
        ] {
            let answer = of_form(answer, &form(&schema), &CheckSteps::default()).expect("an answer");
            assert_eq!(serde_json::from_str::<Json>(answer.get()).expect("JSON"), expected);
        }
        for wrong in [json!([]), json!({ "city": 7 }), json!({ "days": 0 }), json!({ "mail": "x" })] {
            assert!(
                of_form(FormAnswer::Accepted(wrong.clone()), &form(&schema), &CheckSteps::default()).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_form_that_cannot_be_compiled_is_not_enforced() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "(?=x)" } } });
        assert!(of_form(FormAnswer::Accepted(json!({ "a": "y" })), &form(&schema), &CheckSteps::default()).is_ok());
    }
}
