//! Decimal numbers, without rounding of integers.

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroU128;

use super::number::{magnitude, text};

/// A normalized number: `1`, `1.0` and `10e-1` are equal.
///
/// JSON has one number type (RFC 8259 §6), so a client may return a number in another spelling.
#[derive(Debug, PartialEq, Eq)]
pub struct Decimal {
    is_negative: bool,
    /// The significant digits, without leading and trailing zeros. Empty for zero.
    digits: String,
    /// The power of ten of the last digit. `i64::MAX` and `i64::MIN` stand for all that are larger or smaller.
    exponent: i64,
}

/// With at most this many digits, a number is equal to the shortest text of its `f64`.
const EXACT_DIGITS: usize = 15;
/// That holds only for numbers from 10 to the power of this one: smaller ones have fewer bits.
const EXACT_FROM: i64 = -290;
/// The conversion to a float reads fewer digits, and has fewer places after the point. Smaller numbers are 0.
const MOST_PLACES: usize = 1100;

impl Decimal {
    /// The number 0.
    pub const ZERO: Self = Self { is_negative: false, digits: String::new(), exponent: 0 };

    /// Returns the value of a JSON number, as programs get it: an integer with all of its digits, and every other number as the shortest
    /// text of the nearest `f64`. So `0.10000000000000000001` is equal to `0.1`, and `1e-400` to 0.
    pub fn of(number: &str) -> Self {
        Self::exact(number).rounded()
    }

    /// Parses a JSON number without rounding.
    pub fn exact(number: &str) -> Self {
        let (is_negative, number) = number.strip_prefix('-').map_or((false, number), |positive| (true, positive));
        let (mantissa, exponent) = split_at(number, |byte| matches!(byte, b'e' | b'E')).unwrap_or((number, "0"));
        let (whole, fraction) = split_at(mantissa, |byte| *byte == b'.').unwrap_or((mantissa, ""));
        let digits = [whole, fraction].concat();
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Self::ZERO;
        }
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let zeros = length(digits).saturating_sub(length(significant));
        let exponent = match exponent.parse::<i64>() {
            Ok(exponent) => exponent.saturating_sub(length(fraction)).saturating_add(zeros),
            Err(_) if exponent.starts_with('-') => i64::MIN,
            Err(_) => i64::MAX,
        };
        Self { is_negative, digits: significant.to_owned(), exponent }
    }

    /// Returns an integer unchanged, and every other number as the shortest text of the nearest `f64`.
    #[must_use]
    pub fn rounded(self) -> Self {
        let place = self.exponent.saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX));
        let is_exact = self.digits.len() <= EXACT_DIGITS && place > EXACT_FROM;
        if is_exact || self.is_integer() { self } else { self.as_double() }
    }

    /// Returns the number as a program gets it in an `f64`. A number out of the range of `f64` is unchanged.
    #[must_use]
    pub fn as_double(self) -> Self {
        match magnitude(&self) {
            Some(magnitude) => {
                Self { is_negative: self.is_negative && magnitude > 0.0, ..Self::exact(&text(magnitude)) }
            }
            None => self,
        }
    }

    /// Returns about how many words of long integers the conversion to a float visits: for each 9 digits, and for each 9 places after the
    /// point, all words so far.
    pub fn rounding_words(&self) -> usize {
        let places = usize::try_from(self.exponent.min(0).unsigned_abs()).unwrap_or(usize::MAX);
        let words = places.min(MOST_PLACES).saturating_add(self.digits.len().min(MOST_PLACES)).div_ceil(9);
        words.saturating_mul(words)
    }

    /// Returns whether the exponent is exact.
    pub fn has_exact_exponent(&self) -> bool {
        self.exponent != i64::MAX
    }

    /// Formats the number. The text has an exponent only if the power of ten of the last digit is below -20 or above 20.
    pub fn to_plain_string(&self) -> String {
        let places = usize::try_from(self.exponent.unsigned_abs()).unwrap_or(usize::MAX);
        let sign = if self.is_negative { "-" } else { "" };
        match (self.exponent, self.digits.len()) {
            (_, 0) => "0".to_owned(),
            (_, _) if places > 20 => self.to_string(),
            (0.., _) => format!("{sign}{}{}", self.digits, "0".repeat(places)),
            (_, length) => match length.checked_sub(places).and_then(|at| self.digits.split_at_checked(at)) {
                Some((whole, fraction)) => format!("{sign}{}.{fraction}", if whole.is_empty() { "0" } else { whole }),
                None => format!("{sign}0.{}{}", "0".repeat(places.saturating_sub(length)), self.digits),
            },
        }
    }

    /// Returns the significant digits, and the power of ten of the last one.
    pub(super) fn parts(&self) -> (&str, i64) {
        (&self.digits, self.exponent)
    }

    /// Returns whether the number is an integer.
    pub fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Returns whether the number is a multiple of `step`. `step` must not be zero, and its digits must fit into a `u64`, as those of every
    /// `u64` and `f64` do.
    pub fn is_multiple_of(&self, step: &Self) -> bool {
        if self.digits.is_empty() {
            return true;
        }
        let Ok(divisor) = step.digits.parse::<u64>() else { return false };
        let Some(divisor) = NonZeroU128::new(divisor.into()) else { return false };
        let Some(shift) = self.exponent.checked_sub(step.exponent) else { return false };
        // The digits have no trailing zeros, so a number with a smaller exponent is not a multiple.
        let Ok(shift) = u64::try_from(shift) else { return false };
        // 19 digits fit into a `u64`, so the product of two such numbers fits into a `u128`.
        let remainder = self.digits.as_bytes().chunks(19).fold(0_u128, |rest, chunk| {
            let (number, scale) = chunk.iter().fold((0_u128, 1_u128), |(number, scale), digit| {
                let digit = u128::from(digit.saturating_sub(b'0'));
                (number.wrapping_mul(10).wrapping_add(digit), scale.wrapping_mul(10))
            });
            rest.wrapping_mul(scale).wrapping_add(number).rem_euclid(divisor.get())
        });
        remainder.wrapping_mul(power_of_ten(shift, divisor)).rem_euclid(divisor.get()) == 0
    }

    /// Compares the absolute values.
    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        // Compare the position of the first digit, then the digits.
        let place =
            |number: &Self| i64::try_from(number.digits.len()).unwrap_or(i64::MAX).saturating_add(number.exponent);
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => place(self).cmp(&place(other)).then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

