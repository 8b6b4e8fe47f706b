//! The codes of passages, the centre to which they are relative, and the passages whose codes are nearest to that of a vector.

use crate::rag::vectors::code::{Nearest, candidates, code};

/// The numbers of saved vectors after which the centre is calculated. Until the first, it is zero.
const CENTRED_AT: [usize; 2] = [64, 1024];

/// Returns whether the centre of an index is up to date. `generation` is how often it was calculated, and `saved` the number of vectors that were
/// saved.
pub(in crate::rag) fn is_centred(generation: usize, saved: usize) -> bool {
    generation >= CENTRED_AT.iter().filter(|number| saved >= **number).count()
}

/// The codes of some passages: one text, and the numbers of the passages.
#[derive(Default)]
pub(in crate::rag) struct CodePage {
    pub(in crate::rag) codes: String,
    pub(in crate::rag) ids: Vec<i64>,
}

/// The codes of the passages among which a search looks for the nearest.
#[derive(Default)]
pub(in crate::rag) struct Codes {
    /// The centre of the codes. Empty if it is zero.
    pub(in crate::rag) centre: Vec<f32>,
    pub(in crate::rag) pages: Vec<CodePage>,
}

impl Codes {
    /// Returns the passages whose codes are nearest to that of a vector. By default, these are 1 % of the passages, from 200 to 800. Returns
    /// `None` if the codes are malformed.
    pub(in crate::rag) fn near(&self, vector: &[f32], most: Option<usize>) -> Option<Vec<i64>> {
        let passages = self.pages.iter().map(|page| page.ids.len()).sum();
        let most = most.unwrap_or_else(|| candidates(passages));
        let mut nearest = Nearest::new(&code(vector, &self.centre), most);
        for CodePage { codes, ids } in &self.pages {
            nearest.page(codes, ids)?;
        }
        Some(nearest.ids())
    }
}
