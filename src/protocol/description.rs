//! How things are described to a client: the server itself, its tools, its resources.
//!
//! Source: 2025-11-25 and 2026-07-28, schema: `Implementation`, `Tool`, `ToolAnnotations`, `Resource`,
//! `ResourceTemplate`. Older revisions ignore the members they do not know.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

/// A text that is usually known when the program is compiled.
pub type Text = Cow<'static, str>;

/// The name and version of a program that speaks the protocol.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Implementation {
    /// For programs.
    pub name: Text,
    /// In whatever scheme the program uses.
    pub version: Text,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
}

impl Implementation {
    /// A name and a version.
    pub fn new(name: impl Into<Text>, version: impl Into<Text>) -> Self {
        Self { name: name.into(), version: version.into(), title: None }
    }
}

/// What a tool does to the world, as a hint to whoever decides whether it may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// What it changes may be lost by it; false: it only adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice with the same arguments is calling it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond what the server holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// A tool, as `tools/list` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolDescription<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    pub description: &'a str,
    pub input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
}

/// A resource, as `resources/list` shows it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceDescription {
    /// What `resources/read` asks for.
    pub uri: Text,
    /// For programs, and for people where there is no title.
    pub name: Text,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// For the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The media type of the content, if all of it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
    /// Bytes of the content before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl ResourceDescription {
    /// A resource at `uri`, called `name`.
    pub fn new(uri: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self { uri: uri.into(), name: name.into(), title: None, description: None, mime_type: None, size: None }
    }

    /// For people.
    #[must_use]
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// For the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The media type of the content.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Bytes of the content before any encoding.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }
}

/// A family of resources, as `resources/templates/list` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceTemplateDescription<'a> {
    pub uri_template: &'a str,
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<&'a str>,
}
