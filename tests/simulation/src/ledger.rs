//! The record of a run, and the invariants that it is checked against while it grows.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The beginning of each secret and of each text that belongs to somebody: see [`mark`].
const MARK: &str = "Zq.";

/// Returns a text that belongs to `owner`. It can be an access token, a word of a document or a part of an argument.
pub fn mark(owner: &str, what: &str) -> String {
    format!("{MARK}{owner}.{what}.q")
}

/// Something that must never happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant. A case is shrunk as long as it violates the same one.
    pub invariant: Invariant,
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.invariant, self.text)
    }
}

/// The invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// No effect of a step happens under two idempotency keys, and no key belongs to two steps.
    OneKey,
    /// No effect that was reported is lost.
    NoLostEffect,
    /// The effect of a step that nothing disturbs happens once, and a model is not asked again for an answer that was used.
    NoRepeatedEffect,
    /// A call has the result of its own program: each step, answer and nested call belongs to its place.
    OwnResult,
    /// No text of a caller and no secret reaches anybody else.
    NoLeak,
    /// Each request is answered exactly once, with an answer of the protocol.
    OneAnswer,
    /// A call of another server is never reported as not executed if it was, and never sent again without a proof.
    NoUnprovenCall,
    /// A batch of the database is whole or not at all.
    WholeBatch,
    /// A search returns only passages of its space that match its filter.
    OwnPassages,
    /// Without faults, everything succeeds.
    Success,
    /// The number of requests, notifications and rounds has a bound.
    Budget,
    /// After a run, nothing is left: no task, no memory, no row.
    NothingLeft,
    /// A handler runs only for callers who have its scopes, and only they see it.
    OwnAccess,
    /// A refresh token is used once.
    OneRefresh,
    /// Nothing is accepted after its expiry: no state, task, token or link.
    Expiry,
    /// The value that the schema permits is the value that the handler gets.
    OneValue,
    /// A count equals the things that it counts.
    Books,
    /// After the faults have stopped, everything succeeds within a bounded number of tries. What fails for ever does not stop the rest.
    Progress,
    /// A request does at most the work that the rate limit has counted.
    CountedWork,
    /// The program does not panic.
    NoPanic,
    /// What a hostile caller or a hostile server does changes nothing for others.
    Isolation,
    /// The narrowest clients in use accept each list and each result of the gateway.
    NarrowClient,
}

/// The identity of an effect: the id of the call, and the names and inputs of the steps and calls around it. Equal steps of one parent have
/// the same identity, because nothing distinguishes them.
pub type Place = (String, String);

/// The record of a run.
#[derive(Default)]
pub struct Ledger {
    violation: RefCell<Option<Violation>>,
    /// The idempotency keys of the effects at each place, and how often each effect has happened.
    effects: RefCell<BTreeMap<Place, BTreeMap<String, usize>>>,
    places: RefCell<BTreeMap<String, Place>>,
    /// The calls that have failed for their callers, and the times at which nothing of them runs any more.
    failed: RefCell<BTreeMap<String, u64>>,
    /// The idempotency keys of the steps that have finished.
    finished: RefCell<BTreeSet<String>>,
    events: Cell<u64>,
}

impl Ledger {
    /// Counts an event, for the progress line.
    pub fn count(&self) {
        self.events.set(self.events.get() + 1);
    }

    pub fn events(&self) -> u64 {
        self.events.get()
    }

    /// Records a violation. The first one counts.
    pub fn violate(&self, invariant: Invariant, text: impl Into<String>) {
        self.violation.borrow_mut().get_or_insert_with(|| Violation { invariant, text: text.into() });
    }

    /// Records a violation unless `holds`.
    pub fn check(&self, holds: bool, invariant: Invariant, text: impl FnOnce() -> String) {
        if !holds {
            self.violate(invariant, text());
        }
    }

    pub fn violation(&self) -> Option<Violation> {
        self.violation.borrow().clone()
    }

    pub fn is_violated(&self) -> bool {
        self.violation.borrow().is_some()
    }

    /// Records an effect of a step, of which the call has `most` equal ones at the same place.
    pub fn effect(&self, call: &str, place: &str, key: &str, most: usize) {
        self.count();
        let place = (call.to_owned(), place.to_owned());
        let mut effects = self.effects.borrow_mut();
        let keys = effects.entry(place.clone()).or_default();
        *keys.entry(key.to_owned()).or_default() += 1;
        self.check(keys.len() <= most, Invariant::OneKey, || {
            format!("{place:?} has {} idempotency keys for {most} steps: {keys:?}", keys.len())
        });
        let mut places = self.places.borrow_mut();
        let known = places.entry(key.to_owned()).or_insert_with(|| place.clone());
        self.check(*known == place, Invariant::OneKey, || {
            format!("the idempotency key {key} belongs to {known:?} and to {place:?}")
        });
    }

    /// Records that a call has failed for its caller, so that nothing of it may happen after a time.
    pub fn fail(&self, caller: &str, ends_at: u64) {
        self.failed.borrow_mut().insert(caller.to_owned(), ends_at);
    }

    /// Returns whether a call that has failed goes on.
    pub fn goes_on(&self, caller: &str, now_ms: u64) -> bool {
        self.failed.borrow().get(caller).is_some_and(|ends_at| now_ms > *ends_at)
    }

    /// Returns the number of effects at a place of a call, and how often they have happened.
    pub fn effects_at(&self, call: &str, place: &str) -> (usize, usize) {
        let effects = self.effects.borrow();
        let keys = effects.get(&(call.to_owned(), place.to_owned()));
        keys.map_or((0, 0), |keys| (keys.len(), keys.values().sum()))
    }

    /// Records that a step has finished.
    pub fn finished(&self, key: String) {
        self.finished.borrow_mut().insert(key);
    }

    /// Checks that a step that begins has not finished before.
    pub fn begins(&self, key: &str, place: &str) {
        self.check(!self.finished.borrow().contains(key), Invariant::NoRepeatedEffect, || {
            format!("the step at {place} has finished and runs again with the key {key}")
        });
    }

    /// Checks that the owners of all marked texts in `bytes` are in `allowed`. `reader` describes who gets the bytes.
    pub fn scan(&self, bytes: &[u8], allowed: &[&str], reader: &str) {
        for at in positions(bytes, MARK.as_bytes()) {
            let rest = &bytes[at + MARK.len()..];
            // An answer that ends early can end within a mark.
            let Some(end) = rest.iter().position(|byte| *byte == b'.') else { continue };
            let owner = String::from_utf8_lossy(&rest[..end.min(32)]);
            if !allowed.contains(&&*owner) {
                let from = at.saturating_sub(80);
                let around = String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 60)]).into_owned();
                self.violate(Invariant::NoLeak, format!("{reader} gets a text of `{owner}`: …{around}…"));
            }
        }
    }
}

/// Returns the positions of `part` in `bytes`.
pub fn positions<'a>(bytes: &'a [u8], part: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let first = part[0];
    let candidates = bytes.iter().enumerate().filter(move |(_, byte)| **byte == first);
    candidates.map(|(at, _)| at).filter(move |at| bytes[*at..].starts_with(part))
}
