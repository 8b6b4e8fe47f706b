//! The conversion of JSON numbers to Rust's number types, and of floats to text.
//!
//! An integer keeps all of its digits. Every other number is rounded to the nearest `f64`, once. [`Decimal::of`] does the same, so a check
//! of a number sees the number that a program gets.
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
    ///
    /// An integer of 64 bits keeps its digits in every spelling. `7.0` and `1e3` are a [`Float`](Self::Float), which changes no digit.
    #[inline(never)]
    pub fn of(number: &str) -> Option<Self> {
        // As an integer, -0 would lose its sign.
        if is_integer_literal(number)
            && number != "-0"
            && let Some(integer) = integer(number)
        {
            return Some(integer);
        }
        let decimal = Decimal::exact(number);
        let magnitude = magnitude(&decimal)?;
        let float = if number.starts_with('-') { -magnitude } else { magnitude };
        // A smaller integer, such as `7.0`, is the same number as an `f64`.
        if magnitude >= EXACT && decimal.is_integer() && Decimal::exact(&text(float)) != decimal {
            return Some(integer(&decimal.to_plain_string()).unwrap_or(Self::Float(float)));
        }
        Some(Self::Float(float))
    }

    /// Converts a JSON number that is an integer, including `7.0` and `70e-1`. Returns `None` for other numbers.
    pub fn of_integer(number: &str) -> Option<Self> {
        let decimal = Decimal::of(number);
        if decimal.is_integer() { Self::of(&decimal.to_plain_string()) } else { None }
    }

    /// Converts to the nearest `f64`.
    #[allow(clippy::cast_precision_loss, reason = "this is where an integer is rounded")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Unsigned(number) => number as f64,
            Self::Signed(number) => number as f64,
            Self::Float(number) => number,
        }
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

/// Converts a JSON number to the nearest `f64`. A number out of the range of `f64` becomes infinite.
pub fn float(number: &str) -> f64 {
    let infinite = if number.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    Number::of(number).map_or(infinite, Number::to_f64)
}

/// Returns the shortest text of a number, such as `2.0` or `1e-7`. [`Display`](std::fmt::Display) would add 12 KB of code.
pub fn text(number: f64) -> String {
    zmij::Buffer::new().format(number).to_owned()
}

/// Parses an integer of at most 64 bits.
fn integer(number: &str) -> Option<Number> {
    number.parse().map(Number::Unsigned).or_else(|_| number.parse().map(Number::Signed)).ok()
}

/// Smaller integers are the same number as an `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The number of significant digits that are read. A number halfway between two neighbors has at most 767, so of further digits it only
/// matters that there are some.
const DIGITS: usize = 768;

/// Returns the `f64` that is nearest to the absolute value of a number: of two that are equally near, the even one. Returns `None` if the
/// number is too large.
///
/// The number becomes an integer of any length, times a power of two. The integer is exact, except for one bit that says whether a
/// remainder was dropped. So the only rounding is the last step.
pub(crate) fn magnitude(number: &Decimal) -> Option<f64> {
    let (digits, exponent) = number.parts();
    let place = exponent.saturating_add(i64::try_from(digits.len()).unwrap_or(i64::MAX));
    // Numbers from 1e309 are too large, and numbers below 1e-324 are 0.
    match place {
        _ if digits.is_empty() => return Some(0.0),
        310.. => return None,
        ..-323 => return Some(0.0),
        _ => {}
    }
    let mut is_cut = digits.len() > DIGITS;
    let digits = digits.as_bytes().get(..DIGITS).unwrap_or(digits.as_bytes());
    let mut integer = Integer::default();
    for part in digits.chunks(STEP) {
        let value = part
            .iter()
            .fold(0_u64, |sum, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit.saturating_sub(b'0'))));
        integer.multiply_and_add(power_of_ten(part.len()), value);
    }
    let exponent = place.saturating_sub(i64::try_from(digits.len()).ok()?);
    let mut left = usize::try_from(exponent.unsigned_abs()).ok()?;
    // A division takes fewer than 32 bits, so one more word for each of them, and 3 more, leave enough bits to be rounded.
    let words = if exponent < 0 { left.div_ceil(STEP).saturating_add(3) } else { 0 };
    integer.0.splice(0..0, std::iter::repeat_n(0, words));
    while left > 0 {
        let power = power_of_ten(left);
        if exponent < 0 {
            is_cut |= integer.divide(power) != 0;
        } else {
            integer.multiply_and_add(power, 0);
        }
        left = left.saturating_sub(STEP);
    }
    integer.round(words, is_cut)
}

