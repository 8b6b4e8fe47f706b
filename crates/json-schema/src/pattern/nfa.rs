//! The nondeterministic finite automaton of a pattern.

use super::char_set::CharSet;
use super::parse::{Assertion, Ast, Parsed};
use crate::budget::{PART, Steps, TOO_COSTLY};
use crate::limits::{PATTERN_CLASSES, PATTERN_STATES};
use crate::sorted::sorted;

/// The index of a state.
pub(super) type StateId = u16;

/// A state of the automaton.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Reads a character in the set with this index.
    Read(u16, StateId),
    /// Continues in both states, without reading.
    Split(StateId, StateId),
    /// Continues if the assertion holds, without reading.
    If(Assertion, StateId),
    /// The pattern matches.
    Found,
}

/// The automaton of a pattern.
#[derive(Debug, Default)]
pub(super) struct Nfa {
    states: Vec<State>,
    start: StateId,
    sets: Vec<CharSet>,
    alphabet: Alphabet,
    /// Whether a match can start only at the start of the text.
    pub(super) is_anchored: bool,
    /// Whether the pattern has `\b` or `\B`.
    pub(super) has_word_boundary: bool,
}

/// Classes of characters that the pattern does not distinguish, by their first code points.
#[derive(Debug, Default)]
struct Alphabet {
    firsts: Vec<u32>,
    /// The classes of ASCII characters.
    ascii: Vec<u16>,
}

impl Nfa {
    /// Compiles a pattern to an automaton.
    ///
    /// # Errors
    /// The automaton has too many states or classes, or the steps run out.
    pub(super) fn of(Parsed { ast, sets, .. }: Parsed, steps: &mut Steps) -> Result<Self, String> {
        let mut nfa = Self { sets, ..Self::default() };
        let found = nfa.push(State::Found)?;
        nfa.start = nfa.add(&ast, found, steps)?;
        nfa.is_anchored = nfa.is_found_at_the_start_only();
        let is_word_boundary =
            |state: &State| matches!(state, State::If(Assertion::WordBoundary | Assertion::NoWordBoundary, _));
        nfa.has_word_boundary = nfa.states.iter().any(is_word_boundary);
        let word = nfa.has_word_boundary.then(CharSet::word);
        nfa.alphabet = Alphabet::of(nfa.sets.iter().chain(&word));
        if nfa.classes() > PATTERN_CLASSES {
            return Err(format!("is too large: it distinguishes more than {PATTERN_CLASSES} classes of characters"));
        }
        Ok(nfa)
    }

    pub(super) fn start(&self) -> StateId {
        self.start
    }

    /// Returns the number of states.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn state(&self, id: StateId) -> State {
        // Every id comes from `push`, so the fallback is never used.
        self.states.get(usize::from(id)).copied().unwrap_or(State::Found)
    }

    /// Returns the number of character classes.
    pub(super) fn classes(&self) -> usize {
        self.alphabet.firsts.len()
    }

    /// Returns the class of an ASCII character. Returns `None` for other bytes.
    #[inline]
    pub(super) fn class_of_ascii(&self, byte: u8) -> Option<usize> {
        self.alphabet.ascii.get(usize::from(byte)).map(|class| usize::from(*class))
    }

    /// Returns the class of a character.
    pub(super) fn class_of(&self, character: char) -> usize {
        match self.alphabet.ascii.get(character as usize) {
            Some(class) => usize::from(*class),
            None => self.alphabet.search(character.into()),
        }
    }

    /// Returns whether the characters of a class are in a set.
    pub(super) fn reads(&self, set: u16, class: usize) -> bool {
        let first = self.alphabet.firsts.get(class).copied().unwrap_or_default();
        self.sets.get(usize::from(set)).is_some_and(|set| set.contains(first))
    }

    /// Returns whether the characters of a class are part of words.
    pub(super) fn is_word(&self, class: usize) -> bool {
        let first = self.alphabet.firsts.get(class).copied().and_then(char::from_u32);
        first.is_some_and(|first| first.is_ascii_alphanumeric() || first == '_')
    }

    fn push(&mut self, state: State) -> Result<StateId, String> {
        if self.states.len() >= PATTERN_STATES {
            return Err(format!("is too large: it has more than {PATTERN_STATES} states"));
        }
        let id = StateId::try_from(self.states.len()).unwrap_or(StateId::MAX);
        self.states.push(state);
        Ok(id)
    }

    /// Adds the states of `ast`, which continue in `next`. Returns the first of them.
    fn add(&mut self, ast: &Ast, next: StateId, steps: &mut Steps) -> Result<StateId, String> {
        // Empty parts of a repetition do not add states, so a limit of the states alone does not limit the work.
        if !steps.take(PART) {
            return Err(TOO_COSTLY.into());
        }
        match ast {
            Ast::Set(set) => self.push(State::Read(*set, next)),
            Ast::Assertion(assertion) => self.push(State::If(*assertion, next)),
            Ast::Sequence(parts) => parts.iter().rev().try_fold(next, |next, part| self.add(part, next, steps)),
            Ast::Alternatives(alternatives) => {
                let mut entries = alternatives.iter().rev();
                let Some(last) = entries.next() else { return Ok(next) };
                let last = self.add(last, next, steps)?;
                entries.try_fold(last, |others, alternative| {
                    let entry = self.add(alternative, next, steps)?;
                    self.push(State::Split(entry, others))
                })
            }
            Ast::Repeat { of, least, most } => self.repeat(of, *least, *most, next, steps),
        }
    }

    fn repeat(
        &mut self,
        of: &Ast,
        least: u32,
        most: Option<u32>,
        next: StateId,
        steps: &mut Steps,
    ) -> Result<StateId, String> {
        let mut entry = next;
        match most {
            None => {
                let again = self.push(State::Split(next, next))?;
                let body = self.add(of, again, steps)?;
                if let Some(split) = self.states.get_mut(usize::from(again)) {
                    *split = State::Split(body, next);
                }
                entry = again;
            }
            Some(most) => {
                for _ in least..most {
                    let body = self.add(of, entry, steps)?;
                    if body == entry {
                        // A repetition of the empty pattern is empty.
                        return Ok(entry);
                    }
                    entry = self.push(State::Split(body, next))?;
                }
            }
        }
        for _ in 0..least {
            let body = self.add(of, entry, steps)?;
            if body == entry {
                break;
            }
            entry = body;
        }
        Ok(entry)
    }

    /// Returns whether every path from the start passes `^` before it reads a character or ends.
    fn is_found_at_the_start_only(&self) -> bool {
        let mut seen = vec![false; self.states.len()];
        let mut open = vec![self.start];
        while let Some(id) = open.pop() {
            match seen.get_mut(usize::from(id)) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            match self.state(id) {
                State::Read(..) | State::Found => return false,
                State::If(Assertion::Start, _) => {}
                State::If(_, next) => open.push(next),
                State::Split(one, other) => open.extend([one, other]),
            }
        }
        true
    }
}

impl Alphabet {
    fn of<'s>(sets: impl Iterator<Item = &'s CharSet>) -> Self {
        let mut firsts = vec![0];
        for set in sets {
            firsts.extend(set.boundaries());
        }
        let mut firsts = sorted(firsts);
        firsts.dedup();
        let mut alphabet = Self { firsts, ascii: Vec::new() };
        let class = |code| u16::try_from(alphabet.search(code)).unwrap_or(u16::MAX);
        alphabet.ascii = (0..128).map(class).collect();
        alphabet
    }

    fn search(&self, code: u32) -> usize {
        self.firsts.partition_point(|first| *first <= code).saturating_sub(1)
    }
}
