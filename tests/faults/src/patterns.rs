//! A tool that matches texts with patterns, like `pattern` in a schema.

use edge_json_schema::Validator;
use edge_mcp::Json;
use edge_mcp::json::{Document, JsonLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The length of a text in bytes from which the validator caches the states of a pattern.
const UNCACHED: usize = 256;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize, JsonSchema)]
struct Case {
    pattern: String,
    texts: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Answers {
    answers: Vec<Answer>,
}

#[derive(Default, Serialize, JsonSchema)]
struct Answer {
    /// The reason why the pattern is invalid, or why a text could not be matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Whether the pattern matches each text.
    found: Vec<bool>,
    /// The same, if the same validation matches a long text first.
    found_after_long: Vec<bool>,
}

pub(crate) async fn match_patterns(Cases { cases }: Cases) -> Json<Answers> {
    let answer = |case| answer(case).unwrap_or_else(|error| Answer { error: Some(error), ..Answer::default() });
    Json(Answers { answers: cases.iter().map(answer).collect() })
}

fn answer(Case { pattern, texts }: &Case) -> Result<Answer, String> {
    let one = Validator::new(json!({ "pattern": pattern })).map_err(|error| error.to_string())?;
    let many = Validator::new(json!({ "items": { "pattern": pattern } })).map_err(|error| error.to_string())?;
    let all = texts.concat();
    let long = all.repeat(UNCACHED.checked_div(all.len()).map_or(0, |times| times + 1));
    let is_long_found = mistakes(&many, &json!([long]))? == 0;
    let mut answer = Answer::default();
    for text in texts {
        answer.found.push(mistakes(&one, &json!(text))? == 0);
        let of_both = mistakes(&many, &json!([long, text]))?;
        answer.found_after_long.push(of_both == usize::from(!is_long_found));
    }
    Ok(answer)
}

fn mistakes(schema: &Validator, value: &serde_json::Value) -> Result<usize, String> {
    let text = value.to_string();
    let document = Document::parse(text.as_bytes(), JsonLimits::default()).map_err(|error| error.to_string())?;
    let mistakes = schema.validate(document.root());
    match mistakes.iter().find(|mistake| mistake.contains("takes too long")) {
        Some(mistake) => Err(mistake.clone()),
        None => Ok(mistakes.len()),
    }
}
