//! OAuth 2.1 as a client of other servers: requests and answers as functions over the host, without a connection and without a store.
//!
//! `discovery` finds the authorization server of an MCP server: `resource_metadata` reads the metadata of the MCP server, `server_metadata`
//! that of the authorization server, `documents` fetches both, and `url_rules` says which URLs in them the client uses. `token_response`
//! reads the answers of token endpoints.
//!
//! For the sign-in of a person, `authorization_request` has the URL for the browser, with the proof of `pkce`, and `callback` checks the
//! answer. `token_request` requests, refreshes and revokes tokens, and `registration` registers this program with its
//! `client_metadata`.

pub(super) mod authorization_request;
pub(super) mod callback;
pub(super) mod client_metadata;
pub(super) mod discovery;
pub(super) mod documents;
pub(super) mod error;
pub(super) mod pkce;
pub(super) mod registration;
pub(super) mod requests;
pub(super) mod resource_metadata;
pub(super) mod server_metadata;
pub(super) mod token_request;
pub(super) mod token_response;
pub(super) mod url_rules;
