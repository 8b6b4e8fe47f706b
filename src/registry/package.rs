//! The repository, packages and remotes of a server.

use serde_json::{Map, Value};

use super::forms::{Forms, items, object, text};
use crate::config::SecureUrl;
use crate::protocol::description::is_blank;
use crate::schema::is_header_name;
use crate::text::Text;

object! {
    /// The repository with the source code of a server.
    Repository;
    /// Creates the repository at `url`, which works in a browser and for `git clone`. `source` is the hosting service:
    /// `github`, `gitlab` or another.
    new(url => ["url"; 2], source => ["source"; 2]);
    /// Sets the id of the repository at the hosting service, which does not change when the repository is renamed.
    id(id) => ["id"; 2];
    /// Sets the path of the server in the repository, such as `servers/weather`.
    subfolder(path) => ["subfolder"; 2];
}

object! {
    /// An input: an environment variable of a program, or a header of a request.
    Input;
    /// Creates the optional variable or header `name`.
    new(name => ["name"; 2], description => ["description"; 2]);
    /// Makes the input required.
    required => ["required", "isRequired"];
    /// Marks the input as a secret, which must not be shown or stored in plain text.
    secret => ["", "isSecret"];
    /// Sets the default value.
    default_value(value) => ["default_value", "default"];
}

object! {
    /// An argument on a command line.
    Argument;
    /// Creates the optional argument `name`. Without a flag it is positional.
    new(name => ["name", "valueHint"], description => ["description"; 2]);
    /// Makes the argument required.
    required => ["is_required", "isRequired"];
    /// Allows the argument to be repeated.
    repeatable => ["is_repeatable", "isRepeated"];
    /// Allows the user who installs the package to change the argument.
    editable => ["is_editable", ""];
    /// Sets the default value.
    default_value(value) => ["default_value", "default"];
    /// Sets the short flag, such as `-p`.
    short_flag(flag) => ["short_flag", ""];
    /// Sets the long flag, such as `--port`.
    long_flag(flag) => ["long_flag", ""];
}

object! {
    /// A command that runs a package: a program such as `npx` or `docker`, and the arguments for the package.
    Command;
    /// Creates the program or subcommand `name`.
    new(name => ["name", "value"]);
    /// Sets the description.
    description(description) => ["description"; 2];
}

impl Repository {
    pub(crate) fn problem(&self) -> Option<String> {
        let form = &self.0.draft;
        if let Err(problem) = SecureUrl::parse(text(form, "url")) {
            return Some(format!("has a repository whose URL {problem}"));
        }
        let is_segment = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains(['\\', ' ']);
        let is_path = |path: &Value| path.as_str().is_some_and(|path| path.split('/').all(is_segment));
        if is_blank(text(form, "source")) {
            return Some("has a repository without a source, such as `github`".into());
        }
        let problem = "has a repository whose subfolder is not a relative path such as `servers/weather`";
        (!form.get("subfolder").is_none_or(is_path)).then(|| problem.into())
    }
}

impl Argument {
    /// Adds allowed values.
    #[must_use]
    pub fn choices(mut self, choices: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        for choice in choices {
            let choice = Value::from(&*choice.into());
            self.0.add(["choices"; 2], [choice.clone(), choice]);
        }
        self
    }
}

impl Command {
    /// Adds a subcommand. `server.json` cannot express a choice, so it includes a subcommand only if there is exactly
    /// one.
    #[must_use]
    pub fn subcommand(mut self, subcommand: Self) -> Self {
        self.0.push(["subcommands"; 2], subcommand.0);
        self
    }

    /// Adds an argument. A positional argument follows those that were added before.
    #[must_use]
    pub fn argument(mut self, Argument(mut argument): Argument) -> Self {
        argument.draft.entry("is_required").or_insert(Value::Bool(false));
        let flag = ["long_flag", "short_flag"].iter().find_map(|name| argument.draft.get(*name)).cloned();
        let (list, kind) = if let Some(flag) = flag {
            argument.current.remove("valueHint");
            argument.set(["", "name"], flag);
            ("named_arguments", "named")
        } else {
            argument.set(["position", ""], items(&self.0.draft, "positional_arguments").len());
            ("positional_arguments", "positional")
        };
        argument.set(["", "type"], kind);
        self.0.push([list; 2], argument);
        self
    }
}

/// Returns the arguments of a command in `server.json`: the named and the positional ones, and then its subcommand with its arguments, if
/// there is exactly one.
fn arguments(command: &Map<String, Value>) -> Vec<Value> {
    let mut arguments = [items(command, "named_arguments"), items(command, "positional_arguments")].concat();
    if let [Value::Object(only)] = items(command, "subcommands") {
        let mut value = Map::from_iter([("type".to_owned(), "positional".into())]);
        let told = only.iter().filter(|(name, _)| matches!(name.as_str(), "value" | "description"));
        value.extend(told.map(|(name, text)| (name.clone(), text.clone())));
        arguments.push(value.into());
        arguments.append(&mut self::arguments(only));
    }
    arguments
}

/// Returns whether the registry accepts the names of a command, of its arguments and of its subcommands. `command` is in the form of the
/// first drafts.
fn has_valid_names(command: &Map<String, Value>) -> bool {
    let is_valid = |argument: &Value| {
        let name = ["long_flag", "short_flag", "name"].iter().find_map(|name| argument.get(*name)?.as_str());
        name.is_some_and(is_word)
    };
    let mut subcommands = items(command, "subcommands").iter().filter_map(Value::as_object);
    is_word(text(command, "name"))
        && ["named_arguments", "positional_arguments"].iter().all(|list| items(command, list).iter().all(is_valid))
        && subcommands.all(has_valid_names)
}

/// A package that runs the server elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package(pub(crate) Forms);

