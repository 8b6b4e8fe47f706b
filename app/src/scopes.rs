//! The OAuth scopes of the knowledge base. Neither scope includes the other.

/// The scope to search and read documents.
pub(crate) const READ: &str = "kb:read";
/// The scope to save documents.
pub(crate) const WRITE: &str = "kb:write";
