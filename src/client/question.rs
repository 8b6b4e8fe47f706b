//! The questions of a server, as they are read from its messages.
//!
//! Source: 2026-07-28, client/elicitation, client/sampling and client/roots; the same pages of older revisions.

use serde_json::Value as Json;

use super::error::Failure;
use super::hidden::{clean_descriptions, visible};
use crate::auth::SecureUrl;
use crate::json::{Kind, Value, object};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::description::Text;

/// The types that a field of a form can have.
const FIELDS: [&str; 4] = ["string", "number", "integer", "boolean"];

/// A form that a server asks a person to fill in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elicitation {
    /// The name that this program has for the server.
    pub server: Text,
    /// The question, without invisible characters. It comes from the server, so do not trust it.
    pub message: String,
    /// The JSON Schema of the form: an object whose fields are not nested.
    pub schema: Json,
}

/// A URL that a server asks a person to open.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UrlElicitation {
    /// The name that this program has for the server.
    pub server: Text,
    /// The question, without invisible characters. It comes from the server, so do not trust it.
    pub message: String,
    /// The whole URL, which begins with `https://`. Nothing has fetched it.
    pub url: String,
    /// The host and the port in the URL. Show them to the person before the URL is opened.
    pub host: String,
}

/// A request of a server for text from a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The name that this program has for the server.
    pub server: Text,
    /// The parameters of `sampling/createMessage`, such as `messages`, `maxTokens` and `systemPrompt`.
    pub params: Json,
}

/// A question of a server.
#[derive(Clone, Debug)]
pub(super) enum Question {
    Form(Elicitation),
    Url(UrlElicitation),
    Sampling(SamplingRequest),
    Roots,
}

impl Question {
    /// Reads a question. Returns `None` if `method` is not the method of a question.
    ///
    /// # Errors
    /// The parameters are not valid.
    pub(super) fn read(server: &Text, method: &str, params: Option<Value<'_>>) -> Result<Option<Self>, Failure> {
        let server = server.clone();
        Ok(Some(match method {
            "elicitation/create" => {
                let params = params.ok_or(Failure::Malformed("asks without parameters"))?;
                let message = params.string("message").ok_or(Failure::Malformed("asks without a text"))?;
                let message = visible(message);
                match params.string("mode").as_deref() {
                    None | Some("form") => Self::Form(Elicitation { server, message, schema: form(params)? }),
                    Some("url") => {
                        let (url, host) = url(params)?;
                        Self::Url(UrlElicitation { server, message, url, host })
                    }
                    Some(_) => return Err(Failure::Malformed("asks with an unknown `mode` of elicitation")),
                }
            }
            "sampling/createMessage" => {
                let params = params.and_then(Value::to_json);
                let params = params.ok_or(Failure::Malformed("asks a model without parameters"))?;
                Self::Sampling(SamplingRequest { server, params })
            }
            "roots/list" => Self::Roots,
            _ => return Ok(None),
        }))
    }

    /// Returns whether a client with these capabilities answers this kind of question.
    pub(super) fn is_declared(&self, capabilities: ClientCapabilities) -> bool {
        match self {
            Self::Form(_) => capabilities.elicitation_form,
            Self::Url(_) => capabilities.elicitation_url,
            Self::Sampling(_) => capabilities.sampling,
            Self::Roots => capabilities.roots,
        }
    }

    /// Returns the question as a request for the client of this program. The message names the server that asks.
    ///
    /// Only elicitation is passed on: sampling spends the model of the client, and roots are its folders.
    pub(super) fn for_caller(&self) -> Option<Json> {
        let params = match self {
            Self::Form(Elicitation { server, message, schema }) => {
                vec![("mode", "form".into()), ("message", named(server, message)), ("requestedSchema", schema.clone())]
            }
            Self::Url(UrlElicitation { server, message, url, .. }) => {
                vec![("mode", "url".into()), ("message", named(server, message)), ("url", url.as_str().into())]
            }
            Self::Sampling(_) | Self::Roots => return None,
        };
        Some(object(vec![("method", "elicitation/create".into()), ("params", object(params))]))
    }
}

fn named(server: &Text, message: &str) -> Json {
    format!("[{server}] {message}").into()
}

