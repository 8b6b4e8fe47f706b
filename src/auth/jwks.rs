//! The published keys of an issuer.
//!
//! Source: RFC 7517; RFC 7518 §6; RFC 8037 §2.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Request;
use http::header::ACCEPT;
use serde_json::{Map, Value};

use super::claims::{self, invalid};
use super::secure_url::SecureUrl;
use super::validator::{Presented, TokenRefusal};
use crate::host::{FetchLimits, PublicKey};
use crate::limits::{
    ISSUER_BYTES, ISSUER_COUNT, ISSUER_SECONDS, KEYS, KEYS_AFTER_FAILURE_SECONDS, KEYS_AGAIN_SECONDS, KEYS_SECONDS,
};

/// What the keys may take.
const LIMITS: FetchLimits = FetchLimits { time: Duration::from_secs(ISSUER_SECONDS), bytes: ISSUER_BYTES };
/// Bytes of an RSA modulus: 2048 bits (RFC 7518 §3.3) to 8192, past which a check takes too long.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;

/// An algorithm by which tokens are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// EdDSA on Ed25519. Tokens and keys may also name it `Ed25519` (RFC 9864).
    EdDsa,
}

impl Algorithm {
    /// All that are known here.
    pub const ALL: [Self; 3] = [Self::Rs256, Self::Es256, Self::EdDsa];

    /// Its name as a token has it (`alg`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The algorithm of that name, as tokens and keys write it (`alg`). Both names of EdDSA are the same here, since no other curve is
    /// supported.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }

    /// The one algorithm that `key` is for.
    pub(super) const fn of(key: &PublicKey) -> Self {
        match key {
            PublicKey::Rs256 { .. } => Self::Rs256,
            PublicKey::Es256 { .. } => Self::Es256,
            PublicKey::EdDsa { .. } => Self::EdDsa,
        }
    }
}

/// A key and its name.
type Named = (Option<String>, PublicKey);

/// The keys of an issuer, and when they were fetched. Times are in seconds since 1970.
#[derive(Default)]
struct Issuer {
    keys: Vec<Named>,
    /// When the keys are too old to be used.
    expire: u64,
    /// When they may be fetched again.
    next_fetch: u64,
    /// Whether the last fetch has failed.
    is_down: bool,
}

thread_local! {
    /// By the URL that their keys are at.
    static ISSUERS: RefCell<HashMap<String, Issuer>> = RefCell::default();
}

/// Returns the keys at `url` that may have signed a token which names the key `id`.
pub(super) async fn keys(
    url: &SecureUrl,
    id: Option<&str>,
    presented: Presented<'_>,
) -> Result<Vec<PublicKey>, TokenRefusal> {
    let now = presented.now();
    let kept = ISSUERS.with_borrow(|issuers| {
        let issuer = issuers.get(url.as_str()).filter(|issuer| now < issuer.expire)?;
        Some(named(&issuer.keys, id)).filter(|keys| !keys.is_empty())
    });
    let keys = match kept {
        Some(keys) => Some(keys),
        None => refetched(url, id, presented).await?.filter(|keys| !keys.is_empty()),
    };
    keys.ok_or_else(|| invalid("its issuer does not have the key that it names"))
}

/// Fetches the keys anew and returns those that may have signed a token which names the key `id`. Returns `None` if the keys were
/// fetched a moment ago.
///
/// A fetch that fails counts too: otherwise each token with an unknown key would cause one while the issuer is down.
///
/// # Errors
/// [`TokenRefusal::Unavailable`] if the fetch fails or has failed a moment ago; [`TokenRefusal::TooManyRequests`].
pub(super) async fn refetched(
    url: &SecureUrl,
    id: Option<&str>,
    presented: Presented<'_>,
) -> Result<Option<Vec<PublicKey>>, TokenRefusal> {
    let now = presented.now();
    let too_early = ISSUERS.with_borrow(|issuers| {
        let issuer = issuers.get(url.as_str())?;
        (now < issuer.next_fetch).then_some(issuer.is_down)
    });
    if too_early == Some(false) {
        return Ok(None);
    }
    presented.may_ask_elsewhere().await?;
    if too_early == Some(true) {
        return Err(unavailable("they could not be fetched a moment ago".into()));
    }
    let fetched = fetch(url, presented).await;
    let now = presented.now();
    ISSUERS.with_borrow_mut(|issuers| {
        // A Worker has one issuer or two: this only keeps a program that makes them up from filling the memory.
        if issuers.len() >= ISSUER_COUNT && !issuers.contains_key(url.as_str()) {
            issuers.clear();
        }
        let issuer = issuers.entry(url.as_str().to_owned()).or_default();
        issuer.is_down = fetched.is_err();
        issuer.next_fetch =
            now.saturating_add(if issuer.is_down { KEYS_AFTER_FAILURE_SECONDS } else { KEYS_AGAIN_SECONDS });
        if let Ok(keys) = &fetched {
            issuer.keys.clone_from(keys);
            issuer.expire = now.saturating_add(KEYS_SECONDS);
        }
    });
    Ok(Some(named(&fetched?, id)))
}

