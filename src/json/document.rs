//! A document and its values.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::Chars;

use crate::limits::{JSON_DEPTH, JSON_VALUES};
use serde_json::value::RawValue;

use super::special::at_next_special;
use super::{deserialize, reader};

/// How much a text may hold. What exceeds it is refused before anything is done with it.
#[derive(Clone, Copy, Debug)]
pub struct JsonLimits {
    /// Arrays and objects inside one another. At most 120: serde_json refuses to go deeper than 127.
    pub depth: usize,
    /// Values of every kind, keys included.
    pub values: usize,
}

impl JsonLimits {
    /// For what the server itself has made: as much as can be read at all.
    pub(crate) const MOST: Self = Self { depth: 120, values: usize::MAX };
}

impl Default for JsonLimits {
    fn default() -> Self {
        Self { depth: JSON_DEPTH, values: JSON_VALUES }
    }
}

/// Why a text was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonError {
    /// `"\xff"`: the bytes are not UTF-8.
    NotUtf8,
    /// `{"a":}`: not JSON, from this byte on.
    Syntax {
        /// Bytes before the mistake.
        at: usize,
    },
    /// `{"a":1,"a":2}`: which of the two counts depends on the reader.
    DuplicateKey {
        /// The key, shortened to 64 characters.
        key: String,
    },
    /// `[[[[…`: deeper than [`JsonLimits::depth`].
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// `[0,0,0,…`: more than [`JsonLimits::values`].
    TooManyValues {
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => write!(f, "the body is not UTF-8"),
            Self::Syntax { at } => write!(f, "the body is not valid JSON at byte {at}"),
            Self::DuplicateKey { key } => write!(f, "the key {key:?} occurs twice in one object; send it once"),
            Self::TooDeep { limit } => write!(f, "values are nested deeper than {limit} levels"),
            Self::TooManyValues { limit } => write!(f, "the body holds more than {limit} values"),
        }
    }
}

impl std::error::Error for JsonError {}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number, integer or not.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// As it is called in a sentence.
    pub(crate) const fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// A value's place in the text, and in the list of values: its children follow it, `after` is what follows them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) after: u32,
    pub(super) kind: Kind,
    /// A string with escapes: its text is not its content.
    pub(super) escaped: bool,
}

/// A text that was read, with every value's place in it.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a str,
    nodes: Vec<Node>,
}

impl<'a> Document<'a> {
    /// Reads `bytes`: one JSON value, within `limits`.
    ///
    /// # Errors
    /// Everything that [`JsonError`] lists; a byte-order mark is a syntax error.
    pub fn parse(bytes: &'a [u8], limits: JsonLimits) -> Result<Self, JsonError> {
        let text = std::str::from_utf8(bytes).map_err(|_| JsonError::NotUtf8)?;
        if u32::try_from(text.len()).is_err() {
            return Err(JsonError::TooManyValues { limit: limits.values });
        }
        Ok(Self { text, nodes: reader::read(text, limits)? })
    }

    /// Reads no more of `text` than what it is and what is right in it: for a text that was refused.
    pub(crate) fn outline(text: &'a str) -> Result<Self, JsonError> {
        Ok(Self { text, nodes: reader::outline(text)? })
    }

    /// `{}`, for what may be left out.
    pub fn empty_object() -> Document<'static> {
        let node = Node { start: 0, end: 2, after: 1, kind: Kind::Object, escaped: false };
        Document { text: "{}", nodes: vec![node] }
    }

    /// The value that the whole text is.
    pub fn root(&self) -> Value<'_> {
        Value { document: self, index: 0 }
    }
}

