//! How things are described to a client: the server itself, its tools, resources and prompts.
//!
//! Source: 2025-11-25 and 2026-07-28, schema: `Implementation`, `Icon`, `Annotations`, `Tool`, `ToolAnnotations`,
//! `Resource`, `ResourceTemplate`, `Prompt`, `PromptArgument`. Older revisions ignore the members they do not know.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A text that is usually known when the program is compiled.
pub type Text = Cow<'static, str>;

/// Returns whether `text` is empty or white space only.
pub(crate) fn is_blank(text: &str) -> bool {
    // Trimmed from one side only: most texts show by their first character that they are not blank.
    text.trim_start().is_empty()
}

/// The name and version of a program that speaks the protocol.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// For programs.
    pub name: Text,
    /// In whatever scheme the program uses.
    pub version: Text,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Where to read about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<Text>,
}

impl Implementation {
    /// A name and a version.
    pub fn new(name: impl Into<Text>, version: impl Into<Text>) -> Self {
        let (name, version) = (name.into(), version.into());
        Self { name, version, title: None, description: None, icons: Vec::new(), website_url: None }
    }
}

/// A picture of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    pub(crate) src: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<Text>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sizes: Vec<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theme: Option<Theme>,
}

/// The background that an icon is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Theme {
    Light,
    Dark,
}

impl Icon {
    /// The picture at `src`: an `https:` or a `data:` URL.
    pub fn new(src: impl Into<Text>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }

    /// Whether the URL is one (RFC 3986): strict clients drop a whole answer over one that is not.
    pub(crate) fn is_well_formed(&self) -> bool {
        let allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
        ["https:", "http:", "data:"].iter().any(|scheme| self.src.starts_with(scheme)) && self.src.bytes().all(allowed)
    }

    /// Its media type, where the URL does not tell.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// A size that it can be shown in: `48x48`, or `any` for one that scales.
    #[must_use]
    pub fn size(mut self, size: impl Into<Text>) -> Self {
        self.sizes.push(size.into());
        self
    }

    /// The background that it is made for.
    #[must_use]
    pub fn theme(mut self, theme: Theme) -> Self {
        self.theme = Some(theme);
        self
    }
}

/// What tools, resources, templates and prompts have in common in their lists.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Metadata {
    pub name: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    // Most have none, and a list of tools is put together for every request: a pointer is small.
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

/// The builder methods that everything with a [`Metadata`] has.
macro_rules! metadata_methods {
    ($($metadata:ident).+) => {
        /// The name for people.
        #[must_use]
        pub fn title(mut self, title: impl Into<$crate::protocol::description::Text>) -> Self {
            self.$($metadata).+.title = Some(title.into());
            self
        }

        /// What it is and when to use it, for the model.
        #[must_use]
        pub fn description(mut self, description: impl Into<$crate::protocol::description::Text>) -> Self {
            self.$($metadata).+.description = Some(description.into());
            self
        }

        /// A picture of it.
        #[must_use]
        pub fn icon(mut self, icon: $crate::protocol::description::Icon) -> Self {
            self.$($metadata).+.icons.push(icon);
            self
        }

        /// A member of its `_meta`, for clients that know it. Keys of one's own have a prefix, such as `example.com/key`.
        #[must_use]
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.$($metadata).+.set_meta(key, value);
            self
        }
    };
}
pub(crate) use metadata_methods;

/// What a tool does to the world, as a hint to whoever decides whether it may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub(crate) struct ToolAnnotations {
    /// The name for people, for clients that look for it here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<Text>,
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) read_only_hint: Option<bool>,
    /// What it changes may be lost by it; false: it only adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) destructive_hint: Option<bool>,
    /// Calling it twice with the same arguments is calling it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idempotent_hint: Option<bool>,
    /// It reaches beyond what the server holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_world_hint: Option<bool>,
}

/// A tool, as `tools/list` shows it.
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

/// For whom a piece of content is meant, and how much it matters.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    audience: Vec<Role>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<Text>,
}

/// Who speaks, or is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl Annotations {
    /// Nothing said.
    pub fn new() -> Self {
        Self::default()
    }

    /// Meant for `role`, besides those named before.
    #[must_use]
    pub fn audience(mut self, role: Role) -> Self {
        self.audience.push(role);
        self
    }

    /// From 0, which can be left out, to 1, which is needed. What is outside is taken for the nearer end.
    #[must_use]
    pub fn priority(mut self, priority: f64) -> Self {
        self.priority = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// When it last changed, in ISO 8601: `2026-07-28T12:00:00Z`.
    #[must_use]
    pub fn last_modified(mut self, time: impl Into<Text>) -> Self {
        self.last_modified = Some(time.into());
        self
    }
}

/// A resource, as `resources/list` and links in results show it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceDescription {
    pub(crate) uri: Text,
    #[serde(flatten)]
    pub(crate) metadata: Metadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) annotations: Option<Annotations>,
}

impl ResourceDescription {
    /// A resource at `uri`, called `name`.
    pub fn new(uri: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self { uri: uri.into(), metadata: Metadata::new(name), mime_type: None, size: None, annotations: None }
    }

    metadata_methods!(metadata);

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

    /// For whom it is meant, and how much it matters.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }
}

/// A family of resources, as `resources/templates/list` shows it.
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
pub struct PromptArgument {
    pub(crate) name: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Text>,
    pub(crate) required: bool,
}

impl PromptArgument {
    /// The argument `name`, which may be left out.
    pub fn new(name: impl Into<Text>) -> Self {
        Self { name: name.into(), title: None, description: None, required: false }
    }

    /// The name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What to put there.
    #[must_use]
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// It may not be left out.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Takes over what `other` says of the same argument.
    pub(crate) fn adopt(&mut self, other: &Self) {
        let Self { name: _, title, description, required } = other.clone();
        self.title = title.or(self.title.take());
        self.description = description.or(self.description.take());
        self.required |= required;
    }
}

/// A prompt, as `prompts/list` shows it.
#[derive(Serialize)]
pub(crate) struct PromptDescription<'a> {
    #[serde(flatten)]
    pub metadata: Cow<'a, Metadata>,
    #[serde(skip_serializing_if = "<[PromptArgument]>::is_empty")]
    pub arguments: &'a [PromptArgument],
}
