//! A simulated authorization server: its names, its keys, and the tokens that it signs.

use std::future::ready;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use edge_mcp::host::PublicKey;
use edge_mcp::testing::TestHost;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair as RsaKeyPair, PublicKeyComponents};
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::{Value, json};

/// The issuer of the tokens (`iss`).
pub const ISSUER: &str = "https://auth.example.com";
/// The URL of the server that the tokens are for (`aud`).
pub const RESOURCE: &str = "https://kb.example.com/mcp";

/// Returns a host with this network that can verify signatures. Its clock shows `second`, in seconds since 1970.
pub fn host_at(network: &TestHost, second: u64) -> TestHost {
    let host = network.clone().clock(second * 1000);
    host.verify(|key, message, signature| ready(Ok(verify(key, &message, &signature))))
}

/// Verifies a signature with ring.
fn verify(key: PublicKey, message: &[u8], signature: &[u8]) -> bool {
    match key {
        PublicKey::Rs256 { n, e } => {
            RsaPublicKeyComponents { n, e }.verify(&signature::RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
        }
        PublicKey::Es256 { x, y } => {
            let point = [&[4][..], &x, &y].concat();
            UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
        }
        PublicKey::EdDsa { x } => UnparsedPublicKey::new(&signature::ED25519, x).verify(message, signature).is_ok(),
    }
}

/// Encodes bytes in base64url without padding.
pub fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The three key pairs of the issuer. ring cannot generate RSA keys, so the RSA key is in a file. Only these tests trust it.
pub struct Keys {
    rsa: RsaKeyPair,
    elliptic: EcdsaKeyPair,
    edwards: Ed25519KeyPair,
}

pub static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let random = SystemRandom::new();
    let elliptic = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(elliptic, &random).expect("a key");
    let edwards = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
    Keys {
        rsa: RsaKeyPair::from_pkcs8(include_bytes!("rsa.pk8")).expect("a key"),
        elliptic: EcdsaKeyPair::from_pkcs8(elliptic, document.as_ref(), &random).expect("a key"),
        edwards: Ed25519KeyPair::from_pkcs8(edwards.as_ref()).expect("a key"),
    }
});

impl Keys {
    /// Signs `message` and returns the bytes of a JWT signature.
    pub fn sign(&self, algorithm: &str, message: &str) -> Vec<u8> {
        let (random, message) = (SystemRandom::new(), message.as_bytes());
        match algorithm {
            "RS256" => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa.sign(&signature::RSA_PKCS1_SHA256, &random, message, &mut signature).expect("signed");
                signature
            }
            "ES256" => self.elliptic.sign(&random, message).expect("signed").as_ref().to_vec(),
            "EdDSA" => self.edwards.sign(message).as_ref().to_vec(),
            other => panic!("there is no key for the algorithm {other}"),
        }
    }

    /// Returns the public keys in the format of a JWK. The `kid` of each key is its algorithm.
    pub fn public(&self) -> Vec<Value> {
        let point = self.elliptic.public_key().as_ref();
        let rsa = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        vec![
            json!({ "kty": "RSA", "kid": "RS256", "use": "sig", "alg": "RS256", "n": encoded(rsa.n), "e": encoded(rsa.e) }),
            json!({ "kty": "EC", "kid": "ES256", "crv": "P-256", "x": encoded(&point[1..33]), "y": encoded(&point[33..]) }),
            json!({ "kty": "OKP", "kid": "EdDSA", "crv": "Ed25519", "key_ops": ["verify"],
                    "x": encoded(self.edwards.public_key()) }),
        ]
    }
}

/// Returns a JWT, signed with the key for the `alg` of its header.
pub fn token(header: &Value, claims: &Value) -> String {
    let message = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
    let algorithm = header["alg"].as_str().expect("alg");
    let signature = KEYS.sign(algorithm, &message);
    format!("{message}.{}", encoded(signature))
}

/// Returns an `Authorization` header for HTTP Basic authentication. `pair` is `id:secret`.
pub fn basic(pair: &str) -> String {
    format!("Basic {}", STANDARD.encode(pair))
}
