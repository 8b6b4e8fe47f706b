//! The text of a message to a server.
//!
//! Members are JSON text already, so that numbers keep their digits.

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits, Kind};
use serde_json::value::RawValue;

use crate::protocol::error::ErrorCode;
use crate::protocol::log_level::LogLevel;
use crate::protocol::meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION};
use crate::protocol::trace_context::TraceContext;
use crate::text::Text;

/// The parameters of a request: members as JSON text.
#[derive(Clone, Debug, Default)]
pub(in crate::client) struct Params(Vec<(Text, Box<RawValue>)>);

impl Params {
    /// Returns the members of an object, or `None` if it has `_meta`, which the client writes, or if the value is not an object.
    pub(in crate::client) fn of(object: &RawValue) -> Option<Self> {
        let document = Document::parse(object.get().as_bytes(), JsonLimits::default()).ok()?;
        let object = Some(document.root()).filter(|root| root.kind() == Kind::Object && root.get("_meta").is_none())?;
        let members = object.members().map(|(name, value)| Some((Text::Owned(name.into_owned()), value.to_raw()?)));
        members.collect::<Option<_>>().map(Self)
    }

    pub(in crate::client) fn with(mut self, name: &'static str, value: Box<RawValue>) -> Self {
        self.0.push((name.into(), value));
        self
    }

    pub(in crate::client) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    pub(in crate::client) fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|(name, _)| !names.contains(&&**name));
        self
    }

    pub(in crate::client) fn with_text(self, name: &'static str, text: &str) -> Self {
        self.with(name, write::literal(text))
    }
}

/// The `_meta` of a message.
#[derive(Default)]
pub(in crate::client) struct MessageMeta<'a> {
    /// The revision and the client, for modern servers only.
    pub modern: Option<(&'static str, &'a RawValue)>,
    /// The capabilities, as JSON text.
    pub capabilities: &'a str,
    pub progress_token: Option<&'a str>,
    /// The lowest level of the log messages to send, for modern servers only.
    pub log_level: Option<LogLevel>,
    pub trace: Option<&'a TraceContext>,
    /// Members that the program adds: names, and values as JSON text.
    pub own: &'a [(String, String)],
}

/// Writes a request, or a notification if `id` is `None`. `id` is JSON text.
pub(in crate::client) fn write_message(
    id: Option<&str>,
    method: &str,
    params: &Params,
    meta: &MessageMeta<'_>,
) -> String {
    let mut message = ObjectWriter::new().text("jsonrpc", "2.0");
    if let Some(id) = id {
        message = message.json("id", id);
    }
    let mut members = ObjectWriter::new();
    for (name, value) in &params.0 {
        members = members.json(name, value.get());
    }
    let meta = written(meta);
    if !meta.is_empty() {
        members = members.json("_meta", &meta.finish());
    }
    message.text("method", method).json("params", &members.finish()).finish()
}

fn written(meta: &MessageMeta<'_>) -> ObjectWriter {
    let MessageMeta { modern, capabilities, progress_token, log_level, trace, own } = meta;
    let mut members = ObjectWriter::new();
    if let Some((version, client)) = modern {
        members = members.text(PROTOCOL_VERSION, version).json(CLIENT_INFO, client.get());
        members = members.json(CLIENT_CAPABILITIES, capabilities);
        if let Some(level) = log_level {
            members = members.text(LOG_LEVEL, level.name());
        }
    }
    if let Some(token) = progress_token {
        members = members.text("progressToken", token);
    }
    if let Some(trace) = trace {
        members = members.text("traceparent", &trace.parent());
        if let Some(state) = trace.state() {
            members = members.text("tracestate", state);
        }
    }
    own.iter().fold(members, |members, (name, value)| members.json(name, value))
}

/// Writes the response to a request of a server. `id` is JSON text.
pub(in crate::client) fn write_response(id: &str, outcome: Result<&RawValue, ErrorCode>) -> String {
    let response = ObjectWriter::new().text("jsonrpc", "2.0").json("id", id);
    let response = match outcome {
        Ok(result) => response.json("result", result.get()),
        Err(code) => {
            let message = if code == ErrorCode::MethodNotFound { "Method not found" } else { "Internal error" };
            let error = ObjectWriter::new().json("code", &code.number().to_string()).text("message", message);
            response.json("error", &error.finish())
        }
    };
    response.finish()
}
