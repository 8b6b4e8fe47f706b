//! Public keys that verify signatures.

use std::fmt;

/// A public key with its algorithm. A key is valid for one algorithm only. Numbers are big-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// RS256: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    Rs256 {
        /// The modulus, without leading zeros.
        n: Vec<u8>,
        /// The exponent.
        e: Vec<u8>,
    },
    /// ES256: ECDSA on P-256 with SHA-256; the signature is the 64 bytes `r || s` (RFC 7518 §3.4).
    Es256 {
        /// The x coordinate.
        x: [u8; 32],
        /// The y coordinate.
        y: [u8; 32],
    },
    /// EdDSA on Ed25519 (RFC 8037 §3.1).
    EdDsa {
        /// The encoded point.
        x: [u8; 32],
    },
}

/// The error of a host that cannot check a signature. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotCheck(pub String);

impl fmt::Display for CannotCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host cannot check a signature: {}", self.0)
    }
}

impl std::error::Error for CannotCheck {}