/// The number of decimal digits that are multiplied or divided at once. 10 to the power of it fits into 30 bits.
const STEP: usize = 9;

/// Returns 10 to the power of `exponent`, or of [`STEP`] if that is smaller.
fn power_of_ten(exponent: usize) -> u64 {
    (0..exponent.min(STEP)).fold(1, |power: u64, _| power.wrapping_mul(10))
}

/// A positive integer of any length, in words of 32 bits, the lowest first.
#[derive(Default)]
struct Integer(Vec<u32>);

impl Integer {
    /// Multiplies by a number and adds another one. Both are below 2^32, so no sum exceeds 64 bits.
    fn multiply_and_add(&mut self, factor: u64, summand: u64) {
        let mut carry = summand;
        for word in &mut self.0 {
            let product = u64::from(*word).wrapping_mul(factor).wrapping_add(carry);
            *word = low_word(product);
            carry = product >> 32;
        }
        if carry != 0 {
            self.0.push(low_word(carry));
        }
    }

    /// Divides by a number below 2^32. Returns the remainder.
    fn divide(&mut self, divisor: u64) -> u64 {
        let mut rest = 0;
        for word in self.0.iter_mut().rev() {
            let dividend = rest << 32 | u64::from(*word);
            *word = low_word(dividend.checked_div(divisor).unwrap_or_default());
            rest = dividend.checked_rem(divisor).unwrap_or_default();
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest
    }

    /// Returns the nearest `f64` after the lowest `words` have become a fraction, or `None` if it is too large. `is_cut` says that the number
    /// is a little larger. Then the integer has more than 64 bits.
    fn round(&self, words: usize, is_cut: bool) -> Option<f64> {
        let (lower, highest) = self.0.split_at_checked(self.0.len().saturating_sub(3))?;
        let is_cut = is_cut || lower.iter().any(|word| *word != 0);
        // At most 97 bits: the lowest one says whether something follows.
        let bits =
            highest.iter().rev().fold(0_u128, |bits, word| bits << 32 | u128::from(*word)) << 1 | u128::from(is_cut);
        let words = i32::try_from(lower.len()).ok()?.saturating_sub(i32::try_from(words).ok()?);
        // The power of two of the lowest bit.
        let lowest = words.saturating_mul(32).saturating_sub(1);
        // 53 bits are kept, or fewer if the number is so small that its last bit would be below 2^-1074.
        let length = i32::try_from(u128::BITS.saturating_sub(bits.leading_zeros())).ok()?;
        let last = lowest.saturating_add(length).saturating_sub(53).max(-1074);
        let dropped = last.saturating_sub(lowest);
        let kept = if dropped > 0 { rounded(bits, dropped.unsigned_abs()) } else { bits << dropped.unsigned_abs() };
        // The first of 53 bits is not stored: it adds 1 to the exponent. So does a carry into a further bit.
        let exponent = u64::try_from(last.saturating_add(1074)).ok()?;
        let float = (exponent << 52).saturating_add(u64::try_from(kept).ok()?);
        (float < f64::INFINITY.to_bits()).then(|| f64::from_bits(float))
    }
}

/// Drops the lowest `dropped` bits, from 1 to 127 of them, and rounds: a tie to the even number.
fn rounded(bits: u128, dropped: u32) -> u128 {
    let kept = bits >> dropped;
    let rest = bits.wrapping_sub(kept << dropped);
    let half = 1 << dropped.saturating_sub(1);
    let is_up = rest > half || rest == half && kept & 1 == 1;
    kept.saturating_add(u128::from(is_up))
}

#[allow(clippy::cast_possible_truncation, reason = "the other half is the carry")]
fn low_word(number: u64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    #![allow(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

    use super::*;

    /// Compares the bits of a float with those of the standard library.
    fn check(text: &str) {
        let expected = text.parse::<f64>().expect("a number");
        let float = magnitude(&Decimal::exact(text)).unwrap_or(f64::INFINITY);
        assert_eq!(float.to_bits(), expected.abs().to_bits(), "{text}");
    }

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state ^ *state >> 29
    }

    /// Random bits in the shortest form and in a long one, and random digits with random exponents.
    #[test]
    fn random_floats_are_rounded_like_those_of_the_standard_library() {
        let mut state = 0x0123_4567_89ab_cdef_u64;
        for _ in 0..20_000 {
            let number = f64::from_bits(random(&mut state) & i64::MAX.unsigned_abs());
            if number.is_finite() {
                check(&format!("{number:e}"));
                check(&format!("-{number:.40e}"));
            }
            let (digits, more, exponent) = (random(&mut state), random(&mut state), random(&mut state) % 660);
            check(&format!("{digits}.{more}e-{exponent}"));
            check(&format!("{digits}e{}", exponent % 300));
        }
    }