/// Splits a text at the first byte that `is_mark` accepts, and drops that byte.
fn split_at(text: &str, is_mark: fn(&u8) -> bool) -> Option<(&str, &str)> {
    let (before, rest) = text.split_at_checked(text.as_bytes().iter().position(is_mark)?)?;
    Some((before, rest.get(1..)?))
}

/// Returns 10 to the power of `exponent`, modulo `modulus`. The modulus is below 2^64, so no product overflows.
fn power_of_ten(mut exponent: u64, modulus: NonZeroU128) -> u128 {
    let (mut base, mut power) = (10_u128.rem_euclid(modulus.get()), 1_u128.rem_euclid(modulus.get()));
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(base).rem_euclid(modulus.get());
        }
        base = base.wrapping_mul(base).rem_euclid(modulus.get());
        exponent >>= 1;
    }
    power
}

/// Returns whether a JSON number has neither a fraction nor an exponent.
pub fn is_integer_literal(number: &str) -> bool {
    number.bytes().all(|byte| !matches!(byte, b'.' | b'e' | b'E'))
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
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
        }
    }

    /// As in the program, which gets an `f64`. Integers keep their digits.
    #[test]
    fn only_numbers_with_a_fraction_are_rounded() {
        for (one, other) in [
            ("0.1", "0.10000000000000000001"),
            ("1", "0.99999999999999999999"),
            ("0", "1e-400"),
            ("0", "-1e-99999999999999999999"),
            ("2.2250738585072011e-308", "2.225073858507201e-308"),
            ("9007199254740992", "9007199254740992.5"),
        ] {
            assert_eq!(Decimal::of(one), Decimal::of(other), "{one} {other}");
        }
        assert_ne!(Decimal::of("9007199254740992"), Decimal::of("9007199254740993.0"));
        assert_eq!(Decimal::of("9007199254740992"), Decimal::of("9007199254740993").as_double());
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let sorted = [
            "-1e99999999999999999999",
            "-1e400",
            "-10",
            "-9.5",
            "-9",
            "-0.1",
            "0",
            "5e-324",
            "0.1",
            "0.10000000000000002",
            "9",
            "9.5",
            "10",
            "99",
            "100",
            "9007199254740992",
            "9007199254740993",
            "1e400",
        ];
        for (nth, one) in sorted.iter().enumerate() {
            for (other_nth, other) in sorted.iter().enumerate() {
                assert_eq!(Decimal::of(one).cmp(&Decimal::of(other)), nth.cmp(&other_nth), "{one} {other}");
            }
        }
    }

    #[test]
    fn short_numbers_are_formatted_without_exponent() {
        for (number, expected) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("-0.50", "-0.5"),
            ("12.5", "12.5"),
            ("1e-3", "0.001"),
            ("1e300", "1e300"),
        ] {
            assert_eq!(Decimal::of(number).to_plain_string(), expected);
        }
    }

    #[test]
    fn multiples_and_integers_are_recognized() {
        for (number, step, is_multiple) in [
            ("4.02", "0.01", true),
            ("0.3", "0.1", true),
            ("4.025", "0.01", false),
            ("7", "2", false),
            ("0", "7", true),
            ("-6", "3", true),
            ("1e308", "7", false),
            ("7e308", "7", true),
            ("1e308", "0.5", true),
            ("123456789012345678901234567890", "10", true),
            ("123456789012345678901234567891", "10", false),
            ("18446744073709551615", "18446744073709551615", true),
            ("36893488147419103230", "18446744073709551615", true),
            ("36893488147419103231", "18446744073709551615", false),
            ("5", "10", false),
            ("0.0075", "0.0001", true),
            ("0.00751", "0.0001", false),
            ("12391239123", "1e-8", true),
        ] {
            let (one, step) = (Decimal::of(number), Decimal::of(step));
            assert_eq!(one.is_multiple_of(&step), is_multiple, "{number} {step}");
        }
        for (number, is_integer) in
            [("1", true), ("1.0", true), ("1.5", false), ("15e-1", false), ("1e400", true), ("0.0", true)]
        {
            assert_eq!(Decimal::of(number).is_integer(), is_integer, "{number}");
        }
    }

    #[test]
    fn different_numbers_are_not_equal() {
        for (one, other) in [
            ("1", "-1"),
            ("1", "10"),
            ("1", "0.1"),
            ("9007199254740992", "9007199254740993"),
            ("0.1", "0.10000000000000002"),
            ("1e400", "1e401"),
            ("0", "5e-324"),
        ] {
            assert_ne!(Decimal::of(one), Decimal::of(other), "{one} {other}");
        }
        assert_ne!(Decimal::of("1e99999999999999999999"), Decimal::of("1e-99999999999999999999"));
    }
}
