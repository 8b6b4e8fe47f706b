//! The catalogue of a gateway: which tools are listed.

use crate::server::tool::Tool;
use crate::text::Text;

/// Which tools of mounted servers `tools/list` has. A tool that is not listed can still be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Catalogue {
    /// All tools.
    #[default]
    All,
    /// No tools. A model finds them with the tool `find-tools`, and calls them with `call-tool`.
    Search,
    /// These tools, by their names here. A model finds the others.
    Chosen(Vec<Text>),
}

impl Catalogue {
    /// Creates a catalogue that lists these tools, by their names here, such as `github_create_issue`.
    pub fn chosen(names: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        Self::Chosen(names.into_iter().map(Into::into).collect())
    }

    /// Returns whether `tools/list` has a tool. Tools with a user interface are always listed: clients show the user interface only of tools that
    /// are listed and called directly.
    pub(super) fn lists(&self, tool: &Tool) -> bool {
        let is_chosen = match self {
            Self::All => true,
            Self::Search => false,
            Self::Chosen(names) => names.iter().any(|name| name == tool.name()),
        };
        is_chosen || tool.app.is_some() || tool.is_for_app_only()
    }
}