impl Package {
    /// Creates a package with one version. `registry` is `npm`, `pypi`, `docker`, `cargo`, `nuget`, `mcpb` or another.
    /// The transport is stdio, unless another one is set.
    pub fn new(registry: impl Into<Text>, name: impl Into<Text>, version: impl Into<Text>) -> Self {
        let (registry, name, version): (Text, Text, Text) = (registry.into(), name.into(), version.into());
        let mut forms = Forms::default();
        forms.set(["registry_name", "registryType"], &*registry);
        forms.set(["name", "identifier"], &*name);
        // The identifier of an image includes its version. The identifier of a bundle is the URL of one file.
        let is_image = matches!(&*registry, "docker" | "oci");
        forms.set(["version", if is_image || registry == "mcpb" { "" } else { "version" }], &*version);
        if is_image {
            forms.set(["", "registryType"], "oci");
            forms.set(["", "identifier"], format!("{name}:{version}"));
        }
        forms.set(["", "transport"], edge_json::object(vec![("type", "stdio".into())]));
        Self(forms)
    }

    /// Sets the command that runs the package.
    #[must_use]
    pub fn command(mut self, Command(command): Command) -> Self {
        self.0.set(["", "runtimeHint"], text(&command.draft, "name"));
        self.0.current.remove("packageArguments");
        for argument in arguments(&command.current) {
            self.0.add(["", "packageArguments"], [Value::Null, argument]);
        }
        self.0.set(["command", ""], command.draft);
        self
    }

    /// Adds an environment variable that the package reads.
    #[must_use]
    pub fn environment_variable(mut self, variable: Input) -> Self {
        self.0.push(["environment_variables", "environmentVariables"], variable.0);
        self
    }

    /// Sets the transport to streamable HTTP at `url`, which must be an `https:` or localhost URL.
    #[must_use]
    pub fn streamable_http(mut self, url: impl Into<Text>) -> Self {
        self.0.set(["", "transport"], Remote::streamable(url).0.current);
        self
    }

    /// Sets the SHA-256 of the package file in 64 hexadecimal digits. Clients verify it. It is required for `mcpb`.
    #[must_use]
    pub fn sha256(mut self, digest: impl Into<Text>) -> Self {
        self.0.set(["", "fileSha256"], &*digest.into());
        self
    }

    pub(crate) fn problem(&self) -> Option<String> {
        let (draft, current) = (&self.0.draft, &self.0.current);
        let (registry, name, digest) = (text(draft, "registry_name"), text(draft, "name"), text(current, "fileSha256"));
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let needs_digest = registry == "mcpb" || current.contains_key("fileSha256");
        let command = draft.get("command").and_then(Value::as_object);
        let what = if !is_word(registry) || !is_word(name) {
            "has a registry or name that"
        } else if !command.is_none_or(has_valid_names) {
            "has an argument or command whose name"
        } else if !items(draft, "environment_variables").iter().all(|variable| is_word(name_of(variable))) {
            "has an environment variable whose name"
        } else {
            let problem = if !is_one_version(text(draft, "version")) {
                "must have one version, such as `1.0.2`, not a range".into()
            } else if needs_digest && !(digest.len() == 64 && digest.bytes().all(is_hex)) {
                "must have a SHA-256 of 64 hexadecimal digits in lower case".into()
            } else {
                let url = current.get("transport").and_then(|transport| transport.get("url")?.as_str());
                format!("listens at a URL that {}", SecureUrl::parse(url?).err()?)
            };
            return Some(format!("has the package {name:?}, which {problem}"));
        };
        Some(format!("has the package {name:?}, which {what} is empty, or has a space, `<`, `>` or `$` in it"))
    }
}

/// A URL at which the server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote(pub(crate) Forms);

impl Remote {
    /// Creates a remote with streamable HTTP at `url`, which must be an `https:` or localhost URL.
    pub fn streamable(url: impl Into<Text>) -> Self {
        Self::of("streamable", "streamable-http", url.into())
    }

    /// Creates a remote with the transport of 2024-11-05, HTTP with server-sent events, at `url`. This library does not
    /// serve that transport, but another server may.
    pub fn sse(url: impl Into<Text>) -> Self {
        Self::of("sse", "sse", url.into())
    }

    fn of(draft: &str, current: &str, url: Text) -> Self {
        let mut forms = Forms::default();
        forms.set(["transport_type", ""], draft);
        forms.set(["", "type"], current);
        forms.set(["url"; 2], &*url);
        Self(forms)
    }

    /// Adds a header that clients must send.
    #[must_use]
    pub fn header(mut self, header: Input) -> Self {
        self.0.push(["", "headers"], header.0);
        self
    }

    pub(crate) fn problem(&self) -> Option<String> {
        if let Err(problem) = SecureUrl::parse(text(&self.0.draft, "url")) {
            return Some(format!("has a remote whose URL {problem}"));
        }
        let invalid = items(&self.0.current, "headers").iter().map(name_of).find(|name| !is_header_name(name))?;
        Some(format!("has a remote with the header {invalid:?}, which is not a valid header name"))
    }
}

fn name_of(input: &Value) -> &str {
    input.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether the registry accepts `text` as the name of an argument, package or variable.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "<>$".contains(c))
}

/// Returns whether `version` is a single version, and not a range or a moving tag.
///
/// Source: the MCP registry, "Versioning Published MCP Servers", "Version Format".
pub(super) fn is_one_version(version: &str) -> bool {
    let is_range = version.starts_with(['^', '~', '<', '>', '=']) || version.contains("||") || version.contains(" - ");
    let is_wildcard = |part: &str| matches!(part, "x" | "X" | "*");
    !is_blank(version)
        && version.len() <= 255
        && version != "latest"
        && !is_range
        && !version.split('.').any(is_wildcard)
}
