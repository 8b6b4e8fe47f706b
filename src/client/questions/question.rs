//! The questions of a server, as they are read from its messages.
//!
//! Source: 2026-07-28, client/elicitation, client/sampling and client/roots; the same pages of older revisions.

use edge_json::{Kind as JsonKind, Value};
use serde_json::Value as Json;

use crate::client::error::Failure;
use crate::client::wire::visible_schema::{HiddenInContract, clean};
use crate::config::SecureUrl;
use crate::protocol::capabilities::QuestionKind;
use crate::text::{Text, make_visible, visible};

/// The types that a field of a form can have.
const FIELDS: [&str; 4] = ["string", "number", "integer", "boolean"];

/// The members of the schema of a form in the specification. Others are removed: the title of the whole form, for example, could look like a
/// heading of the client, and others are costly to compile.
const MEMBERS: [&str; 4] = ["$schema", "type", "properties", "required"];

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
    /// The parameters of `sampling/createMessage`, such as `messages`, `maxTokens` and `systemPrompt`, without invisible characters. They come
    /// from the server, so do not trust them.
    pub params: Json,
}

/// A question of a server. The kind decides how its parameters are read.
#[derive(Clone, Copy)]
pub(in crate::client) struct ServerQuestion<'a> {
    pub server: &'a Text,
    pub kind: QuestionKind,
    pub params: Option<Value<'a>>,
}

impl<'a> ServerQuestion<'a> {
    /// Reads the kind of a question. Returns `None` if `method` is not the method of a question.
    ///
    /// # Errors
    /// The mode of an elicitation is unknown.
    pub(in crate::client) fn of(
        server: &'a Text,
        method: &str,
        params: Option<Value<'a>>,
    ) -> Result<Option<Self>, Failure> {
        let mode = params.and_then(|params| params.string("mode"));
        match QuestionKind::of(method, mode.as_deref()) {
            Some(kind) => Ok(Some(Self { server, kind, params })),
            None if method == "elicitation/create" => {
                Err(Failure::Malformed("asks with an unknown `mode` of elicitation"))
            }
            None => Ok(None),
        }
    }

    /// Returns the parameters and the text of an elicitation.
    fn elicitation(&self) -> Result<(Value<'a>, String), Failure> {
        let params = self.params.ok_or(Failure::Malformed("asks without parameters"))?;
        let message = params.string("message").ok_or(Failure::Malformed("asks without a text"))?;
        Ok((params, visible(&message)))
    }
}

impl Elicitation {
    pub(in crate::client) fn read(question: &ServerQuestion<'_>) -> Result<Self, Failure> {
        let (params, message) = question.elicitation()?;
        Ok(Self { server: question.server.clone(), message, schema: form(params)? })
    }
}

impl UrlElicitation {
    pub(in crate::client) fn read(question: &ServerQuestion<'_>) -> Result<Self, Failure> {
        let (params, message) = question.elicitation()?;
        let (url, host) = url(params)?;
        Ok(Self { server: question.server.clone(), message, url, host })
    }
}

impl SamplingRequest {
    pub(in crate::client) fn read(question: &ServerQuestion<'_>) -> Result<Self, Failure> {
        let params = question.params.and_then(Value::to_json);
        let mut params = params.ok_or(Failure::Malformed("asks a model without parameters"))?;
        make_visible(&mut params);
        Ok(Self { server: question.server.clone(), params })
    }
}

/// Reads the schema of a form.
fn form(params: Value<'_>) -> Result<Json, Failure> {
    let schema = params.get("requestedSchema").filter(|schema| schema.kind() == JsonKind::Object);
    let schema = schema.ok_or(Failure::Malformed("asks with a form that is not an object"))?;
    let is_object = schema.get("type").is_some_and(|kind| kind.is_str("object"));
    let fields = schema.get("properties").into_iter().flat_map(Value::members);
    if !is_object || !fields.into_iter().all(|(_, field)| is_flat(field)) {
        return Err(Failure::Malformed("asks with a form that has nested fields"));
    }
    let mut schema = schema.to_json().ok_or(Failure::Malformed("asks with a number that is too large"))?;
    if let Some(members) = schema.as_object_mut() {
        members.retain(|name, _| MEMBERS.contains(&name.as_str()));
    }
    clean(&mut schema, &visible).map_err(|HiddenInContract| {
        Failure::Malformed("asks with a form whose names or values have hidden characters")
    })?;
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
    use edge_json::{Document, JsonLimits};

    fn read<T>(params: &str, read: impl Fn(&ServerQuestion<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let document = Document::parse(params.as_bytes(), JsonLimits::default()).expect("JSON");
        let server = "parcels".into();
        let question = ServerQuestion::of(&server, "elicitation/create", Some(document.root()))?;
        read(&question.expect("a question"))
    }

    /// C34: only an `https:` URL is shown, with its host.
    #[test]
    fn only_https_urls_are_asked() {
        let url = |url: &str| read(&format!(r#"{{"mode":"url","message":"m","url":"{url}"}}"#), UrlElicitation::read);
        match url("https://xn--pypal-4ve.example:8443/a?b=c") {
            Ok(UrlElicitation { host, url, .. }) => {
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
        let form = |schema: &str| {
            let params = format!(r#"{{"message":"m","requestedSchema":{schema}}}"#);
            read(&params, Elicitation::read).is_ok()
        };
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
}
