//! Descriptions of the server and its tools, resources and prompts.
//!
//! Source: 2025-11-25 and 2026-07-28, schema: `Implementation`, `Icon`, `Annotations`, `Tool`, `ToolAnnotations`,
//! `Resource`, `ResourceTemplate`, `Prompt`, `PromptArgument`. Clients of older revisions ignore the newer members.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::text::{Text, has_uri_characters};

/// Returns whether `text` is empty or white space only.
pub(crate) fn is_blank(text: &str) -> bool {
    // Trim only the start: for most texts the first character already decides.
    text.trim_start().is_empty()
}

/// The name and version of an MCP client or server.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// The name, for use by programs.
    pub name: Text,
    /// The version, in any scheme.
    pub version: Text,
    /// The name for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The icons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// The URL of a page about the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<Text>,
}

impl Implementation {
    /// Creates a description with a name and a version.
    pub fn new(name: impl Into<Text>, version: impl Into<Text>) -> Self {
        Self { name: name.into(), version: version.into(), ..Self::default() }
    }
}

/// An icon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct Icon {
    /// The URL.
    pub src: Text,
    /// The media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
    /// The sizes, such as `48x48`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Text>,
    /// The background that the icon is designed for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme>,
}

/// The background that an icon is designed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Theme {
    Light,
    Dark,
}

impl Icon {
    /// Creates an icon at `src`: an `https:` or `data:` URL.
    pub fn new(src: impl Into<Text>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }

    /// Returns whether the URL has a supported scheme and only characters that a URI may have.
    ///
    /// Strict clients reject a whole response because of an invalid URL.
    pub(crate) fn is_well_formed(&self) -> bool {
        ["https:", "http:", "data:"].iter().any(|scheme| self.src.starts_with(scheme)) && has_uri_characters(&self.src)
    }

    /// Sets the media type. Set it if the URL does not show the type.
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a size: `48x48`, or `any` for a scalable icon.
    pub fn size(mut self, size: impl Into<Text>) -> Self {
        self.sizes.push(size.into());
        self
    }

    /// Sets the background that the icon is designed for.
    pub fn theme(mut self, theme: Theme) -> Self {
        self.theme = Some(theme);
        self
    }
}

/// The metadata that tools, resources, templates and prompts have in common.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Metadata {
    pub name: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    // Boxed: most items have no `_meta`, and lists are created for each request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<Map<String, Value>>>,
}

impl Metadata {
    pub(crate) fn new(name: impl Into<Text>) -> Self {
        Self { name: name.into(), title: None, description: None, icons: Vec::new(), meta: None }
    }

    pub(crate) fn set_meta(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
    }
}

/// The builder methods of items with a [`Metadata`].
macro_rules! metadata_methods {
    ($($metadata:ident).+) => {
        /// Sets the name for display.
        pub fn title(mut self, title: impl Into<$crate::text::Text>) -> Self {
            self.$($metadata).+.title = Some(title.into());
            self
        }

        /// Adds an icon.
        pub fn icon(mut self, icon: $crate::protocol::description::Icon) -> Self {
            self.$($metadata).+.icons.push(icon);
            self
        }

        /// Sets a member of `_meta`. Your own keys need a prefix, such as `example.com/key`.
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.$($metadata).+.set_meta(key, value);
            self
        }
    };
}
pub(crate) use metadata_methods;

/// The builder method for an optional description.
macro_rules! description_method {
    ($($metadata:ident).+) => {
        /// Sets the description for the model: the purpose, and when to use it.
        pub fn description(mut self, description: impl Into<$crate::text::Text>) -> Self {
            self.$($metadata).+.description = Some(description.into());
            self
        }
    };
}
pub(crate) use description_method;