/// The keys of that name; all of them, where none is named.
fn named(keys: &[Named], id: Option<&str>) -> Vec<PublicKey> {
    let fits = |name: &Option<String>| id.is_none_or(|id| name.as_deref() == Some(id));
    keys.iter().filter(|(name, _)| fits(name)).map(|(_, key)| key.clone()).collect()
}

async fn fetch(url: &SecureUrl, presented: Presented<'_>) -> Result<Vec<Named>, TokenRefusal> {
    let request = Request::get(url.as_str()).header(ACCEPT, "application/json").body(String::new());
    let request = request.map_err(|error| unavailable(error.to_string()))?;
    let answer = presented.host().fetch(request, LIMITS).await.map_err(|error| unavailable(error.to_string()))?;
    if answer.status != 200 {
        return Err(unavailable(format!("the status is {}", answer.status)));
    }
    parse(&answer.body).ok_or_else(|| unavailable("the answer is no JSON Web Key Set".into()))
}

fn unavailable(problem: String) -> TokenRefusal {
    TokenRefusal::Unavailable(format!("the keys of the issuer: {problem}").into())
}

/// The keys of a set that are of a known kind and for signatures; others are for others.
fn parse(json: &[u8]) -> Option<Vec<Named>> {
    let set = claims::object(json)?;
    let keys = set.get("keys")?.as_array()?;
    let keys = keys.iter().filter_map(Value::as_object).filter(|key| is_for_signatures(key));
    let read = |key: &Map<String, Value>| Some((string(key, "kid").map(str::to_owned), public_key(key)?));
    Some(keys.filter_map(read).take(KEYS).collect())
}

fn is_for_signatures(key: &Map<String, Value>) -> bool {
    let for_use = key.get("use").is_none_or(|purpose| purpose == "sig");
    let operations = key.get("key_ops").is_none_or(|operations| {
        operations.as_array().is_some_and(|all| all.iter().any(|operation| operation == "verify"))
    });
    for_use && operations
}

/// A key of a kind that is known here, if it is sound and is not meant for another algorithm.
fn public_key(key: &Map<String, Value>) -> Option<PublicKey> {
    let bytes = |name: &str| URL_SAFE_NO_PAD.decode(string(key, name)?).ok();
    let point = |name: &str| bytes(name)?.try_into().ok();
    let public = match (string(key, "kty")?, string(key, "crv")) {
        ("RSA", _) => {
            let (n, e) = (bytes("n")?, bytes("e")?);
            let sound = MODULUS.contains(&n.len()) && n.first() != Some(&0) && (1..=8).contains(&e.len());
            sound.then_some(PublicKey::Rs256 { n, e })?
        }
        ("EC", Some("P-256")) => PublicKey::Es256 { x: point("x")?, y: point("y")? },
        ("OKP", Some("Ed25519")) => PublicKey::EdDsa { x: point("x")? },
        _ => return None,
    };
    let names_it = |name: &Value| name.as_str().and_then(Algorithm::named) == Some(Algorithm::of(&public));
    key.get("alg").is_none_or(names_it).then_some(public)
}

fn string<'k>(key: &'k Map<String, Value>, name: &str) -> Option<&'k str> {
    key.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(key: Value) -> Option<PublicKey> {
        parse(json!({ "keys": [key] }).to_string().as_bytes()).expect("a set").pop().map(|(_, key)| key)
    }

    /// Each thing that is wrong with a key is enough to leave it out.
    #[test]
    fn keys_are_sound() {
        let rsa = |bytes: usize, first: u8, exponent: &[u8]| {
            let mut modulus = vec![0xff; bytes];
            modulus[0] = first;
            read(json!({ "kty": "RSA", "n": URL_SAFE_NO_PAD.encode(modulus), "e": URL_SAFE_NO_PAD.encode(exponent) }))
                .is_some()
        };
        for (bytes, first, exponent, is_sound) in [
            (256, 0xff, &[1, 0, 1][..], true),
            (1024, 1, &[3], true),
            (255, 0xff, &[1, 0, 1], false),
            (1025, 0xff, &[1, 0, 1], false),
            (256, 0, &[1, 0, 1], false),
            (256, 0xff, &[], false),
            (256, 0xff, &[1; 8], true),
            (256, 0xff, &[1; 9], false),
        ] {
            assert_eq!(rsa(bytes, first, exponent), is_sound, "{bytes} {first} {exponent:?}");
        }
        let point = URL_SAFE_NO_PAD.encode([7; 32]);
        for (algorithm, is_sound) in [("EdDSA", true), ("Ed25519", true), ("ES256", false), ("Ed448", false)] {
            let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": point, "alg": algorithm });
            assert_eq!(read(key).is_some(), is_sound, "{algorithm}");
        }
        for (algorithm, is_sound) in [("ES256", true), ("Ed25519", false), ("EdDSA", false)] {
            let key = json!({ "kty": "EC", "crv": "P-256", "x": point, "y": point, "alg": algorithm });
            assert_eq!(read(key).is_some(), is_sound, "{algorithm}");
        }
    }

    #[test]
    fn a_set_is_read_to_a_limit() {
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode([7; 32]) });
        let set = json!({ "keys": vec![key; KEYS + 1] }).to_string();
        assert_eq!(parse(set.as_bytes()).map(|keys| keys.len()), Some(KEYS));
    }
}
