//! Retrieval: documents as chunks, and the search for the chunks that answer a question (feature `rag`).
//!
//! `chunks` divides a `document`, and `links` finds the links of the chunks. A `store` saves the chunks as a `passage` each, and finds
//! passages; its failures are in `store_error`. There are two stores, `memory` and `sqlite`. Both find passages by the `impact` of
//! their words, which `rank` then orders, and a `vector_store` also by the `vectors` of an embedding model: `fuse` joins both. `connections` are those of similar vectors. An `indexer` calculates the vectors. A `vector_index` is
//! a service that finds the nearest vectors for a store. `filter` is the condition on the metadata of passages.
//!
//! A `retriever` takes a `search`, adds the settings of the request in `search_scope`, and asks the store that `store_source` chooses.
//! `by_meaning` calculates the vector of the question meanwhile. Then the retriever takes `steps`: `rerank` orders the passages by the scores
//! of a model, and `graph` by their connections. `passages` writes the `search_result` as text for a model. `tools` has the tool that searches.
//!
//! `order` sorts. `log` writes the causes of failures that do not end a call.

mod by_meaning;
mod chunks;
mod connections;
mod document;
mod filter;
mod fuse;
mod graph;
mod impact;
mod indexer;
mod links;
mod log;
mod memory;
mod order;
mod passage;
mod rank;
mod rerank;
mod retriever;
mod search;
mod search_result;
mod sqlite;
mod stages;
mod store;
mod store_error;
mod store_source;
mod tools;
mod vector_index;
mod vector_store;
mod vectors;

pub use crate::models::embedding::{Embedder, EmbeddingModel, Purpose};
pub use chunks::{Chunk, ChunkOptions, Link, chunks, front_matter};
pub use document::Document;

pub use crate::words::{is_word_character, stems};
pub use filter::{Fields, Filter, FilterError, MetadataError, Scalar, SqlCondition, check_metadata};
pub use graph::GraphOptions;
pub use indexer::{Indexed, Indexer};
pub use links::add_links;
pub use links::path::resolve;
pub use memory::MemoryStore;
pub use passage::{Edge, Passage, PassageId, Space};
pub use rerank::{ChatScorer, Rerank, RerankModel, Scorer};
pub use retriever::{Retriever, SearchScope};
pub use search::{Meaning, Search};
pub use search_result::{FoundPassage, SearchMode, SearchResult};
pub use sqlite::vectors::{SqliteVectors, vector_migration};
pub use sqlite::{SqlitePassages, migration};
pub use store::{SaveStore, Saved, SearchStore};
pub use store_error::{StoreError, StoreFailure};
pub use store_source::StoreSource;
pub use tools::search_tool::SearchTool;
pub use vector_index::{IndexedVector, VectorIndex, VectorIndexError, VectorQuery};
pub use vector_store::{PendingPassages, VectorStore};
