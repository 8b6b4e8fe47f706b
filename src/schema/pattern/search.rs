//! Running an automaton over a text, as a DFA whose states are made when they are first met.
//!
//! A state of the DFA is the set of NFA states that can come next, and what the last character was. Most texts lead through a handful
//! of them, again and again. Where they do not, the cache is emptied when it is full, and every new state costs its steps.

use rustc_hash::FxHashMap;

use super::Pattern;
use super::nfa::{Nfa, State, StateId};
use super::parse::Assertion;
use crate::limits::PATTERN_CACHE;
use crate::schema::steps::{MATCH, MATCHED, Steps, TRANSITIONS, VISITED};

/// Bytes of texts that are read without caching states, for each pattern of a check: for a few, the cache costs more than it brings.
const UNCACHED: usize = 256;

/// Transitions that are not to a state.
const UNKNOWN: u32 = u32::MAX;
const FOUND: u32 = u32::MAX - 1;
const LOST: u32 = u32::MAX - 2;

/// What the last character was, as far as the conditions of a pattern can see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Before {
    #[default]
    Start,
    Word,
    Other,
}

/// The searches of one check, each with the states that its pattern has met.
#[derive(Debug, Default)]
pub(in crate::schema) struct Searches {
    of_patterns: Vec<Option<Box<Search>>>,
    /// Bytes of all cached states.
    bytes: usize,
    scratch: Scratch,
}

impl Searches {
    /// Whether the pattern with that index is found in `text`. The answer does not count once the steps are exhausted.
    pub(in crate::schema) fn is_found(
        &mut self,
        patterns: &[Pattern],
        index: usize,
        text: &str,
        steps: &mut Steps,
    ) -> bool {
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
    /// The states of the DFA: the NFA states that each stands for. A state's id is where its transitions begin.
    keys: Vec<Key>,
    by_key: FxHashMap<Key, u32>,
    /// Where each class of characters leads from each state, and last where the end of the text does.
    next: Vec<u32>,
    /// How many transitions each state has.
    stride: usize,
    /// Bytes of the cached states.
    bytes: usize,
    /// Bytes of text that were read without the cache.
    read: usize,
}

/// NFA states, in order, whose conditions have not been looked at yet, and what the character before them was.
type Key = (Before, Box<[StateId]>);

impl Search {
    fn of(nfa: &Nfa) -> Self {
        Self { stride: nfa.classes().saturating_add(1), ..Self::default() }
    }

    /// Runs the automaton as it is: nothing is cached.
    fn run(&mut self, nfa: &Nfa, text: &str, scratch: &mut Scratch, steps: &mut Steps) -> bool {
        self.read = self.read.saturating_add(text.len());
        let (mut states, mut before) = (vec![nfa.start()], Before::Start);
        for class in text.chars().map(|character| Some(nfa.class_of(character))).chain([None]) {
            match scratch.advance(nfa, &states, before, class, steps) {
                Outcome::Found => return true,
                Outcome::Lost => return false,
                Outcome::Next => std::mem::swap(&mut states, &mut scratch.next),
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
            // The next character, or the end, leads to where it has not led before.
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

    /// Follows known transitions from `state`, as far as they lead to other states: gives the last state and the bytes that were read.
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

    /// Where a character of that class leads; `None` is the end of the text.
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
            Outcome::Found => FOUND,
            Outcome::Lost => LOST,
            Outcome::Next => {
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
        // After the cache was emptied, the slot is another state's.
        if let Some(next) = self.next.get_mut(slot).filter(|_| !is_emptied && !steps.are_exhausted()) {
            *next = target;
        }
        target
    }

    /// The state of the DFA that stands for these NFA states.
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

/// Memory that is used again for each transition.
#[derive(Debug, Default)]
struct Scratch {
    open: Vec<StateId>,
    /// In which transition each NFA state was last visited, and last added to `next`.
    visited: Vec<u32>,
    added: Vec<u32>,
    transition: u32,
    next: Vec<StateId>,
}

/// Where a character leads.
enum Outcome {
    Found,
    Lost,
    /// To the NFA states in [`Scratch::next`].
    Next,
}

impl Scratch {
    /// The same, with room for so many states.
    fn of_size(&mut self, states: usize) -> &mut Self {
        if self.visited.len() < states {
            self.visited.resize(states, 0);
            self.added.resize(states, 0);
        }
        self
    }

    /// Follows `states` without reading, then over a character of that class. Without a class, the text is at its end.
    fn advance(
        &mut self,
        nfa: &Nfa,
        states: &[StateId],
        before: Before,
        class: Option<usize>,
        steps: &mut Steps,
    ) -> Outcome {
        // It takes four thousand million transitions until a number comes again, and a check has fewer steps.
        self.transition = self.transition.wrapping_add(1);
        self.next.clear();
        self.open.clear();
        self.open.extend_from_slice(states);
        while let Some(id) = self.open.pop() {
            if !is_new(&mut self.visited, id, self.transition) {
                continue;
            }
            if !steps.take(VISITED) {
                return Outcome::Lost;
            }
            match nfa.state(id) {
                State::Found => return Outcome::Found,
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
            return Outcome::Lost;
        }
        self.next.sort_unstable();
        Outcome::Next
    }
}

/// Whether a state is met for the first time in this transition.
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
    /// What a character of that class is to the next. Patterns that do not look at words need not tell them apart.
    fn after(nfa: &Nfa, class: Option<usize>) -> Self {
        let is_word = nfa.has_word_boundary && class.is_some_and(|class| nfa.is_word(class));
        if is_word { Self::Word } else { Self::Other }
    }
}
