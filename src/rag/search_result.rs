//! The result of a search.

use std::rc::Rc;

use super::passage::Passage;
use super::store_error::StoreError;

/// The result of a [`SearchStore`](super::SearchStore), and of a [`Retriever`](super::Retriever).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SearchResult {
    /// The passages, best first.
    pub passages: Vec<FoundPassage>,
    /// How the passages were found.
    pub mode: SearchMode,
    /// The reason why the passages were found only by words, although the search was also by meaning.
    pub fallback: Option<StoreError>,
    /// A remark about the search for the caller.
    pub note: Option<String>,
}

impl SearchResult {
    /// Creates the result of a search by words.
    pub fn new(passages: Vec<FoundPassage>) -> Self {
        Self { passages, ..Self::default() }
    }

    /// Creates the result of a search by words for a question without words.
    pub(super) fn of_no_words() -> Self {
        Self { note: Some("The question has no words to search for.".into()), ..Self::default() }
    }

    /// Adds a sentence to the note.
    pub(super) fn remark(&mut self, sentence: &str) {
        let note = self.note.get_or_insert_default();
        if !note.is_empty() {
            note.push(' ');
        }
        note.push_str(sentence);
    }
}

/// A passage that was found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FoundPassage {
    /// The passage. With [`Retriever::context`](super::Retriever::context), its text contains its neighbours.
    pub passage: Passage,
    /// The score, from 0 to 1. It is comparable only with other scores of the same result.
    pub score: f64,
    /// The score by the words of the question.
    pub lexical: Option<f64>,
    /// The similarity to the question: the cosine of the vectors, from -1 to 1.
    pub similarity: Option<f64>,
    /// The score of a reranker, from 0 to 1.
    pub rerank: Option<f64>,
    /// The score by random walks.
    pub graph: Option<f64>,
    /// The vector of the passage, if it was asked for.
    pub vector: Option<Rc<[f32]>>,
}

impl FoundPassage {
    /// Creates a found passage with a score from 0 to 1.
    pub fn new(passage: Passage, score: f64) -> Self {
        Self { passage, score, ..Self::default() }
    }
}

/// How passages were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchMode {
    /// By the words of the question.
    #[default]
    Lexical,
    /// By the meaning of the question: the similarity of vectors.
    Vector,
    /// By the words and the meaning of the question.
    Hybrid,
    /// By the connections of the passages that a search found.
    Graph,
}

impl SearchMode {
    /// Returns the name of the mode in the output of tools.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Vector => "vector",
            Self::Hybrid => "hybrid",
            Self::Graph => "graph",
        }
    }
}
