//! The digests of files in the entry of a skill.

use sha2::{Digest, Sha256};

/// Returns the digest of `bytes`: `sha256:` and 64 hexadecimal digits in lower case.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(half.into(), 16));
        }
    }
    text
}
