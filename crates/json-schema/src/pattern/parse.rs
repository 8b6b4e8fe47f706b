//! The parser of patterns: ECMA-262 §22.2.1, `Pattern` with the `u` flag, without back references and properties. Lookaround is parsed, so
//! that a pattern with it is known to be valid, but not supported.
//!
//! In addition, a backslash is allowed before any ASCII punctuation, because many patterns in use have it. The meaning does not change.

use std::iter::Peekable;
use std::str::Chars;

use super::char_set::{CharSet, LAST};
use crate::budget::{ALPHABET, PARSED, Steps, TOO_COSTLY};
use crate::limits::{PATTERN_GROUPS, PATTERN_STATES};

/// A parsed pattern.
pub(super) struct Parsed {
    pub ast: Ast,
    /// The set of each character or class in the source.
    pub sets: Vec<CharSet>,
    /// Why the pattern cannot be searched for, although it is valid, as a predicate whose subject is the pattern.
    pub unsupported: Option<&'static str>,
}

/// A part of a parsed pattern.
#[derive(Debug)]
pub(super) enum Ast {
    /// The index of a set of characters.
    Set(u16),
    Assertion(Assertion),
    /// A concatenation. An empty one is the empty pattern.
    Sequence(Vec<Ast>),
    Alternatives(Vec<Ast>),
    Repeat {
        of: Box<Ast>,
        least: u32,
        /// `None` means unlimited.
        most: Option<u32>,
    },
}

/// A condition on a position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Start,
    End,
    WordBoundary,
    NoWordBoundary,
}

/// Parses a pattern.
///
/// # Errors
/// The problem with the pattern, as a predicate whose subject is the pattern. If the steps run out, this is the problem.
pub(super) fn parse(source: &str, steps: &mut Steps) -> Result<Parsed, String> {
    let length = u32::try_from(source.len()).unwrap_or(u32::MAX);
    if !steps.take(length.saturating_mul(PARSED).saturating_add(ALPHABET)) {
        return Err(TOO_COSTLY.into());
    }
    let mut parser = Parser {
        rest: source.chars().peekable(),
        depth: 0,
        names: Vec::new(),
        sets: Vec::new(),
        unsupported: None,
        steps,
    };
    let ast = parser.alternatives()?;
    match parser.rest.next() {
        Some(character) => Err(unexpected(character)),
        None => Ok(Parsed { ast, sets: parser.sets, unsupported: parser.unsupported }),
    }
}

fn unexpected(character: char) -> String {
    format!("has an unexpected `{character}`: escape it as `\\{character}`")
}

struct Parser<'s, 'b> {
    rest: Peekable<Chars<'s>>,
    depth: usize,
    /// The names of earlier groups that can match together with the next group.
    names: Vec<String>,
    sets: Vec<CharSet>,
    unsupported: Option<&'static str>,
    steps: &'b mut Steps,
}

impl Parser<'_, '_> {
    fn takes(&mut self, character: char) -> bool {
        self.rest.next_if_eq(&character).is_some()
    }

    fn alternatives(&mut self) -> Result<Ast, String> {
        let outer = self.names.len();
        // Only one alternative matches, so the next one may use the same names.
        let mut earlier = Vec::new();
        let mut alternatives = vec![self.sequence()?];
        while self.takes('|') {
            earlier.extend(self.names.drain(outer..));
            alternatives.push(self.sequence()?);
        }
        self.names.extend(earlier);
        Ok(Ast::Alternatives(alternatives))
    }

    fn sequence(&mut self) -> Result<Ast, String> {
        let mut parts = Vec::new();
        while let Some(character) = self.rest.next_if(|next| !matches!(next, '|' | ')')) {
            let part = self.atom(character)?;
            parts.push(self.quantified(part)?);
        }
        Ok(Ast::Sequence(parts))
    }

    fn atom(&mut self, first: char) -> Result<Ast, String> {
        Ok(match first {
            '^' => Ast::Assertion(Assertion::Start),
            '$' => Ast::Assertion(Assertion::End),
            '.' => self.set(CharSet::dot())?,
            '[' => {
                let class = self.class()?;
                self.set(class)?
            }
            '(' => self.group()?,
            '\\' => match self.rest.next() {
                Some('b') => Ast::Assertion(Assertion::WordBoundary),
                Some('B') => Ast::Assertion(Assertion::NoWordBoundary),
                letter => {
                    let escaped = self.escape(letter)?;
                    self.set(escaped.into_set())?
                }
            },
            '*' | '+' | '?' => return Err(format!("has nothing to repeat before `{first}`")),
            '{' | '}' | ']' => return Err(unexpected(first)),
            literal => self.set(CharSet::of(literal.into()))?,
        })
    }

