//! The settings of the division into chunks.

use crate::limits::{RAG_CHUNK_BYTES, RAG_CHUNK_LEAST_BYTES};

/// The settings of [`chunks`](super::chunks).
///
/// ```
/// use edge_mcp::rag::ChunkOptions;
///
/// let options = ChunkOptions::new().size(1000).overlap(150);
/// ```
#[derive(Clone, Debug)]
pub struct ChunkOptions {
    pub(super) size: usize,
    pub(super) overlap: usize,
    pub(super) is_plain_text: bool,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self { size: RAG_CHUNK_BYTES, overlap: 0, is_plain_text: false }
    }
}

impl ChunkOptions {
    /// Creates the default settings: chunks of at most 1500 bytes of Markdown, without overlap.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the size of the longest chunk in bytes of UTF-8. At least 64. The default is 1500.
    #[must_use]
    pub fn size(mut self, bytes: usize) -> Self {
        self.size = bytes.max(RAG_CHUNK_LEAST_BYTES);
        self
    }

    /// Sets the number of bytes that a chunk may repeat from the end of the chunk before it, in whole sentences of the same section. At
    /// most a quarter of the size. The default is 0.
    #[must_use]
    pub fn overlap(mut self, bytes: usize) -> Self {
        self.overlap = bytes;
        self
    }

    /// Declares that the documents are plain text. The whole text is one section, and Markdown has no meaning.
    #[must_use]
    pub fn plain_text(mut self) -> Self {
        self.is_plain_text = true;
        self
    }
}
