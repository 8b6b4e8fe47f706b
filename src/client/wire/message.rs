//! The text of a message to a server.
//!
//! Members are JSON text already, so that numbers keep their digits.

use edge_json::write;
use serde_json::value::RawValue;

use crate::protocol::description::Implementation;
use crate::protocol::error::ErrorCode;
use crate::protocol::log_level::LogLevel;
use crate::protocol::meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION};

/// The parameters of a request: members as JSON text.
#[derive(Clone, Debug, Default)]
pub(in crate::client) struct Params(Vec<(&'static str, Box<RawValue>)>);

impl Params {
    pub(in crate::client) fn with(mut self, name: &'static str, value: Box<RawValue>) -> Self {
        self.0.push((name, value));
        self
    }

    /// Removes members.
    pub(in crate::client) fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|(name, _)| !names.contains(name));
        self
    }

    /// Adds a string.
    pub(in crate::client) fn with_text(self, name: &'static str, text: &str) -> Self {
        // A string always serializes.
        match write::to_raw_value(text) {
            Ok(value) => self.with(name, value),
            Err(_) => self,
        }
    }
}

/// The `_meta` of a message.
#[derive(Default)]
pub(in crate::client) struct Meta<'a> {
    /// The revision and the client, for modern servers only.
    pub modern: Option<(&'static str, &'a Implementation)>,
    /// The capabilities, as JSON text.
    pub capabilities: &'a str,
    pub progress_token: Option<&'a str>,
    /// The lowest level of the log messages to send, for modern servers only.
    pub log_level: Option<LogLevel>,
    pub traceparent: Option<&'a str>,
}

/// Writes a request, or a notification if `id` is `None`. `id` is JSON text.
pub(in crate::client) fn write_message(id: Option<&str>, method: &str, params: &Params, meta: &Meta<'_>) -> String {
    let mut text = String::with_capacity(256);
    text.push_str("{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        text.push_str(",\"id\":");
        text.push_str(id);
    }
    text.push_str(",\"method\":\"");
    text.push_str(method);
    text.push_str("\",\"params\":{");
    let mut members = Members { text: &mut text, is_first: true };
    for (name, value) in &params.0 {
        members.add(name, value.get());
    }
    members.add_meta(meta);
    text.push_str("}}");
    text
}

/// Writes the response to a request of a server. `id` is JSON text.
pub(in crate::client) fn write_response(id: &str, outcome: Result<&RawValue, ErrorCode>) -> String {
    match outcome {
        Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}}}", result.get()),
        Err(code) => {
            let message = if code == ErrorCode::MethodNotFound { "Method not found" } else { "Internal error" };
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{},\"message\":\"{message}\"}}}}",
                code.number()
            )
        }
    }
}

struct Members<'a> {
    text: &'a mut String,
    is_first: bool,
}

impl Members<'_> {
    fn add(&mut self, name: &str, json: &str) {
        if !std::mem::take(&mut self.is_first) {
            self.text.push(',');
        }
        self.text.push('"');
        self.text.push_str(name);
        self.text.push_str("\":");
        self.text.push_str(json);
    }

    fn add_text(&mut self, name: &str, text: &str) {
        // A string always serializes.
        self.add(name, &write::to_string(text).unwrap_or_default());
    }

    fn add_meta(&mut self, meta: &Meta<'_>) {
        let Meta { modern, capabilities, progress_token, log_level, traceparent } = meta;
        let mut json = String::from("{");
        let mut members = Members { text: &mut json, is_first: true };
        if let Some((version, client)) = modern {
            members.add_text(PROTOCOL_VERSION, version);
            members.add(CLIENT_INFO, &write::to_string(client).unwrap_or_default());
            members.add(CLIENT_CAPABILITIES, capabilities);
            if let Some(level) = log_level {
                members.add(LOG_LEVEL, &write::to_string(level).unwrap_or_default());
            }
        }
        if let Some(token) = progress_token {
            members.add_text("progressToken", token);
        }
        if let Some(parent) = traceparent {
            members.add_text("traceparent", parent);
        }
        if !members.is_first {
            json.push('}');
            self.add("_meta", &json);
        }
    }
}
