//! The result of a retrieval.

use super::store::Passage;

/// The result of [`Retriever::retrieve`](super::Retriever::retrieve).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Retrieved {
    /// The passages, best first. Empty if no passage contains a word of the question.
    pub passages: Vec<RetrievedPassage>,
    /// How the passages were found.
    pub mode: RetrievalMode,
    /// A sentence about the search, if the caller should know more than the passages.
    pub note: Option<String>,
}

/// A passage that a [`Retriever`](super::Retriever) found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RetrievedPassage {
    /// The passage. With [`Retriever::context`](super::Retriever::context), its text contains its neighbours.
    pub passage: Passage,
    /// The score, from 0 to 1. It is comparable only with other scores of the same result.
    pub score: f64,
    /// The score by the words of the question, if the passage contains one of them.
    pub lexical: Option<f64>,
    /// The score by random walks, if there were walks.
    pub graph: Option<f64>,
}

/// How passages were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetrievalMode {
    /// By the words of the question.
    Lexical,
    /// By the words of the question, and by the connections of passages.
    Graph,
}

impl RetrievalMode {
    /// Returns the name of the mode in the output of tools.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Graph => "graph",
        }
    }
}
