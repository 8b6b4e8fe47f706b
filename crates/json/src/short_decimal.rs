//! Short decimal numbers, compared without an allocation. `decimal` handles all other numbers.

use std::cmp::Ordering;

/// The largest number of significant digits. A number with at most 15 is equal to the shortest text of its `f64`, so it is not rounded.
const MOST_DIGITS: u32 = 15;
/// The largest number of digits after the point. 10 to the power of both limits together is below 2^127, so a scaled number fits into an
/// `i128`.
const MOST_PLACES: u32 = 19;

/// A number of at most 15 significant digits, without an exponent.
#[derive(Clone, Copy, Debug)]
pub struct ShortDecimal {
    digits: i64,
    /// The number of digits after the point.
    places: u32,
}

impl ShortDecimal {
    /// Parses a JSON number. Returns `None` if it is too long or has an exponent.
    pub fn of(number: &str) -> Option<Self> {
        let (sign, digits) = match number.as_bytes() {
            [b'-', digits @ ..] => (-1, digits),
            digits => (1, digits),
        };
        let (mut sum, mut significant, mut places) = (0_i64, 0_u32, None);
        for byte in digits {
            match byte {
                b'0'..=b'9' => {
                    sum = sum.wrapping_mul(10).wrapping_add(i64::from(byte.wrapping_sub(b'0')));
                    significant = significant.wrapping_add(u32::from(sum != 0));
                    places = places.map(|places: u32| places.wrapping_add(1));
                }
                b'.' => places = Some(0),
                _ => return None,
            }
            if significant > MOST_DIGITS || places.is_some_and(|places| places > MOST_PLACES) {
                return None;
            }
        }
        Some(Self { digits: sum.wrapping_mul(sign), places: places.unwrap_or(0) })
    }

    /// Returns whether the number is a multiple of `step`. `step` must not be zero.
    pub fn is_multiple_of(self, step: Self) -> bool {
        let (number, step) = self.aligned(step);
        number.checked_rem(step).is_some_and(|rest| rest == 0)
    }

    /// Scales both numbers to the same number of digits after the point.
    fn aligned(self, other: Self) -> (i128, i128) {
        let scaled = |number: Self, places: u32| {
            i128::from(number.digits).wrapping_mul(10_i128.wrapping_pow(places.saturating_sub(number.places)))
        };
        let places = self.places.max(other.places);
        (scaled(self, places), scaled(other, places))
    }
}

impl Ord for ShortDecimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.places == other.places {
            return self.digits.cmp(&other.digits);
        }
        let (one, other) = self.aligned(*other);
        one.cmp(&other)
    }
}

impl PartialOrd for ShortDecimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ShortDecimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ShortDecimal {}

#[cfg(test)]
mod tests {
    use super::ShortDecimal;
    use crate::decimal::Decimal;

    /// `ShortDecimal` and `Decimal` agree on every number that both can represent.
    #[test]
    fn short_numbers_compare_like_exact_numbers() {
        let numbers = [
            "0",
            "-0",
            "-0.0",
            "1",
            "-1",
            "10",
            "9.5",
            "-9.50",
            "0.1",
            "0.10",
            "0.000000000000000001",
            "0.0000000000000000001",
            "0.0123456789012345",
            "0.3",
            "4.02",
            "999999999999999",
            "-999999999999999",
            "0.01",
            "1.0",
            "123456789.123456",
            "7",
            "14.0",
        ];
        for one in numbers {
            for other in numbers {
                let (short, exact) =
                    ([one, other].map(|n| ShortDecimal::of(n).expect(n)), [one, other].map(Decimal::of));
                assert_eq!(short[0].cmp(&short[1]), exact[0].cmp(&exact[1]), "{one} {other}");
                if exact[1] > Decimal::ZERO {
                    assert_eq!(short[0].is_multiple_of(short[1]), exact[0].is_multiple_of(&exact[1]), "{one} {other}");
                }
            }
        }
        for long in ["1000000000000000", "1e1", "1.000000000000000", "0.00000000000000000001"] {
            assert!(ShortDecimal::of(long).is_none(), "{long}");
        }
    }
}
