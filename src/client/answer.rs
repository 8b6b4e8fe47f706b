//! The answers of the program to the questions of a server.

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::connection::Link;
use super::error::{Failed, Failure};
use super::question::Question;
use crate::call::context::Context;
use crate::call::elicitation::Elicited;
use crate::call::error::HandlerError;
use crate::call::roots::Root;
use crate::call::sampling::Sampled;
use crate::json::{Document, JsonLimits, object, write};
use crate::schema::Schema;

impl Link {
    /// Answers a question with the functions of the program.
    ///
    /// # Errors
    /// The program has no function for the question, the function fails, or its answer does not fit the question.
    pub(super) async fn answer(&self, question: Question, cx: Context) -> Result<Box<RawValue>, Failed> {
        let handlers = &self.upstream().handlers;
        let answer = match question {
            Question::Form(form) => {
                let Some(handler) = &handlers.form else { return Err(undeclared()) };
                let schema = form.schema.clone();
                let answer = handler(form, cx).await.map_err(unanswered)?;
                return of_form(answer, &schema).and_then(|answer| raw(&answer));
            }
            Question::Url(request) => {
                let Some(handler) = &handlers.url else { return Err(undeclared()) };
                action(&handler(request, cx).await.map_err(unanswered)?)
            }
            Question::Sampling(request) => {
                let Some(handler) = &handlers.sampling else { return Err(undeclared()) };
                of_sampled(handler(request, cx).await.map_err(unanswered)?)
            }
            Question::Roots => {
                let Some(roots) = &handlers.roots else { return Err(undeclared()) };
                object(vec![("roots", roots.iter().map(of_root).collect())])
            }
        };
        raw(&answer)
    }
}

/// Returns the failure for a kind of question that the client did not declare.
pub(super) fn undeclared() -> Failed {
    (Failure::CapabilityRequired, Some("the server asks a kind of question that was not declared".into()))
}

fn unanswered(error: HandlerError) -> Failed {
    let problem = format!("asked a question that this program did not answer: {}", error.message());
    (Failure::Local(problem), error.0.cause)
}

fn raw(answer: &Json) -> Result<Box<RawValue>, Failed> {
    write::to_raw_value(answer)
        .map_err(|error| (Failure::Malformed("has a question without an answer"), Some(error.to_string())))
}

/// Returns the answer to an elicitation, without its content.
fn action<T>(elicited: &Elicited<T>) -> Json {
    let action = match elicited {
        Elicited::Accepted(_) => "accept",
        Elicited::Declined => "decline",
        Elicited::Cancelled => "cancel",
    };
    object(vec![("action", action.into())])
}

/// Completes the content of a form with the defaults of its fields, and checks it.
///
/// Source: 2026-07-28, client/elicitation, "Requested Schema".
fn of_form(answer: Elicited<Json>, schema: &Json) -> Result<Json, Failed> {
    let content = match answer {
        Elicited::Accepted(Json::Object(content)) => content,
        Elicited::Accepted(_) => return Err(unfit("it is not an object")),
        Elicited::Declined | Elicited::Cancelled => return Ok(action(&answer)),
    };
    let content = completed(content, schema);
    // A schema that the compiler rejects is not enforced. The server checks the answer again.
    if let Ok(schema) = Schema::compile(schema.clone()) {
        let text = write::text(&content);
        let document = Document::parse(text.as_bytes(), JsonLimits::default());
        let document = document.map_err(|error| unfit(&error.to_string()))?;
        let mistakes = schema.validate_form_for_log(document.root());
        if !mistakes.is_empty() {
            return Err(unfit(&mistakes.join("; ")));
        }
    }
    Ok(object(vec![("action", "accept".into()), ("content", content)]))
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
    (Failure::Local(message.into()), Some(problem.to_owned()))
}

fn of_sampled(Sampled { text, model, stop_reason }: Sampled) -> Json {
    let content = object(vec![("type", "text".into()), ("text", text.into())]);
    let mut answer = vec![("role", "assistant".into()), ("content", content), ("model", model.into())];
    answer.extend(stop_reason.map(|reason| ("stopReason", reason.into())));
    object(answer)
}

fn of_root(Root { uri, name }: &Root) -> Json {
    let mut root = vec![("uri", uri.as_str().into())];
    root.extend(name.as_ref().map(|name| ("name", name.as_str().into())));
    object(root)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            (Elicited::Accepted(json!({})), json!({ "action": "accept", "content": { "city": "Lyon", "days": 3 } })),
            (
                Elicited::Accepted(json!({ "city": "Bern", "express": false })),
                json!({ "action": "accept", "content": { "city": "Bern", "express": false, "days": 3 } }),
            ),
            (Elicited::Declined, json!({ "action": "decline" })),
            (Elicited::Cancelled, json!({ "action": "cancel" })),
        ] {
            assert_eq!(of_form(answer, &schema).expect("an answer"), expected);
        }
        for wrong in [json!([]), json!({ "city": 7 }), json!({ "days": 0 }), json!({ "mail": "x" })] {
            assert!(of_form(Elicited::Accepted(wrong.clone()), &schema).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_form_that_cannot_be_compiled_is_not_enforced() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "(?=x)" } } });
        assert!(of_form(Elicited::Accepted(json!({ "a": "y" })), &schema).is_ok());
    }
}
