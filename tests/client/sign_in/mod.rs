//! The sign-in of persons to other MCP servers: its pages, the tokens, and the calls that need them.

mod agents;
mod asking;
mod authorization_server;
mod begin;
mod browser;
mod consent;
mod endpoints;
mod finish;
mod hostile;
mod own_client;
mod program;
mod recorded_store;
mod registration;
mod step_up;
mod store;
mod tokens;
mod tracker;
mod unknown_client;
