//! Values on one line: texts, numbers, and lists and objects in brackets.

use serde_json::{Map, Value};

use super::lines::{ends_token, is_blank};
use super::scalar::{Values, plain, quoted, resolve};

const KEY_CHARACTERS: usize = 1024;
const UNCLOSED: &str = "has a bracket that is not closed in the same line";
const AFTER: &str = "has text after a value: quote the whole value";

/// Reads `key:` at the beginning of a text. Returns the key and the rest, or `None` if the text does not begin with a key.
pub(super) fn key(text: &str) -> Result<Option<(String, &str)>, &'static str> {
    let (key, rest) = if text.starts_with(['"', '\'']) {
        quoted(text)?
    } else {
        let Some((source, rest)) = plain(text, is_end_of_plain) else { return Ok(None) };
        let rest = rest.trim_start_matches(is_blank);
        if !rest.starts_with(':') {
            return Ok(None);
        }
        if source.starts_with('?') {
            return Err("has a key that begins with `?`: quote it");
        }
        (name(source)?, rest)
    };
    let Some(value) = rest.strip_prefix(':').filter(|rest| ends_token(rest)) else { return Ok(None) };
    let length = text.len().saturating_sub(rest.len());
    if text.get(..length).is_some_and(|source| source.chars().count() > KEY_CHARACTERS) {
        return Err("has a key of more than 1024 characters");
    }
    checked(key).map(|key| Some((key, value.trim_start_matches(is_blank))))
}

/// Returns a key that is not quoted.
fn name(source: &str) -> Result<String, &'static str> {
    match resolve(source)? {
        Value::String(name) => Ok(name),
        _ => Err("has a key that is not a text: quote it"),
    }
}

fn checked(key: String) -> Result<String, &'static str> {
    if key.is_empty() || key == "<<" || key == "__proto__" {
        return Err("has a key that hosts read differently: use another one");
    }
    Ok(key)
}

/// Reads the value that a text consists of, with an optional comment.
pub(super) fn value(values: &mut Values, text: &str, depth: usize) -> Result<Value, &'static str> {
    let (value, rest) = match text.chars().next() {
        Some('[' | '{') => brackets(values, text, depth)?,
        Some('"' | '\'') => {
            let (value, rest) = quoted(text)?;
            (Value::String(value), rest)
        }
        _ => {
            let (source, rest) = plain(text, is_end_of_plain).ok_or_else(|| no_plain(text))?;
            (resolve(source)?, rest)
        }
    };
    let comment = rest.trim_start_matches(is_blank);
    if comment.is_empty() || comment.starts_with('#') && rest.starts_with(is_blank) {
        Ok(value)
    } else if comment.starts_with(':') {
        Err("has `: ` in a text: quote the text")
    } else {
        Err(AFTER)
    }
}

fn is_end_of_plain(character: char, after: &str) -> bool {
    character == ':' && ends_token(after)
}

fn is_end_in_brackets(character: char, after: &str) -> bool {
    ",[]{}".contains(character)
        || character == ':' && (ends_token(after) || after.starts_with([',', '[', ']', '{', '}']))
}

fn no_plain(text: &str) -> &'static str {
    match text.chars().next() {
        Some('&' | '*') => "has an anchor or an alias: write the value out, or quote it",
        Some('!') => "has a tag: remove it, or quote the text",
        _ => "has a text that begins with a special character: quote it",
    }
}

/// Reads a list or an object in brackets. Returns the rest of the text.
fn brackets<'t>(values: &mut Values, text: &'t str, depth: usize) -> Result<(Value, &'t str), &'static str> {
    let depth = depth.saturating_add(1);
    let blanks = |text: &'t str| text.trim_start_matches(is_blank);
    let is_list = text.starts_with('[');
    let close = if is_list { ']' } else { '}' };
    let (mut list, mut object) = (Vec::new(), Map::new());
    let mut rest = blanks(text.get(1..).unwrap_or_default());
    loop {
        if let Some(after) = rest.strip_prefix(close) {
            return Ok((if is_list { Value::Array(list) } else { Value::Object(object) }, after));
        }
        let key = if is_list { None } else { Some(key_in_brackets(&mut rest)?) };
        values.count(depth)?;
        let (value, after) = value_in_brackets(values, blanks(rest), depth)?;
        if let Some(key) = key {
            if object.insert(key, value).is_some() {
                return Err("has a key that occurs twice");
            }
        } else {
            list.push(value);
        }
        rest = blanks(after);
        match rest.strip_prefix(',') {
            Some(after) => rest = blanks(after),
            None if rest.starts_with(close) => {}
            None if rest.is_empty() => return Err(UNCLOSED),
            None => return Err("has brackets with a form that hosts read differently: quote the texts in them"),
        }
    }
}

fn value_in_brackets<'t>(values: &mut Values, text: &'t str, depth: usize) -> Result<(Value, &'t str), &'static str> {
    match text.chars().next() {
        None => Err(UNCLOSED),
        Some('[' | '{') => brackets(values, text, depth),
        Some('"' | '\'') => quoted(text).map(|(value, rest)| (Value::String(value), rest)),
        _ => {
            let (source, rest) = plain(text, is_end_in_brackets).ok_or_else(|| no_plain(text))?;
            if matches!(source, "-" | "?") { Err(no_plain(text)) } else { Ok((resolve(source)?, rest)) }
        }
    }
}

/// Reads `key: ` in brackets, and advances `rest` to the value.
fn key_in_brackets(rest: &mut &str) -> Result<String, &'static str> {
    const NO_KEY: &str = "must have `key: value` in braces";
    let (key, after) = if rest.starts_with(['"', '\'']) {
        let (key, after) = quoted(rest)?;
        (key, after.trim_start_matches(is_blank).strip_prefix(':').ok_or(NO_KEY)?)
    } else {
        let (source, after) = plain(rest, is_end_in_brackets).ok_or(NO_KEY)?;
        let value = after.trim_start_matches(is_blank).strip_prefix(':');
        (name(source)?, value.filter(|value| value.starts_with(is_blank)).ok_or(NO_KEY)?)
    };
    *rest = after;
    checked(key)
}
