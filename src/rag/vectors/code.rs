//! Codes of vectors, and the search for the codes that are nearest to the code of a query.
//!
//! A code is text that a database returns without conversion, and that JSON contains without escapes. Letters differ in the same bits as
//! the signs that they stand for, so codes are compared without decoding them.

use std::collections::BinaryHeap;
use std::iter;

use crate::base64::STANDARD;

/// The bits of a letter, the most significant first. Each one is the sign of a dimension.
const SIGNS: [u8; 5] = [16, 8, 4, 2, 1];
/// The bits that all letters have in common. The letters are 0x60 to 0x7F.
const LETTER: u8 = 0x60;
/// The bits of a byte that are those of `LETTER` in each letter.
const FIXED: u8 = 0xE0;

/// Returns the mean of the vectors that have this number of dimensions. Without vectors, it is zero.
// A vector has values of this precision. Rounding does not matter beyond 2^53 vectors.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
pub(in crate::rag) fn mean(vectors: impl Iterator<Item = impl AsRef<[f32]>>, dimensions: usize) -> Vec<f32> {
    let mut sums = vec![0.0; dimensions];
    let mut count = 0_u64;
    for vector in vectors.filter(|vector| vector.as_ref().len() == dimensions) {
        count = count.saturating_add(1);
        for (sum, value) in sums.iter_mut().zip(vector.as_ref()) {
            *sum += f64::from(*value);
        }
    }
    let count = count.max(1) as f64;
    sums.into_iter().map(|sum| (sum / count) as f32).collect()
}

