//! The sizes of tools, and the limits on them.

/// The size of a tool in `tools/list` of the newest revision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSize {
    /// The name of the tool.
    pub name: String,
    /// The number of bytes of JSON.
    pub bytes: usize,
}

impl ToolSize {
    /// Returns the estimated number of tokens: one for 4 bytes.
    pub fn tokens(&self) -> usize {
        tokens(self.bytes)
    }
}

/// The largest sizes that the check accepts, in estimated tokens.
///
/// ```
/// use edge_mcp::check::SizeLimits;
///
/// let mut limits = SizeLimits::default();
/// limits.tool_tokens = 2000;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SizeLimits {
    /// The tokens of one tool. The default is 1000: a tenth of the tokens of all tools.
    pub tool_tokens: usize,
    /// The tokens of all tools. The default is 10 000, which Claude's documentation gives for 50 tools.
    pub tokens: usize,
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self { tool_tokens: 1000, tokens: 10_000 }
    }
}

/// Returns the number of bytes of a list of tools with these sizes: a comma between two tools, and `{"tools":[]}` around them.
pub(super) fn list_bytes(tools: impl ExactSizeIterator<Item = usize>) -> usize {
    let around = r#"{"tools":[]}"#.len().saturating_add(tools.len().saturating_sub(1));
    tools.fold(around, usize::saturating_add)
}

/// Estimates the number of tokens of JSON in English.
///
/// Source: <https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them>, "1 token ~= 4 chars in English".
pub(super) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}
