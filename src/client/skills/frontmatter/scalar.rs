//! Texts in quotes, texts without quotes, and the values that these mean. All values are counted.

use edge_json::number::Number;
use edge_json::{Document, JsonLimits, Kind};
use serde_json::Value;

use super::lines::{ends_token, is_blank};
use crate::limits::{FRONTMATTER_DEPTH, FRONTMATTER_VALUES};

/// The greatest integer whose neighbors are different numbers in JavaScript.
const GREATEST: f64 = 9_007_199_254_740_991.0;
const UNCLOSED: &str = "has a quote that is not closed in the same line";
const QUOTE: &str = "has a value that hosts read differently: quote it";

/// Counts the values of a frontmatter.
#[derive(Default)]
pub(super) struct Values(usize);

impl Values {
    /// Counts a value.
    pub(super) fn count(&mut self, depth: usize) -> Result<(), &'static str> {
        self.0 = self.0.saturating_add(1);
        if self.0 > FRONTMATTER_VALUES {
            Err("has more values than the limit of 2000")
        } else if depth > FRONTMATTER_DEPTH {
            Err("is nested more than 32 levels deep")
        } else {
            Ok(())
        }
    }
}

/// Reads a text without quotes: up to a comment, or to the character before which `ends` says that it ends. Returns it without the blanks at
/// its end, and the rest with them. Returns `None` if no such text can begin here.
pub(super) fn plain(text: &str, ends: fn(char, &str) -> bool) -> Option<(&str, &str)> {
    let mut before = ' ';
    let mut end = text.len();
    for (at, character) in text.char_indices() {
        let after = text.get(at.saturating_add(character.len_utf8())..).unwrap_or_default();
        let is_indicator = "[]{},#&*!|>'\"%@`".contains(character) || "-?:".contains(character) && ends_token(after);
        if at == 0 && is_indicator {
            return None;
        }
        if character == '#' && is_blank(before) || ends(character, after) {
            end = at;
            break;
        }
        before = character;
    }
    let source = text.get(..end).unwrap_or_default().trim_end_matches(is_blank);
    Some(text.split_at(source.len())).filter(|_| !source.is_empty())
}

/// Returns the value of a text without quotes.
pub(super) fn resolve(text: &str) -> Result<Value, &'static str> {
    match text {
        "null" => return Ok(Value::Null),
        "true" | "false" => return Ok(Value::Bool(text == "true")),
        "~" | "Null" | "NULL" | "True" | "TRUE" | "False" | "FALSE" => return Err(QUOTE),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_special = ["0x", "0o", "0b"].iter().any(|prefix| {
        unsigned
            .strip_prefix(prefix)
            .is_some_and(|digits| digits.bytes().next().is_some_and(|it| it.is_ascii_hexdigit()))
    }) || matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN");
    if is_special {
        return Err(QUOTE);
    }
    if !is_number(unsigned) {
        return Ok(Value::String(text.to_owned()));
    }
    // All parsers read the numbers of JSON, up to a size.
    let is_json =
        Document::parse(text.as_bytes(), JsonLimits::default()).is_ok_and(|it| it.root().kind() == Kind::Number);
    let number = Number::of(text).filter(|_| is_json).and_then(Number::to_json).ok_or(QUOTE)?;
    let is_plainest = number.as_f64().is_some_and(|it| it.abs() <= GREATEST && !(it == 0.0 && text.starts_with('-')));
    if is_plainest { Ok(Value::Number(number)) } else { Err(QUOTE) }
}

/// Returns whether parsers may read a text without its sign as a decimal number.
fn is_number(text: &str) -> bool {
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(it, exponent)| (it, Some(exponent)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.map(|digits| digits.strip_prefix(['+', '-']).unwrap_or(digits));
    !(whole.is_empty() && fraction.is_empty())
        && are_digits(whole)
        && are_digits(fraction)
        && exponent.is_none_or(|digits| !digits.is_empty() && are_digits(digits))
}

/// Reads a text in quotes. Returns the rest behind the closing quote.
pub(super) fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut rest = text.chars();
    let quote = rest.next().ok_or(UNCLOSED)?;
    let mut value = String::new();
    loop {
        match rest.next().ok_or(UNCLOSED)? {
            '\'' if quote == '\'' && rest.as_str().starts_with('\'') => {
                rest.next();
                value.push('\'');
            }
            character if character == quote => return Ok((value, rest.as_str())),
            '\\' if quote == '"' => {
                let (character, after) = escaped(rest.as_str())?;
                value.push(character);
                rest = after.chars();
            }
            character => value.push(character),
        }
    }
}

/// Reads an escape without its backslash. Returns the rest behind it.
fn escaped(text: &str) -> Result<(char, &str), &'static str> {
    const UNKNOWN: &str = "has an unknown escape in double quotes: write `\\\\` for a backslash";
    let mut rest = text.chars();
    let width = match rest.next().ok_or(UNCLOSED)? {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        character => {
            let escapes = "0\0a\x07b\x08t\t\t\tn\nv\x0bf\x0cr\re\x1b  \"\"//\\\\N\u{85}_\u{a0}L\u{2028}P\u{2029}";
            let mut pairs = escapes.chars().step_by(2).zip(escapes.chars().skip(1).step_by(2));
            let (_, meant) = pairs.find(|(name, _)| *name == character).ok_or(UNKNOWN)?;
            return Ok((meant, rest.as_str()));
        }
    };
    let (digits, after) = rest.as_str().split_at_checked(width).ok_or(UNKNOWN)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Half of a character, such as `\uD800`, is not a character.
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex).and_then(char::from_u32);
    code.map(|character| (character, after)).ok_or(UNKNOWN)
}
