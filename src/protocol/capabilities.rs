//! Capabilities of servers and clients.
//!
//! A server declares only capabilities that it implements.
//!
//! Source: schema, `ServerCapabilities`. `listChanged` and `subscribe` are not supported: a server without sessions
//! cannot send the notifications that they announce.

use edge_json::{Kind, Value};
use serde::Serialize;
use serde_json::Map;

/// A capability without details: `{}`.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct EmptyObject {}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ServerCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<EmptyObject>,
    /// The settings of extensions, by prefixed name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, serde_json::Value>,
}

/// The capabilities of a client that this library uses. Source: 2026-07-28, schema, `ClientCapabilities`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Elicitation by form: a person can fill in forms.
    pub elicitation_form: bool,
    /// Elicitation by URL: a person can open URLs.
    pub elicitation_url: bool,
    /// Sampling: a model can answer.
    pub sampling: bool,
    /// Roots: the client can list the folders that it works in.
    pub roots: bool,
}

impl ClientCapabilities {
    /// Reads the capabilities object. An empty `elicitation` object declares forms.
    pub(crate) fn read(declared: Value<'_>) -> Self {
        let is_declared = |capability: Value<'_>, name: &str| {
            capability.get(name).is_some_and(|details| details.kind() == Kind::Object)
        };
        let mode = |name: &str| declared.get("elicitation").is_some_and(|modes| is_declared(modes, name));
        Self {
            elicitation_form: is_declared(declared, "elicitation") && (mode("form") || !mode("url")),
            elicitation_url: mode("url"),
            sampling: is_declared(declared, "sampling"),
            roots: is_declared(declared, "roots"),
        }
    }
}

/// A kind of question to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    Form,
    Url,
    Sampling,
    Roots,
}

impl QuestionKind {
    /// Returns the kind of the question with this method and this mode, or `None` if the method or the mode is unknown.
    pub(crate) fn of(method: &str, mode: Option<&str>) -> Option<Self> {
        match (method, mode) {
            ("elicitation/create", None | Some("form")) => Some(Self::Form),
            ("elicitation/create", Some("url")) => Some(Self::Url),
            ("sampling/createMessage", _) => Some(Self::Sampling),
            ("roots/list", _) => Some(Self::Roots),
            _ => None,
        }
    }

    /// Returns whether a client with these capabilities answers this kind of question.
    pub(crate) fn is_declared(self, capabilities: ClientCapabilities) -> bool {
        match self {
            Self::Form => capabilities.elicitation_form,
            Self::Url => capabilities.elicitation_url,
            Self::Sampling => capabilities.sampling,
            Self::Roots => capabilities.roots,
        }
    }
}
