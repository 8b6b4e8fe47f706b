//! Runs an automaton on a text, as a DFA whose states are created on demand.
//!
//! A state of the DFA is the set of NFA states that can come next, and the kind of the last character. Most texts visit only a few
//! states many times. For other texts every new state takes steps, and a full cache is emptied.

use std::mem;

use rustc_hash::FxHashMap;

use super::Pattern;
use super::nfa::{Nfa, State, StateId};
use super::parse::Assertion;
use crate::budget::{MATCH, MATCHED, Steps, TRANSITIONS, VISITED};
use crate::limits::PATTERN_CACHE;
use crate::sorted::sorted;

/// The number of bytes that each pattern of a check reads before it caches states. For short texts the cache is slower.
const UNCACHED: usize = 256;

/// The value of a transition that is not computed yet.
const UNKNOWN: u32 = u32::MAX;
/// The value of a transition that completes a match.
const FOUND: u32 = u32::MAX - 1;
/// The value of a transition after which the pattern cannot match.
const LOST: u32 = u32::MAX - 2;

/// The kind of the last character, as far as assertions distinguish it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Before {
    #[default]
    Start,
    Word,
    Other,
}

/// The searches of one check, each with the cached states of its pattern.
#[derive(Debug, Default)]
pub(crate) struct Searches {
    of_patterns: Vec<Option<Box<Search>>>,
    /// The memory of all cached states, in bytes.
    bytes: usize,
    scratch: Scratch,
}

