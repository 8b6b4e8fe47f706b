//! The impacts of words: how much a passage is about each of its words.
//!
//! A store calculates the impacts of a passage once, when it saves the passage. A search then finds its candidates with two numbers: the
//! impact of a word in a passage, and the weight of the word among the passages that the caller can see. The formula is that of BM25, with
//! two differences. The mean length of a passage is a constant, so an impact does not depend on other passages. And both numbers are
//! integers, so every store adds them up to the same score. [`rank`](super::rank) orders the candidates again without rounding.

use std::collections::BTreeMap;

use crate::words::split::{fold, words};
use crate::words::stem::stem;

/// The number of impacts, which are 1 to this number.
pub(in crate::rag) const IMPACTS: u8 = 16;

/// The weight of a word in the path of headings. A word in the text has the weight 1.
const HEADING: f64 = 5.0;
/// The parameters `k1` and `b` of BM25.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// The number of words of a passage of the usual size.
const MEAN_LENGTH: f64 = 150.0;
/// The factor of a weight before it is rounded.
const PRECISION: f64 = 1000.0;

/// Returns the stems of a passage with their impacts, in the order of the stems.
pub(in crate::rag) fn impacts(heading: &str, text: &str) -> impl Iterator<Item = (String, u8)> + use<> {
    let mut occurrences: BTreeMap<String, f64> = BTreeMap::new();
    let mut length = 0.0;
    for (text, weight) in [(heading, HEADING), (text, 1.0)] {
        for word in words(text).map(fold).filter(|word| !word.is_empty()) {
            *occurrences.entry(stem(&word)).or_default() += weight;
            length += 1.0;
        }
    }
    let half = SATURATION * (1.0 - LENGTH + LENGTH * length / MEAN_LENGTH);
    // A share is more than 0 and less than 1.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let impact = move |share: f64| ((share * f64::from(IMPACTS)) as u8).saturating_add(1).min(IMPACTS);
    occurrences.into_iter().map(move |(stem, count)| (stem, impact(count / (count + half))))
}

/// Returns the weight of a word that `containing` of `passages` contain. The store with SQLite calculates it by the same formula.
// Rounding does not matter beyond 2^53 passages, and the logarithm of a number of passages is small.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
pub(in crate::rag) fn weight(containing: u64, passages: u64) -> i64 {
    let (containing, passages) = (containing as f64, passages as f64);
    let rarity = (passages - containing + 0.5) / (containing + 0.5);
    ((PRECISION * rarity.ln()).round() as i64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impact(heading: &str, text: &str, stem: &str) -> u8 {
        impacts(heading, text).find(|(found, _)| found == stem).expect("a stem of the passage").1
    }

    #[test]
    fn headings_repetition_and_short_texts_raise_an_impact() {
        let filler = "word ".repeat(150);
        let in_text = impact("", &format!("tea {filler}"), "tea");
        assert!(impact("", &format!("tea tea {filler}"), "tea") > in_text);
        assert!(impact("Tea", &filler, "tea") > impact("", &format!("tea tea {filler}"), "tea"));
        assert!(impact("", "tea time", "tea") > in_text);
        assert_eq!(
            impacts("Warm pots", "The pots warmed.").map(|(stem, _)| stem).collect::<Vec<_>>(),
            ["pot", "the", "warm"]
        );
    }

    #[test]
    fn impacts_and_weights_are_in_their_ranges() {
        for text in ["tea".to_owned(), "tea ".repeat(10_000), format!("tea {}", "x ".repeat(50_000))] {
            assert!((1..=IMPACTS).contains(&impact("", &text, "tea")));
            assert!((1..=IMPACTS).contains(&impact(&text, "", "tea")));
        }
        assert_eq!(impacts("", "").count(), 0);
        assert!(weight(1, 1000) > weight(10, 1000));
        for (containing, passages) in [(0, 0), (1, 1), (600, 1000), (u64::MAX, u64::MAX)] {
            assert!(weight(containing, passages) >= 1);
        }
    }
}
