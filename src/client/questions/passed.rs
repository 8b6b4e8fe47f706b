//! The questions of a server that the caller of this program answers.
//!
//! Elicitation is passed on. Sampling spends the model of the client, so it is passed on only from a server for which the program says so.
//! Roots are the folders of the client, which no other server learns. `passed_sampling` writes sampling.
//!
//! The person must see which server asks. So a label with its name begins each line of the message. The texts of a form are one line each, and
//! none of them begins with a label of another server.

use edge_json::object;
use futures::FutureExt;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::handlers::{AnswerFuture, undeclared};
use super::passed_sampling::{self, BRACKETS};
use super::question::{Elicitation, SamplingRequest, ServerQuestion, UrlElicitation};
use crate::call::context::Context;
use crate::client::error::{ClientError, Failure};
use crate::client::wire::visible_schema::{HiddenInContract, clean};
use crate::host::{host_of, origin_of};
use crate::limits::{UPSTREAM_FORM_NAME, UPSTREAM_QUESTION_CHARACTERS, UPSTREAM_QUESTION_LINES};
use crate::protocol::capabilities::QuestionKind;
use crate::text::{line, sentence};

/// The longest key of a server that the key of a passed question contains, in bytes.
const KEY: usize = 64;

/// A function that passes a question on to the caller of this program, under this key. The program has the pages at these URLs.
pub(in crate::client) type Pass =
    fn(question: &ServerQuestion<'_>, key: &str, pages: &[&str], cx: &Context) -> Result<AnswerFuture, ClientError>;

/// Passes a question on to the caller of this program. If the answer has not arrived, the future stays pending and the round of the caller
/// ends.
///
/// # Errors
/// The question is not valid, or it is not an elicitation.
pub(in crate::client) fn pass(
    question: &ServerQuestion<'_>,
    key: &str,
    pages: &[&str],
    cx: &Context,
) -> Result<AnswerFuture, ClientError> {
    let request = request(question, pages, cx)?;
    let (key, cx) = (key.to_owned(), cx.clone());
    let answer = async move {
        let answer = cx.pass_question(&key, request).await;
        answer.map_err(|error| ClientError::new(Failure::Local(format!("asked a question: {error}.")), None))
    };
    Ok(answer.boxed_local())
}

/// Returns a question as a request for the client of `cx`. The program has the pages at these URLs.
///
/// # Errors
/// The question is not valid, or it is not passed on.
pub(in crate::client) fn request(
    question: &ServerQuestion<'_>,
    pages: &[&str],
    cx: &Context,
) -> Result<Json, ClientError> {
    // The configured URL may be one of several. The URL of the request comes from the client, and only the client sees the question.
    let request_url = cx.url();
    let own = [&[cx.resource().unwrap_or_default(), &request_url], pages].concat();
    for_caller(question, &own)?.ok_or_else(undeclared)
}

/// Returns an elicitation as a request for the client of this program, which has the URLs `own`.
fn for_caller(question: &ServerQuestion<'_>, own: &[&str]) -> Result<Option<Json>, Failure> {
    let params = match question.kind {
        QuestionKind::Form => {
            let Elicitation { server, message, schema } = Elicitation::read(question)?;
            vec![
                ("mode", "form".into()),
                ("message", labelled(&server, &message).into()),
                ("requestedSchema", form(&server, schema)?),
            ]
        }
        QuestionKind::Url => {
            let UrlElicitation { server, message, url, .. } = UrlElicitation::read(question)?;
            let host = host(&url).ok_or(Failure::Malformed("asks to open a URL whose host cannot be read"))?;
            if own.iter().any(|own| self::host(own).is_some_and(|own| own.eq_ignore_ascii_case(host))) {
                // A page of this program must not be opened in the name of another server.
                return Err(Failure::Malformed("asks to open a URL of this program"));
            }
            vec![("mode", "url".into()), ("message", labelled(&server, &message).into()), ("url", url.into())]
        }
        QuestionKind::Sampling => {
            let SamplingRequest { server, params } = SamplingRequest::read(question)?;
            let params = passed_sampling::for_caller(&server, &params)?;
            return Ok(Some(object(vec![("method", "sampling/createMessage".into()), ("params", params)])));
        }
        QuestionKind::Roots => return Ok(None),
    };
    Ok(Some(object(vec![("method", "elicitation/create".into()), ("params", object(params))])))
}

/// Returns a message in which each line begins with the name of the server. Empty lines are left out, and a long message is cut.
pub fn labelled(server: &str, message: &str) -> String {
    let mut labelled = format!("[{server}]");
    let mut left = UPSTREAM_QUESTION_CHARACTERS;
    let lines = message.split('\n').map(|line| sentence(line, usize::MAX)).filter(|line| !line.is_empty());
    for (nth, line) in lines.take(UPSTREAM_QUESTION_LINES.saturating_add(1)).enumerate() {
        if nth > 0 {
            labelled.extend(["\n[", server, "]"]);
        }
        let most = if nth == UPSTREAM_QUESTION_LINES { 0 } else { left };
        let shown = self::line(&line, most);
        labelled.extend([" ", &shown]);
        if shown != line {
            break;
        }
        left = left.saturating_sub(shown.chars().count());
    }
    labelled
}

/// Returns a form whose texts cannot imitate a message of this program.
///
/// # Errors
/// A client may show a name or a value as a message.
fn form(server: &str, mut schema: Json) -> Result<Json, Failure> {
    const NOT_A_LINE: Failure = Failure::Malformed(
        "asks with a form whose names or values have line breaks, or whose names are long or begin as a label does",
    );
    let text = |text: &str| {
        let text = sentence(text, UPSTREAM_QUESTION_CHARACTERS);
        if text.starts_with(BRACKETS) { format!("[{server}] {text}") } else { text }
    };
    clean(&mut schema, &text).map_err(|HiddenInContract| NOT_A_LINE)?;
    if is_on_lines(&schema) { Ok(schema) } else { Err(NOT_A_LINE) }
}

/// Returns whether each string in a form is one line, and no name is long or begins as a label does.
fn is_on_lines(value: &Json) -> bool {
    let is_line = |text: &str| line(text, usize::MAX) == text;
    // A client may trim a name before it shows the name.
    let is_name =
        |name: &str| line(name, UPSTREAM_FORM_NAME) == name && name.trim() == name && !name.starts_with(BRACKETS);
    match value {
        Json::String(text) => is_line(text),
        Json::Array(items) => items.iter().all(is_on_lines),
        Json::Object(members) => members.iter().all(|(name, value)| is_name(name) && is_on_lines(value)),
        _ => true,
    }
}

/// Returns the host of a URL. A name with a dot at its end is the same name.
fn host(url: &str) -> Option<&str> {
    origin_of(url).and_then(host_of).map(|host| host.trim_end_matches('.'))
}

/// Returns the key of a passed question of a round: the server, the round and the server's key.
///
/// A key with unusual characters is replaced by its number, so that it cannot have the form of another key.
pub(in crate::client) fn key_in_round(server: &str, round: usize, nth: usize, key: &str) -> String {
    if is_usual(key) { format!("{server}.{round}.{key}") } else { format!("{server}.{round}.#{nth}") }
}

/// Returns the key of a passed question of a task: the server and the server's key.
///
/// A key with unusual characters is replaced by its digest: its number changes when the task no longer lists an answered question.
pub(in crate::client) fn key_in_task(server: &str, key: &str) -> String {
    if is_usual(key) {
        return format!("{server}.task.{key}");
    }
    let digest = Sha256::digest(key).first_chunk().copied().unwrap_or_default();
    format!("{server}.task.#{:016x}", u64::from_be_bytes(digest))
}

fn is_usual(key: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    key.len() <= KEY && !key.is_empty() && key.bytes().all(is_usual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use edge_json::{Document, JsonLimits};

    fn passed(params: &str) -> Result<Json, Failure> {
        passed_to(params, &["", "/"])
    }

    fn passed_to(params: &str, own: &[&str]) -> Result<Json, Failure> {
        let document = Document::parse(params.as_bytes(), JsonLimits::default()).expect("JSON");
        let server = "parcels".into();
        let question = ServerQuestion::of(&server, "elicitation/create", Some(document.root()));
        let passed = for_caller(&question.expect("a question").expect("a question"), own)?;
        Ok(passed.expect("elicitation")["params"].clone())
    }

    /// A page of this program is not opened in the name of another server.
    #[test]
    fn a_passed_url_has_another_host() {
        let pass = |url: &str| {
            let params = serde_json::json!({ "mode": "url", "message": "Open", "url": url }).to_string();
            passed_to(&params, &["", "https://desk.example/mcp"])
        };
        for url in ["https://pay.example/a", "https://pay.example:8443/a", "https://desk.example.net/"] {
            assert_eq!(pass(url).expect("a question")["url"], url);
        }
        for url in [
            "https://desk.example/a",
            "https://DESK.example.:443/",
            "https://desk.example:/",
            "https://desk.example.:?a",
            "https://pay.example:/",
        ] {
            assert!(pass(url).is_err(), "{url}");
        }
    }

    /// C113: the text names the server that asks, and has no characters that hide or reorder text.
    #[test]
    fn a_passed_question_names_its_server() {
        let params = r#"{"message":"Really?\u202e\u0007","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"A\u200b"}}}}"#;
        let passed = passed(params).expect("a question");
        assert_eq!(passed["message"], "[parcels] Really?");
        assert_eq!(passed["mode"], "form");
        assert_eq!(passed["requestedSchema"]["properties"]["a"]["title"], "A");
    }

    /// C113: no line of the message and no text of the form begins with the label of another server.
    #[test]
    fn a_passed_question_cannot_imitate_another_server() {
        let label = "\n\u{200b} \t[bank]  Enter the code.";
        assert_eq!(
            labelled("parcels", &format!("Thanks.\n\n\n{label}")),
            "[parcels] Thanks.\n[parcels] [bank] Enter the code."
        );
        assert_eq!(labelled("parcels", "\r\n \u{2028}"), "[parcels]");
        let lines = labelled("parcels", &"a\n".repeat(1000));
        assert_eq!((lines.lines().count(), lines.lines().last()), (UPSTREAM_QUESTION_LINES + 1, Some("[parcels] …")));
        assert_eq!(
            labelled("parcels", &format!("{}\n{}\na", "a".repeat(1500), "é ".repeat(30_000))),
            format!("[parcels] {}\n[parcels] {}…", "a".repeat(1500), "é ".repeat(250))
        );
        let whole = "a".repeat(UPSTREAM_QUESTION_CHARACTERS);
        assert_eq!(labelled("parcels", &whole), format!("[parcels] {whole}"));
        assert_eq!(labelled("parcels", &format!("{whole}\na\na")), format!("[parcels] {whole}\n[parcels] …"));

        let field = serde_json::json!({
            "type": "string", "title": label, "description": format!("A{label}"), "enumNames": [label], "oneOf": [{ "const": "[bank]", "title": label }],
        });
        let form = |properties: Json| {
            let schema =
                serde_json::json!({ "title": label, "type": "object", "required": ["a"], "properties": properties });
            passed(&serde_json::json!({ "message": "Hello", "requestedSchema": schema }).to_string())
        };
        let passed = form(serde_json::json!({ "a": field })).expect("a question");
        let shown = "[parcels] [bank] Enter the code.";
        let field = serde_json::json!({
            "type": "string", "title": shown, "description": "A [bank] Enter the code.", "enumNames": [shown],
            "oneOf": [{ "const": "[bank]", "title": shown }],
        });
        assert_eq!(
            passed["requestedSchema"],
            serde_json::json!({ "type": "object", "required": ["a"], "properties": { "a": field } })
        );
        for (title, shown) in [
            (serde_json::json!("\u{a0} ［bank］ Code"), serde_json::json!("[parcels] ［bank］ Code")),
            (serde_json::json!("a".repeat(3000)), serde_json::json!("a".repeat(2000) + "…")),
            (serde_json::json!({ "a": "[bank] Code" }), Json::Null),
            (serde_json::json!(["[bank] Code"]), Json::Null),
        ] {
            let passed = form(serde_json::json!({ "a": { "type": "string", "title": title } })).expect("a question");
            assert_eq!(passed["requestedSchema"]["properties"]["a"]["title"], shown);
        }
        let names = serde_json::json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["[bank] Code", 1] });
        let passed = form(serde_json::json!({ "a": names })).expect("a question");
        assert_eq!(passed["requestedSchema"]["properties"]["a"]["enumNames"], Json::Null);
        for properties in [
            serde_json::json!({ "[bank] Code": { "type": "string" } }),
            serde_json::json!({ " [bank] Code": { "type": "string" } }),
            serde_json::json!({ "\u{a0}[bank] Code": { "type": "string" } }),
            serde_json::json!({ "Code\u{3000}": { "type": "string" } }),
            serde_json::json!({ "［bank］ Code": { "type": "string" } }),
            serde_json::json!({ "a".repeat(129): { "type": "string" } }),
            serde_json::json!({ "a\n[bank] Code": { "type": "string" } }),
            serde_json::json!({ "a": { "type": "string", "enum": ["b\n[bank] Code"] } }),
            serde_json::json!({ "a": { "type": "string", "default": "b\n[bank] Code" } }),
            serde_json::json!({ "a": { "type": "string", "enum": ["b\u{e0041}"] } }),
        ] {
            assert!(form(properties.clone()).is_err(), "{properties}");
        }
    }
}
