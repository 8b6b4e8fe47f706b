//! Signatures, with the WebCrypto of the runtime.
//!
//! Source: Web Cryptography API, "SubtleCrypto"; RFC 7517 for the format of the keys.

use web_sys::{CryptoKey, SubtleCrypto};
use worker::js_sys::{self, Array, Object, Reflect, Uint8Array};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;

use crate::base64::URL_SAFE;
use crate::host::{CannotCheck, CannotSign, PrivateKey, PublicKey};

/// Returns whether `signature` is a signature of `message` by the holder of `key`.
///
/// # Errors
/// [`CannotCheck`] if the runtime has no WebCrypto.
pub(super) async fn verify(key: PublicKey, message: Vec<u8>, signature: Vec<u8>) -> Result<bool, CannotCheck> {
    check(&key, &message, &signature).await.map_err(|_| CannotCheck("the runtime has no WebCrypto".into()))
}

async fn check(key: &PublicKey, message: &[u8], signature: &[u8]) -> Result<bool, JsValue> {
    let subtle = subtle()?;
    let (algorithm, key) = for_web_crypto(key)?;
    let usages = Array::of1(&"verify".into());
    let Ok(importing) = subtle.import_key_with_object("jwk", &key, &algorithm, false, &usages) else {
        return Ok(false);
    };
    // The import fails for bytes that are not a key. No signature is valid for such bytes.
    let Ok(key) = JsFuture::from(importing).await else { return Ok(false) };
    let key: CryptoKey = key.unchecked_into();
    let checking = subtle.verify_with_object_and_u8_array_and_u8_array(&algorithm, &key, signature, message)?;
    // Some algorithms return an error for bytes that are not a signature.
    Ok(JsFuture::from(checking).await.is_ok_and(|is_signed| is_signed.is_truthy()))
}

/// Returns the signature of `message` by `key`.
///
/// # Errors
/// [`CannotSign`] if the runtime has no WebCrypto, or the bytes are not a key for the algorithm.
pub(super) async fn sign(key: PrivateKey, message: Vec<u8>) -> Result<Vec<u8>, CannotSign> {
    // The error of the runtime may have a part of the key.
    signature(&key, &message).await.map_err(|_| CannotSign("the runtime does not accept the private key".into()))
}

async fn signature(key: &PrivateKey, message: &[u8]) -> Result<Vec<u8>, JsValue> {
    let subtle = subtle()?;
    let (algorithm, pkcs8) = match key {
        PrivateKey::Rs256(pkcs8) => (object(RS256)?, pkcs8),
        PrivateKey::Es256(pkcs8) => (object(ES256)?, pkcs8),
        PrivateKey::EdDsa(pkcs8) => (object(ED25519)?, pkcs8),
    };
    let pkcs8 = Uint8Array::from(pkcs8.as_slice());
    let usages = Array::of1(&"sign".into());
    let importing = subtle.import_key_with_object("pkcs8", &pkcs8, &algorithm, false, &usages)?;
    let key: CryptoKey = JsFuture::from(importing).await?.unchecked_into();
    let signing = subtle.sign_with_object_and_u8_array(&algorithm, &key, message)?;
    Ok(Uint8Array::new(&JsFuture::from(signing).await?).to_vec())
}

/// The parameters of the algorithms. WebCrypto takes from them what each function needs.
const RS256: &[(&str, &str)] = &[("name", "RSASSA-PKCS1-v1_5"), ("hash", "SHA-256")];
const ES256: &[(&str, &str)] = &[("name", "ECDSA"), ("namedCurve", "P-256"), ("hash", "SHA-256")];
const ED25519: &[(&str, &str)] = &[("name", "Ed25519")];

fn subtle() -> Result<SubtleCrypto, JsValue> {
    let crypto: web_sys::Crypto = Reflect::get(&js_sys::global(), &"crypto".into())?.dyn_into()?;
    Ok(crypto.subtle())
}

/// Returns the algorithm and the key in the form that WebCrypto expects.
fn for_web_crypto(key: &PublicKey) -> Result<(Object, Object), JsValue> {
    let number = |bytes: &[u8]| URL_SAFE.encode(bytes);
    match key {
        PublicKey::Rs256 { n, e } => {
            Ok((object(RS256)?, object(&[("kty", "RSA"), ("n", &number(n)), ("e", &number(e))])?))
        }
        PublicKey::Es256 { x, y } => {
            Ok((object(ES256)?, object(&[("kty", "EC"), ("crv", "P-256"), ("x", &number(x)), ("y", &number(y))])?))
        }
        PublicKey::EdDsa { x } => {
            Ok((object(ED25519)?, object(&[("kty", "OKP"), ("crv", "Ed25519"), ("x", &number(x))])?))
        }
    }
}

fn object(members: &[(&str, &str)]) -> Result<Object, JsValue> {
    let object = Object::new();
    for (name, value) in members {
        Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(value))?;
    }
    Ok(object)
}
