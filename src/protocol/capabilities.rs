//! What a server says it can do. Nothing is declared that is not delivered.
//!
//! Source: schema, `ServerCapabilities`. `listChanged` and `subscribe` would promise messages that a server without
//! sessions cannot send, so there is no way to say them.

use serde::Serialize;

/// A capability without details: `{}`.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Declared {}

/// What a server says it can do.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct ServerCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Declared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Declared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Declared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<Declared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<Declared>,
}
