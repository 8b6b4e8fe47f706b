//! `format`: an annotation, as JSON Schema has it; checked only of what a person has filled in.
//!
//! Source: 2026-07-28, client/elicitation, "Requested Schema", for the four that a form can have; RFC 3339, RFC 5321 and RFC 3986 for
//! what they mean.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The formats of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Format {
    const NAMES: [(&'static str, Self); 4] =
        [("email", Self::Email), ("uri", Self::Uri), ("date", Self::Date), ("date-time", Self::DateTime)];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// What it asks for.
    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Uri => "a URI with a scheme, such as https://example.com",
            Self::Date => "a date, such as 2026-07-28",
            Self::DateTime => "a date and time, such as 2026-07-28T12:00:00Z",
        }
    }

    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
        }
    }
}

/// So many digits, as a number.
fn digits(text: &str, count: usize) -> Option<u32> {
    let all_digits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| text.parse().ok()).flatten()
}

/// `full-date` of RFC 3339 §5.6.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut part = |count| digits(parts.next()?, count);
    let (Some(year), Some(month), Some(day)) = (part(4), part(2), part(2)) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `date-time` of RFC 3339 §5.6, with leap seconds where they can be.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    is_date(date) && is_time(time).is_some_and(|fits| fits)
}

fn is_time(text: &str) -> Option<bool> {
    let (clock, offset) = if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        (clock, 0)
    } else {
        let (clock, offset) = text.split_at_checked(text.rfind(['+', '-'])?)?;
        let (hours, minutes) = offset.get(1..)?.split_once(':')?;
        let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
        let total = i64::from(hours).checked_mul(60)?.checked_add(minutes.into());
        let total = total.filter(|_| hours < 24 && minutes < 60)?;
        (clock, if offset.starts_with('-') { total.checked_neg()? } else { total })
    };
    let mut parts = clock.splitn(3, ':');
    let (hours, minutes) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let seconds = parts.next()?;
    let (seconds, fraction) =
        seconds.split_once('.').map_or((seconds, None), |(whole, fraction)| (whole, Some(fraction)));
    let seconds = digits(seconds, 2)?;
    let fraction_fits =
        fraction.is_none_or(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    // A leap second is the last of a day in UTC.
    let minute_in_utc =
        i64::from(hours).checked_mul(60)?.checked_add(minutes.into())?.checked_sub(offset)?.rem_euclid(1440);
    let seconds_fit = seconds < 60 || (seconds == 60 && minute_in_utc == 1439);
    Some(hours < 24 && minutes < 60 && seconds_fit && fraction_fits)
}

/// `Mailbox` of RFC 5321 §4.1.2, in ASCII.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_atom = |atom: &str| {
        !atom.is_empty()
            && atom.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
    };
    let is_quoted = |text: &str| {
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            let fits = match byte {
                b'\\' => rest.next().is_some_and(|escaped| (b' '..=b'~').contains(&escaped)),
                b'"' => false,
                byte => (b' '..=b'~').contains(&byte),
            };
            if !fits {
                return false;
            }
        }
        true
    };
    let local_fits = match local.strip_prefix('"').and_then(|local| local.strip_suffix('"')) {
        Some(quoted) => is_quoted(quoted),
        None => local.split('.').all(is_atom),
    };
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let domain_fits = match domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']')) {
        Some(address) => match address.strip_prefix("IPv6:") {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => address.parse::<Ipv4Addr>().is_ok(),
        },
        None => domain.split('.').all(is_label),
    };
    local_fits && domain_fits
}

/// `URI` of RFC 3986 §3: with a scheme.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_fits = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            rest.find('/').and_then(|at| rest.split_at_checked(at)).map_or((Some(rest), ""), |(a, p)| (Some(a), p))
        }
        None => (None, rest),
    };
    scheme_fits
        && authority.is_none_or(is_authority)
        && has_only(path, b":@/")
        && has_only(query, b":@/?")
        && has_only(fragment, b":@/?")
}

fn is_authority(authority: &str) -> bool {
    let (user, host) = authority.rsplit_once('@').map_or(("", authority), |(user, host)| (user, host));
    let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, port)) => {
            let is_future = address.starts_with(['v', 'V']) && address.contains('.') && has_only(address, b":");
            if !is_future && address.parse::<Ipv6Addr>().is_err() {
                return false;
            }
            ("", port)
        }
        None => host.rfind(':').and_then(|at| host.split_at_checked(at)).unwrap_or((host, "")),
    };
    let port_fits =
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    has_only(user, b":") && has_only(host, b"") && port_fits
}

/// Whether a text has only what is unreserved, sub-delimiters, escapes, and `others`.
fn has_only(text: &str, others: &[u8]) -> bool {
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let fits = match byte {
            b'%' => [rest.next(), rest.next()].iter().all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit())),
            byte => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte) || others.contains(&byte),
        };
        if !fits {
            return false;
        }
    }
    true
}
