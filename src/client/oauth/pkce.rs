//! The proof that the client that exchanges a code is the one that asked for it.
//!
//! Source: RFC 7636 §4.1 and §4.2.

use sha2::{Digest, Sha256};

use crate::base64::URL_SAFE;
use crate::host::{Host, NoRandomness};

/// Returns 32 random bytes as text: a code verifier, or a `state`.
///
/// # Errors
/// The host cannot generate random bytes.
pub(in crate::client) fn random_text(host: &dyn Host) -> Result<String, NoRandomness> {
    let mut bytes = [0_u8; 32];
    host.fill_random(&mut bytes)?;
    Ok(URL_SAFE.encode(bytes))
}

/// Returns the code challenge of a verifier, for the method `S256`.
pub(in crate::client) fn code_challenge(verifier: &str) -> String {
    URL_SAFE.encode(Sha256::digest(verifier))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestHost;

    /// The example of RFC 7636, appendix B.
    #[test]
    fn a_challenge_is_the_digest_of_its_verifier() {
        let challenge = code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        let host = TestHost::new();
        let [one, two] = [(); 2].map(|()| random_text(&host).expect("random bytes"));
        assert!(one != two && one.len() == 43 && one.is_ascii(), "{one} {two}");
    }
}