impl Searches {
    /// Returns whether the pattern at `index` matches in `text`. The result must not be used once the steps are exhausted.
    pub(crate) fn is_found(&mut self, patterns: &[Pattern], index: usize, text: &str, steps: &mut Steps) -> bool {
        let Some(Pattern { nfa, .. }) = patterns.get(index).filter(|_| steps.take(MATCH)) else { return false };
        if self.of_patterns.len() < patterns.len() {
            self.of_patterns.resize_with(patterns.len(), || None);
        }
        let Some(place) = self.of_patterns.get_mut(index) else { return false };
        let search = place.get_or_insert_with(|| Box::new(Search::of(nfa)));
        let scratch = self.scratch.of_size(nfa.len());
        if search.read.saturating_add(text.len()) <= UNCACHED {
            return search.run(nfa, text, scratch, steps);
        }
        let before = search.bytes;
        let is_found = search.run_cached(nfa, text, scratch, steps);
        self.bytes = self.bytes.saturating_sub(before).saturating_add(search.bytes);
        if self.bytes > PATTERN_CACHE {
            self.of_patterns.clear();
            self.bytes = 0;
        }
        is_found
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The search for one pattern.
#[derive(Debug, Default)]
struct Search {
    /// The NFA states of each DFA state. The id of a DFA state is the offset of its transitions in `next`.
    keys: Vec<Key>,
    by_key: FxHashMap<Key, u32>,
    /// The transitions of each state: one per character class, then one for the end of the text.
    next: Vec<u32>,
    /// The number of transitions per state.
    stride: usize,
    /// The memory of the cached states, in bytes.
    bytes: usize,
    /// The number of bytes that were read without the cache.
    read: usize,
}

/// Sorted NFA states whose assertions are not evaluated yet, and the kind of the character before them.
type Key = (Before, Box<[StateId]>);

impl Search {
    fn of(nfa: &Nfa) -> Self {
        Self { stride: nfa.classes().saturating_add(1), ..Self::default() }
    }

    /// Runs the NFA without a cache.
    fn run(&mut self, nfa: &Nfa, text: &str, scratch: &mut Scratch, steps: &mut Steps) -> bool {
        self.read = self.read.saturating_add(text.len());
        let (mut states, mut before) = (vec![nfa.start()], Before::Start);
        for class in text.chars().map(|character| Some(nfa.class_of(character))).chain([None]) {
            match scratch.advance(nfa, &states, before, class, steps) {
                Transition::Found => return true,
                Transition::Lost => return false,
                Transition::Next => mem::swap(&mut states, &mut scratch.next),
            }
            before = Before::after(nfa, class);
        }
        false
    }

    fn run_cached(&mut self, nfa: &Nfa, text: &str, scratch: &mut Scratch, steps: &mut Steps) -> bool {
        let mut state = self.state(Before::Start, &[nfa.start()], steps);
        let mut rest = text;
        loop {
            let read;
            (state, read) = self.follow(nfa, state, rest);
            if !steps.take_for(read, MATCHED) {
                return false;
            }
            rest = rest.get(read..).unwrap_or_default();
            // The transition for the next character or the end is not cached, or does not lead to a state.
            let mut characters = rest.chars();
            let class = characters.next().map(|character| nfa.class_of(character));
            match self.transition(nfa, state, class, scratch, steps) {
                FOUND => return true,
                LOST => return false,
                next => state = next,
            }
            rest = characters.as_str();
        }
    }

    /// Follows cached transitions from `state` while they lead to states. Returns the last state and the number of bytes read.
    fn follow(&self, nfa: &Nfa, mut state: u32, text: &str) -> (u32, usize) {
        let bytes = text.as_bytes();
        let mut at = 0_usize;
        while let Some(byte) = bytes.get(at) {
            let (class, length) = match nfa.class_of_ascii(*byte) {
                Some(class) => (class, 1),
                None => match text.get(at..).and_then(|rest| rest.chars().next()) {
                    Some(character) => (nfa.class_of(character), character.len_utf8()),
                    None => break,
                },
            };
            match self.next.get((state as usize).wrapping_add(class)) {
                Some(next) if *next < LOST => state = *next,
                _ => break,
            }
            at = at.wrapping_add(length);
        }
        (state, at)
    }

    /// Returns the transition for a character class, or for the end of the text if `class` is `None`.
    fn transition(
        &mut self,
        nfa: &Nfa,
        state: u32,
        class: Option<usize>,
        scratch: &mut Scratch,
        steps: &mut Steps,
    ) -> u32 {
        let slot = (state as usize).saturating_add(class.unwrap_or_else(|| nfa.classes()));
        match self.next.get(slot).copied() {
            Some(UNKNOWN) | None => self.explore(nfa, state, class, slot, scratch, steps),
            Some(known) => known,
        }
    }

    #[cold]
    #[inline(never)]
    fn explore(
        &mut self,
        nfa: &Nfa,
        state: u32,
        class: Option<usize>,
        slot: usize,
        scratch: &mut Scratch,
        steps: &mut Steps,
    ) -> u32 {
        let index = (state as usize).checked_div(self.stride).unwrap_or_default();
        let Some((before, states)) = self.keys.get(index) else { return LOST };
        let mut is_emptied = false;
        let target = match scratch.advance(nfa, states, *before, class, steps) {
            Transition::Found => FOUND,
            Transition::Lost => LOST,
            Transition::Next => {
                if self.bytes > PATTERN_CACHE {
                    self.keys.clear();
                    self.by_key.clear();
                    self.next.clear();
                    self.bytes = 0;
                    is_emptied = true;
                }
                self.state(Before::after(nfa, class), &scratch.next, steps)
            }
        };
        // If the cache was emptied, the slot belongs to another state.
        if let Some(next) = self.next.get_mut(slot).filter(|_| !is_emptied && !steps.are_exhausted()) {
            *next = target;
        }
        target
    }

    /// Returns the DFA state for these NFA states, and creates it if necessary.
    fn state(&mut self, before: Before, states: &[StateId], steps: &mut Steps) -> u32 {
        let key = (before, Box::from(states));
        if let Some(known) = self.by_key.get(&key) {
            return *known;
        }
        if !steps.take_for(self.stride, TRANSITIONS) {
            return LOST;
        }
        let id = u32::try_from(self.next.len()).unwrap_or(LOST);
        self.next.resize(self.next.len().saturating_add(self.stride), UNKNOWN);
        self.by_key.insert(key.clone(), id);
        self.keys.push(key);
        let own = states.len().saturating_mul(4).saturating_add(self.stride.saturating_mul(4)).saturating_add(64);
        self.bytes = self.bytes.saturating_add(own);
        id
    }
}

/// Buffers that are reused for each transition.
#[derive(Debug, Default)]
struct Scratch {
    open: Vec<StateId>,
    /// The transition in which each NFA state was last visited.
    visited: Vec<u32>,
    /// The transition in which each NFA state was last added to `next`.
    added: Vec<u32>,
    /// The number of the current transition.
    transition: u32,
    /// The NFA states after the transition.
    next: Vec<StateId>,
}

/// The result of a transition.
enum Transition {
    /// The pattern matches.
    Found,
    /// The pattern cannot match.
    Lost,
    /// The search continues in the NFA states of [`Scratch::next`].
    Next,
}

impl Scratch {
    /// Grows the buffers for this number of states.
    fn of_size(&mut self, states: usize) -> &mut Self {
        if self.visited.len() < states {
            self.visited.resize(states, 0);
            self.added.resize(states, 0);
        }
        self
    }

    /// Follows the transitions of `states` that do not read, then those for a character class. `None` is the end of the text.
    fn advance(
        &mut self,
        nfa: &Nfa,
        states: &[StateId],
        before: Before,
        class: Option<usize>,
        steps: &mut Steps,
    ) -> Transition {
        // The counter wraps after 2^32 transitions. A check has fewer steps.
        self.transition = self.transition.wrapping_add(1);
        self.next.clear();
        self.open.clear();
        self.open.extend_from_slice(states);
        while let Some(id) = self.open.pop() {
            if !is_new(&mut self.visited, id, self.transition) {
                continue;
            }
            if !steps.take(VISITED) {
                return Transition::Lost;
            }
            match nfa.state(id) {
                State::Found => return Transition::Found,
                State::Split(one, other) => self.open.extend([one, other]),
                State::If(assertion, next) => {
                    if holds(assertion, before, nfa, class) {
                        self.open.push(next);
                    }
                }
                State::Read(set, next) => {
                    let reads = class.is_some_and(|class| nfa.reads(set, class));
                    if reads && is_new(&mut self.added, next, self.transition) {
                        self.next.push(next);
                    }
                }
            }
        }
        if class.is_some() && !nfa.is_anchored && is_new(&mut self.added, nfa.start(), self.transition) {
            self.next.push(nfa.start());
        }
        if self.next.is_empty() {
            return Transition::Lost;
        }
        self.next = sorted(mem::take(&mut self.next));
        Transition::Next
    }
}

/// Marks a state. Returns whether this is the first time in this transition.
fn is_new(last: &mut [u32], id: StateId, transition: u32) -> bool {
    match last.get_mut(usize::from(id)) {
        Some(last) if *last != transition => {
            *last = transition;
            true
        }
        _ => false,
    }
}

fn holds(assertion: Assertion, before: Before, nfa: &Nfa, class: Option<usize>) -> bool {
    let is_boundary = || (before == Before::Word) != class.is_some_and(|class| nfa.is_word(class));
    match assertion {
        Assertion::Start => before == Before::Start,
        Assertion::End => class.is_none(),
        Assertion::WordBoundary => is_boundary(),
        Assertion::NoWordBoundary => !is_boundary(),
    }
}

impl Before {
    /// Returns the kind of a character class. Patterns without `\b` and `\B` do not distinguish words.
    fn after(nfa: &Nfa, class: Option<usize>) -> Self {
        let is_word = nfa.has_word_boundary && class.is_some_and(|class| nfa.is_word(class));
        if is_word { Self::Word } else { Self::Other }
    }
}