    /// Adds a set of characters. Equal sets are not merged, because a search for an equal one would take longer than a set.
    fn set(&mut self, set: CharSet) -> Result<Ast, String> {
        let index = self.sets.len();
        if index >= PATTERN_STATES {
            return Err(format!("is too large: it has more than {PATTERN_STATES} states"));
        }
        self.sets.push(set);
        Ok(Ast::Set(u16::try_from(index).unwrap_or(u16::MAX)))
    }

    fn quantified(&mut self, of: Ast) -> Result<Ast, String> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => (0, Some(0)),
            _ => return Ok(of),
        };
        let quantifier = self.rest.next().unwrap_or_default();
        if matches!(of, Ast::Assertion(_)) {
            return Err(format!("has nothing to repeat before `{quantifier}`"));
        }
        let (least, most) = if quantifier == '{' { self.counts()? } else { (least, most) };
        // Lazy and greedy quantifiers match the same texts.
        self.takes('?');
        Ok(Ast::Repeat { of: Box::new(of), least, most })
    }

    /// Parses `2}`, `2,}` or `2,3}`, after the opening brace.
    fn counts(&mut self) -> Result<(u32, Option<u32>), String> {
        let least = self.number().ok_or_else(|| unexpected('{'))?;
        let most = if self.takes(',') { self.number() } else { Some(least) };
        if !self.takes('}') {
            return Err(unexpected('{'));
        }
        if most.is_some_and(|most| most < least) {
            return Err(format!("has the counts of `{{{least},…}}` in reverse order"));
        }
        Ok((least, most))
    }

    /// Parses a number. A number above `u32::MAX` becomes `u32::MAX`.
    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(digit) = self.rest.peek().and_then(|next| next.to_digit(10)) {
            self.rest.next();
            number = Some(number.unwrap_or(0_u32).saturating_mul(10).saturating_add(digit));
        }
        number
    }

    fn group(&mut self) -> Result<Ast, String> {
        let mut lookaround = None;
        if self.takes('?') {
            match self.rest.next() {
                Some(':') => {}
                Some('=' | '!') => lookaround = Some("uses lookahead, which is not supported"),
                Some('<') if self.rest.next_if(|next| matches!(next, '=' | '!')).is_some() => {
                    lookaround = Some("uses lookbehind, which is not supported");
                }
                Some('<') => self.group_name()?,
                _ => return Err("has an unknown group after `(?`".into()),
            }
        }
        if self.depth >= PATTERN_GROUPS {
            return Err(format!("has groups nested deeper than {PATTERN_GROUPS} levels"));
        }
        self.depth = self.depth.saturating_add(1);
        let inner = self.alternatives()?;
        self.depth = self.depth.saturating_sub(1);
        if !self.takes(')') {
            return Err("has an unclosed group".into());
        }
        if lookaround.is_none() {
            return Ok(inner);
        }
        self.unsupported = self.unsupported.or(lookaround);
        // It matches a position. The pattern is not used, so it does not matter which one.
        Ok(Ast::Assertion(Assertion::Start))
    }

    /// Parses the name of a group and the `>` after it.
    ///
    /// Any character beyond ASCII is allowed: the set of letters depends on the version of Unicode, and names do not affect matches.
    fn group_name(&mut self) -> Result<(), String> {
        let mut name = String::new();
        while !self.takes('>') {
            let character = match self.rest.next() {
                Some('\\') if self.takes('u') => self.unicode().and_then(char::from_u32),
                other => other,
            };
            let is_allowed = |character: &char| {
                matches!(character, 'A'..='Z' | 'a'..='z' | '_' | '$' | '\u{80}'..)
                    || (!name.is_empty() && character.is_ascii_digit())
            };
            match character.filter(is_allowed) {
                Some(character) => name.push(character),
                None => return Err("has a group with an invalid name".into()),
            }
        }
        if name.is_empty() {
            return Err("has a group with an invalid name".into());
        }
        // Each name is compared with all earlier ones.
        if !self.steps.take_for_texts(self.names.iter().map(String::as_str)) {
            return Err(TOO_COSTLY.into());
        }
        if self.names.contains(&name) {
            return Err(format!("has two groups with the name `{name}`"));
        }
        self.names.push(name);
        Ok(())
    }

    /// Parses a class, after the opening bracket.
    fn class(&mut self) -> Result<CharSet, String> {
        let is_negated = self.takes('^');
        let mut set = CharSet::default();
        while let Some(first) = self.class_atom()? {
            // A hyphen before the closing bracket is a literal.
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && ahead.peek().is_some_and(|next| *next != ']');
            if !is_range {
                set.add_all(&first.into_set());
                continue;
            }
            self.rest.next();
            let Some(last) = self.class_atom()? else { break };
            match (first, last) {
                (Escaped::Character(first), Escaped::Character(last)) if first <= last => set.add(first, last),
                (Escaped::Character(first), Escaped::Character(last)) => {
                    let [first, last] = [first, last].map(shown);
                    return Err(format!("has the range `{first}-{last}` in reverse order"));
                }
                _ => return Err("has a class as the end of a range".into()),
            }
        }
        let set = set.normalized();
        Ok(if is_negated { set.complement() } else { set })
    }

    /// Parses the next character or escape in a class. Returns `None` at the end of the class.
    fn class_atom(&mut self) -> Result<Option<Escaped>, String> {
        match self.rest.next() {
            Some(']') => Ok(None),
            Some('\\') => match self.rest.next() {
                Some('b') => Ok(Some(Escaped::Character(0x8))),
                letter => self.escape(letter).map(Some),
            },
            Some(literal) => Ok(Some(Escaped::Character(literal.into()))),
            None => Err("has an unclosed class".into()),
        }
    }

    /// Parses an escape, after the backslash.
    fn escape(&mut self, letter: Option<char>) -> Result<Escaped, String> {
        let Some(letter) = letter else { return Err("ends in a backslash".into()) };
        if let Some(set) = CharSet::of_escape(letter) {
            return Ok(Escaped::Set(set));
        }
        Ok(Escaped::Character(match letter {
            't' => 0x9,
            'n' => 0xA,
            'v' => 0xB,
            'f' => 0xC,
            'r' => 0xD,
            '0' if self.rest.peek().is_some_and(char::is_ascii_digit) => {
                return Err("has a digit after `\\0`: write `\\x` and two digits".into());
            }
            '0' => 0,
            'c' => match self.rest.next_if(char::is_ascii_alphabetic) {
                Some(letter) => u32::from(letter) % 32,
                None => return Err("has `\\c` without a letter".into()),
            },
            'x' => self.hexadecimal(2).ok_or("has `\\x` without two hexadecimal digits")?,
            'u' => self.unicode().ok_or("has `\\u` without a character")?,
            'p' | 'P' => return Err(format!("uses the Unicode property `\\{letter}`, which is not supported")),
            'k' | '1'..='9' => return Err(format!("uses the back reference `\\{letter}`, which is not supported")),
            punctuation if punctuation.is_ascii_punctuation() => punctuation.into(),
            other => return Err(format!("has the unknown escape `\\{other}`")),
        }))
    }

    fn hexadecimal(&mut self, count: usize) -> Option<u32> {
        (0..count).try_fold(0_u32, |number, _| Some((number << 4) | self.rest.next()?.to_digit(16)?))
    }

    /// Parses `XXXX`, a surrogate pair or `{X…}`, after `\u`. The result may be a lone surrogate, which never matches.
    fn unicode(&mut self) -> Option<u32> {
        if self.takes('{') {
            let mut code = self.hexadecimal(1)?;
            while !self.takes('}') {
                code = code.checked_mul(16)?.checked_add(self.hexadecimal(1)?)?;
            }
            return (code <= LAST).then_some(code);
        }
        let code = self.hexadecimal(4)?;
        if !(0xD800..0xDC00).contains(&code) {
            return Some(code);
        }
        let after = self.rest.clone();
        let low = if self.takes('\\') && self.takes('u') { self.hexadecimal(4) } else { None };
        let Some(low) = low.filter(|low| (0xDC00..0xE000).contains(low)) else {
            self.rest = after;
            return Some(code);
        };
        0x1_0000_u32.checked_add(((code & 0x3FF) << 10) | (low & 0x3FF))
    }
}

/// Formats a code point for an error message.
fn shown(code: u32) -> String {
    char::from_u32(code).map_or_else(|| format!("\\u{code:04x}"), String::from)
}

/// The meaning of an escape.
enum Escaped {
    /// A code point.
    Character(u32),
    Set(CharSet),
}

impl Escaped {
    fn into_set(self) -> CharSet {
        match self {
            Self::Character(character) => CharSet::of(character),
            Self::Set(set) => set,
        }
    }
}