/// One value of a [`Document`].
#[derive(Clone, Copy)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    index: u32,
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl<'d> Value<'d> {
    #[inline(always)]
    fn node(self) -> Node {
        // The index comes from the reader; a value that is not there reads as an empty null.
        const NOTHING: Node = Node { start: 0, end: 0, after: 0, kind: Kind::Null, escaped: false };
        self.document.nodes.get(self.index as usize).copied().unwrap_or(NOTHING)
    }

    /// Which of the values of its document it is.
    #[inline(always)]
    pub(crate) fn position(self) -> u32 {
        self.index
    }

    /// The value at that position in the same document.
    pub(crate) fn at(self, position: u32) -> Self {
        Self { index: position, ..self }
    }

    /// How many values it is made of, itself and names of members among them.
    pub(crate) fn count(self) -> u32 {
        self.node().after.saturating_sub(self.index)
    }

    /// What the value is.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// The value as it was written: what serde reads it from.
    #[inline(always)]
    pub fn text(self) -> &'d str {
        let Node { start, end, .. } = self.node();
        self.document.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The place of [`text`](Self::text) in the text of the document, in bytes.
    pub(crate) fn range(self) -> Range<usize> {
        let Node { start, end, .. } = self.node();
        start as usize..end as usize
    }

    /// Whether it is a string or a number without fraction and exponent: what ids and tokens are.
    pub(crate) fn is_string_or_integer(self) -> bool {
        match self.kind() {
            Kind::String => true,
            Kind::Number => is_whole(self.text()),
            _ => false,
        }
    }

    /// The value as it was written, for serde to write again. `None` cannot be: it was read as JSON.
    pub(crate) fn to_raw(self) -> Option<Box<RawValue>> {
        deserialize::read(self).ok()
    }

    /// The value as serde_json keeps it; `None`, where a number is beyond a float.
    pub(crate) fn to_json(self) -> Option<serde_json::Value> {
        Some(match self.kind() {
            Kind::Null => serde_json::Value::Null,
            Kind::Boolean => serde_json::Value::Bool(self.text() == "true"),
            Kind::Number => serde_json::Value::Number(self.text().parse().ok()?),
            Kind::String => serde_json::Value::String(self.as_str()?.into_owned()),
            Kind::Array => serde_json::Value::Array(self.items().map(Self::to_json).collect::<Option<_>>()?),
            Kind::Object => serde_json::Value::Object(self.to_map()?),
        })
    }

    /// The members of an object as serde_json keeps them.
    pub(crate) fn to_map(self) -> Option<serde_json::Map<String, serde_json::Value>> {
        self.members().map(|(name, value)| Some((name.into_owned(), value.to_json()?))).collect()
    }

    /// The content of a string; `None` for what is no string.
    pub fn as_str(self) -> Option<Cow<'d, str>> {
        match (self.kind(), self.is_escaped()) {
            (Kind::String, false) => Some(Cow::Borrowed(self.unescaped())),
            (Kind::String, true) => Some(content(self.text(), true)),
            _ => None,
        }
    }

    /// Whether it is a string with escapes: its text is not its content.
    #[inline(always)]
    pub(crate) fn is_escaped(self) -> bool {
        self.node().escaped
    }

    /// What is between the quotes of a string: its content, if it has no escapes.
    #[inline(always)]
    pub(crate) fn unescaped(self) -> &'d str {
        let text = self.text();
        text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
    }

    /// How many characters the content of a string has.
    pub(crate) fn length(self) -> usize {
        let text = self.unescaped();
        if !self.is_escaped() {
            return text.chars().count();
        }
        let mut characters = text.chars();
        let mut count = 0_usize;
        while let Some(character) = characters.next() {
            count = count.saturating_add(1);
            if character == '\\' && characters.next() == Some('u') {
                escaped_char(&mut characters);
            }
        }
        count
    }

    /// Whether it is the string `text`.
    pub(crate) fn is_str(self, text: &str) -> bool {
        let written = self.unescaped();
        if !self.is_escaped() {
            return self.kind() == Kind::String && written == text;
        }
        // A byte of the content is written in six at most: a longer text need not be decoded.
        written.len() <= text.len().saturating_mul(6) && self.as_str().is_some_and(|content| content == text)
    }

    /// The members of an object in their order, or nothing: the name of each, as a value, and what it has.
    #[inline(always)]
    pub(crate) fn pairs(self) -> Pairs<'d> {
        Pairs(self.children(Kind::Object))
    }

    /// The members of an object in their order, or nothing.
    pub fn members(self) -> impl Iterator<Item = (Cow<'d, str>, Self)> {
        self.pairs().filter_map(|(name, member)| Some((name.as_str()?, member)))
    }

    /// The items of an array in their order, or nothing.
    pub fn items(self) -> impl Iterator<Item = Self> {
        self.children(Kind::Array)
    }

    /// The member of that name, of an object that has it.
    pub fn get(self, name: &str) -> Option<Self> {
        self.members().find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The values right in it, names of members among them, if it is of that kind.
    #[inline(always)]
    pub(super) fn children(self, kind: Kind) -> Children<'d> {
        let node = self.node();
        let end = if node.kind == kind { node.after } else { 0 };
        Children { document: self.document, next: self.index.saturating_add(1), end }
    }
}

/// The values right in one.
pub(super) struct Children<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

impl<'d> Iterator for Children<'d> {
    type Item = Value<'d>;

    #[inline(always)]
    fn next(&mut self) -> Option<Value<'d>> {
        if self.next >= self.end {
            return None;
        }
        let child = Value { document: self.document, index: self.next };
        self.next = child.node().after.max(self.next.saturating_add(1));
        Some(child)
    }
}

/// Whether a number is written without a fraction and an exponent.
pub(crate) fn is_whole(number: &str) -> bool {
    number.bytes().all(|byte| !matches!(byte, b'.' | b'e' | b'E'))
}

/// The names and values of an object's members.
pub(crate) struct Pairs<'d>(Children<'d>);

impl<'d> Iterator for Pairs<'d> {
    type Item = (Value<'d>, Value<'d>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }
}

