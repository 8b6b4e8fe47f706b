//! Who calls.

/// Who a valid token speaks for. The token itself is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The user, or the program where there is no user (`sub`).
    pub subject: String,
    /// The program that calls for the subject (`client_id`), if it is known.
    pub client_id: Option<String>,
    /// What the token permits.
    pub scopes: Vec<String>,
    /// When the token ends, in seconds since 1970-01-01T00:00:00Z, if it does.
    pub expires: Option<u64>,
}

impl Principal {
    /// A principal without scopes.
    pub fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), client_id: None, scopes: Vec::new(), expires: None }
    }

    /// Whether the token permits `scope`.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}
