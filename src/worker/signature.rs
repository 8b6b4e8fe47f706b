//! Signatures, by the runtime's WebCrypto.
//!
//! Source: Web Cryptography API, "SubtleCrypto"; RFC 7517 for the form in which keys are handed over.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use web_sys::{CryptoKey, SubtleCrypto};
use worker::js_sys::{self, Array, Object, Reflect};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;

use super::host::Isolate;
use crate::host::{CannotCheck, PublicKey, SignatureCheck};

impl SignatureCheck for Isolate {
    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        let none = |_| CannotCheck("there is no WebCrypto".into());
        verify(key, message, signature).map(move |checked| checked.map_err(none)).boxed_local()
    }
}

async fn verify(key: PublicKey, message: Vec<u8>, signature: Vec<u8>) -> Result<bool, JsValue> {
    let subtle = subtle()?;
    let (algorithm, key) = for_web_crypto(&key)?;
    let usages = Array::of1(&"verify".into());
    let Ok(importing) = subtle.import_key_with_object("jwk", &key, &algorithm, false, &usages) else {
        return Ok(false);
    };
    // Bytes that are no key are refused here: nothing is signed by them.
    let Ok(key) = JsFuture::from(importing).await else { return Ok(false) };
    let key: CryptoKey = key.unchecked_into();
    let checking = subtle.verify_with_object_and_u8_array_and_u8_array(&algorithm, &key, &signature, &message)?;
    // And bytes that are no signature are refused here, by some algorithms.
    Ok(JsFuture::from(checking).await.is_ok_and(|is_signed| is_signed.is_truthy()))
}

fn subtle() -> Result<SubtleCrypto, JsValue> {
    let crypto: web_sys::Crypto = Reflect::get(&js_sys::global(), &"crypto".into())?.dyn_into()?;
    Ok(crypto.subtle())
}

/// The algorithm and the key, as WebCrypto takes them.
fn for_web_crypto(key: &PublicKey) -> Result<(Object, Object), JsValue> {
    let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    match key {
        PublicKey::Rs256 { n, e } => Ok((
            object(&[("name", "RSASSA-PKCS1-v1_5"), ("hash", "SHA-256")])?,
            object(&[("kty", "RSA"), ("n", &number(n)), ("e", &number(e))])?,
        )),
        PublicKey::Es256 { x, y } => Ok((
            object(&[("name", "ECDSA"), ("namedCurve", "P-256"), ("hash", "SHA-256")])?,
            object(&[("kty", "EC"), ("crv", "P-256"), ("x", &number(x)), ("y", &number(y))])?,
        )),
        PublicKey::EdDsa { x } => {
            Ok((object(&[("name", "Ed25519")])?, object(&[("kty", "OKP"), ("crv", "Ed25519"), ("x", &number(x))])?))
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
