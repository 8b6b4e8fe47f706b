//! `pattern`: the regular expressions of JSON Schema, matched in linear time.
//!
//! JSON Schema uses the syntax of ECMAScript with the `u` flag (JSON Schema Core §6.4). `parse` reads this syntax, but rejects
//! back references and Unicode properties, and lookaround after it was read. `nfa` compiles the pattern to an automaton, and `search` runs the automaton on a
//! text. A search takes steps from the budget of its check.
//!
//! The crate regex-lite is not used. A check needs only "found or not found", so this module can cache the states as in a DFA, and match
//! long texts ten to a hundred times faster. For regex-lite, patterns would also need a translation, which could change their meaning.

mod char_set;
mod nfa;
mod parse;
mod search;

use nfa::Nfa;
pub(super) use search::Searches;

use super::budget::Steps;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    nfa: Nfa,
    source: String,
}

/// The problem with a pattern.
#[derive(Debug, Default)]
pub(super) struct Problem {
    /// A predicate whose subject is the pattern.
    pub text: String,
    /// Whether the pattern is valid, and only this library does not support it.
    pub is_unsupported: bool,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self { text, is_unsupported: false }
    }
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The problem with the pattern. If the steps run out, this is the problem.
    pub(super) fn new(source: &str, steps: &mut Steps) -> Result<Self, Problem> {
        let parsed = parse::parse(source, steps)?;
        if let Some(text) = parsed.unsupported {
            return Err(Problem { text: text.to_owned(), is_unsupported: true });
        }
        Ok(Self { nfa: Nfa::of(parsed, steps)?, source: source.to_owned() })
    }

    /// Returns the number of states.
    pub(super) fn states(&self) -> usize {
        self.nfa.len()
    }

    /// Returns the source text.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(pattern: &str, text: &str) -> bool {
        let patterns = [Pattern::new(pattern, &mut Steps::unlimited()).expect(pattern)];
        let mut searches = Searches::default();
        let first = searches.is_found(&patterns, 0, text, &mut Steps::of(1_000_000));
        // Search again when the states are cached.
        let long = text.repeat(200);
        searches.is_found(&patterns, 0, &long, &mut Steps::of(1_000_000));
        assert_eq!(searches.is_found(&patterns, 0, text, &mut Steps::of(1_000_000)), first, "{pattern} {text:?}");
        first
    }

    #[test]
    fn patterns_match_as_in_ecmascript() {
        for (pattern, text, found) in [
            ("^a*$", "aaa", true),
            ("a+", "xxaayy", true),
            ("", "", true),
            (r"^\d{3}-\d{4}$", "555-1234", true),
            (r"^\d{3}-\d{4}$", "555-12345", false),
            (r"^\d$", "\u{663}", false),
            (r"^\w$", "\u{e9}", false),
            (r"^\s$", "\u{a0}", true),
            (r"^[\sx]$", "\u{2003}", true),
            (r"^\S$", "\u{a0}", false),
            (r"^.$", "\u{2028}", false),
            (r"^.$", "💡", true),
            (r"^.{3}$", "日本語", true),
            (r"^a\/b$", "a/b", true),
            (r"^[[]$", "[", true),
            (r"^[a&&b]$", "&", true),
            (r"^\u0061$", "a", true),
            (r"^\x41$", "A", true),
            (r"^\ud83d\udca1$", "💡", true),
            (r"^[\ud83d\ude00-\ud83d\ude4f]$", "😁", true),
            (r"^\u{1f4a1}$", "💡", true),
            (r"^\u{0000000001f4a1}$", "💡", true),
            (r"\ud83d", "💡", false),
            (r"\ud83d\u{dca1}", "💡", false),
            (r"^\ud83d?💡$", "💡", true),
            (r"^[^\ud800-\udfff]$", "💡", true),
            (r"^[\ud7ff-\ue000]$", "\u{e000}", true),
            (r"^\cJ$", "\n", true),
            (r"^\0$", "\0", true),
            (r"^a$", "a\n", false),
            (r"^[\b]$", "\u{8}", true),
            (r"^(?<year>\d{4})-(?:a|b)$", "2026-a", true),
            ("^(?<n>a)$|^(?<n>b)$", "b", true),
            (r"^(?<\u{6e}1>a)$", "a", true),
            (r"^[^a]$", "b", true),
            (r"^[^]$", "a", true),
            (r"[]", "a", false),
            (r"^[\s\S]$", "💡", true),
            (r"^[\S]$", "\u{2003}", false),
            (r"^[^\S]$", " ", true),
            (r"^[\W\w]$", "é", true),
            (r"^\<a\>$", "<a>", true),
            (r"^\u003ca\u003e$", "a", false),
            (r"^[\w-]+$", "a-b", true),
            (r"^[a-z--]$", "-", true),
            (r"^[+--]$", ",", true),
            (r"^[a\]b]$", "]", true),
            (r"^a$|^b$", "b", true),
            (r"^a$|^b$", "ab", false),
            (r"a$|^b", "xa", true),
            (r"(a|b|)c", "c", true),
            (r"^(?:a|b)+?$", "ab", true),
            (r"^(a*)*$", "aaab", false),
            (r"\bfoo\b", "a foo b", true),
            (r"\bfoo\b", "afoo b", false),
            (r"\Bo\b", "foo", true),
            (r"^\B$", "", true),
            (r"^x{2,}$", "xxx", true),
            (r"^x{2,3}$", "xxxx", false),
            (r"^(){1000000}$", "", true),
            (r"^[A-Za-z0-9+/]*={0,2}$", "YWJj", true),
            (r"^(?:[a-z0-9]{1,63}\.){1,8}[a-z]{2,63}$", "www.example.com", true),
        ] {
            assert_eq!(finds(pattern, text), found, "{pattern} {text:?}");
        }
    }

    #[test]
    fn unsupported_patterns_are_rejected() {
        for (pattern, expected) in [
            ("(?=a)", "lookahead"),
            ("(?!a)", "lookahead"),
            ("(?<=a)b", "lookbehind"),
            ("(?<!a)b", "lookbehind"),
            ("(?=(a)", "unclosed group"),
            ("(?=a)*", "nothing to repeat"),
            ("(?![b-a])", "in reverse order"),
            (r"(a)\1", "back reference"),
            (r"(?<n>a)\k<n>", "back reference"),
            (r"\p{L}", "Unicode property"),
            (r"\y", "unknown escape `\\y`"),
            (r"\ud83", "\\u"),
            (r"\u{110000}", "\\u"),
            (r"\u{+61}", "\\u"),
            (r"\u{}", "\\u"),
            (r"\u{61", "\\u"),
            (r"\ ", "unknown escape"),
            ("(?<>a)", "invalid name"),
            ("(?<1>a)", "invalid name"),
            (r"(?<\x61>a)", "invalid name"),
            ("(?<n>a)(?<n>b)", "two groups"),
            ("(?<n>a(?:b|(?<n>c)))", "two groups"),
            ("(?:(?<n>a)|b)(?<n>c)", "two groups"),
            (r"[\udc00-\ud800]", "in reverse order"),
            (r"\01", "digit after `\\0`"),
            (r"\x{41}", "`\\x`"),
            ("a++", "nothing to repeat"),
            ("*a", "nothing to repeat"),
            (r"^\b{2}x$", "nothing to repeat"),
            ("a{,2}", "escape it"),
            ("{a}", "escape it"),
            ("a{2,1}", "in reverse order"),
            ("[b-a]", "in reverse order"),
            (r"[\s-\uFFFF]", "class as the end of a range"),
            (r"[\t-\s]", "class as the end of a range"),
            ("[[:alpha:]]", "escape it"),
            ("(?i)a", "unknown group"),
            ("a\\", "backslash"),
            ("(", "unclosed group"),
            (")", "escape it"),
            ("[a", "unclosed class"),
            ("(?:[a-z]{100}){100}", "too large"),
            ("(?:a{1000}){1000}", "too large"),
            ("a{2}{3}", "escape it"),
        ] {
            let problem = Pattern::new(pattern, &mut Steps::unlimited()).err().unwrap_or_default();
            assert!(problem.text.contains(expected), "{pattern}: {problem:?}");
            assert_eq!(problem.is_unsupported, expected.starts_with("look"), "{pattern}");
        }
        let nested = format!("{}a{}", "(".repeat(1000), ")".repeat(1000));
        assert!(
            Pattern::new(&nested, &mut Steps::unlimited()).err().is_some_and(|problem| problem.text.contains("nested")),
            "{nested}"
        );
    }

    /// A backtracking matcher takes seconds for these texts. Here the steps stay far below the budget.
    #[test]
    fn searches_of_long_texts_take_few_steps() {
        let text = "a".repeat(65_000);
        for pattern in [
            "[a-z]{1,200}x",
            r"^\S+@\S+$",
            ".{0,100}x.{0,100}y",
            r"(?:[a-z]|[a-z0-9]|\w){1,60}!",
            r"^(?:[a-z0-9]{1,63}\.){1,8}[a-z]{2,63}$",
        ] {
            let patterns = [Pattern::new(pattern, &mut Steps::unlimited()).expect(pattern)];
            let mut steps = Steps::of(1_000_000);
            assert!(!Searches::default().is_found(&patterns, 0, &text, &mut steps), "{pattern}");
            assert!(steps.left() > 800_000, "{pattern}: {} steps are left", steps.left());
        }
    }

    /// The states of this pattern almost never repeat, so the cache does not help and the steps run out.
    #[test]
    fn searches_end_when_the_steps_run_out() {
        let patterns = [Pattern::new("(a|b)*a(a|b){400}c", &mut Steps::unlimited()).expect("a pattern")];
        let mut random = 1_u32;
        let text: String = (0..200_000)
            .map(|_| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if random & 0x1_0000 == 0 { 'a' } else { 'b' }
            })
            .collect();
        let (mut searches, mut steps) = (Searches::default(), Steps::of(1_000_000));
        assert!(!searches.is_found(&patterns, 0, &text, &mut steps));
        assert!(steps.are_exhausted());
        assert!(searches.bytes() <= 2 << 20, "{} bytes", searches.bytes());
    }
}
