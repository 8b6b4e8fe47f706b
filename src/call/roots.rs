//! Roots: the folders that the client works in.
//!
//! Source: 2026-07-28, client/roots.

use serde::Deserialize;

use super::ask::{parse, question};
use super::client_need::ROOTS;
use super::context::Context;
use super::input_error::InputError;

/// A folder that the client works in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Root {
    /// A `file:` URI.
    pub uri: String,
    /// The name for display.
    pub name: Option<String>,
}

impl Context {
    /// Asks the client for the folders that it works in. `key` identifies the question within the call.
    ///
    /// Revision 2026-07-28 of the protocol deprecates roots. A revision from 2027-07-28 on can remove them. Take folders as arguments, as
    /// resource URIs or as settings instead.
    ///
    /// # Errors
    /// [`InputError`]: the client does not declare roots, or its answer is malformed.
    pub async fn roots(&self, key: impl Into<String>) -> Result<Vec<Root>, InputError> {
        #[derive(Deserialize)]
        struct ListRootsResult {
            roots: Vec<Root>,
        }
        let key = key.into();
        let (key, answer) = self.answer(&key, question("roots/list", Vec::new()), &ROOTS).await?;
        parse(&key, answer.get(), "a list of roots").map(|ListRootsResult { roots }| roots)
    }
}
