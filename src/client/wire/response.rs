//! The response to a request: a JSON-RPC response, or a response of another kind.

use std::borrow::Cow;

use edge_json::write::{self, literal};
use edge_json::{Document, JsonLimits, Kind, Value};
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::challenge::BearerChallenge;
use crate::client::error::{ClientError, Failure, of_rpc_error};
use crate::protocol::error::ErrorCode;
use crate::protocol::reply::ServerError;
use crate::protocol::revision::Era;
use crate::server::extension::is_identifier;
use crate::text::{Text, line};

/// The maximum number of revisions of a server that an error lists.
const REVISIONS: usize = 8;
/// The maximum length of each, in bytes.
const REVISION: usize = 32;
/// The maximum number of extensions that an error lists, and the maximum length of each, in bytes.
const EXTENSIONS: usize = 8;
const EXTENSION: usize = 128;

/// The response to a request.
#[derive(Debug)]
pub(in crate::client) enum ServerResponse {
    /// A JSON-RPC response.
    Rpc { status: u16, outcome: RpcResponse },
    /// A response whose status alone counts, or that is not JSON-RPC, with its failure. The status may show the era of the server.
    Http {
        status: u16,
        error: ClientError,
        /// The challenge of a response with status 401 or 403.
        challenge: Option<BearerChallenge>,
    },
}

pub(in crate::client) type RpcResponse = Result<RpcResult, RemoteError>;

/// A JSON-RPC result of a server.
#[derive(Debug)]
pub(in crate::client) struct RpcResult {
    /// The `resultType`, which modern results have.
    pub kind: Option<String>,
    /// Whether the result has `isError`.
    pub is_error: bool,
    pub json: Box<RawValue>,
    /// The session that the response to `initialize` names.
    pub session: Option<HeaderValue>,
}

/// A JSON-RPC error of a server.
#[derive(Debug)]
pub(in crate::client) struct RemoteError {
    pub code: i64,
    pub message: String,
    pub data: Option<Box<RawValue>>,
}

/// The result of one request, which may be a question or a task.
#[derive(Deserialize, Serialize)]
pub(in crate::client) struct RoundResult {
    pub kind: ResultKind,
    pub result: Box<RawValue>,
}

/// The kind of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(in crate::client) enum ResultKind {
    /// The final result.
    Complete,
    /// The server asks for input.
    Asks,
    /// The server continues the request as a task.
    Task,
}

impl RoundResult {
    pub(in crate::client) fn complete(result: Box<RawValue>) -> Self {
        Self { kind: ResultKind::Complete, result }
    }
}

impl RpcResult {
    fn is_task(&self) -> bool {
        self.kind.as_deref() == Some("task")
    }

    /// Returns the result of a modern server. A result without a `resultType` is complete. `known` are further types, which the program knows.
    /// `may_be_task` says whether the request declared that its result may be a task.
    ///
    /// # Errors
    /// Its `resultType` is unknown or not permitted.
    pub(in crate::client) fn into_round_result(
        self,
        known: &[Text],
        may_be_task: bool,
    ) -> Result<RoundResult, ClientError> {
        let kind = match self.kind.as_deref() {
            None | Some("complete") => ResultKind::Complete,
            Some("input_required") => ResultKind::Asks,
            _ if self.is_task() && may_be_task => ResultKind::Task,
            _ if self.is_task() => {
                return Err(Failure::Malformed("is a task, which only a tool call can have").into());
            }
            Some(kind) if known.iter().any(|known| known == kind) => ResultKind::Complete,
            Some(_) => return Err(Failure::Malformed("has an unknown `resultType`").into()),
        };
        Ok(RoundResult { kind, result: self.json })
    }

    /// Returns the result of a legacy server, which is complete.
    ///
    /// # Errors
    /// It is a task, which legacy revisions do not have in this form.
    pub(in crate::client) fn into_legacy_result(self) -> Result<RoundResult, ClientError> {
        if self.is_task() {
            return Err(Failure::Malformed("is a task, which only servers of revision 2026-07-28 can send").into());
        }
        Ok(RoundResult::complete(self.json))
    }
}

