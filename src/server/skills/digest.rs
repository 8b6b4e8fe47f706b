//! The digests of files in the entry of a skill.

use sha2::{Digest, Sha256};

/// Returns the digest of `bytes`: `sha256:` and 64 hexadecimal digits in lower case.
///
/// ```
/// let digest = edge_mcp::skills::digest(b"");
/// assert_eq!(digest, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
/// ```
pub fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(half.into(), 16));
        }
    }
    text
}
