//! Pseudo-random choices, which are the same for the same seed.

/// The generator xorshift by Marsaglia.
pub struct Random(u64);

impl Random {
    /// Mixes the seed as splitmix64 does, so that seeds that differ in one bit give unrelated numbers.
    pub fn new(seed: u64) -> Self {
        let mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((mixed ^ (mixed >> 31)).max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number less than `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("a number less than a usize")
    }

    /// Returns `true` once in `times` calls on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }

    /// Returns at most `up_to` bytes.
    pub fn bytes(&mut self, up_to: usize) -> Vec<u8> {
        (0..self.below(up_to + 1)).map(|_| self.byte()).collect()
    }

    /// Returns one of the items.
    pub fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}
