//! Command lines, environment variables and headers.
//!
//! The serialized members have the names of the registry's first drafts, as in [`package`](super::package).

use crate::text::Text;
use serde::Serialize;

/// An input: an environment variable of a program, or a header of a request.
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
    /// Creates the optional variable or header `name`.
    pub fn new(name: impl Into<Text>, description: impl Into<Text>) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { name, description, is_required: false, is_secret: false, default_value: None }
    }

    /// Makes the input required.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Marks the input as a secret, which must not be shown or stored in plain text.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// Sets the default value.
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
/// let port = Argument::new("port", "The port to listen on").long_flag("--port").default_value("8080");
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
    /// The position among the arguments without a flag.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    short_flag: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    long_flag: Option<Text>,
}

impl Argument {
    /// Creates the optional argument `name`. Without a flag it is positional.
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

    /// Makes the argument required.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Allows the argument to be repeated.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    /// Allows the user who installs the package to change the argument.
    #[must_use]
    pub fn editable(mut self) -> Self {
        self.is_editable = true;
        self
    }

    /// Adds allowed values.
    #[must_use]
    pub fn choices(mut self, choices: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        self.choices.extend(choices.into_iter().map(Into::into));
        self
    }

    /// Sets the default value.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Text>) -> Self {
        self.default_value = Some(value.into());
        self
    }

    /// Sets the short flag, such as `-p`.
    #[must_use]
    pub fn short_flag(mut self, flag: impl Into<Text>) -> Self {
        self.short_flag = Some(flag.into());
        self
    }

    /// Sets the long flag, such as `--port`.
    #[must_use]
    pub fn long_flag(mut self, flag: impl Into<Text>) -> Self {
        self.long_flag = Some(flag.into());
        self
    }

    /// Returns the long flag, or else the short flag.
    pub(super) fn flag(&self) -> Option<&Text> {
        self.long_flag.as_ref().or(self.short_flag.as_ref())
    }
}

/// A command that runs a package: a program such as `npx` or `docker`, and the arguments for the package.
///
/// ```
/// use edge_mcp::registry::{Argument, Command};
///
/// let command = Command::new("npx")
///     .argument(Argument::new("folder", "The folder with the documents").required())
///     .argument(Argument::new("port", "The port to listen on").long_flag("--port"));
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
    /// Creates the program or subcommand `name`.
    pub fn new(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            description: None,
            subcommands: Vec::new(),
            positional_arguments: Vec::new(),
            named_arguments: Vec::new(),
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a subcommand. `server.json` cannot express a choice, so it includes a subcommand only if there is exactly
    /// one.
    #[must_use]
    pub fn subcommand(mut self, subcommand: Self) -> Self {
        self.subcommands.push(subcommand);
        self
    }

    /// Adds an argument. A positional argument follows those that were added before.
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

    pub(super) fn has_invalid_name(&self) -> bool {
        let named = self.named_arguments.iter().filter_map(Argument::flag);
        let words = self.positional_arguments.iter().map(|argument| &argument.name).chain(named);
        words.chain([&self.name]).any(|word| !is_word(word)) || self.subcommands.iter().any(Self::has_invalid_name)
    }
}

/// Returns whether the registry accepts `text` as the name of an argument, package or variable.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "<>$".contains(c))
}