/// Parses the result of a server.
///
/// # Errors
/// The result is not JSON.
pub(in crate::client) fn parsed(result: &RawValue) -> Result<Document<'_>, ClientError> {
    Document::parse(result.get().as_bytes(), JsonLimits::MOST)
        .map_err(|_| Failure::Malformed("has a result that is not JSON").into())
}

pub(in crate::client) fn outcome(outcome: Result<Value<'_>, ServerError<'_>>) -> RpcResponse {
    match outcome {
        // The text was parsed, so a copy of it exists.
        Ok(result) => Ok(RpcResult {
            kind: result.string("resultType"),
            is_error: result.get("isError").is_some_and(|is_error| is_error.text() == "true"),
            json: result.to_raw().unwrap_or_default(),
            session: None,
        }),
        Err(ServerError { code, message, data }) => {
            Err(RemoteError { code, message: message.into_owned(), data: data.and_then(Value::to_raw) })
        }
    }
}

impl ServerResponse {
    /// Returns the revisions that an error names.
    pub(in crate::client) fn supported(&self) -> Vec<String> {
        let mut names = Vec::new();
        if let Self::Rpc { outcome: Err(RemoteError { data: Some(data), .. }), .. } = self
            && let Ok(document) = Document::parse(data.get().as_bytes(), JsonLimits::MOST)
            && let Some(supported) = document.root().get("supported")
        {
            for name in supported.items() {
                names.extend(name.as_str().map(Into::into));
            }
        }
        names
    }

    /// Returns the result.
    ///
    /// # Errors
    /// The response is an error.
    pub(in crate::client) fn into_result(self) -> Result<RpcResult, ClientError> {
        match self {
            Self::Rpc { outcome: Ok(result), .. } => Ok(result),
            Self::Rpc { outcome: Err(error), .. } => {
                let cause = of_rpc_error(error.code, &error.message);
                Err(ClientError::new(failure(error), Some(cause)))
            }
            Self::Http { error, .. } => Err(error),
        }
    }
}

