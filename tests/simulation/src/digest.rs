//! A digest of bytes (FNV-1a), which is the same in each run and on each machine.

/// The digest of no bytes.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns the digest of these bytes.
pub fn of(bytes: &[u8]) -> u64 {
    continued(EMPTY, bytes)
}

/// Returns the digest of the bytes of `digest` and these bytes after them.
pub fn continued(digest: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(digest, |digest, byte| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
