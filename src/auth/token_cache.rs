//! The cache of answers about tokens.
//!
//! All requests of an isolate share it. Its keys are digests, so it holds no token. It holds only finished answers, because on
//! Workers a request cannot wait for a fetch that another request has started. It holds them as JSON, because the claims of an answer can
//! take 16 times as much memory.

use std::cell::RefCell;

use edge_json::{Document, JsonLimits};
use sha2::{Digest, Sha256};

use super::principal::Principal;
use super::validator::TokenRefusal;
use crate::bounded_cache::BoundedCache;
use crate::limits::{TOKEN_ANSWERS, TOKEN_ANSWERS_BYTES};

/// A digest of a token and of everything else that the answer depends on: the authorization server, the credentials of the client
/// that asked it, and the expected claims.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(parts: &[&str]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            // Without the lengths, `["ab", ""]` and `["a", "b"]` would have the same digest.
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        Self(digest.finalize().into())
    }
}

type Validation = Result<Principal, TokenRefusal>;

thread_local! {
    static CACHE: RefCell<BoundedCache<Key, Result<Box<str>, TokenRefusal>>> =
        const { RefCell::new(BoundedCache::of_bytes(TOKEN_ANSWERS, TOKEN_ANSWERS_BYTES)) };
}

/// Returns the cached answer if it has not expired. Times are in seconds since 1970.
pub(super) fn get(key: &Key, now: u64) -> Option<Validation> {
    CACHE.with_borrow(|cache| match cache.get(key, now)? {
        Ok(principal) => {
            let document = Document::parse(principal.as_bytes(), JsonLimits::MOST).ok()?;
            Principal::read(document.root()).map(Ok)
        }
        Err(refusal) => Some(Err(refusal.clone())),
    })
}

/// Caches an answer until `expires`.
pub(super) fn insert(key: Key, answer: &Validation, expires: u64, now: u64) {
    let answer = answer.as_ref().map(|principal| principal.to_json().into_boxed_str()).map_err(Clone::clone);
    let bytes = answer.as_ref().map_or(0, |principal| principal.len());
    CACHE.with_borrow_mut(|cache| cache.insert_of_bytes(key, answer, bytes, expires, now));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_depend_on_the_boundaries_between_parts() {
        let answer = Err(TokenRefusal::Expired);
        insert(Key::of(&["a", "b"]), &answer, 10, 5);
        assert_eq!(get(&Key::of(&["a", "b"]), 9), Some(answer));
        for other in [&["ab", ""][..], &["", "ab"], &["ab"], &["a", "b", ""], &["b", "a"]] {
            assert_eq!(get(&Key::of(other), 9), None, "{other:?}");
        }
    }
}
