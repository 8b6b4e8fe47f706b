//! Signatures of others.

use std::fmt;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

/// A public key, with the one algorithm that it is for. Numbers are big-endian.
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
        /// The point.
        x: [u8; 32],
        /// The point.
        y: [u8; 32],
    },
    /// EdDSA on Ed25519 (RFC 8037 §3.1).
    EdDsa {
        /// The point.
        x: [u8; 32],
    },
}

/// The machine could not check a signature. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotCheck(pub String);

impl fmt::Display for CannotCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the machine cannot check a signature: {}", self.0)
    }
}

impl std::error::Error for CannotCheck {}

/// Checks signatures.
pub trait SignatureCheck {
    /// Whether `signature` is that of `message` by the holder of `key`. What cannot be a signature or a key is not.
    ///
    /// # Errors
    /// [`CannotCheck`], where the machine does not know the algorithm.
    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>>;
}

impl SignatureCheck for super::Offline {
    fn verify(&self, _: PublicKey, _: Vec<u8>, _: Vec<u8>) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        async { Err(CannotCheck("it has none of the algorithms".into())) }.boxed_local()
    }
}
