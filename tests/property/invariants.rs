//! The invariants of answers: the conditions that each answer meets, for any request.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::specimen::{RawRequest, SECRET};
use edge_mcp::testing::Answer;

const CODES: [i64; 9] = [-32_700, -32_600, -32_601, -32_602, -32_603, -32_002, -32_020, -32_021, -32_022];
/// Texts that are only for the log. An answer must not contain them.
const INTERNAL: [&str; 4] = ["src/", "serde", "panicked", SECRET];

/// An answer that meets all invariants.
#[derive(Debug, Default)]
pub struct CheckedAnswer {
    /// The responses: none, one, or the responses to a batch.
    pub responses: Vec<Value>,
    /// The notifications before the response on a stream.
    pub notifications: Vec<Value>,
    pub is_batch: bool,
    /// Whether the endpoint rejected the request for its head or its size.
    pub is_rejected_unread: bool,
}

/// The id that the answer to a request must have.
#[derive(Debug, PartialEq, Eq)]
pub enum Id<'a> {
    /// This JSON text.
    Is(&'a str),
    /// No id, because the request has no id that the answer could repeat.
    None,
    /// No id, or any id that is in the body: the body is not JSON, or it is not a request.
    Any,
}

/// Checks that the answer meets the invariants.
///
/// # Errors
/// A description of the first invariant that the answer does not meet.
pub fn check(request: &RawRequest, answer: &Answer) -> Result<CheckedAnswer, String> {
    let status = answer.status();
    let text = std::str::from_utf8(answer.body()).map_err(|_| "the body is not UTF-8")?;
    ensure(matches!(status, 200 | 202 | 204 | 308 | 400 | 401 | 403..=406 | 413 | 415), || {
        format!("the status is {status}")
    })?;
    ensure(answer.header("mcp-session-id").is_none(), || "the answer has a session id".into())?;
    for (name, value) in answer.headers() {
        let is_plain = value.as_bytes().iter().all(|byte| (b' '..=b'~').contains(byte));
        ensure(is_plain, || format!("the header {name} is {value:?}"))?;
    }
    for word in INTERNAL {
        let leaks = text.contains(word) && !request.contains(word);
        ensure(!leaks, || format!("the answer contains the internal text {word:?}"))?;
    }
    let is_stream = match (answer.header("content-type"), text.is_empty()) {
        (None, true) if matches!(status, 202 | 204) => {
            ensure(status == 204 || !is_request(&request.body), || "a request has no response".into())?;
            return Ok(CheckedAnswer::default());
        }
        (None, true) if status == 308 => {
            let rejected = CheckedAnswer { is_rejected_unread: true, ..CheckedAnswer::default() };
            return answer.header("location").map(|_| rejected).ok_or_else(|| "a redirect leads nowhere".into());
        }
        (Some("application/json"), false) => false,
        (Some("text/event-stream"), false) => true,
        (content_type, _) => return Err(format!("{status} with {content_type:?} and {} bytes", text.len())),
    };
    let sent = if is_stream { events(text)? } else { vec![text] };
    let (messages, is_batch) = match sent[..] {
        [batch] if batch.starts_with('[') => (items(batch).ok_or("the body is not an array")?, true),
        _ => (sent, false),
    };
    let (last, before) = messages.split_last().ok_or("there is no message")?;
    let (responses, notifications) =
        if is_batch { (&messages[..], &[][..]) } else { (std::slice::from_ref(last), before) };

    let mut checked = CheckedAnswer { is_batch, ..CheckedAnswer::default() };
    for notification in notifications {
        checked.notifications.push(read_notification(notification)?);
    }
    let mut ids = Vec::new();
    for response in responses {
        ids.push(id_of(response));
        checked.responses.push(read_response(response)?);
    }
    let code = |response: &Value| response["error"]["code"].as_i64();
    checked.is_rejected_unread = matches!(status, 401 | 403 | 405 | 406 | 413 | 415)
        || (status == 404 && checked.responses.iter().all(|response| code(response) == Some(-32_600)))
        || (status == 400 && answer.header("www-authenticate").is_some());
    if status != 200 {
        ensure(!is_stream && !is_batch && code(&checked.responses[0]).is_some(), || {
            format!("{status} without an error")
        })?;
    }
    match ids.as_slice() {
        ids if is_batch => {
            let expected = ids_of_batch(&request.body).ok_or("an array answers a body that is not an array")?;
            ensure(*ids == expected, || format!("the ids are {ids:?}, expected: {expected:?}"))?;
        }
        [id] => {
            let expected = if checked.is_rejected_unread { Id::None } else { expected_id(&request.body) };
            let is_right = match (&expected, id) {
                (Id::Is(expected), id) => *id == Some(*expected),
                (Id::None, id) => id.is_none(),
                (Id::Any, None) => true,
                (Id::Any, Some(id)) => request.body.windows(id.len()).any(|part| part == id.as_bytes()),
            };
            ensure(is_right, || format!("the id is {id:?}, expected: {expected:?}"))?;
            for notification in notifications {
                check_subscription(notification, *id)?;
            }
            check_subscription(last, *id)?;
        }
        _ => return Err("there is not exactly one response".into()),
    }
    Ok(checked)
}

fn ensure(is_met: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if is_met { Ok(()) } else { Err(problem()) }
}

impl RawRequest {
    /// Returns whether the request contains `word`. The answer may then repeat it.
    fn contains(&self, word: &str) -> bool {
        let headers = self.headers.iter().map(|(_, value)| String::from_utf8_lossy(value).into_owned());
        let unescaped = serde_json::from_slice::<Value>(&self.body).map(|body| body.to_string()).unwrap_or_default();
        let body = String::from_utf8_lossy(&self.body).into_owned();
        headers.chain([self.verb.clone(), self.url.clone(), unescaped, body]).any(|text| text.contains(word))
    }
}

