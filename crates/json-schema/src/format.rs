//! The formats of a form: `email`, `uri`, `date` and `date-time`. They are enforced only for the answer to a form.
//!
//! The formats are patterns for the engine of `pattern`, which every wasm module contains anyway. Only leap seconds need more code.
//! The crates for these formats (`url`, `chrono`, `email_address`) do not accept the same texts as JSON Schema, and they are larger.
//!
//! Source: 2026-07-28, client/elicitation, "Requested Schema"; RFC 3339 §5.6, RFC 5321 §4.1.2 (in ASCII), RFC 3986 §3.

use std::cell::OnceCell;

use super::budget::Steps;
use super::pattern::{Pattern, Searches};

thread_local! {
    /// The patterns, in the order of [`Format`].
    static PATTERNS: OnceCell<Vec<Pattern>> = const { OnceCell::new() };
}

/// A format of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Format {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    /// Returns a description of a valid value, for error messages.
    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Uri => "a URI with a scheme, such as https://example.com",
            Self::Date => "a date, such as 2026-07-28",
            Self::DateTime => "a date and time, such as 2026-07-28T12:00:00Z",
        }
    }

    /// Returns whether `text` has this format. The result must not be used once the steps are exhausted.
    #[inline(never)]
    pub(super) fn matches(self, text: &str, steps: &mut Steps) -> bool {
        let matches = PATTERNS.with(|patterns| {
            let patterns = patterns.get_or_init(patterns_of_formats);
            Searches::default().is_found(patterns, self as usize, text, steps)
        });
        matches && (self != Self::DateTime || has_possible_second(text))
    }
}

/// Returns whether a text has the format `date-time` (RFC 3339 §5.6).
///
/// ```
/// use edge_json_schema::is_date_time;
///
/// assert!(is_date_time("2026-07-28T12:00:00Z") && !is_date_time("2026-07-28"));
/// ```
pub fn is_date_time(text: &str) -> bool {
    Format::DateTime.matches(text, &mut Steps::unlimited())
}

#[cold]
#[inline(never)]
fn patterns_of_formats() -> Vec<Pattern> {
    const DATE: &str = r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
    const HOUR_MINUTE: &str = r"(?:[01]\d|2[0-3]):[0-5]\d";
    const OCTET: &str = r"(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])";
    const LABEL: &str = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
    const ATOM: &str = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    // Unreserved characters, sub-delimiters and escapes, with `more` in the class.
    let part = |more: &str| format!(r"(?:[A-Za-z0-9\-._~!$&'()*+,;={more}]|%[0-9A-Fa-f]{{2}})");
    let (name, path, query) = (part(""), part(":@/"), part(":@/?"));
    let first = part(":@");
    let user = part(":");
    let sources = [
        format!(
            r#"^(?:{ATOM}(?:\.{ATOM})*|"(?:[ !#-\[\]-~]|\\[ -~])*")@(?:{LABEL}(?:\.{LABEL})*|\[(?:{OCTET}(?:\.{OCTET}){{3}}|IPv6:[0-9A-Fa-f:.]+)\])$"#
        ),
        format!(
            r"^[A-Za-z][A-Za-z0-9+.-]*:(?:\/\/(?:{user}*@)?(?:\[[0-9A-Fa-f:.]+\]|{name}*)(?::\d*)?(?:\/{path}*)?|\/?(?:{first}{path}*)?)(?:\?{query}*)?(?:#{query}*)?$"
        ),
        format!("^{DATE}$"),
        format!(r"^{DATE}[Tt]{HOUR_MINUTE}:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-]{HOUR_MINUTE})$"),
    ];
    // A test checks that every pattern is valid, so the filter does not drop one.
    sources.iter().filter_map(|source| Pattern::new(source, &mut Steps::unlimited()).ok()).collect()
}

/// Returns whether the second of a date-time is below 60, or a leap second at the end of a day in UTC. The text must match the pattern.
fn has_possible_second(text: &str) -> bool {
    let number = |text: Option<&str>| text.and_then(|digits| digits.parse::<i32>().ok()).unwrap_or_default();
    let minutes = |at: usize, text: &str| {
        let hours = number(text.get(at..at.saturating_add(2)));
        hours.saturating_mul(60).saturating_add(number(text.get(at.saturating_add(3)..at.saturating_add(5))))
    };
    let offset = text.len().checked_sub(6).and_then(|at| text.get(at..)).unwrap_or_default();
    let offset = match offset.as_bytes().first() {
        Some(b'+') => minutes(1, offset),
        Some(b'-') => minutes(1, offset).saturating_neg(),
        _ => 0,
    };
    number(text.get(17..19)) < 60 || minutes(11, text).saturating_sub(offset).rem_euclid(1440) == 1439
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The official suite tests most cases. This test has the others.
    #[test]
    fn formats_match_their_grammars() {
        let longest_label = "a".repeat(63);
        for (format, text, expected) in [
            (Format::Email, format!("a@{longest_label}.example"), true),
            (Format::Email, format!("a@{longest_label}a.example"), false),
            (Format::Email, "a@-b".to_owned(), false),
            (Format::Email, "a@b.".to_owned(), false),
            (Format::Email, r#""a\"b"@c"#.to_owned(), true),
            (Format::Email, r#""a"b"@c"#.to_owned(), false),
            (Format::Email, "é@example.com".to_owned(), false),
            (Format::Uri, "https://[::1]:8080/a?b#c".to_owned(), true),
            (Format::Uri, "x:".to_owned(), true),
            (Format::Uri, "file:///a".to_owned(), true),
            (Format::Uri, "http://a:b/".to_owned(), false),
            (Format::Uri, "http://a/%4".to_owned(), false),
            (Format::Uri, "http://a/#b#c".to_owned(), false),
            (Format::Uri, "http://é/".to_owned(), false),
            (Format::Date, "1900-02-29".to_owned(), false),
            (Format::Date, "2000-02-29".to_owned(), true),
            (Format::DateTime, "2026-07-28T24:00:00Z".to_owned(), false),
            (Format::DateTime, "2026-07-28T12:00:00".to_owned(), false),
            (Format::DateTime, "2026-07-28T12:00:00.Z".to_owned(), false),
            (Format::DateTime, "1998-12-31T23:59:60.5Z".to_owned(), true),
            (Format::DateTime, "1999-01-01T05:29:60+05:30".to_owned(), true),
            (Format::DateTime, "1999-01-01T05:29:60+05:00".to_owned(), false),
        ] {
            let mut steps = Steps::of(100_000);
            assert_eq!(format.matches(&text, &mut steps), expected, "{format:?} {text}");
            assert!(!steps.are_exhausted());
        }
        assert_eq!(patterns_of_formats().len(), 4);
    }
}
