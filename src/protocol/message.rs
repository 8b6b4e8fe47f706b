//! JSON-RPC 2.0, as the protocol uses it: one object per message, ids that are strings or integers.
//!
//! Source: every revision, basic, "Messages".

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::error::RpcError;
use super::meta;
use super::method::Method;
use crate::json::{Document, JsonLimits, Kind, Value, write};

/// The id of a request, kept as the text that it was sent as, and given back as that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Box<str>);

impl RequestId {
    /// A string or an integer; anything else is no id.
    fn read(value: Value<'_>) -> Option<Self> {
        value.is_string_or_integer().then(|| Self(value.text().into()))
    }

    /// The id of a message that was refused as a whole for something in another place, if it can be read.
    pub(crate) fn of_refused(body: &[u8]) -> Option<Self> {
        let text = match str::from_utf8(body) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(with_placeholders(body)),
        };
        let document = Document::outline(&text).ok()?;
        let mut ids = document.root().members().filter(|(name, _)| name == "id");
        let (Some((_, id)), None) = (ids.next(), ids.next()) else { return None };
        // An id with a placeholder in it is not the id that was sent.
        if body.get(id.range()) != Some(id.text().as_bytes()) {
            return None;
        }
        let id = id.text();
        // The outline takes more than is good.
        Self::read(Document::parse(id.as_bytes(), JsonLimits::default()).ok()?.root())
    }

    /// The id of a call that the program itself makes.
    pub(crate) fn native() -> Self {
        Self("\"native\"".into())
    }

    /// The id as JSON: `7`, `"a"`.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `bytes` as text of the same length: a placeholder of one byte stands for each byte that is not UTF-8, so that no byte has another
/// place. It takes no more memory than the bytes, unlike `String::from_utf8_lossy`, which takes three times as much.
fn with_placeholders(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// One message from a client.
#[derive(Debug)]
pub(crate) enum Message<'d> {
    /// Expects an answer.
    Request(Request<'d>),
    /// Expects none, and gets none.
    Notification {
        /// Whether `params._meta` claims a revision: it then comes from a modern client.
        claims_revision: bool,
    },
    /// An answer to something that this server never asks.
    Response,
}

/// A message that expects an answer.
#[derive(Debug)]
pub(crate) struct Request<'d> {
    /// What the answer is to repeat.
    pub(crate) id: RequestId,
    /// The name of the method.
    pub(crate) method: Cow<'d, str>,
    /// The method, if a revision has one of this name.
    pub(crate) known_method: Option<Method>,
    /// An object, if there.
    pub(crate) params: Option<Value<'d>>,
}

impl<'d> Request<'d> {
    /// The member `name` of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<Value<'d>> {
        self.params?.get(name)
    }
}

/// JSON that is no message.
#[derive(Debug)]
pub(crate) struct NotAMessage {
    /// What is wrong with it.
    pub(crate) why: &'static str,
    /// Its id, if it has one that can be repeated.
    pub(crate) id: Option<RequestId>,
}