/// What a string literal says, quotes stripped and escapes undone.
pub(super) fn content(literal: &str, escaped: bool) -> Cow<'_, str> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if !escaped {
        return Cow::Borrowed(inner);
    }
    let mut said = String::with_capacity(inner.len());
    let mut rest = inner;
    // The only special byte within a literal is the one that an escape begins with.
    while let Some((plain, _, escape)) = at_next_special(rest) {
        said.push_str(plain);
        let mut escape = escape.chars();
        said.push(match escape.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => escaped_char(&mut escape),
            Some(itself) => itself,
            None => break,
        });
        rest = escape.as_str();
    }
    said.push_str(rest);
    Cow::Owned(said)
}

fn escaped_unit(escape: &mut Chars<'_>) -> u16 {
    let digits = escape.by_ref().take(4).filter_map(|digit| digit.to_digit(16));
    digits.fold(0, |sum, digit| (sum << 4) | u16::try_from(digit).unwrap_or_default())
}

/// What follows `\u`: four digits, or twice four for a pair of surrogates. The reader has checked that they are there.
fn escaped_char(escape: &mut Chars<'_>) -> char {
    let mut units = [escaped_unit(escape), 0];
    if matches!(units, [0xd800..0xdc00, _]) {
        escape.nth(1);
        units = [units[0], escaped_unit(escape)];
    }
    let mut chars = char::decode_utf16(units);
    chars.next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, JsonError> {
        let document = Document::parse(text.as_bytes(), JsonLimits { depth: 4, values: 12 })?;
        Ok(document.root().text().to_owned())
    }

    #[test]
    fn reads_what_json_is() {
        for text in [
            "null",
            "true",
            "-0.5e+7",
            "1e400",
            "18446744073709551616",
            r#""a\u00e9\ud83d\ude00\n""#,
            "[]",
            "{}",
            "[[[[]]]]",
        ] {
            assert_eq!(parse(text), Ok(text.to_owned()));
        }
        assert_eq!(parse(" [1 , 2]\n"), Ok("[1 , 2]".to_owned()));
    }

    /// Rule 7: what cannot be parsed is refused.
    #[test]
    fn refuses_what_json_is_not() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1,}",
            "{a:1}",
            "{1:1}",
            "[1 2]",
            "1 2",
            "]",
            "}",
            "[}",
            "{]",
            "01",
            "+1",
            ".5",
            "1.",
            "1e",
            "-",
            "0x1",
            "NaN",
            "tru",
            "nulll",
            "'a'",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\t\"",
            "\u{feff}1",
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800\u0041""#,
            r#""\ud800x""#,
        ] {
            assert!(matches!(parse(text), Err(JsonError::Syntax { .. })), "{text:?} gave {:?}", parse(text));
        }
        assert_eq!(Document::parse(b"\"\xff\"", JsonLimits::default()).err(), Some(JsonError::NotUtf8));
    }

    #[test]
    fn refuses_one_key_twice_however_it_is_written() {
        for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"b":{},"\u0061":2}"#, r#"[{"x":{"k":1,"l":[],"k":2}}]"#] {
            assert!(matches!(parse(text), Err(JsonError::DuplicateKey { .. })), "{text}");
        }
        assert!(parse(r#"{"a":1,"A":1,"b":{"a":1}}"#).is_ok(), "keys differ by case and by object");
    }

    #[test]
    fn holds_its_limits_exactly() {
        assert_eq!(parse("[[[[[]]]]]"), Err(JsonError::TooDeep { limit: 4 }));
        assert!(parse("[1,2,3,4,5,6,7,8,9,10,11]").is_ok());
        assert_eq!(parse("[1,2,3,4,5,6,7,8,9,10,11,12]"), Err(JsonError::TooManyValues { limit: 12 }));
        let deep = "[".repeat(1_000_000);
        assert_eq!(parse(&deep), Err(JsonError::TooDeep { limit: 4 }));
    }

    #[test]
    fn finds_its_way_through_the_values() {
        let text = r#"{"n":[1,{"x":2},"s"],"a\"b":"c\u0064","last":null}"#;
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("valid");
        let root = document.root();
        let keys: Vec<_> = root.members().map(|(key, _)| key.into_owned()).collect();
        assert_eq!(keys, ["n", "a\"b", "last"]);
        let items: Vec<_> = root.get("n").expect("there").items().map(Value::text).collect();
        assert_eq!(items, ["1", r#"{"x":2}"#, "\"s\""]);
        assert_eq!(root.get("a\"b").and_then(Value::as_str), Some(Cow::Borrowed("cd")));
        assert_eq!(root.get("last").map(Value::kind), Some(Kind::Null));
        assert!(root.get("absent").is_none() && root.items().next().is_none());
        assert!(root.get("n").and_then(|n| n.get("x")).is_none(), "an array has no members");
    }
}
