//! The sign-in of a person to another MCP server: the authorization code grant of OAuth 2.1, in two requests.
//!
//! The first request sends the browser of the person to the authorization server. The second one comes back with a code, and exchanges it for
//! tokens. Between them, the state is in a cookie, which is encrypted. A call that needs a sign-in names the URL of the first request.
//!
//! Page: `docs/sign-in.md`.

mod account;
mod begin;
mod finish;
mod own_client;
mod pages;
mod pending;
pub(super) mod person_tokens;
mod registrations;
mod sealed;
pub(super) mod settings;
mod stored_tokens;
mod ticket;
mod token_store;
mod values;

pub use own_client::OwnClient;
pub use sealed::TokenKeys;
pub use settings::SignIn;
pub use token_store::{MemoryTokens, SqliteTokens, TokenStore, TokenStoreError, token_migration};
