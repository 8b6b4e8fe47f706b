//! Numbers as they are, of any length: nothing is rounded.

use std::fmt;

/// A number in the one form that all its spellings share: `1`, `1.0` and `10e-1` are one number.
///
/// JSON has one type of number (RFC 8259, §6), and what a client reads it may send back in another spelling.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// Without zeros at either end; none, if the number is zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Of a number of JSON as it is written; `None` if its exponent is beyond all use.
    pub(crate) fn of(number: &str) -> Option<Self> {
        let (is_negative, number) = number.strip_prefix('-').map_or((false, number), |positive| (true, positive));
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some(Self { is_negative: false, digits: String::new(), exponent: 0 });
        }
        let zeros = i64::try_from(digits.len().checked_sub(significant.len())?).ok()?;
        let after_point = i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.parse::<i64>().ok()?.checked_sub(after_point)?.checked_add(zeros)?;
        Some(Self { is_negative, digits: significant.to_owned(), exponent })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_negative, digits, exponent } = self;
        write!(f, "{}{digits}e{exponent}", if *is_negative { "-" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn spellings_of_one_number_are_equal() {
        for (one, other) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("100", "1E+2"),
            ("0.5", "5e-1"),
            ("0", "-0.00e7"),
            ("-120", "-1.2e2"),
            ("9007199254740993", "9007199254740993.0"),
        ] {
            assert_eq!(Decimal::of(one), Decimal::of(other), "{one} {other}");
            assert!(Decimal::of(one).is_some(), "{one}");
        }
    }

    #[test]
    fn other_numbers_are_not() {
        for (one, other) in [
            ("1", "-1"),
            ("1", "10"),
            ("1", "0.1"),
            ("9007199254740992", "9007199254740993"),
            ("0.1", "0.10000000000000000001"),
            ("1e400", "1e401"),
            ("0", "1e-400"),
        ] {
            assert_ne!(Decimal::of(one), Decimal::of(other), "{one} {other}");
        }
        assert_eq!(Decimal::of("1e99999999999999999999"), None);
    }
}
