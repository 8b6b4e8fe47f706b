//! The parser: one pass over the bytes that validates the JSON and records the position of every value.

use super::error::{JsonError, JsonLimits};
use super::escape::content;
use super::kind::Kind;
use super::special::{WORD, first_special, is_special};

/// The position of a value in the text and in the list of nodes. The nodes of its children follow its own node in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The offset of the first byte of the value.
    pub start: u32,
    /// The offset after the last byte of the value.
    pub end: u32,
    /// The index in the list of nodes after all nested values.
    pub after: u32,
    pub kind: Kind,
    /// Whether the value is a string with escapes, so that its text differs from its content.
    pub has_escapes: bool,
}

/// Parses `text` and returns the nodes of all values, parents before their children.
///
/// # Errors
/// The text is not JSON, or exceeds `limits`.
pub(super) fn read(text: &str, limits: JsonLimits) -> Result<Vec<Node>, JsonError> {
    Reader::new(text, limits, usize::MAX).document()
}

/// Parses `text` and returns the nodes of the root and of its direct children. It does not apply limits. It accepts duplicate keys
/// and lone surrogates. Deeper values take one byte of memory per nesting level.
///
/// # Errors
/// [`JsonError::Syntax`] if the text is not JSON.
pub(super) fn outline(text: &str) -> Result<Vec<Node>, JsonError> {
    Reader::new(text, JsonLimits { depth: usize::MAX, values: usize::MAX }, 1).document()
}

/// The next token that the grammar allows.
enum Expect {
    Value,
    FirstItem,
    FirstKey,
    Key,
    AfterValue,
}

