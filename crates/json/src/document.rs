//! A parsed document, and its values by position.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::decimal::is_integer_literal;
use super::error::{JsonError, JsonLimits};
use super::escape::{content, count_characters};
use super::kind::Kind;
use super::number::Number;
use super::reader::{self, Node};

/// A parsed JSON text, with the position of every value.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a str,
    nodes: Vec<Node>,
}

impl<'a> Document<'a> {
    /// Parses `bytes` as one JSON value, within `limits`.
    ///
    /// # Errors
    /// See [`JsonError`]. A byte order mark is a syntax error.
    pub fn parse(bytes: &'a [u8], limits: JsonLimits) -> Result<Self, JsonError> {
        let text = std::str::from_utf8(bytes).map_err(|_| JsonError::NotUtf8)?;
        if u32::try_from(text.len()).is_err() {
            return Err(JsonError::TooManyValues { limit: limits.values });
        }
        Ok(Self { text, nodes: reader::read(text, limits)? })
    }

    /// Parses only the root and its direct children, without limits and without the check for duplicate keys.
    /// `RequestId::of_rejected` uses it to read the id of a rejected message.
    ///
    /// # Errors
    /// [`JsonError::Syntax`] if the text is not JSON.
    pub fn outline(text: &'a str) -> Result<Self, JsonError> {
        Ok(Self { text, nodes: reader::outline(text)? })
    }

    /// Returns the document `{}`, the default for an optional object.
    pub fn empty_object() -> Document<'static> {
        let node = Node { start: 0, end: 2, after: 1, kind: Kind::Object, has_escapes: false };
        Document { text: "{}", nodes: vec![node] }
    }

    /// Returns the root value.
    pub fn root(&self) -> Value<'_> {
        Value { document: self, index: 0 }
    }
}

/// A value of a [`Document`].
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
        // Every index comes from the reader, so the fallback is never used.
        const NOTHING: Node = Node { start: 0, end: 0, after: 0, kind: Kind::Null, has_escapes: false };
        self.document.nodes.get(self.index as usize).copied().unwrap_or(NOTHING)
    }

    /// Returns the index of the value in its document.
    #[inline(always)]
    pub fn position(self) -> u32 {
        self.index
    }

    /// Returns the value at `position` in the same document.
    #[must_use]
    pub fn at(self, position: u32) -> Self {
        Self { index: position, ..self }
    }

    /// Returns the number of values in this value: itself, all nested values and all keys.
    pub fn count(self) -> u32 {
        self.node().after.saturating_sub(self.index)
    }

    /// Returns the kind of the value.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// Returns the source text of the value.
    #[inline(always)]
    pub fn text(self) -> &'d str {
        self.document.text.get(self.range()).unwrap_or_default()
    }

    /// Returns the byte range of [`text`](Self::text) in the text of the document.
    #[inline(always)]
    pub fn range(self) -> Range<usize> {
        let Node { start, end, .. } = self.node();
        start as usize..end as usize
    }

    /// Returns whether the value is a string, or a number without fraction and exponent. JSON-RPC ids and progress tokens must be one of
    /// these. The fraction `.0` is allowed: clients of languages with one type for numbers write `1.0`.
    pub fn is_string_or_integer(self) -> bool {
        match self.kind() {
            Kind::String => true,
            Kind::Number => is_integer_literal(self.text().strip_suffix(".0").unwrap_or(self.text())),
            _ => false,
        }
    }

    /// Converts to a `serde_json` value, or returns `None` if a number is out of the range of `f64`.
    pub fn to_json(self) -> Option<serde_json::Value> {
        Some(match self.kind() {
            Kind::Null => serde_json::Value::Null,
            Kind::Boolean => serde_json::Value::Bool(self.text() == "true"),
            Kind::Number => serde_json::Value::Number(Number::of(self.text())?.to_json()?),
            Kind::String => serde_json::Value::String(self.as_str()?.into_owned()),
            Kind::Array => {
                let mut items = Vec::with_capacity(self.items().count());
                for item in self.items() {
                    items.push(item.to_json()?);
                }
                serde_json::Value::Array(items)
            }
            Kind::Object => serde_json::Value::Object(self.to_map()?),
        })
    }

    /// Converts an object to a `serde_json` map. Returns `None` for another kind, or if a number is out of the range of `f64`.
    pub fn to_map(self) -> Option<serde_json::Map<String, serde_json::Value>> {
        if self.kind() != Kind::Object {
            return None;
        }
        let mut map = serde_json::Map::with_capacity(self.pairs().count());
        for (name, value) in self.members() {
            map.insert(name.into_owned(), value.to_json()?);
        }
        Some(map)
    }

    /// Returns about how many bytes of memory the result of [`to_json`](Self::to_json) takes. Small objects take many times the length of
    /// their text.
    pub fn tree_bytes(self) -> usize {
        // The parts of a map, in addition to its members: the smallest hash table, and the overhead of two allocations.
        const MAP: usize = 96;
        const MEMBER: usize = size_of::<(usize, usize, String, serde_json::Value)>();
        let inside = match self.kind() {
            Kind::Null | Kind::Boolean | Kind::Number => 0,
            Kind::String => self.text().len(),
            Kind::Array => self.items().map(Self::tree_bytes).fold(0, usize::saturating_add),
            Kind::Object => self.pairs().fold(MAP, |bytes, (name, value)| {
                bytes.saturating_add(MEMBER).saturating_add(name.text().len()).saturating_add(value.tree_bytes())
            }),
        };
        inside.saturating_add(size_of::<serde_json::Value>())
    }

    /// Returns the content of a string, or `None` for another kind.
    pub fn as_str(self) -> Option<Cow<'d, str>> {
        match (self.kind(), self.has_escapes()) {
            (Kind::String, false) => Some(Cow::Borrowed(self.inner_text())),
            (Kind::String, true) => Some(content(self.text(), true)),
            _ => None,
        }
    }

    /// Returns the content of the member `name`, if it is a string.
    pub fn string(self, name: &str) -> Option<String> {
        self.get(name)?.as_str().map(Cow::into_owned)
    }

    /// Returns whether the value is a string with escapes.
    #[inline(always)]
    pub fn has_escapes(self) -> bool {
        self.node().has_escapes
    }

    /// Returns the text between the quotes of a string. If the string has no escapes, this is its content.
    #[inline(always)]
    pub fn inner_text(self) -> &'d str {
        let text = self.text();
        text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
    }

    /// Returns the number of characters in the content of a string.
    pub fn length(self) -> usize {
        let text = self.inner_text();
        if self.has_escapes() { count_characters(text) } else { text.chars().count() }
    }

    /// Returns whether the value is a string with the content `text`.
    pub fn is_str(self, text: &str) -> bool {
        let written = self.inner_text();
        if !self.has_escapes() {
            return self.kind() == Kind::String && written == text;
        }
        // An escape has at most six bytes for one byte of content, so a longer literal cannot be equal.
        written.len() <= text.len().saturating_mul(6) && self.as_str().is_some_and(|content| content == text)
    }

    /// Iterates over the members of an object, in order. Each item is a key, as a [`Value`], and the value of the member.
    #[inline(always)]
    pub fn pairs(self) -> Pairs<'d> {
        Pairs(self.children(Kind::Object))
    }

    /// Iterates over the members of an object, in order. Other kinds do not have members.
    pub fn members(self) -> impl Iterator<Item = (Cow<'d, str>, Self)> {
        self.pairs().filter_map(|(name, member)| Some((name.as_str()?, member)))
    }

    /// Iterates over the items of an array, in order. Other kinds do not have items.
    pub fn items(self) -> impl Iterator<Item = Self> {
        self.children(Kind::Array)
    }

    /// Returns the value of the member `name` of an object.
    pub fn get(self, name: &str) -> Option<Self> {
        self.members().find_map(|(key, value)| (key == name).then_some(value))
    }

    /// Iterates over the direct children, keys included, if the value is of `kind`.
    #[inline(always)]
    pub(super) fn children(self, kind: Kind) -> Children<'d> {
        let node = self.node();
        let end = if node.kind == kind { node.after } else { 0 };
        Children { document: self.document, next: self.index.saturating_add(1), end }
    }
}