/// Returns the failure for a server without a common revision. A message shows its revisions, so other characters are left out.
pub(in crate::client) fn unsupported(offered: Vec<String>) -> ClientError {
    let mut shown = Vec::new();
    for mut name in offered {
        name.retain(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
        name.truncate(REVISION);
        if !name.is_empty() && shown.len() < REVISIONS {
            shown.push(name);
        }
    }
    Failure::UnsupportedRevision { offered: shown }.into()
}

/// Returns the identifiers of the extensions that an error requires. A message shows them, so others are left out.
fn required_extensions(data: Option<&RawValue>) -> Vec<String> {
    let document = data.and_then(|data| Document::parse(data.get().as_bytes(), JsonLimits::MOST).ok());
    let required =
        document.as_ref().and_then(|document| document.root().get("requiredCapabilities")?.get("extensions"));
    let names = required.into_iter().flat_map(Value::members).map(|(name, _)| name);
    let is_shown = |name: &Cow<'_, str>| name.len() <= EXTENSION && is_identifier(name);
    names.filter(is_shown).take(EXTENSIONS).map(Cow::into_owned).collect()
}

/// Returns the failure of a JSON-RPC error that a task ended with.
pub(in crate::client) fn of_task_error(ServerError { code, message, data }: ServerError<'_>) -> Failure {
    failure(RemoteError { code, message: message.into_owned(), data: data.and_then(Value::to_raw) })
}

/// Returns the failure of a JSON-RPC error. The failure shows the message, on one line, because it is meant for the model.
fn failure(RemoteError { code, message, data }: RemoteError) -> Failure {
    const LONGEST: usize = 2048;
    const MISMATCH: i64 = ErrorCode::HeaderMismatch.number() as i64;
    const CAPABILITY: i64 = ErrorCode::MissingCapability.number() as i64;
    match code {
        MISMATCH => Failure::HeaderMismatch,
        CAPABILITY => match required_extensions(data.as_deref()) {
            extensions if extensions.is_empty() => Failure::CapabilityRequired,
            extensions => Failure::ExtensionRequired { extensions },
        },
        _ => {
            let data = data.map(|data| data.get().to_owned());
            Failure::Rpc { code, message: line(&message, LONGEST).into_owned(), data }
        }
    }
}

/// The members that can have any JSON inside. A null inside them is a value.
const FREE: [&str; 9] = [
    STRUCTURED,
    "_meta",
    "inputSchema",
    "outputSchema",
    "requestedSchema",
    // The arguments of a call in a conversation for a model, and what the program of such a conversation knows.
    "input",
    "metadata",
    "extensions",
    // The client compares it with the file of a skill.
    "frontmatter",
];
/// In 2026-07-28, null is a possible structured content.
const STRUCTURED: &str = "structuredContent";

/// Returns a result, or the parameters of a question, without its null members.
pub(in crate::client) fn without_nulls(json: Box<RawValue>, era: Era) -> Box<RawValue> {
    if !json.get().contains("null") {
        return json;
    }
    let written = Document::parse(json.get().as_bytes(), JsonLimits::MOST).map(|document| {
        let mut text = String::with_capacity(json.get().len());
        write(document.root(), era, &mut text);
        write::raw_value(text)
    });
    written.unwrap_or(json)
}

/// Writes a value without its null members. The recursion is bounded by the nesting of JSON.
fn write(value: Value<'_>, era: Era, text: &mut String) {
    match value.kind() {
        Kind::Object => {
            let is_present = |name: &str, member: Value<'_>| {
                member.kind() != Kind::Null || (name == STRUCTURED && era == Era::Modern)
            };
            text.push('{');
            for (nth, (name, member)) in value.members().filter(|(name, member)| is_present(name, *member)).enumerate()
            {
                text.push_str(if nth > 0 { "," } else { "" });
                text.push_str(literal(&name).get());
                text.push(':');
                if FREE.contains(&&*name) {
                    text.push_str(member.text());
                } else {
                    write(member, era, text);
                }
            }
            text.push('}');
        }
        Kind::Array => {
            text.push('[');
            for (nth, item) in value.items().enumerate() {
                text.push_str(if nth > 0 { "," } else { "" });
                write(item, era, text);
            }
            text.push(']');
        }
        _ => text.push_str(value.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_members_are_absent_except_where_any_json_is_possible() {
        for (json, modern, legacy) in [
            (r#"{ "a" : 1.0 }"#, r#"{ "a" : 1.0 }"#, r#"{ "a" : 1.0 }"#),
            (
                r#"{"a":null,"b":[{"c":null,"d":1.50},null]}"#,
                r#"{"b":[{"d":1.50},null]}"#,
                r#"{"b":[{"d":1.50},null]}"#,
            ),
            (
                r#"{"structuredContent":null,"_meta":{"x":null},"\"":"null"}"#,
                r#"{"structuredContent":null,"_meta":{"x":null},"\"":"null"}"#,
                r#"{"_meta":{"x":null},"\"":"null"}"#,
            ),
            (
                r#"{"frontmatter":{"a":null},"extensions":{"a/b":{"c":null}},"metadata":{"a":null},"x":{"input":{"a":null},"b":null}}"#,
                r#"{"frontmatter":{"a":null},"extensions":{"a/b":{"c":null}},"metadata":{"a":null},"x":{"input":{"a":null}}}"#,
                r#"{"frontmatter":{"a":null},"extensions":{"a/b":{"c":null}},"metadata":{"a":null},"x":{"input":{"a":null}}}"#,
            ),
            (
                r#"{"inputSchema":{"default":null},"outputSchema":null,"_meta":null}"#,
                r#"{"inputSchema":{"default":null}}"#,
                r#"{"inputSchema":{"default":null}}"#,
            ),
        ] {
            for (era, expected) in [(Era::Modern, modern), (Era::Legacy, legacy)] {
                let raw = RawValue::from_string(json.to_owned()).expect("JSON");
                assert_eq!(without_nulls(raw, era).get(), expected, "{json}");
            }
        }
    }
}
