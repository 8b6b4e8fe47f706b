//! The sign-in of a person to another MCP server: the authorization code grant of OAuth 2.1, in two requests.
//!
//! The first request sends the browser of the person to the authorization server (`begin`). The second one comes back with a code, and
//! exchanges it for tokens (`finish`). Between them, the state is in a cookie, which is encrypted (`pending`). A call that needs a sign-in
//! names the URL of the first request, which has a `ticket`.
//!
//! The tokens of a person are in a [`TokenStore`], encrypted (`sealed`). `account` reads, refreshes and replaces them, and `person_tokens`
//! is the source of tokens for a connection. `asking` asks the caller to sign in, `identity` chooses the client id for an authorization
//! server, `registrations` keeps the clients that authorization servers have registered, and `values` is the store with encryption.
//!
//! Page: `docs/sign-in.md`.

mod account;
mod asking;
mod begin;
mod finish;
mod identity;
mod memory_tokens;
mod metadata_document;
mod own_client;
mod pages;
mod pending;
pub(super) mod person_tokens;
mod registrations;
mod sealed;
pub(super) mod settings;
mod sqlite_tokens;
mod stored_tokens;
mod ticket;
mod token_issuer;
mod token_store;
mod values;
mod visit;

pub use memory_tokens::MemoryTokens;
pub use own_client::OwnClient;
pub use sealed::TokenKeys;
pub use settings::SignIn;
pub use sqlite_tokens::{SqliteTokens, token_migration};
pub use token_store::{TokenStore, TokenStoreError};