/// Iterates over the direct children of a value.
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

/// Iterates over the keys and values of an object.
pub struct Pairs<'d>(Children<'d>);

impl<'d> Iterator for Pairs<'d> {
    type Item = (Value<'d>, Value<'d>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn parse(text: &str) -> Result<String, JsonError> {
        let document = Document::parse(text.as_bytes(), JsonLimits { depth: 4, values: 12 })?;
        Ok(document.root().text().to_owned())
    }

    #[test]
    fn valid_json_is_accepted() {
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

    /// Rule 7: text that is not JSON is rejected.
    #[test]
    fn invalid_json_is_rejected() {
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
    fn duplicate_keys_are_rejected_in_every_spelling() {
        for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"b":{},"\u0061":2}"#, r#"[{"x":{"k":1,"l":[],"k":2}}]"#] {
            assert!(matches!(parse(text), Err(JsonError::DuplicateKey { .. })), "{text}");
        }
        assert!(parse(r#"{"a":1,"A":1,"b":{"a":1}}"#).is_ok(), "keys differ by case and by object");
    }

    #[test]
    fn limits_are_exact() {
        assert_eq!(parse("[[[[[]]]]]"), Err(JsonError::TooDeep { limit: 4 }));
        assert!(parse("[1,2,3,4,5,6,7,8,9,10,11]").is_ok());
        assert_eq!(parse("[1,2,3,4,5,6,7,8,9,10,11,12]"), Err(JsonError::TooManyValues { limit: 12 }));
        let deep = "[".repeat(1_000_000);
        assert_eq!(parse(&deep), Err(JsonError::TooDeep { limit: 4 }));
    }

    #[test]
    fn values_are_found_by_key_and_index() {
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
        assert!(root.get("n").and_then(|n| n.get("x")).is_none(), "an array does not have members");
    }
}
