//! The questions of a server that the caller of this program answers.
//!
//! Only elicitation is passed on: sampling spends the model of the client, and roots are its folders.

use futures::FutureExt;
use serde_json::Value as Json;

use super::error::{Failed, Failure};
use super::handlers::{Answer, undeclared};
use super::question::{Elicitation, Kind, Question, UrlElicitation};
use crate::call::context::Context;
use crate::host::{host_of, origin_of};
use crate::json::object;

/// The longest key of a server that the key of a passed question contains, in bytes.
const KEY: usize = 64;

/// A function that passes a question on to the caller of this program: the question `nth` of a round, with the key that the server gives it.
pub(super) type Pass =
    fn(question: &Question<'_>, round: usize, nth: usize, key: &str, cx: &Context) -> Result<Answer, Failed>;

/// Passes a question on to the caller of this program. If the answer has not arrived, the future stays pending and the round of the caller
/// ends.
///
/// # Errors
/// The question is not valid, or it is not an elicitation.
pub(super) fn pass(
    question: &Question<'_>,
    round: usize,
    nth: usize,
    key: &str,
    cx: &Context,
) -> Result<Answer, Failed> {
    let request = for_caller(question, cx.resource())?.ok_or_else(undeclared)?;
    let (key, cx) = (passed_key(question.server, round, nth, key), cx.clone());
    let answer = async move {
        let answer = cx.pass_question(&key, request).await;
        answer.map_err(|error| Failed::new(Failure::Local(format!("asked a question: {error}.")), None))
    };
    Ok(answer.boxed_local())
}

/// Returns an elicitation as a request for the client of this program, whose URL is `own`. The message names the server that asks.
fn for_caller(question: &Question<'_>, own: Option<&str>) -> Result<Option<Json>, Failure> {
    let params = match question.kind {
        Kind::Form => {
            let Elicitation { server, message, schema } = Elicitation::read(question)?;
            vec![("mode", "form".into()), ("message", named(&server, &message)), ("requestedSchema", schema)]
        }
        Kind::Url => {
            let UrlElicitation { server, message, url, .. } = UrlElicitation::read(question)?;
            if is_on_own_host(&url, own) {
                return Err(Failure::Malformed("asks to open a URL of this program"));
            }
            vec![("mode", "url".into()), ("message", named(&server, &message)), ("url", url.into())]
        }
        Kind::Sampling | Kind::Roots => return Ok(None),
    };
    Ok(Some(object(vec![("method", "elicitation/create".into()), ("params", object(params))])))
}

fn named(server: &str, message: &str) -> Json {
    format!("[{server}] {message}").into()
}

/// Returns whether a URL has the host of this program. A page of this program must not be opened in the name of another server.
fn is_on_own_host(url: &str, own: Option<&str>) -> bool {
    // A name with a dot at its end is the same name.
    let host = |url| origin_of(url).and_then(host_of).map(|host| host.trim_end_matches('.'));
    own.and_then(host).zip(host(url)).is_some_and(|(own, host)| own.eq_ignore_ascii_case(host))
}

/// Returns the key of a passed question: the server, the round and the server's key.
///
/// A key with unusual characters is replaced by its number, so that it cannot have the form of another key.
fn passed_key(server: &str, round: usize, nth: usize, key: &str) -> String {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if key.len() <= KEY && !key.is_empty() && key.bytes().all(is_usual) {
        format!("{server}.{round}.{key}")
    } else {
        format!("{server}.{round}.#{nth}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, JsonLimits};

    /// C113: the text names the server that asks, and has no characters that hide or reorder text.
    #[test]
    fn a_passed_question_names_its_server() {
        let params = r#"{"message":"Really?\u202e\u0007","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"A\u200b"}}}}"#;
        let document = Document::parse(params.as_bytes(), JsonLimits::default()).expect("JSON");
        let server = "parcels".into();
        let question = Question::of(&server, "elicitation/create", Some(document.root()));
        let question = question.expect("a question").expect("a question");
        let passed = for_caller(&question, None).expect("a question").expect("elicitation");
        assert_eq!(passed["params"]["message"], "[parcels] Really?");
        assert_eq!(passed["params"]["mode"], "form");
        assert_eq!(passed["params"]["requestedSchema"]["properties"]["a"]["title"], "A");
    }
}
