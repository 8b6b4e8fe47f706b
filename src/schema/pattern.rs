//! `pattern`: regular expressions as JSON Schema has them, run by regex-lite.
//!
//! JSON Schema means those of ECMAScript (Core §6.4). What reads differently in the two is rewritten here; what regex-lite cannot
//! run (looking around, back references, properties of Unicode) is refused by name. Its time grows with the text and with the
//! pattern and no faster, and the text is bounded.

use regex_lite::{Regex, RegexBuilder};

/// Bytes of a compiled pattern, from small to the largest that is run: its time grows with them.
const SIZES: [usize; 4] = [1 << 10, 1 << 12, 1 << 14, 1 << 15];
/// Bytes of a text that is matched.
pub(super) const LONGEST_TEXT: usize = 64 * 1024;

/// A pattern that can be run.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// How long a piece of text takes, in steps.
    weight: u32,
    /// As it was written.
    source: String,
}

impl Pattern {
    /// Reads a pattern, or says why it cannot be run.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let rewritten = rewrite(source)?;
        let mut failed = String::new();
        for size in SIZES {
            match RegexBuilder::new(&rewritten).size_limit(size).build() {
                Ok(regex) => {
                    let weight = u32::try_from(size / 256).unwrap_or(u32::MAX);
                    return Ok(Self { regex, weight, source: source.to_owned() });
                }
                Err(error) => failed = error.to_string().replace('\n', " "),
            }
        }
        Err(format!("cannot be run: {failed}"))
    }

    /// Steps for each piece of a text.
    pub(super) fn weight(&self) -> u32 {
        self.weight
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Whether it is found in `text`.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// What ECMAScript calls a space (ECMA-262, `WhiteSpace` and `LineTerminator`), as members of a class.
const SPACES: &str = r"\t\n\x0B\x0C\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
/// All that is none, as members of a class.
const NO_SPACES: &str = r"\x00-\x08\x0E-\x1F\x21-\u{9F}\u{A1}-\u{167F}\u{1681}-\u{1FFF}\u{200B}-\u{2027}\u{202A}-\u{202E}\u{2030}-\u{205E}\u{2060}-\u{2FFF}\u{3001}-\u{D7FF}\u{E000}-\u{FEFE}\u{FF00}-\u{10FFFF}";
const NO_LINE_END: &str = r"[^\n\r\u{2028}\u{2029}]";

/// The same expression in the syntax of regex-lite.
fn rewrite(source: &str) -> Result<String, String> {
    let mut out = String::with_capacity(source.len());
    let mut rest = source.chars().peekable();
    let mut in_class = false;
    while let Some(character) = rest.next() {
        match character {
            '\\' => {
                let Some(escaped) = rest.next() else { return Err("ends in a backslash".into()) };
                match escaped {
                    's' if in_class => out.push_str(SPACES),
                    's' => push_class("[", &mut out),
                    'S' if in_class => out.push_str(NO_SPACES),
                    'S' => push_class("[^", &mut out),
                    'p' | 'P' => return Err(format!("uses `\\{escaped}`, a property of Unicode")),
                    'k' | '1'..='9' => return Err(format!("uses the back reference `\\{escaped}`")),
                    'c' => {
                        let letter =
                            rest.next().filter(char::is_ascii_alphabetic).ok_or("has `\\c` without a letter")?;
                        let code = u32::from(letter) % 32;
                        push_literal(char::from_u32(code).unwrap_or_default(), &mut out);
                    }
                    '0' => out.push_str("\\x00"),
                    'b' if in_class => out.push_str("\\x08"),
                    'd' | 'D' | 'w' | 'W' | 'b' | 'B' | 'n' | 'r' | 't' | 'v' | 'f' | 'x' => {
                        push_escaped(escaped, &mut out);
                    }
                    'u' => unicode(&mut rest, &mut out)?,
                    letter if letter.is_ascii_alphanumeric() => {
                        return Err(format!("has the unknown escape `\\{letter}`"));
                    }
                    other => push_literal(other, &mut out),
                }
            }
            '[' if in_class => out.push_str("\\["),
            '[' => {
                in_class = true;
                out.push('[');
                if rest.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                if rest.peek() == Some(&']') {
                    return Err("has an empty class".into());
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class => push_escaped(character, &mut out),
            '.' if !in_class => out.push_str(NO_LINE_END),
            '(' if !in_class => {
                out.push('(');
                if rest.next_if_eq(&'?').is_some() {
                    out.push('?');
                    match rest.peek() {
                        Some(':') => {}
                        Some('<') => {
                            rest.next();
                            if matches!(rest.peek(), Some('=' | '!')) {
                                return Err("looks behind itself".into());
                            }
                            out.push('<');
                        }
                        Some('=' | '!') => return Err("looks ahead of itself".into()),
                        _ => return Err("has an unknown group".into()),
                    }
                }
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

/// `\uXXXX`, two of them that are one character, or `\u{X…}`.
fn unicode(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) -> Result<(), String> {
    const BAD: &str = "has `\\u` without a character";
    if rest.next_if_eq(&'{').is_some() {
        let digits: String = rest.by_ref().take_while(|character| *character != '}').collect();
        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).ok_or(BAD)?;
        push_literal(code, out);
        return Ok(());
    }
    let mut unit = || {
        let digits: String = rest.by_ref().take(4).collect();
        u16::from_str_radix(&digits, 16).map_err(|_| BAD)
    };
    let first = unit()?;
    let units = if (0xd800..0xdc00).contains(&first) {
        let marker: String = rest.by_ref().take(2).collect();
        if marker != "\\u" {
            return Err(BAD.into());
        }
        let digits: String = rest.by_ref().take(4).collect();
        vec![first, u16::from_str_radix(&digits, 16).map_err(|_| BAD)?]
    } else {
        vec![first]
    };
    let text = String::from_utf16(&units).map_err(|_| BAD)?;
    text.chars().for_each(|character| push_literal(character, out));
    Ok(())
}

/// A class of spaces, or of all that are none.
#[inline(never)]
fn push_class(begin: &str, out: &mut String) {
    for part in [begin, SPACES, "]"] {
        out.push_str(part);
    }
}

#[inline(never)]
fn push_escaped(character: char, out: &mut String) {
    out.push('\\');
    out.push(character);
}

// Reading patterns is rare: it is made small rather than fast.
#[inline(never)]
fn push_literal(character: char, out: &mut String) {
    // `\<` and `\>` would be the ends of a word.
    if character.is_ascii_punctuation() && !matches!(character, '<' | '>') {
        out.push('\\');
    }
    out.push(character);
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_are_those_of_ecmascript() {
        for (pattern, text, found) in [
            ("^a*$", "aaa", true),
            ("a+", "xxaayy", true),
            (r"^\d{3}-\d{4}$", "555-1234", true),
            (r"^\d$", "\u{663}", false),
            (r"^\w$", "\u{e9}", false),
            (r"^\s$", "\u{a0}", true),
            (r"^[\sx]$", "\u{2003}", true),
            (r"^\S$", "\u{a0}", false),
            (r"^.$", "\u{2028}", false),
            (r"^.$", "💡", true),
            (r"^a\/b$", "a/b", true),
            (r"^[[]$", "[", true),
            (r"^[a&&b]$", "&", true),
            (r"^\u0061$", "a", true),
            (r"^\ud83d\udca1$", "💡", true),
            (r"^\u{1f4a1}$", "💡", true),
            (r"^\cJ$", "\n", true),
            (r"^a$", "a\n", false),
            (r"^[\b]$", "\u{8}", true),
            (r"^(?<year>\d{4})-(?:a|b)$", "2026-a", true),
            (r"^[^a]$", "b", true),
            (r"^[\s\S]$", "\u{2003}", true),
            (r"^[\s\S]$", "💡", true),
            (r"^[\S]$", "\u{2003}", false),
            (r"^[\S]$", "\u{2004}a", false),
            (r"^[^\S]$", " ", true),
            (r"^\<a\>$", "<a>", true),
            (r"^\u003ca\u003e$", "<a>", true),
            (r"^\u003ca\u003e$", "a", false),
        ] {
            assert_eq!(Pattern::new(pattern).expect(pattern).is_in(text), found, "{pattern} {text:?}");
        }
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        for (pattern, says) in [
            ("(?=a)", "looks ahead"),
            ("(?!a)", "looks ahead"),
            ("(?<=a)b", "looks behind"),
            (r"(a)\1", "back reference"),
            (r"\p{L}", "Unicode"),
            (r"\y", "unknown escape"),
            (r"\ud83d", "\\u"),
            ("[]", "empty class"),
            ("a\\", "backslash"),
            ("(", "cannot be run"),
            ("a{1000}{1000}", "cannot be run"),
        ] {
            let problem = Pattern::new(pattern).err().unwrap_or_default();
            assert!(problem.contains(says), "{pattern}: {problem}");
        }
    }
}
