//! A knowledge base of Markdown documents: tools to search, read and save them, and each document as a resource,
//! and prompts that answer from them.
#![forbid(unsafe_code)]

mod d1;
mod document;
mod entry;
mod ingest;
mod librarian;
mod prompts;
mod server;
mod store;

#[cfg(test)]
mod tests;
