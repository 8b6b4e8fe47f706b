//! Retrieval: documents as chunks, and the search for the chunks that answer a question (feature `rag`).
//!
//! `chunks` divides a document, and `links` finds its links to other documents. A `store` saves the chunks as passages, with the `impact`
//! of their `words`, which `stem` reduces. There are two stores, `memory` and `sqlite`. `store_source` chooses the store of a call.
//!
//! A `retriever` answers a question: `query` has its words, `filter` the condition on the metadata of documents, and `retrieval` the
//! settings of the request. The store finds candidates. `rescore` ranks them by their words, and `graph` by their connections, both with
//! the sort keys of `order`. The result is `retrieved`, which `passages` writes as text for a model. `tools` has the tools that search.
//!
//! `work` counts the bytes that a function reads, for tests of linear time.

mod chunks;
mod filter;
mod graph;
mod impact;
mod links;
mod memory;
mod order;
mod passages;
mod query;
mod rescore;
mod retrieval;
mod retrieved;
mod retriever;
mod sqlite;
mod stem;
mod store;
mod store_source;
mod tools;
#[allow(dead_code)]
mod vectors;
mod words;
mod work;

pub use chunks::{Chunk, ChunkOptions, chunks, front_matter};
pub use filter::{Fields, Filter, FilterError, MetadataError, Scalar, SqlCondition, check_metadata};
pub use graph::GraphOptions;
pub use links::links;
pub use links::path::resolve;
pub use memory::MemoryStore;
pub use query::{IndexedWord, Query};
pub use retrieval::Retrieval;
pub use retrieved::{RetrievalMode, Retrieved, RetrievedPassage};
pub use retriever::{Question, Retriever};
pub use sqlite::{SqlitePassages, migration};
pub use store::{
    Document, Edge, Matches, Passage, PassageId, PassageStore, Saved, Search, Space, StoreError, StoreFailure,
};
pub use store_source::StoreSource;
pub use tools::graph::GraphRagTool;
pub use tools::vector_query::VectorQueryTool;