impl<'d> Message<'d> {
    /// Reads one message. Members that JSON-RPC does not know are ignored.
    ///
    /// # Errors
    /// [`NotAMessage`] for `null`, `{}`, `{"jsonrpc":"1.0",…}`, a method that is no string, parameters that are no object,
    /// an id that is null, a fraction or a boolean.
    pub(crate) fn read(value: Value<'d>) -> Result<Self, NotAMessage> {
        let [mut jsonrpc, mut id, mut method, mut params, mut outcome] = [None; 5];
        for (key, member) in value.members() {
            let slot = match &*key {
                "jsonrpc" => &mut jsonrpc,
                "id" => &mut id,
                "method" => &mut method,
                "params" => &mut params,
                "result" | "error" => &mut outcome,
                _ => continue,
            };
            *slot = Some(member);
        }
        let read_id = id.and_then(RequestId::read);
        let refused = |why| Err(NotAMessage { why, id: read_id.clone() });
        if value.kind() != Kind::Object {
            return refused("a message is a JSON object");
        }
        if jsonrpc.and_then(Value::as_str).as_deref() != Some("2.0") {
            return refused("`jsonrpc` must be \"2.0\"");
        }
        let Some(method) = method else {
            return if outcome.is_some() { Ok(Self::Response) } else { refused("`method` is missing") };
        };
        let Some(method) = method.as_str() else { return refused("`method` must be a string") };
        if params.is_some_and(|params| params.kind() != Kind::Object) {
            return refused("`params` must be an object");
        }
        match (id, read_id.clone()) {
            (Some(_), Some(id)) => {
                let known_method = Method::named(&method);
                Ok(Self::Request(Request { id, method, known_method, params }))
            }
            (Some(_), None) => refused("`id` must be a string or an integer"),
            (None, _) => Ok(Self::Notification { claims_revision: meta::claim(params).is_some() }),
        }
    }
}

/// The response to `id` with a result.
///
/// # Errors
/// The result's own, where it cannot be serialized.
pub(crate) fn result_response(id: &RequestId, result: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut body = Vec::with_capacity(512);
    body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    body.extend_from_slice(id.as_json().as_bytes());
    body.extend_from_slice(b",\"result\":");
    write::append(&mut body, result)?;
    body.push(b'}');
    Ok(body)
}

/// The response that reports `error`, to `id` if the request had one that could be read.
///
/// Source: 2026-07-28, basic, "Responses": without a readable id the member is left out.
pub(crate) fn error_response(id: Option<&RequestId>, error: &RpcError) -> Vec<u8> {
    let mut body = Vec::with_capacity(256);
    body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    if let Some(id) = id {
        body.extend_from_slice(b"\"id\":");
        body.extend_from_slice(id.as_json().as_bytes());
        body.push(b',');
    }
    body.extend_from_slice(b"\"error\":");
    // An error holds an integer, a string and a JSON value: there is nothing in it that could fail.
    body.extend(write::to_vec(error).unwrap_or_default());
    body.push(b'}');
    body
}

#[cfg(test)]
mod tests {
    use super::RequestId;

    #[test]
    fn a_refused_message_may_have_an_id() {
        let deep = format!(r#"{{"params":{}1{},"id":"d"}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let broken = [br#"{"id":"a","x":""#.as_slice(), b"\xff", br#""}"#].concat();
        let placeholder = [br#"{"x":""#.as_slice(), b"\xff\xc3", br#"","id":"?"}"#].concat();
        let broken_id = [br#"{"id":""#.as_slice(), b"\xff", br#""}"#].concat();
        for (body, id) in [
            (br#"{"id":7,"params":{"a":1,"a":2}}"#.as_slice(), Some("7")),
            (br#"{"a":1,"a":2,"i\u0064":"x"}"#, Some("\"x\"")),
            (br#"{"params":["\ud800"],"id":1}"#, Some("1")),
            ("{\"a\":1,\"a\":2,\"id\":\"\u{fffd}\"}".as_bytes(), Some("\"\u{fffd}\"")),
            (deep.as_bytes(), Some("\"d\"")),
            (&broken, Some("\"a\"")),
            (&placeholder, Some("\"?\"")),
            (&broken_id, None),
            (br#"{"id":"\ud800"}"#, None),
            (br#"{"id":1,"id":1}"#, None),
            (br#"{"id":{"id":1}}"#, None),
            (br#"{"params":{"id":1}}"#, None),
            (br#"{"id":1"#, None),
            (br#"{"id":1}}"#, None),
            (br#"[{"id":1}]"#, None),
            (b"1", None),
        ] {
            let found = RequestId::of_refused(body);
            assert_eq!(found.as_ref().map(RequestId::as_json), id, "{}", String::from_utf8_lossy(body));
        }
    }
}
