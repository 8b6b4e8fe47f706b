//! The functions of the library are visible only in a module of this name.

#[path = "../../../src/rag/order.rs"]
mod order;
#[path = "../../../src/rag/vectors/recall.rs"]
mod recall;
#[path = "../../../src/rag/vectors/mod.rs"]
mod vectors;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::random::Random;
use crate::vectors::Vectors;
use vectors::code::{Nearest, candidates, code, mean};
use vectors::int8::Int8;

/// The number of codes in a page.
const PAGE: usize = 8192;

/// Returns the recall of the first 10 results of `queries` searches in two stages among `rows` vectors. `sample` vectors determine the
/// centre, and the first stage has `most` candidates (0: as many as the library has).
#[wasm_bindgen]
pub fn recall_of(rows: usize, dimensions: usize, common: bool, queries: usize, sample: usize, most: usize) -> f64 {
    let mut vectors = Vectors::new(101, dimensions, common);
    let (rows, queries) = (vectors.vectors(rows), vectors.vectors(queries));
    let centre = mean(rows.iter().take(sample), dimensions);
    recall::recall(&rows, &queries, &centre, if most == 0 { candidates(rows.len()) } else { most })
}

/// A query, with the codes of all passages and the vectors of the candidates.
#[wasm_bindgen]
pub struct Search {
    query: String,
    pages: Vec<(String, Vec<i64>)>,
    most: usize,
    vector: Int8,
    candidates: Vec<String>,
}

#[wasm_bindgen]
impl Search {
    /// Creates a search among random codes. The time of a search does not depend on the vectors.
    #[wasm_bindgen(constructor)]
    pub fn new(rows: usize, dimensions: usize) -> Self {
        let mut random = Random::new(100);
        let mut vector = || (0..dimensions).map(|_| f32::from(random.byte()) - 127.5).collect::<Vec<f32>>();
        let most = candidates(rows);
        let (query, candidates) = (vector(), (0..most).map(|_| Int8::of(&vector()).text()).collect());
        let ids: Vec<i64> = (0..).take(rows).collect();
        let pages = ids.chunks(PAGE).map(|ids| (ids.iter().map(|_| code(&vector(), &[])).collect(), ids.to_vec()));
        Self { pages: pages.collect(), query: code(&query, &[]), most, vector: Int8::of(&query), candidates }
    }

    /// The length of all codes in bytes.
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> usize {
        self.pages.iter().map(|(codes, _)| codes.len()).sum()
    }

    /// Selects the candidates. Returns the sum of their ids.
    pub fn scan(&self) -> i64 {
        let mut nearest = Nearest::new(&self.query, self.most);
        for (codes, ids) in &self.pages {
            nearest.page(codes, ids).expect("codes");
        }
        nearest.ids().iter().sum()
    }

    /// Reads the bytes of all codes, 8 at once. Returns a number that depends on all of them.
    pub fn read(&self) -> u64 {
        let words = self.pages.iter().flat_map(|(codes, _)| codes.as_bytes().as_chunks().0);
        words.fold(0, |sum, word| sum ^ u64::from_ne_bytes(*word))
    }

    /// Decodes the vectors of the candidates and compares them with the query. Returns the greatest cosine.
    pub fn compare(&self) -> f64 {
        let cosines = self.candidates.iter().map(|text| Int8::parse(text).expect("a vector").cosine(&self.vector));
        cosines.fold(-1.0, f64::max)
    }
}
