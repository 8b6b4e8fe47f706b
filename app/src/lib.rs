//! A knowledge base of Markdown documents. It has tools that search, read and save documents, a resource for each document,
//! and prompts that answer from the documents.
//!
//! Each module imports only from the modules before it in this list: `document`, `passages`, `search_settings`, `store`, `scopes`, `tools`, `ingest`,
//! `skill_store`, `skill_tools`, `skills`, `reindex`, `excerpt`, `view`, `search`, `resources`, `prompts`, `librarian`, `server`, `entry`.
#![forbid(unsafe_code)]

mod document;
mod entry;
mod excerpt;
mod ingest;
mod librarian;
mod passages;
mod prompts;
mod reindex;
mod resources;
mod scopes;
mod search;
mod search_settings;
mod server;
mod skill_store;
mod skill_tools;
mod skills;
mod store;
#[cfg(test)]
mod tests;
mod tools;
mod view;
