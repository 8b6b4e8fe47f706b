//! A knowledge base of Markdown documents: tools to search, read and save them, and each document as a resource.
#![forbid(unsafe_code)]

mod document;
mod server;
mod store;

#[cfg(target_arch = "wasm32")]
mod d1;
#[cfg(target_arch = "wasm32")]
mod entry;
