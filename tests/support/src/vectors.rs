//! Vectors that resemble the embeddings of texts.

// The benchmarks of retrieval include this file and that of `Random` too.
use super::random::Random;

/// The number of groups of similar vectors.
const CLUSTERS: usize = 50;
/// The length of the difference between a vector and the center of its cluster. A center has the length 1 before the common direction.
const SPREAD: f32 = 0.8;
/// The standard deviation in direction `i` is `(i + 1)^-DECAY`, before the axes are mixed.
const DECAY: f32 = 0.5;
/// The length of the common direction. The mean cosine of two vectors becomes 0.6.
const COMMON: f32 = 1.57;

/// The number of rounds that mix the axes.
const ROUNDS: usize = 2;

/// A seeded generator of vectors of length 1: 50 clusters, with a spectrum that decays by a power law.
///
/// As in embeddings, the directions of the spectrum are not the axes. If they were, most bits of a code would be about directions in which
/// vectors hardly differ, and a search with codes would find fewer of the nearest vectors.
pub struct Vectors {
    random: Random,
    spectrum: Vec<f32>,
    centers: Vec<Vec<f32>>,
    /// The sign of each axis in each round of `mix`.
    signs: Vec<Vec<f32>>,
}

impl Vectors {
    /// Selects the clusters. With `common`, all vectors have a component in the same direction, as those of several models do.
    pub fn new(seed: u64, dimensions: usize, common: bool) -> Self {
        let mut random = Random::new(seed);
        let ranks = std::iter::successors(Some(1.0_f32), |rank| Some(rank + 1.0));
        let mut spectrum: Vec<f32> = ranks.map(|rank| rank.powf(-DECAY)).take(dimensions).collect();
        let length = length(&spectrum);
        for deviation in &mut spectrum {
            *deviation /= length;
        }
        let shared = normal(&mut random, &spectrum, if common { COMMON } else { 0.0 });
        let centers = (0..CLUSTERS).map(|_| sum(&shared, &normal(&mut random, &spectrum, 1.0))).collect();
        let mut sign = |_| if random.once_in(2) { 1.0 } else { -1.0 };
        let signs = (0..ROUNDS).map(|_| (0..dimensions).map(&mut sign).collect()).collect();
        Self { random, spectrum, centers, signs }
    }

    /// Returns the next vector.
    pub fn vector(&mut self) -> Vec<f32> {
        let center = self.random.below(CLUSTERS);
        let vector = sum(&self.centers[center], &normal(&mut self.random, &self.spectrum, SPREAD));
        let vector = self.signs.iter().fold(vector, |vector, signs| mix(&vector, signs));
        let length = length(&vector);
        vector.into_iter().map(|value| value / length).collect()
    }

    /// Returns the next `count` vectors.
    pub fn vectors(&mut self, count: usize) -> Vec<Vec<f32>> {
        (0..count).map(|_| self.vector()).collect()
    }
}

/// Rotates a vector: permutes its axes, changes signs, and applies the Walsh–Hadamard transform to blocks of a power of two.
fn mix(vector: &[f32], signs: &[f32]) -> Vec<f32> {
    let length = 1 << vector.len().trailing_zeros();
    let blocks = vector.len() / length;
    let mut mixed: Vec<f32> =
        signs.iter().enumerate().map(|(at, sign)| sign * vector[at % blocks * length + at / blocks]).collect();
    for block in mixed.chunks_mut(length) {
        let mut half = 1;
        while half < length {
            for pair in block.chunks_mut(2 * half) {
                let (one, other) = pair.split_at_mut(half);
                for (one, other) in one.iter_mut().zip(other) {
                    (*one, *other) = (*one + *other, *one - *other);
                }
            }
            half *= 2;
        }
    }
    mixed
}

/// Returns a vector with independent values of about a normal distribution: the sum of 12 uniform values has the variance 1.
fn normal(random: &mut Random, deviations: &[f32], scale: f32) -> Vec<f32> {
    let mut value = || (0..12).map(|_| f32::from(random.byte()) / 256.0).sum::<f32>() - 6.0;
    deviations.iter().map(|deviation| deviation * scale * value()).collect()
}

fn sum(one: &[f32], other: &[f32]) -> Vec<f32> {
    one.iter().zip(other).map(|(one, other)| one + other).collect()
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}