/// Reads the schema of a form.
fn form(params: Value<'_>) -> Result<Json, Failure> {
    let schema = params.get("requestedSchema").filter(|schema| schema.kind() == Kind::Object);
    let schema = schema.ok_or(Failure::Malformed("asks with a form that is not an object"))?;
    let is_object = schema.get("type").is_some_and(|kind| kind.is_str("object"));
    let fields = schema.get("properties").into_iter().flat_map(Value::members);
    if !is_object || !fields.into_iter().all(|(_, field)| is_flat(field)) {
        return Err(Failure::Malformed("asks with a form that has nested fields"));
    }
    let mut schema = schema.to_json().ok_or(Failure::Malformed("asks with a number that is too large"))?;
    clean_descriptions(&mut schema);
    Ok(schema)
}

/// Returns whether a field of a form is a scalar or a list of choices.
fn is_flat(field: Value<'_>) -> bool {
    let is_scalar = |field: Value<'_>| match field.get("type") {
        Some(kind) => FIELDS.iter().any(|known| kind.is_str(known)),
        None => field.get("enum").or_else(|| field.get("oneOf")).or_else(|| field.get("anyOf")).is_some(),
    };
    let is_list = field.get("type").is_some_and(|kind| kind.is_str("array"));
    if is_list { field.get("items").is_some_and(is_scalar) } else { is_scalar(field) }
}

/// Reads an `https:` URL, and returns it with its host.
fn url(params: Value<'_>) -> Result<(String, String), Failure> {
    const NOT_HTTPS: Failure = Failure::Malformed("asks to open a URL that is not an https: URL");
    let url = params.string("url").ok_or(NOT_HTTPS)?;
    let parsed = SecureUrl::parse(&url).map_err(|_| NOT_HTTPS)?;
    let host = parsed.origin().strip_prefix("https://").ok_or(NOT_HTTPS)?.to_owned();
    Ok((url, host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, JsonLimits};

    fn read(params: &str) -> Result<Option<Question>, Failure> {
        let document = Document::parse(params.as_bytes(), JsonLimits::default()).expect("JSON");
        Question::read(&"parcels".into(), "elicitation/create", Some(document.root()))
    }

    /// C34: only an `https:` URL is shown, with its host.
    #[test]
    fn only_https_urls_are_asked() {
        let url = |url: &str| read(&format!(r#"{{"mode":"url","message":"m","url":"{url}"}}"#));
        match url("https://xn--pypal-4ve.example:8443/a?b=c") {
            Ok(Some(Question::Url(UrlElicitation { host, url, .. }))) => {
                assert_eq!((&*host, &*url), ("xn--pypal-4ve.example:8443", "https://xn--pypal-4ve.example:8443/a?b=c"));
            }
            other => panic!("{other:?}"),
        }
        for wrong in
            ["javascript:alert(1)", "http://a.example/", "http://localhost/", "https://a@b.example/", "https:///a", ""]
        {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn forms_are_flat_objects() {
        let form = |schema: &str| read(&format!(r#"{{"message":"m","requestedSchema":{schema}}}"#)).is_ok();
        for flat in [
            r#"{"type":"object"}"#,
            r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":["x"]}}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x"}]}}}}"#,
        ] {
            assert!(form(flat), "{flat}");
        }
        for nested in [
            "[]",
            r#"{"type":"array"}"#,
            "{}",
            r#"{"type":"object","properties":{"a":{"type":"object"}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"array"}}}"#,
            r#"{"type":"object","properties":{"a":true}}"#,
        ] {
            assert!(!form(nested), "{nested}");
        }
    }

    /// C113: the text names the server that asks, and has no characters that hide or reorder text.
    #[test]
    fn a_passed_question_names_its_server() {
        let question = read(
            r#"{"message":"Really?\u202e\u0007","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"A\u200b"}}}}"#,
        );
        let passed = question.expect("a question").and_then(|question| question.for_caller()).expect("elicitation");
        assert_eq!(passed["params"]["message"], "[parcels] Really?");
        assert_eq!(passed["params"]["mode"], "form");
        assert_eq!(passed["params"]["requestedSchema"]["properties"]["a"]["title"], "A");
    }
}