/// Returns a centre as text for the database.
pub(in crate::rag) fn centre_text(centre: &[f32]) -> String {
    STANDARD.encode(centre.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

/// Reads a centre from text of the database. Returns `None` for a malformed text.
pub(in crate::rag) fn parse_centre(text: &str) -> Option<Vec<f32>> {
    let bytes = STANDARD.decode(text)?;
    let (values, rest) = bytes.as_chunks();
    let centre: Vec<f32> = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
    (rest.is_empty() && centre.iter().all(|value| value.is_finite())).then_some(centre)
}

/// Returns the code of a vector: a sign bit for each dimension, relative to the centre. A letter has the bits of five dimensions, and the
/// last letter is padded with 0. Dimensions that the centre does not have are relative to 0.
pub(in crate::rag) fn code(vector: &[f32], centre: &[f32]) -> String {
    let mut centre = centre.iter().copied().chain(iter::repeat(0.0));
    let letter = |values: &[f32]| {
        let signs = SIGNS.iter().zip(values).zip(&mut centre);
        let above = signs.filter(|((_, value), centre)| **value > *centre);
        char::from(above.fold(LETTER, |letter, ((sign, _), _)| letter | sign))
    };
    vector.chunks(SIGNS.len()).map(letter).collect()
}

/// Returns the number of passages whose vectors are compared exactly, if the codes of this number of passages are compared.
pub(in crate::rag) fn candidates(passages: usize) -> usize {
    (passages / 100).clamp(200, 800)
}

/// Collects the passages whose codes differ in the fewest bits from the query's, over several pages.
pub(in crate::rag) struct Nearest {
    query: String,
    most: usize,
    /// The number of different bits and the id of each passage, the farthest first.
    found: BinaryHeap<(u32, i64)>,
}

impl Nearest {
    /// Creates a collection of at most `most` passages for the code of a query.
    pub(in crate::rag) fn new(query: &str, most: usize) -> Self {
        Self { query: query.to_owned(), most, found: BinaryHeap::new() }
    }

    /// Adds a page: the concatenated codes of the passages, and their ids in the same order. Returns `None` if the lengths do not fit or a
    /// byte is not a letter of a code. The collection then has a part of the page, and must not be used.
    pub(in crate::rag) fn page(&mut self, codes: &str, ids: &[i64]) -> Option<()> {
        let query = self.query.as_bytes();
        let fits = ids.len().checked_mul(query.len()) == Some(codes.len());
        if query.is_empty() || !fits || query.iter().any(|byte| byte & FIXED != LETTER) {
            return None;
        }
        let mut differences = 0;
        for (code, id) in codes.as_bytes().chunks_exact(query.len()).zip(ids) {
            let distance = compare(code, query, &mut differences);
            let passage = (distance, *id);
            if self.found.len() < self.most {
                self.found.push(passage);
            } else if self.found.peek().is_some_and(|farthest| passage < *farthest) {
                self.found.pop();
                self.found.push(passage);
            }
        }
        // All bytes are letters if none differs from the letters of the query in a fixed bit.
        (differences & u64::from_ne_bytes([FIXED; 8]) == 0).then_some(())
    }

    /// Returns the ids of the nearest passages, nearest first, of equal ones the lowest id first.
    pub(in crate::rag) fn ids(self) -> Vec<i64> {
        self.found.into_sorted_vec().into_iter().map(|(_, id)| id).collect()
    }
}

/// Returns the number of bits in which two codes of the same length differ, and adds these bits to `differences`.
// This loop takes most of the time of a search, so it compares 8 letters at once. The lengths bound the sums.
fn compare(one: &[u8], other: &[u8], differences: &mut u64) -> u32 {
    let ((words, rest), (other_words, other_rest)) = (one.as_chunks(), other.as_chunks());
    let mut last = 0;
    for (one, other) in rest.iter().zip(other_rest) {
        last = last << 8 | u64::from(one ^ other);
    }
    *differences |= last;
    let mut distance = last.count_ones();
    for (one, other) in words.iter().zip(other_words) {
        let difference = u64::from_ne_bytes(*one) ^ u64::from_ne_bytes(*other);
        *differences |= difference;
        distance = distance.wrapping_add(difference.count_ones());
    }
    distance
}

#[cfg(test)]
mod tests {
    use edge_mcp_test_support::random::Random;

    use super::*;

    fn random_code(random: &mut Random, letters: usize) -> String {
        (0..letters).map(|_| char::from(LETTER | random.byte() & !FIXED)).collect()
    }

    /// R32: a bit for each dimension, five bits for each letter, the most significant first, padded with 0.
    #[test]
    fn a_code_has_the_signs_of_a_vector() {
        assert_eq!(code(&[1.0, -1.0, 1.0, -1.0, 1.0], &[0.0; 5]), "u");
        assert_eq!(code(&[1.0, -1.0, 0.0, 0.0, 0.1, 1.0], &[0.0; 6]), "qp");
        assert_eq!(code(&[0.5, 0.5, 0.5], &[0.4, 0.5, 0.6]), "p");
        assert_eq!(code(&[f32::NAN, f32::INFINITY], &[]), "h");
        assert_eq!(code(&[1.0; 10], &[]), "\u{7f}\u{7f}");
        assert_eq!(code(&[], &[]), "");
        for dimensions in 0..100 {
            assert_eq!(code(&vec![1.0; dimensions], &[]).len(), dimensions.div_ceil(SIGNS.len()));
        }
    }

    /// R32: no letter of a code needs an escape in JSON.
    #[test]
    fn codes_need_no_escapes() {
        let all: String = (0x60..=0x7F_u8).map(char::from).collect();
        assert_eq!(serde_json::to_string(&all).unwrap(), format!("\"{all}\""));
    }

    /// R33.
    #[test]
    fn the_number_of_candidates_grows_with_the_passages() {
        assert_eq!([0, 200, 20_000, 40_000, 80_000, usize::MAX].map(candidates), [200, 200, 200, 400, 800, 800]);
    }

    /// R34: the centre is the mean of the vectors.
    #[test]
    fn the_centre_is_the_mean() {
        let vectors = [vec![1.0, 2.0], vec![3.0, -6.0], vec![9.0], vec![9.0; 3]];
        assert_eq!(mean(vectors.iter(), 2), [2.0, -2.0]);
        assert_eq!(mean([[0.0_f32; 0]; 0].iter(), 3), [0.0; 3]);
        let alike = vec![[0.1_f32]; 100_000];
        assert_eq!(mean(alike.iter(), 1), [0.1]);
    }

    /// R34: the centre is text in the database.
    #[test]
    fn the_centre_is_read_back() {
        for centre in [vec![], vec![0.1, -2.5e-30, 0.0], vec![f32::MAX; 768]] {
            assert_eq!(parse_centre(&centre_text(&centre)), Some(centre));
        }
        assert_eq!(centre_text(&[1.0]), "AACAPw==");
        let infinite = centre_text(&[1.0, f32::INFINITY]);
        for malformed in ["AACAPw", "AACA", "AACAPwA=", "é", "[1.0]", &infinite] {
            assert_eq!(parse_centre(malformed), None, "{malformed}");
        }
    }

    /// R32: the nearest codes differ from the query in the fewest bits, for all lengths of codes, also over several pages.
    #[test]
    fn the_nearest_codes_are_found() {
        let mut random = Random::new(32);
        for letters in (1..=26).chain([77, 154, 205]) {
            let query = random_code(&mut random, letters);
            let codes: Vec<String> = (0..150).map(|_| random_code(&mut random, letters)).collect();
            let ids: Vec<i64> = (0..150).map(|nth| (nth * 37) % 150 - 20).collect();
            let distance =
                |code: &String| code.bytes().zip(query.bytes()).map(|(one, other)| (one ^ other).count_ones()).sum();
            let mut expected: Vec<(u32, i64)> = codes.iter().map(distance).zip(ids.iter().copied()).collect();
            expected.sort_unstable();
            for most in [0, 1, 20, 150, usize::MAX] {
                let mut nearest = Nearest::new(&query, most);
                for (codes, ids) in codes.chunks(40).zip(ids.chunks(40)) {
                    nearest.page(&codes.concat(), ids).unwrap();
                }
                let expected: Vec<i64> = expected.iter().take(most).map(|(_, id)| *id).collect();
                assert_eq!(nearest.ids(), expected, "{letters} letters, at most {most}");
            }
        }
    }

    #[test]
    fn malformed_pages_are_rejected() {
        let page = |query: &str, codes: &str, ids: &[i64]| Nearest::new(query, 10).page(codes, ids);
        let query = "`abcdefghijkl";
        let codes = "abcdefghijklm`abcdefghijkl";
        assert_eq!(page(query, codes, &[1, 2]), Some(()));
        assert_eq!(page(query, "", &[]), Some(()));
        for ids in [&[][..], &[1], &[1, 2, 3]] {
            assert_eq!(page(query, codes, ids), None, "{ids:?}");
        }
        assert_eq!(page(query, codes.get(1..).unwrap(), &[1, 2]), None);
        assert_eq!(page("", "", &[]), None);
        assert_eq!(page("AAAAA", "AAAAA", &[1]), None);
        for at in 0..codes.len() {
            for other in [0_u8, b' ', b'A', b'_'] {
                let mut bytes = codes.as_bytes().to_vec();
                bytes[at] = other;
                assert_eq!(page(query, std::str::from_utf8(&bytes).unwrap(), &[1, 2]), None, "{at}");
            }
        }
        let wide = format!("{}é", codes.get(2..).unwrap());
        assert_eq!(page(query, &wide, &[1, 2]), None);
    }
}
