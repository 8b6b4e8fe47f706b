//! What a program is told before it starts, and with each request.
//!
//! Serialized, the members have the names of the registry's first drafts, as in [`distribution`](super::package).

use serde::Serialize;

use crate::protocol::description::Text;

/// A value that is given to a program before it starts, or sent with each request: an environment variable, or a header.
///
/// ```
/// use edge_mcp::registry::Input;
///
/// let key = Input::new("WEATHER_KEY", "The key of the weather service").required().secret();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    pub(super) name: Text,
    pub(super) description: Text,
    #[serde(rename = "required", skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_required: bool,
    #[serde(skip)]
    pub(super) is_secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) default_value: Option<Text>,
}

impl Input {
    /// The variable or header `name`, which may be left out.
    pub fn new(name: impl Into<Text>, description: impl Into<Text>) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { name, description, is_required: false, is_secret: false, default_value: None }
    }

    /// It may not be left out.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// It is not to be shown or stored in the open.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// What it is where nothing is given.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Text>) -> Self {
        self.default_value = Some(value.into());
        self
    }
}

/// An argument on a command line.
///
/// ```
/// use edge_mcp::registry::Argument;
///
/// let port = Argument::new("port", "Where to listen").long_flag("--port").default_value("8080");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Argument {
    pub(super) name: Text,
    pub(super) description: Text,
    pub(super) is_required: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_repeatable: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_editable: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) choices: Vec<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) default_value: Option<Text>,
    /// Among those without a flag.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    short_flag: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    long_flag: Option<Text>,
}

impl Argument {
    /// The argument `name`, which may be left out. Without a flag it is known by its place.
    pub fn new(name: impl Into<Text>, description: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            is_required: false,
            is_repeatable: false,
            is_editable: false,
            choices: Vec::new(),
            default_value: None,
            position: None,
            short_flag: None,
            long_flag: None,
        }
    }

    /// It may not be left out.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// It may be given more than once.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    /// Whoever installs the package may change it.
    #[must_use]
    pub fn editable(mut self) -> Self {
        self.is_editable = true;
        self
    }

    /// The values that it can have.
    #[must_use]
    pub fn choices(mut self, choices: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        self.choices.extend(choices.into_iter().map(Into::into));
        self
    }

    /// What it is where nothing is given.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Text>) -> Self {
        self.default_value = Some(value.into());
        self
    }

    /// Its flag in one letter, such as `-p`.
    #[must_use]
    pub fn short_flag(mut self, flag: impl Into<Text>) -> Self {
        self.short_flag = Some(flag.into());
        self
    }

    /// Its flag in full, such as `--port`.
    #[must_use]
    pub fn long_flag(mut self, flag: impl Into<Text>) -> Self {
        self.long_flag = Some(flag.into());
        self
    }

    /// The flag that says most.
    pub(super) fn flag(&self) -> Option<&Text> {
        self.long_flag.as_ref().or(self.short_flag.as_ref())
    }
}

/// What runs a package: a program such as `npx` or `docker`, and the arguments that the package then gets.
///
/// ```
/// use edge_mcp::registry::{Argument, Command};
///
/// let command = Command::new("npx")
///     .argument(Argument::new("folder", "Where the documents are").required())
///     .argument(Argument::new("port", "Where to listen").long_flag("--port"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    pub(super) name: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<Text>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) subcommands: Vec<Command>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) positional_arguments: Vec<Argument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) named_arguments: Vec<Argument>,
}

impl Command {
    /// The program or subcommand `name`.
    pub fn new(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            description: None,
            subcommands: Vec::new(),
            positional_arguments: Vec::new(),
            named_arguments: Vec::new(),
        }
    }

    /// What it does.
    #[must_use]
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// A subcommand. `server.json` has no choice between several: it says which one only where there is one.
    #[must_use]
    pub fn subcommand(mut self, subcommand: Self) -> Self {
        self.subcommands.push(subcommand);
        self
    }

    /// An argument: after those before it, or anywhere if it has a flag.
    #[must_use]
    pub fn argument(mut self, mut argument: Argument) -> Self {
        if argument.flag().is_some() {
            self.named_arguments.push(argument);
        } else {
            argument.position = Some(self.positional_arguments.len());
            self.positional_arguments.push(argument);
        }
        self
    }

    pub(super) fn has_odd_word(&self) -> bool {
        let named = self.named_arguments.iter().filter_map(Argument::flag);
        let words = self.positional_arguments.iter().map(|argument| &argument.name).chain(named);
        words.chain([&self.name]).any(|word| !is_word(word)) || self.subcommands.iter().any(Self::has_odd_word)
    }
}

/// What the registry takes for the name of an argument, a package or a variable.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "<>$".contains(c))
}
