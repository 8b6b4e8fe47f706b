//! Retrieval: documents as chunks, and the search for the chunks that answer a question (feature `rag`).
//!
//! | module | content |
//! |---|---|
//! | `chunks` | the division of a document into chunks |
//! | `links` | the links of a document to other documents |
//! | `filter` | filters on the metadata of documents, evaluated in Rust and as a condition of SQLite |
//! | `words`, `stem` | the words of a text, as the full-text index of SQLite reads them |
//! | `impact` | the impacts and the weights of words, by which stores choose passages |
//! | `query` | the words of a question |
//! | `store` | the storage of passages |
//! | `memory` | the store in memory |
//! | `sqlite` | the store in SQLite, such as D1 |
//! | `store_source` | the choice of the store of a call |
//! | `retrieval` | the settings of a request |
//! | `retriever` | from a question to passages |
//! | `retrieved` | the result of a retrieval |
//! | `order` | the order of items by several numbers |
//! | `rescore` | the order of the passages that a store finds |
//! | `graph` | the scores of passages by their connections with the passages that were found |
//! | `passages` | passages as text for a model |
//! | `tools` | the tools that search |
//! | `work` | the count of the bytes that a function reads, for tests of linear time |

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
