//! What was said of tokens, for as long as it may be believed.
//!
//! One store for all requests of an isolate. It knows tokens by their digests alone, and holds answers, never a question that
//! is still open: a request cannot wait for what another has asked.

use std::cell::RefCell;
use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::principal::Principal;
use super::validator::TokenRefusal;
use crate::limits::TOKEN_ANSWERS;

/// A digest of a token, of the server that was asked, of the client that asked, and of what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(parts: &[&str]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            // With its length, so that no two lists of parts are one text.
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        Self(digest.finalize().into())
    }
}

type Answer = Result<Principal, TokenRefusal>;

thread_local! {
    static ANSWERS: RefCell<HashMap<Key, (Answer, u64)>> = RefCell::default();
}

/// The answer that was kept for this token, if it is still good at `now`.
pub(super) fn recall(key: &Key, now: u64) -> Option<Answer> {
    ANSWERS.with_borrow(|answers| answers.get(key).filter(|(_, until)| now < *until).map(|(answer, _)| answer.clone()))
}

/// Keeps an answer until then. Where there are too many, those go that have ended, and then those that end sooner
/// than most.
pub(super) fn keep(key: Key, answer: &Answer, until: u64, now: u64) {
    if until <= now {
        return;
    }
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() >= TOKEN_ANSWERS {
            answers.retain(|_, (_, until)| now < *until);
        }
        if answers.len() >= TOKEN_ANSWERS {
            let sum = answers.values().fold(0_u64, |sum, (_, until)| sum.saturating_add(*until));
            let mean = sum.checked_div(answers.len() as u64).unwrap_or_default();
            // All may end in the same second.
            answers.retain(|_, (_, until)| *until > mean);
        }
        answers.insert(key, (answer.clone(), until));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    // Either kind of answer will do.
    const SOME: Answer = Err(TokenRefusal::Expired);

    #[test]
    fn an_answer_is_good_until_its_end() {
        let key = Key::of(&["a", "b"]);
        keep(key, &SOME, 10, 5);
        assert_eq!(recall(&key, 9), Some(SOME));
        assert_eq!(recall(&key, 10), None);
        assert_eq!(recall(&Key::of(&["ab", ""]), 9), None);
        keep(key, &SOME, 5, 5);
        assert_eq!(recall(&key, 9), Some(SOME), "what has ended replaces nothing");
    }

    #[test]
    fn the_store_is_bounded() {
        let size = || ANSWERS.with_borrow(HashMap::len);
        for nth in 0..10_000_u64 {
            keep(Key::of(&[&nth.to_string()]), &SOME, 100 + nth % 7, 5);
            assert!(size() <= TOKEN_ANSWERS);
            assert!(recall(&Key::of(&[&nth.to_string()]), 99).is_some(), "the newest is kept");
        }
    }

    /// Where there is no room, what has ended goes, and nothing else; if nothing has, what ends sooner than most.
    #[test]
    fn what_ends_first_goes_first() {
        let size = || ANSWERS.with_borrow(HashMap::len);
        let key = |nth: usize| Key::of(&[&nth.to_string()]);
        for nth in 0..TOKEN_ANSWERS {
            keep(key(nth), &SOME, if nth < 10 { 20 } else { 100 + u64::try_from(nth).unwrap_or_default() }, 5);
        }
        assert_eq!(size(), TOKEN_ANSWERS);
        keep(Key::of(&["new"]), &SOME, 50, 20);
        assert_eq!(size(), TOKEN_ANSWERS - 10 + 1, "ten had ended");
        for nth in 0..9 {
            keep(Key::of(&["more", &nth.to_string()]), &SOME, 5000, 20);
        }
        assert_eq!(size(), TOKEN_ANSWERS);
        keep(Key::of(&["last"]), &SOME, 5000, 20);
        assert!((TOKEN_ANSWERS / 3..=2 * TOKEN_ANSWERS / 3).contains(&size()), "{}", size());
        assert_eq!((recall(&key(10), 20), recall(&key(TOKEN_ANSWERS - 1), 20)), (None, Some(SOME)));
        for nth in 0..2 * TOKEN_ANSWERS {
            keep(Key::of(&["same", &nth.to_string()]), &SOME, 9000, 20);
            assert!(size() <= TOKEN_ANSWERS);
        }
    }
}
