//! The tokens of a conversation: a fixed token, or a source of tokens. A source is a trait, so that a wasm module contains only the sources that
//! the program uses.

pub(super) mod client_credentials;
pub(super) mod issued_token;
pub(super) mod token_of_call;
pub(super) mod token_source;
