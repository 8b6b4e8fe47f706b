//! Vectors with 8 bits for each dimension.

use crate::base64::STANDARD;

/// The greatest absolute value of a dimension.
const GREATEST: f64 = 127.0;

/// A vector with 8 bits for each dimension. Only its direction has a meaning.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::rag) struct Int8(Vec<i8>);

impl Int8 {
    /// Rounds a vector. The greatest absolute value becomes 127.
    pub(in crate::rag) fn of(vector: &[f32]) -> Self {
        let greatest = vector.iter().fold(0.0, |greatest, value| value.abs().max(greatest));
        // A cast from a float saturates, and the values of a zero vector become 0.
        #[allow(clippy::cast_possible_truncation)]
        let round = |value: &f32| (f64::from(*value) * GREATEST / f64::from(greatest)).round() as i8;
        Self(vector.iter().map(round).collect())
    }

    /// Returns the vector as text for the database.
    pub(in crate::rag) fn text(&self) -> String {
        STANDARD.encode(self.0.iter().map(|value| value.cast_unsigned()).collect::<Vec<u8>>())
    }

    /// Reads a vector from text of the database. Returns `None` for a malformed text.
    pub(in crate::rag) fn parse(text: &str) -> Option<Self> {
        Some(Self(STANDARD.decode(text)?.into_iter().map(u8::cast_signed).collect()))
    }

    /// Returns the cosine of the angle between two vectors. It is 0 if one of them is zero, or if they have different lengths.
    pub(in crate::rag) fn cosine(&self, other: &Self) -> f64 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let cosine = self.dot(other) / (self.dot(self) * other.dot(other)).sqrt();
        if cosine.is_finite() { cosine } else { 0.0 }
    }

    /// Returns the values of the vector, scaled to the length 1. Those of a zero vector are 0.
    // The values have 8 bits.
    #[allow(clippy::cast_possible_truncation)]
    pub(in crate::rag) fn to_floats(&self) -> Vec<f32> {
        // A vector of integers that is not zero is at least 1 long.
        let length = self.dot(self).sqrt().max(1.0);
        self.0.iter().map(|value| (f64::from(*value) / length) as f32).collect()
    }

    /// Returns the dot product, which is a sum of integers.
    // The sum is exact up to 2^38 dimensions.
    #[allow(clippy::cast_precision_loss)]
    fn dot(&self, other: &Self) -> f64 {
        let products =
            self.0.iter().zip(&other.0).map(|(one, other)| i64::from(i16::from(*one).wrapping_mul(i16::from(*other))));
        products.sum::<i64>() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R36: `q[i] = round(v[i] × 127 / max|v|)`.
    #[test]
    fn a_vector_is_rounded() {
        assert_eq!(Int8::of(&[0.5, -1.0, 0.0, 0.003, 0.005]).0, [64, -127, 0, 0, 1]);
        assert_eq!(Int8::of(&[f32::MAX, -f32::MAX]).0, [127, -127]);
        assert_eq!(Int8::of(&[f32::from_bits(1)]).0, [127]);
        assert_eq!(Int8::of(&[0.0, -0.0]).0, [0, 0]);
        assert_eq!(Int8::of(&[f32::NAN, f32::INFINITY, 1.0]).0, [0, 0, 0]);
        assert_eq!(Int8::of(&[]).0, [0; 0]);
    }

    /// R36: the cosine has sums of integers, which do not overflow.
    #[test]
    // These cosines are exact.
    #[allow(clippy::float_cmp)]
    fn the_cosine_is_that_of_the_directions() {
        let cosine = |one: &[f32], other: &[f32]| Int8::of(one).cosine(&Int8::of(other));
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.0);
        assert_eq!(cosine(&[-2.0], &[5.0]), -1.0);
        assert!((cosine(&[1.0, 1.0], &[0.1, 0.0]) - 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(cosine(&[1.0, 2.0], &[1.0, 2.0, 3.0]), 0.0);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 2.0]), 0.0);
        assert_eq!(cosine(&[], &[]), 0.0);
        let long = Int8(vec![-128; 200_000]);
        assert!((long.cosine(&long) - 1.0).abs() < 1e-12);
    }

    /// R31: a vector is text in the database.
    #[test]
    fn a_vector_is_read_back() {
        let all = Int8((-128..=127).collect());
        assert_eq!(Int8::parse(&all.text()), Some(all));
        assert_eq!(Int8(vec![1, -1]).text(), "Af8=");
        for malformed in ["Af8", "A", "é", "1,-1"] {
            assert_eq!(Int8::parse(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn floats_have_the_length_1() {
        assert_eq!(Int8(vec![3, 0, -4]).to_floats(), [0.6, 0.0, -0.8]);
        assert_eq!(Int8(vec![0, 0]).to_floats(), [0.0, 0.0]);
    }
}
