//! The syntax of patterns: ECMA-262 §22.2.1, `Pattern` with the `u` flag, without lookaround, back references and properties.
//!
//! Unlike there, a backslash may stand before any ASCII punctuation, as many patterns have it; the meaning is the same.

use std::iter::Peekable;
use std::str::Chars;

use super::char_set::CharSet;
use crate::limits::PATTERN_GROUPS;

/// A pattern as it was read.
#[derive(Debug)]
pub(super) enum Ast {
    Set(CharSet),
    Assertion(Assertion),
    /// One after another; none is the empty pattern.
    Sequence(Vec<Ast>),
    Alternatives(Vec<Ast>),
    Repeat {
        of: Box<Ast>,
        least: u32,
        /// `None` is without end.
        most: Option<u32>,
    },
}

/// A condition on a place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Start,
    End,
    WordBoundary,
    NoWordBoundary,
}

/// Reads a pattern.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub(super) fn parse(source: &str) -> Result<Ast, String> {
    let mut parser = Parser { rest: source.chars().peekable(), depth: 0 };
    let ast = parser.alternatives()?;
    match parser.rest.next() {
        Some(lone) => Err(lone_character(lone)),
        None => Ok(ast),
    }
}

fn lone_character(character: char) -> String {
    format!("has a lone `{character}`: escape it as `\\{character}`")
}

struct Parser<'s> {
    rest: Peekable<Chars<'s>>,
    depth: usize,
}

impl Parser<'_> {
    fn takes(&mut self, character: char) -> bool {
        self.rest.next_if_eq(&character).is_some()
    }

    fn alternatives(&mut self) -> Result<Ast, String> {
        let mut alternatives = vec![self.sequence()?];
        while self.takes('|') {
            alternatives.push(self.sequence()?);
        }
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
            '.' => Ast::Set(CharSet::dot()),
            '[' => Ast::Set(self.class()?),
            '(' => self.group()?,
            '\\' => match self.rest.next() {
                Some('b') => Ast::Assertion(Assertion::WordBoundary),
                Some('B') => Ast::Assertion(Assertion::NoWordBoundary),
                letter => Ast::Set(self.escape(letter)?.into_set()),
            },
            '*' | '+' | '?' => return Err(format!("has nothing to repeat before `{first}`")),
            '{' | '}' | ']' => return Err(lone_character(first)),
            literal => Ast::Set(CharSet::of(literal)),
        })
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
        // Lazy or greedy, the same texts match.
        self.takes('?');
        Ok(Ast::Repeat { of: Box::new(of), least, most })
    }

    /// `2}`, `2,}` or `2,3}`, after the brace.
    fn counts(&mut self) -> Result<(u32, Option<u32>), String> {
        let least = self.number().ok_or_else(|| lone_character('{'))?;
        let most = if self.takes(',') { self.number() } else { Some(least) };
        if !self.takes('}') {
            return Err(lone_character('{'));
        }
        if most.is_some_and(|most| most < least) {
            return Err(format!("has the counts of `{{{least},…}}` the wrong way round"));
        }
        Ok((least, most))
    }

    /// A number; a larger one than 32 bits hold is cut to that.
    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(digit) = self.rest.peek().and_then(|next| next.to_digit(10)) {
            self.rest.next();
            number = Some(number.unwrap_or(0_u32).saturating_mul(10).saturating_add(digit));
        }
        number
    }

    fn group(&mut self) -> Result<Ast, String> {
        if self.takes('?') {
            match self.rest.next() {
                Some(':') => {}
                Some('=' | '!') => return Err("uses lookahead, which is not supported".into()),
                Some('<') if matches!(self.rest.peek(), Some('=' | '!')) => {
                    return Err("uses lookbehind, which is not supported".into());
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
        if self.takes(')') { Ok(inner) } else { Err("has an unclosed group".into()) }
    }

    fn group_name(&mut self) -> Result<(), String> {
        let mut is_empty = true;
        while self.rest.next_if(|next| next.is_alphanumeric() || matches!(next, '_' | '$')).is_some() {
            is_empty = false;
        }
        if self.takes('>') && !is_empty { Ok(()) } else { Err("has a group with a malformed name".into()) }
    }

    /// A class, after its bracket.
    fn class(&mut self) -> Result<CharSet, String> {
        let is_negated = self.takes('^');
        let mut set = CharSet::default();
        while let Some(first) = self.class_atom()? {
            // A hyphen right before the end stands for itself.
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
                    return Err(format!("has the range `{first}-{last}` the wrong way round"));
                }
                _ => return Err("has a class as the end of a range".into()),
            }
        }
        let set = set.normalized();
        Ok(if is_negated { set.complement() } else { set })
    }

    /// The next character or class within a class; `None` at the end of the class.
    fn class_atom(&mut self) -> Result<Option<Escaped>, String> {
        match self.rest.next() {
            Some(']') => Ok(None),
            Some('\\') => match self.rest.next() {
                Some('b') => Ok(Some(Escaped::Character('\u{8}'))),
                letter => self.escape(letter).map(Some),
            },
            Some(literal) => Ok(Some(Escaped::Character(literal))),
            None => Err("has an unclosed class".into()),
        }
    }

    /// What the backslash before `letter` makes of it.
    fn escape(&mut self, letter: Option<char>) -> Result<Escaped, String> {
        let Some(letter) = letter else { return Err("ends in a backslash".into()) };
        if let Some(set) = CharSet::of_escape(letter) {
            return Ok(Escaped::Set(set));
        }
        Ok(Escaped::Character(match letter {
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            '0' if self.rest.peek().is_some_and(char::is_ascii_digit) => {
                return Err("has a digit after `\\0`: write `\\x` and two digits".into());
            }
            '0' => '\0',
            'c' => match self.rest.next_if(char::is_ascii_alphabetic) {
                Some(letter) => char::from_u32(u32::from(letter) % 32).unwrap_or_default(),
                None => return Err("has `\\c` without a letter".into()),
            },
            'x' => match self.hexadecimal(2).and_then(char::from_u32) {
                Some(character) => character,
                None => return Err("has `\\x` without two hexadecimal digits".into()),
            },
            'u' => self.unicode().ok_or("has `\\u` without a character")?,
            'p' | 'P' => return Err(format!("uses the Unicode property `\\{letter}`, which is not supported")),
            'k' | '1'..='9' => return Err(format!("uses the back reference `\\{letter}`, which is not supported")),
            punctuation if punctuation.is_ascii_punctuation() || punctuation == ' ' => punctuation,
            other => return Err(format!("has the unknown escape `\\{other}`")),
        }))
    }

    fn hexadecimal(&mut self, count: usize) -> Option<u32> {
        (0..count).try_fold(0_u32, |number, _| Some((number << 4) | self.rest.next()?.to_digit(16)?))
    }

    /// `XXXX`, two of them that are one character, or `{X…}`, after `\u`.
    fn unicode(&mut self) -> Option<char> {
        if self.takes('{') {
            let digits: String = self.rest.by_ref().take_while(|next| *next != '}').collect();
            return char::from_u32(u32::from_str_radix(&digits, 16).ok()?);
        }
        let high = self.hexadecimal(4)?;
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high);
        }
        if !(self.takes('\\') && self.takes('u')) {
            return None;
        }
        let low = self.hexadecimal(4).filter(|low| (0xDC00..0xE000).contains(low))?;
        char::from_u32(0x1_0000_u32.checked_add(((high & 0x3FF) << 10) | (low & 0x3FF))?)
    }
}

/// What an escape stands for.
enum Escaped {
    Character(char),
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
