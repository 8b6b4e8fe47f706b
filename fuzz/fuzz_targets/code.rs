//! Fuzzes codes of vectors and the scan of pages. The nearest passages are those of a comparison bit by bit, and a page is rejected only if
//! its lengths do not fit or a byte is not a letter.
//!
//! The first bytes of the input are the number of dimensions, of results and of passages in a page. The others are vectors and text.
#![no_main]
#![allow(dead_code, reason = "the library uses more of these files")]

#[path = "../../src/base64.rs"]
mod base64;

// The functions of the library are visible only in a module of this name.
#[path = "."]
mod rag {
    #[path = "../../src/rag/vectors/code.rs"]
    mod code;

    use code::{Nearest, centre_text, code, mean, parse_centre};

    /// Checks the codes of vectors, and the search for the nearest ones.
    pub fn check_vectors(dimensions: usize, most: usize, page: usize, bytes: &[u8]) {
        let values: Vec<f32> = bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
        let mut vectors = values.chunks_exact(dimensions);
        let Some(query) = vectors.next() else { return };
        let vectors: Vec<&[f32]> = vectors.collect();
        let centre = mean(vectors.iter(), dimensions);
        assert!(centre.len() == dimensions && (!vectors.is_empty() || centre.iter().all(|value| *value == 0.0)));
        let is_finite = centre.iter().all(|value| value.is_finite());
        assert_eq!(parse_centre(&centre_text(&centre)), is_finite.then_some(centre.clone()));

        let codes: Vec<String> = vectors.iter().map(|vector| code(vector, &centre)).collect();
        let signs = |vector: &[f32]| vector.iter().zip(&centre).map(|(value, centre)| value > centre).collect::<Vec<_>>();
        for (vector, code) in vectors.iter().zip(&codes) {
            assert_eq!(code.len(), dimensions.div_ceil(5));
            let bits = code.bytes().flat_map(|letter| (0..5).rev().map(move |bit| letter >> bit & 1 == 1));
            let mut expected = signs(vector);
            expected.resize(code.len() * 5, false);
            assert!(bits.eq(expected) && code.bytes().all(|letter| (0x60..0x80).contains(&letter)), "{code}");
        }

        let own = signs(query);
        // Ids are in another order than the passages, and some are equal.
        let ids: Vec<i64> = (0..).take(codes.len()).map(|nth: i64| nth * 7 % 11 - 3).collect();
        let differing = |vector: &&[f32]| signs(vector).iter().zip(&own).filter(|(one, other)| one != other).count();
        let mut expected: Vec<(usize, i64)> = vectors.iter().map(differing).zip(ids.iter().copied()).collect();
        expected.sort_unstable();
        let mut nearest = Nearest::new(&code(query, &centre), most);
        for (codes, ids) in codes.chunks(page).zip(ids.chunks(page)) {
            nearest.page(&codes.concat(), ids).expect("a page");
        }
        assert_eq!(nearest.ids(), expected.into_iter().take(most).map(|(_, id)| id).collect::<Vec<_>>());
    }

    /// Checks that exactly the valid pages are accepted.
    pub fn check_page(query: &str, codes: &str, rows: usize) {
        let is_code = |text: &str| text.bytes().all(|byte| (0x60..0x80).contains(&byte));
        let is_valid = !query.is_empty() && query.len() * rows == codes.len() && is_code(query) && is_code(codes);
        let accepted = Nearest::new(query, 3).page(codes, &vec![7; rows]);
        assert_eq!(accepted.is_some(), is_valid, "{query:?} {codes:?} {rows}");
        let _ = parse_centre(codes);
    }
}

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u8, &[u8])| {
    let (dimensions, most, page, bytes) = input;
    rag::check_vectors(1 + usize::from(dimensions), usize::from(most), 1 + usize::from(page), bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (query, codes) = text.split_at(text.floor_char_boundary(usize::from(dimensions)));
    rag::check_page(query, codes, usize::from(page));
    rag::check_page(query, codes, codes.len().checked_div(query.len()).unwrap_or_default());
});