/// Hints about the effects of a tool. A client uses them to decide whether the tool may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub(crate) struct ToolAnnotations {
    /// The name for display, for clients that read it in the annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<Text>,
    /// Whether the tool only reads data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) read_only_hint: Option<bool>,
    /// Whether the tool may delete or overwrite data. If `false`, it only adds data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) destructive_hint: Option<bool>,
    /// Whether repeated calls with the same arguments have the same effect as one call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idempotent_hint: Option<bool>,
    /// Whether the tool interacts with systems outside the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// Sets both hints about data. Directories of servers reject a tool without one of them, although both have defaults.
    pub(crate) fn set_effect(&mut self, is_read_only: bool, is_destructive: bool) {
        (self.read_only_hint, self.destructive_hint) = (Some(is_read_only), Some(is_destructive));
    }
}

/// A tool in `tools/list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolDescription<'a> {
    #[serde(flatten)]
    pub metadata: &'a Metadata,
    pub input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Cow<'a, ToolAnnotations>>,
}

/// Annotations of content: the audience, the priority and the time of the last change.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct Annotations {
    /// The audience. An empty audience is not restricted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// The priority, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// The time of the last change. From another server, it is a date and a time with an offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<Text>,
}

/// The sender or recipient of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Annotations {
    /// Creates empty annotations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a role to the audience.
    pub fn audience(mut self, role: Role) -> Self {
        self.audience.push(role);
        self
    }

    /// Sets the priority, from 0 (optional) to 1 (required). Values outside this range are clamped.
    pub fn priority(mut self, priority: f64) -> Self {
        self.priority = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// Sets the time of the last change in ISO 8601, such as `2026-07-28T12:00:00Z`.
    pub fn last_modified(mut self, time: impl Into<Text>) -> Self {
        self.last_modified = Some(time.into());
        self
    }
}

/// A resource in `resources/list` and in resource links.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
pub struct ResourceDescription {
    pub(crate) uri: Text,
    #[serde(flatten)]
    pub(crate) metadata: Metadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) annotations: Option<Annotations>,
}

impl ResourceDescription {
    /// Creates the description of the resource `name` at `uri`.
    pub fn new(uri: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self { uri: uri.into(), metadata: Metadata::new(name), mime_type: None, size: None, annotations: None }
    }

    /// Returns the URI.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Returns the name for display.
    pub fn get_title(&self) -> Option<&str> {
        self.metadata.title.as_deref()
    }

    /// Returns the description.
    pub fn get_description(&self) -> Option<&str> {
        self.metadata.description.as_deref()
    }

    /// Returns the icons.
    pub fn get_icons(&self) -> &[Icon] {
        &self.metadata.icons
    }

    /// Returns the media type of the content.
    pub fn get_mime_type(&self) -> Option<&str> {
        self.mime_type.as_deref()
    }

    /// Returns the size of the content before encoding, in bytes.
    pub fn get_size(&self) -> Option<u64> {
        self.size
    }

    metadata_methods!(metadata);
    description_method!(metadata);

    /// Sets the media type of the content.
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size of the content before encoding, in bytes.
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Sets the audience and the priority.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }
}

/// A resource template in `resources/templates/list`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceTemplateDescription {
    pub uri_template: Text,
    #[serde(flatten)]
    pub metadata: Metadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, Serialize)]
#[must_use]
pub struct PromptArgument {
    pub(crate) name: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Text>,
    pub(crate) required: bool,
}

impl PromptArgument {
    /// Creates the optional argument `name`.
    pub fn new(name: impl Into<Text>) -> Self {
        Self { name: name.into(), title: None, description: None, required: false }
    }

    /// Sets the name for display.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Makes the argument required.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Merges `other`, a description of the same argument. Its texts take precedence. The argument is required if one of the two is.
    pub(crate) fn adopt(&mut self, other: &Self) {
        let Self { name: _, title, description, required } = other.clone();
        self.title = title.or(self.title.take());
        self.description = description.or(self.description.take());
        self.required |= required;
    }
}

/// A prompt in `prompts/list`.
#[derive(Serialize)]
pub(crate) struct PromptDescription<'a> {
    #[serde(flatten)]
    pub metadata: Cow<'a, Metadata>,
    #[serde(skip_serializing_if = "<[PromptArgument]>::is_empty")]
    pub arguments: &'a [PromptArgument],
}