/// The state of the parser.
struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    limits: JsonLimits,
    /// The kinds of the open arrays and objects.
    open: Vec<Kind>,
    /// The depth up to which nodes are recorded.
    recorded_depth: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, limits: JsonLimits, recorded_depth: usize) -> Self {
        let (nodes, open) = (Vec::with_capacity(32), Vec::with_capacity(8));
        Self { text, bytes: text.as_bytes(), at: 0, nodes, limits, open, recorded_depth }
    }

    fn is_outline(&self) -> bool {
        self.recorded_depth != usize::MAX
    }

    fn is_recorded(&self) -> bool {
        self.open.len() <= self.recorded_depth
    }

    /// Parses the whole text. Open arrays and objects are in a list, so deep nesting cannot overflow the call stack.
    fn document(mut self) -> Result<Vec<Node>, JsonError> {
        let mut open_nodes: Vec<usize> = Vec::with_capacity(8);
        let mut expect = Expect::Value;
        loop {
            self.skip_space();
            expect = match (expect, self.peek()) {
                (Expect::FirstItem, Some(b']')) | (Expect::FirstKey, Some(b'}')) => self.close(&mut open_nodes)?,
                (Expect::Value | Expect::FirstItem, Some(byte)) => match byte {
                    b'{' => self.open(Kind::Object, &mut open_nodes)?,
                    b'[' => self.open(Kind::Array, &mut open_nodes)?,
                    _ => {
                        self.scalar(byte)?;
                        Expect::AfterValue
                    }
                },
                (Expect::Key | Expect::FirstKey, Some(b'"')) => {
                    self.string()?;
                    self.skip_space();
                    self.literal(b":")?;
                    Expect::Value
                }
                (Expect::AfterValue, None) if self.open.is_empty() => return Ok(self.nodes),
                (Expect::AfterValue, Some(byte)) => match (self.open.last(), byte) {
                    (Some(Kind::Array), b',') => self.advance(Expect::Value),
                    (Some(Kind::Object), b',') => self.advance(Expect::Key),
                    (Some(Kind::Array), b']') | (Some(Kind::Object), b'}') => self.close(&mut open_nodes)?,
                    _ => return Err(self.syntax()),
                },
                _ => return Err(self.syntax()),
            };
        }
    }

    fn advance(&mut self, next: Expect) -> Expect {
        self.at = self.at.saturating_add(1);
        next
    }

    fn open(&mut self, kind: Kind, open_nodes: &mut Vec<usize>) -> Result<Expect, JsonError> {
        if self.open.len() >= self.limits.depth {
            return Err(JsonError::TooDeep { limit: self.limits.depth });
        }
        if self.is_recorded() {
            open_nodes.push(self.nodes.len());
        }
        self.push(self.at, kind, false)?;
        self.open.push(kind);
        Ok(self.advance(if kind == Kind::Object { Expect::FirstKey } else { Expect::FirstItem }))
    }

    fn close(&mut self, open_nodes: &mut Vec<usize>) -> Result<Expect, JsonError> {
        let next = self.advance(Expect::AfterValue);
        self.open.pop();
        if !self.is_recorded() {
            return Ok(next);
        }
        let (end, after) = (position(self.at), position(self.nodes.len()));
        let index = open_nodes.pop().unwrap_or_default();
        if let Some(node) = self.nodes.get_mut(index) {
            node.end = end;
            node.after = after;
            if node.kind == Kind::Object && !self.is_outline() {
                self.reject_duplicates(index)?;
            }
        }
        Ok(next)
    }

    fn reject_duplicates(&self, object: usize) -> Result<(), JsonError> {
        let count = self.keys(object).count();
        if count < 2 {
            return Ok(());
        }
        // An object may have hundreds of thousands of keys, so the list is allocated once, at its final size.
        let mut keys = Vec::with_capacity(count);
        let text = |key: &Node| self.text.get(key.start as usize..key.end as usize).unwrap_or_default();
        keys.extend(self.keys(object).map(|key| content(text(key), key.has_escapes)));
        keys.sort_unstable();
        match keys.iter().zip(keys.iter().skip(1)).find(|(one, other)| one == other) {
            Some((key, _)) => Err(JsonError::DuplicateKey { key: key.chars().take(64).collect() }),
            None => Ok(()),
        }
    }

    /// Iterates over the keys of the object at index `object`. The object must have just been closed: its last value must be the last node.
    fn keys(&self, object: usize) -> impl Iterator<Item = &Node> {
        let mut next = object.saturating_add(1);
        std::iter::from_fn(move || {
            let key = self.nodes.get(next)?;
            next = self.nodes.get(next.saturating_add(1)).map_or(usize::MAX, |value| value.after as usize);
            Some(key)
        })
    }

    fn scalar(&mut self, first: u8) -> Result<(), JsonError> {
        let start = self.at;
        let kind = match first {
            b'"' => return self.string(),
            b't' => self.literal(b"true").map(|()| Kind::Boolean)?,
            b'f' => self.literal(b"false").map(|()| Kind::Boolean)?,
            b'n' => self.literal(b"null").map(|()| Kind::Null)?,
            _ => self.number().map(|()| Kind::Number)?,
        };
        self.push(start, kind, false)
    }

    /// Parses a string (RFC 8259 §7). A `\u` escape must be a character or a surrogate pair, except in
    /// an outline.
    fn string(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        let mut has_escapes = false;
        self.literal(b"\"")?;
        loop {
            self.skip_plain();
            match self.rest() {
                [b'"', ..] => {
                    self.at = self.at.saturating_add(1);
                    return self.push(start, Kind::String, has_escapes);
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                    self.at = self.at.saturating_add(2);
                }
                [b'\\', b'u', ..] => {
                    self.at = self.at.saturating_add(2);
                    self.unicode_escape()?;
                }
                _ => return Err(self.syntax()),
            }
            has_escapes = true;
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Skips the characters up to the next quote, backslash or control character.
    #[inline(always)]
    fn skip_plain(&mut self) {
        let mut rest = self.rest();
        while let Some((word, after)) = rest.split_first_chunk() {
            let nth = first_special(*word);
            self.at = self.at.saturating_add(nth.unwrap_or(WORD));
            if nth.is_some() {
                return;
            }
            rest = after;
        }
        let plain = rest.iter().take_while(|byte| !is_special(**byte)).count();
        self.at = self.at.saturating_add(plain);
    }

    fn unicode_escape(&mut self) -> Result<(), JsonError> {
        match self.hex4()? {
            _ if self.is_outline() => Ok(()),
            0xd800..=0xdbff => {
                self.literal(b"\\u")?;
                match self.hex4()? {
                    0xdc00..=0xdfff => Ok(()),
                    _ => Err(self.syntax()),
                }
            }
            0xdc00..=0xdfff => Err(self.syntax()),
            _ => Ok(()),
        }
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let mut unit = 0_u32;
        for _ in 0..4 {
            let digit = self.next().and_then(|byte| char::from(byte).to_digit(16)).ok_or_else(|| self.syntax())?;
            unit = (unit << 4) | digit;
        }
        Ok(unit)
    }

    /// Parses a number (RFC 8259 §6): no leading zero, no `+`, digits on both sides of the point.
    fn number(&mut self) -> Result<(), JsonError> {
        self.take(|byte| byte == b'-');
        if !self.take(|byte| byte == b'0') {
            self.digits()?;
        }
        if self.take(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.take(|byte| matches!(byte, b'e' | b'E')) {
            self.take(|byte| matches!(byte, b'+' | b'-'));
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if !self.take(|byte| byte.is_ascii_digit()) {
            return Err(self.syntax());
        }
        while self.take(|byte| byte.is_ascii_digit()) {}
        Ok(())
    }

    fn push(&mut self, start: usize, kind: Kind, has_escapes: bool) -> Result<(), JsonError> {
        if !self.is_recorded() {
            return Ok(());
        }
        if self.nodes.len() >= self.limits.values {
            return Err(JsonError::TooManyValues { limit: self.limits.values });
        }
        let after = position(self.nodes.len().saturating_add(1));
        self.nodes.push(Node { start: position(start), end: position(self.at), after, kind, has_escapes });
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at = self.at.saturating_add(1);
        Some(byte)
    }

    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> bool {
        let found = self.peek().is_some_and(wanted);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    fn literal(&mut self, literal: &[u8]) -> Result<(), JsonError> {
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(literal)) {
            return Err(self.syntax());
        }
        self.at = self.at.saturating_add(literal.len());
        Ok(())
    }

    fn skip_space(&mut self) {
        while self.take(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {}
    }

    fn syntax(&self) -> JsonError {
        JsonError::Syntax { at: self.at }
    }
}

/// Converts an offset or an index to 32 bits. `Document::parse` rejects texts that 32 bits cannot address.
fn position(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
