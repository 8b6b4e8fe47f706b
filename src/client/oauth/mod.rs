//! OAuth 2.1 as a client of other servers: requests and answers as functions over the host, without a connection and without a store.

pub(super) mod authorization_request;
pub(super) mod callback;
pub(super) mod discovery;
pub(super) mod documents;
pub(super) mod error;
pub(super) mod registration;
pub(super) mod resource_metadata;
pub(super) mod server_metadata;
pub(super) mod token_request;
pub(super) mod token_response;
pub(super) mod url_rules;