    /// Returns the digits of the number that is exactly between a positive `f64` and the next one, and its power of ten.
    fn halfway(bits: u64) -> (String, i32) {
        let (fraction, exponent) = (bits & ((1 << 52) - 1), i32::try_from(bits >> 52).expect("11 bits"));
        let odd = ((fraction << 1) | if exponent > 0 { 1 << 53 } else { 0 }) + 1;
        let two = exponent.max(1) - 1076;
        let mut integer = Integer(vec![low_word(odd), low_word(odd >> 32)]);
        // 2^-1 is 5 times 10^-1.
        for _ in 0..two.unsigned_abs() {
            integer.multiply_and_add(if two < 0 { 5 } else { 2 }, 0);
        }
        let mut digits = Vec::new();
        while !integer.0.is_empty() {
            digits.push(format!("{:09}", integer.divide(1_000_000_000)));
        }
        digits.reverse();
        (digits.concat(), two.min(0))
    }

    /// Numbers exactly between two neighbors, and the nearest ones below and above, in many binades and among the numbers with fewer bits.
    #[test]
    fn ties_are_rounded_like_those_of_the_standard_library() {
        let mut state = 1;
        for exponent in (0..2047).step_by(11).chain([1, 2, 1023, 2045, 2046]) {
            let any = random(&mut state) >> 12;
            for fraction in [0, 1, (1 << 52) - 1, any, any & !1, any >> (exponent % 52)] {
                let (digits, ten) = halfway(exponent << 52 | fraction);
                check(&format!("{digits}e{ten}"));
                check(&format!("{digits}.{}1e{ten}", "0".repeat(40)));
                let significant = digits.trim_end_matches('0');
                let (rest, last) = significant.split_at(significant.len() - 1);
                let last = last.parse::<u8>().expect("a digit") - 1;
                let nines = "9".repeat(digits.len() - significant.len());
                check(&format!("{rest}{last}{nines}.9999e{ten}"));
            }
        }
    }

    #[test]
    fn remarkable_floats_are_rounded_like_those_of_the_standard_library() {
        for text in [
            "0.0",
            "-0",
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
            "9007199254740993.00000000000000000000000000000001",
            "1.00000000000000011102230246251565404236316680908203125000000000000000000000000000000001",
            "0.500000000000000166533453693773481063544750213623046875",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "179769313486231580793728971405301e276",
            "1e308",
            "1e309",
            "1e400",
            "1e-400",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "5e-324",
            "2e-324",
            "1e-99999999999999999999",
            "-1e99999999999999999999",
            "0e99999999999999999999",
            "1e-9223372036854775808",
            "1e9223372036854775807",
            "18446744073709551616",
        ] {
            check(text);
        }
        let zeros = "0".repeat(2000);
        for text in
            [format!("1.{zeros}1"), format!("1{zeros}e-2000"), format!("0.{zeros}1e2000"), format!("1{zeros}.5")]
        {
            check(&text);
        }
        assert_eq!(Number::of("-0"), Some(Number::Float(-0.0)));
        assert_eq!(Number::of("1e400"), None);
        let floats = ["1e400", "-1e400", "-7"].map(|number| float(number).to_bits());
        assert_eq!(floats, [f64::INFINITY, f64::NEG_INFINITY, -7.0].map(f64::to_bits));
    }

    #[test]
    fn integers_stay_integers() {
        for (text, expected) in [
            ("7", Some(Number::Unsigned(7))),
            ("-7", Some(Number::Signed(-7))),
            ("18446744073709551615", Some(Number::Unsigned(u64::MAX))),
            ("-9223372036854775808", Some(Number::Signed(i64::MIN))),
            ("7.0", Some(Number::Float(7.0))),
            ("9007199254740993.0", Some(Number::Unsigned(9_007_199_254_740_993))),
            ("-9.007199254740993e15", Some(Number::Signed(-9_007_199_254_740_993))),
            ("1e19", Some(Number::Float(1e19))),
        ] {
            assert_eq!(Number::of(text), expected, "{text}");
        }
        assert_eq!(Number::of_integer("70e-1"), Some(Number::Unsigned(7)));
        assert_eq!(Number::of_integer("0.99999999999999999999"), Some(Number::Unsigned(1)));
        assert_eq!(Number::of_integer("7.5"), None);
    }
}