/// Returns the messages of an event stream.
fn events(stream: &str) -> Result<Vec<&str>, String> {
    let stream = stream.strip_suffix("\n\n").ok_or("the stream does not end with an event")?;
    let events = stream.split("\n\n").filter(|event| *event != ": keep-alive");
    events
        .map(|event| event.strip_prefix("event: message\ndata: ").filter(|data| !data.contains(['\n', '\r'])))
        .map(|data| data.ok_or_else(|| format!("not an event: {stream}")))
        .collect()
}

/// Parses a message. A number that serde_json cannot represent, such as an id of 400 digits, becomes `null`.
fn read(text: &str) -> Result<Value, String> {
    match (serde_json::from_str(text), members(text)) {
        (Err(error), Some(members)) if error.to_string().starts_with("number out of range") => {
            members.into_iter().map(|(name, text)| Ok((name, read(text)?))).collect()
        }
        (Err(error), None) if error.to_string().starts_with("number out of range") => Ok(Value::Null),
        (message, _) => message.map_err(|error| format!("{error}: {text}")),
    }
}

fn read_notification(text: &str) -> Result<Value, String> {
    let message = read(text)?;
    let is_known = matches!(
        message["method"].as_str(),
        Some("notifications/progress" | "notifications/message" | "notifications/subscriptions/acknowledged")
    );
    let is_notification = message["jsonrpc"] == "2.0" && is_known && message.get("id").is_none();
    ensure(is_notification, || format!("not a notification: {text}"))?;
    Ok(message)
}

fn read_response(text: &str) -> Result<Value, String> {
    let message = read(text)?;
    let mut names: Vec<_> =
        members(text).ok_or("the response is not an object")?.into_iter().map(|(name, _)| name).collect();
    names.retain(|name| name != "id");
    names.sort_unstable();
    let is_response = match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["error", "jsonrpc"] => {
            let error = &message["error"];
            let is_known = error["code"].as_i64().is_some_and(|code| CODES.contains(&code));
            is_known && error["message"].as_str().is_some_and(|text| !text.is_empty())
        }
        ["jsonrpc", "result"] => message["result"].is_object() && message.get("id").is_some(),
        _ => false,
    };
    ensure(is_response && message["jsonrpc"] == "2.0", || format!("not a response: {text}"))?;
    ensure(id_of(text) != Some("null"), || format!("an unknown id must be left out: {text}"))?;
    Ok(message)
}

/// Checks that the subscription id of a message, if it has one, is the id of the request.
fn check_subscription(message: &str, id: Option<&str>) -> Result<(), String> {
    let member = |text, name: &str| members(text)?.into_iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let within = member(message, "params").or_else(|| member(message, "result"));
    let meta = within.and_then(|within| member(within, "_meta"));
    let named = meta.and_then(|meta| member(meta, "io.modelcontextprotocol/subscriptionId"));
    let same = |named: &str| Some(named) == id || string(named).is_some_and(|named| id.and_then(string) == Some(named));
    ensure(named.is_none_or(same), || format!("the subscription id is {named:?}, expected: {id:?}"))
}

/// Returns the id that the answer to `body` must have.
pub fn expected_id(body: &[u8]) -> Id<'_> {
    let Ok(text) = std::str::from_utf8(body) else { return Id::Any };
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Id::Any;
    }
    let Some(members) = members(text) else {
        // An object with an invalid key may still have a valid id.
        return if text.trim_start().starts_with('{') { Id::Any } else { Id::None };
    };
    if !members.iter().any(|(name, _)| name == "method")
        && members.iter().any(|(name, _)| name == "result" || name == "error")
    {
        return Id::Any;
    }
    let mut ids = members.iter().filter(|(name, _)| name == "id");
    match (ids.next(), ids.next()) {
        (Some((_, id)), None) if is_id(id) => Id::Is(id),
        _ => Id::None,
    }
}

/// Returns whether `text` is a string or an integer.
fn is_id(text: &str) -> bool {
    let number = text.strip_suffix(".0").unwrap_or(text);
    let is_integer =
        number.starts_with(|first: char| first == '-' || first.is_ascii_digit()) && !number.contains(['.', 'e', 'E']);
    is_integer || string(text).is_some()
}

fn string(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

fn id_of(message: &str) -> Option<&str> {
    members(message)?.into_iter().find(|(name, _)| name == "id").map(|(_, id)| id)
}

fn is_request(body: &[u8]) -> bool {
    let members = std::str::from_utf8(body).ok().and_then(members).unwrap_or_default();
    ["id", "method"].iter().all(|name| members.iter().any(|(known, _)| known == name))
}

/// Returns the ids of the requests in a batch.
fn ids_of_batch(body: &[u8]) -> Option<Vec<Option<&str>>> {
    let items = items(std::str::from_utf8(body).ok()?)?;
    Some(items.into_iter().filter(|item| is_request(item.as_bytes())).map(id_of).collect())
}

/// Returns the members of an object in their order, with the text of each value. A duplicate key is included twice.
pub fn members(text: &str) -> Option<Vec<(String, &str)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de str)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                members.push((name, value.get()));
            }
            Ok(members)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let members = reader.deserialize_map(Members).ok()?;
    reader.end().ok().map(|()| members)
}

/// Returns the text of each item of an array.
fn items(text: &str) -> Option<Vec<&str>> {
    struct Items;
    impl<'de> Visitor<'de> for Items {
        type Value = Vec<&'de str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = seq.next_element::<&RawValue>()? {
                items.push(item.get());
            }
            Ok(items)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let items = reader.deserialize_seq(Items).ok()?;
    reader.end().ok().map(|()| items)
}
