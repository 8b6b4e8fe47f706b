//! The OAuth scopes of the knowledge base. Neither includes the other.

/// Needed to search and read documents.
pub(crate) const READ: &str = "kb:read";
/// Needed to save documents.
pub(crate) const WRITE: &str = "kb:write";
