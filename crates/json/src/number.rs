//! The conversion of JSON numbers to Rust's number types, and of floats to text.
//!
//! The conversion to `f64` does not use a table. The conversions of the standard library and of serde_json use tables of several
//! kilobytes each. The conversion of serde_json also rounds twice.

use super::decimal::{Decimal, is_integer_literal};

/// A number in one of the types that serde visitors accept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer from 0.
    Unsigned(u64),
    /// A negative integer.
    Signed(i64),
    /// Every other number, rounded.
    Float(f64),
}

impl Number {
    /// Converts a JSON number. Returns `None` if it is out of the range of `f64`.
    #[inline(never)]
    pub fn of(number: &str) -> Option<Self> {
        // As an integer, -0 would lose its sign.
        if is_integer_literal(number) && number != "-0" {
            let integer = number.parse().map(Self::Unsigned).or_else(|_| number.parse().map(Self::Signed));
            if let Ok(integer) = integer {
                return Some(integer);
            }
        }
        let magnitude = magnitude(&Decimal::of(number)?)?;
        Some(Self::Float(if number.starts_with('-') { -magnitude } else { magnitude }))
    }

    /// Converts a JSON number that is an integer, including `7.0` and `70e-1`. Returns `None` for other numbers.
    pub fn of_integer(number: &str) -> Option<Self> {
        let decimal = Decimal::of(number).filter(Decimal::is_integer)?;
        Self::of(&decimal.to_plain_string())
    }

    /// Converts to the number of a `serde_json` value. Returns `None` for NaN and the infinities.
    pub fn to_json(self) -> Option<serde_json::Number> {
        match self {
            Self::Unsigned(number) => Some(number.into()),
            Self::Signed(number) => Some(number.into()),
            Self::Float(number) => serde_json::Number::from_f64(number),
        }
    }
}

/// Returns the shortest text of a number, such as `2.0` or `1e-7`. [`Display`](std::fmt::Display) would add 12 KB of code.
pub fn text(number: f64) -> String {
    zmij::Buffer::new().format(number).to_owned()
}

/// The number of significant digits that are read. An `f64` has 17, so further digits matter only for a number halfway between two
/// neighbors.
const DIGITS: usize = 36;

/// Converts the absolute value of a number, or returns `None` if it is too large.
///
/// The mantissa has 124 bits, so ten times its value fits into a `u128`. There are at most 400 steps, and each step loses less than the
/// last bit. The sum of these losses is far below the last of the 53 bits of the result.
fn magnitude(number: &Decimal) -> Option<f64> {
    let (digits, exponent) = number.parts();
    let place = exponent.saturating_add(i64::try_from(digits.len()).unwrap_or(i64::MAX));
    // Numbers from 1e310 are too large, and numbers below 1e-330 are 0.
    match place {
        _ if digits.is_empty() => return Some(0.0),
        311.. => return None,
        ..-330 => return Some(0.0),
        _ => {}
    }
    let digits = digits.bytes().take(DIGITS);
    let mut ten = i32::try_from(place).ok()?.saturating_sub(i32::try_from(digits.len()).ok()?);
    let mantissa =
        digits.fold(0_u128, |sum, digit| sum.wrapping_mul(10).wrapping_add(u128::from(digit.saturating_sub(b'0'))));
    let (mut mantissa, mut two) = normalized(mantissa, 0);
    while ten != 0 {
        let is_large = ten > 0;
        let scaled = if is_large { mantissa.wrapping_mul(10) } else { mantissa / 10 };
        (mantissa, two) = normalized(scaled, two);
        ten = if is_large { ten.saturating_sub(1) } else { ten.saturating_add(1) };
    }
    // The power of two can be too small for an `f64` although the result is not, so it is applied in two halves.
    #[allow(clippy::cast_precision_loss, reason = "this is where the result is rounded")]
    let rounded = mantissa as f64;
    let half = two / 2;
    Some(rounded * 2_f64.powi(half) * 2_f64.powi(two.saturating_sub(half))).filter(|number| number.is_finite())
}

/// Shifts a mantissa to 124 bits, and adjusts the power of two.
fn normalized(mantissa: u128, two: i32) -> (u128, i32) {
    let free = mantissa.leading_zeros();
    let (left, right) = (free.saturating_sub(4), 4_u32.saturating_sub(free));
    (mantissa.wrapping_shl(left).wrapping_shr(right), two.saturating_add_unsigned(right).saturating_sub_unsigned(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in every binade, in the shortest form and in a long one, and numbers between two neighbors.
    #[test]
    fn floats_are_rounded_like_those_of_the_standard_library() {
        let check = |text: &str| {
            let expected = text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Number::Float);
            assert_eq!(Number::of(text), expected, "{text}");
        };
        let mut bits = 0x0123_4567_89ab_cdef_u64;
        for binade in 1..2047_u64 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = f64::from_bits(binade << 52 | bits >> 12);
            check(&format!("{number:e}"));
            check(&format!("-{number:.40e}"));
        }
        for text in [
            "0.0",
            "-0",
            "-0.0",
            "0e9",
            "1e-9",
            "1.5",
            "0.1",
            "1e23",
            "8.5e22",
            "123456789012345678901234567890",
            "9007199254740993.0",
            "9007199254740992.5",
            "4503599627370496.5",
            "4503599627370497.5",
            "1.7976931348623157e308",
            "1e308",
            "1e309",
            "1e400",
            "1e-400",
            "2.2250738585072014e-308",
            "5e-324",
            "2e-324",
            "179769313486231580793728971405301e276",
            "18446744073709551616",
        ] {
            check(text);
        }
    }

    #[test]
    fn integers_stay_integers() {
        for (text, expected) in [
            ("7", Some(Number::Unsigned(7))),
            ("-7", Some(Number::Signed(-7))),
            ("18446744073709551615", Some(Number::Unsigned(u64::MAX))),
            ("-9223372036854775808", Some(Number::Signed(i64::MIN))),
            ("7.0", Some(Number::Float(7.0))),
        ] {
            assert_eq!(Number::of(text), expected, "{text}");
        }
        assert_eq!(Number::of_integer("70e-1"), Some(Number::Unsigned(7)));
        assert_eq!(Number::of_integer("7.5"), None);
    }
}
