//! The excerpt of a passage that a list of results shows.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::ops::Range;

use edge_mcp::rag::stems;

/// The most words of an excerpt.
const WORDS: usize = 32;
/// The words before the first match.
const BEFORE: usize = 6;

/// Returns the part of `text` that contains most of the words of `question`, or else the beginning of `text`. ` … ` stands for the text
/// before and after it.
pub(crate) fn excerpt(text: &str, question: &str) -> String {
    let asked: HashSet<_> = stems(question).into_iter().collect();
    let words: Vec<Range<usize>> = words(text);
    // The words that match, with the stem that they match.
    let mut matches = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let said = stems(text.get(word.clone()).unwrap_or_default());
        matches.extend(said.into_iter().filter_map(|stem| Some((nth, asked.get(&stem)?))));
    }
    let first = densest(&matches).saturating_sub(BEFORE).min(words.len().saturating_sub(WORDS));
    let shown = words.iter().skip(first).take(WORDS);
    let Some(start) = shown.clone().map(|word| word.start).next() else { return String::new() };
    let end = shown.map(|word| word.end).next_back().unwrap_or(start);
    let before = if first > 0 { " … " } else { "" };
    let after = if first.saturating_add(WORDS) < words.len() { " … " } else { "" };
    format!("{before}{}{after}", text.get(start..end).unwrap_or_default())
}

/// Returns the position of the match from which on most different stems are near. Of equal positions, the first is the best. The matches
/// are in the order of their positions. One word can match many stems, so the function reads each match only twice.
fn densest<S: Copy + Eq + Hash>(matches: &[(usize, S)]) -> usize {
    let mut near: HashMap<S, usize> = HashMap::new();
    let (mut most, mut best) = (0, 0);
    let mut ahead = matches.iter().peekable();
    for (first, stem) in matches {
        while let Some((_, stem)) = ahead.next_if(|(nth, _)| nth.saturating_sub(*first) < WORDS - BEFORE) {
            let count = near.entry(*stem).or_default();
            *count = count.saturating_add(1);
        }
        if near.len() > most {
            (most, best) = (near.len(), *first);
        }
        if near.get(stem) == Some(&1) {
            near.remove(stem);
        } else if let Some(count) = near.get_mut(stem) {
            *count = count.saturating_sub(1);
        }
    }
    best
}

/// Returns the places of the words of a text. White space separates words.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut position: usize = 0;
    for word in text.split(char::is_whitespace) {
        let end = position.saturating_add(word.len());
        if !word.is_empty() {
            words.push(position..end);
        }
        let separator = text.get(end..).and_then(|rest| rest.chars().next());
        position = end.saturating_add(separator.map_or(0, char::len_utf8));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excerpt_contains_most_words_of_the_question() {
        let filler = "filler ".repeat(60);
        let text = format!("{filler}A zebra.\n{filler}The zebras' stripes, tools/call.\n{filler}");
        for (question, expected) in [
            ("zebra", "A zebra.\nfiller"),
            ("Where are the stripes of a zebra?", "The zebras' stripes,"),
            ("a call of a zebra", "stripes, tools/call."),
            ("the", "The zebras'"),
        ] {
            let excerpt = excerpt(&text, question);
            assert!(excerpt.contains(expected), "{question}: {excerpt}");
            assert!(excerpt.starts_with(" … filler") && excerpt.ends_with("filler … "), "{excerpt}");
            assert_eq!(excerpt.split_whitespace().count(), WORDS + 2);
        }
    }

    thread_local! {
        static HASHES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    /// A stem that counts how often it is looked up.
    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Stem(usize);

    impl Hash for Stem {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            HASHES.set(HASHES.get().saturating_add(1));
            self.0.hash(state);
        }
    }

    /// A word such as `a0/a1/…/g8` matches many words of a question.
    #[test]
    fn an_excerpt_takes_few_steps_for_each_match() {
        let matches: Vec<_> = (0..2000).map(|nth| (nth / 100, Stem(nth % 63))).collect();
        assert_eq!(densest(&matches), 0);
        let hashes = HASHES.get();
        assert!(hashes <= 5 * matches.len(), "{hashes} lookups");
    }

    #[test]
    fn the_excerpt_begins_where_most_different_words_are_near() {
        for (matches, expected) in [
            (vec![], 0),
            (vec![(3, 'a'), (4, 'a'), (40, 'a'), (41, 'b')], 40),
            (vec![(3, 'a'), (28, 'b'), (29, 'c'), (50, 'a')], 28),
            (vec![(3, 'a'), (28, 'b'), (60, 'a'), (61, 'b')], 3),
        ] {
            assert_eq!(densest(&matches), expected, "{matches:?}");
        }
    }

    #[test]
    fn without_a_match_the_excerpt_is_the_beginning() {
        let long = "a b\u{3000}c ".repeat(100);
        for (text, expected) in [("", ""), (" \n", ""), (" Ein Pferd. ", "Ein Pferd.")] {
            assert_eq!(excerpt(text, "zebra"), expected);
        }
        assert_eq!(excerpt(&long, "zebra"), format!("{}a b … ", "a b\u{3000}c ".repeat(10)));
        assert_eq!(excerpt("x".repeat(1500).as_str(), "zebra").len(), 1500);
    }
}
