//! The keys that verify and make signatures.

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

/// A private key with its algorithm, for one client of an authorization server. The bytes are a PKCS #8 `PrivateKeyInfo` in DER (RFC 5208).
#[derive(Clone, PartialEq, Eq)]
pub enum PrivateKey {
    /// RS256: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    Rs256(Vec<u8>),
    /// ES256: ECDSA on P-256 with SHA-256; the signature is the 64 bytes `r || s` (RFC 7518 §3.4).
    Es256(Vec<u8>),
    /// EdDSA on Ed25519 (RFC 8037 §3.1).
    EdDsa(Vec<u8>),
}

impl fmt::Debug for PrivateKey {
    /// Writes the algorithm, but not the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rs256(_) => "Rs256(…)",
            Self::Es256(_) => "Es256(…)",
            Self::EdDsa(_) => "EdDsa(…)",
        })
    }
}

/// The error of a host that cannot sign with a key. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotSign(pub String);

impl fmt::Display for CannotSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host cannot sign: {}", self.0)
    }
}

impl std::error::Error for CannotSign {}
