//! The published keys of an issuer, and their cache.
//!
//! Source: RFC 7517; RFC 7518 §6; RFC 8037 §2.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;
use http::Method;
use serde_json::{Map, Value};

use super::claims::{self, invalid};
use super::validator::{PresentedToken, TokenRefusal};
use crate::base64::URL_SAFE;
use crate::bounded_cache::BoundedCache;
use crate::config::SecureUrl;
use crate::host::{FetchLimits, Host, PublicKey};
use crate::limits::{
    ISSUER_BYTES, ISSUER_COUNT, ISSUER_SECONDS, KEYS, KEYS_AFTER_FAILURE_SECONDS, KEYS_AGAIN_SECONDS,
    KEYS_OUTAGE_SECONDS, KEYS_SECONDS, KEYS_WAIT_SECONDS,
};

/// The limits of an answer of an authorization server.
pub(super) const ISSUER_LIMITS: FetchLimits =
    FetchLimits { time: Duration::from_secs(ISSUER_SECONDS), bytes: ISSUER_BYTES };
/// The length of an RSA modulus in bytes: 2048 bits (RFC 7518 §3.3) to 8192 bits. A signature by a longer key takes too long to verify.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;

/// The time between two looks at a fetch of another request.
const POLL: Duration = Duration::from_millis(50);
/// The number of these looks.
const POLLS: u64 = KEYS_WAIT_SECONDS * 20;

/// A signature algorithm.
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
    /// All algorithms.
    pub const ALL: [Self; 3] = [Self::Rs256, Self::Es256, Self::EdDsa];

    /// Returns the name that tokens use (`alg`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Returns the algorithm with the name that tokens and keys use (`alg`). `Ed25519` is the same as `EdDSA`, because no other curve is
    /// supported.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }

    /// Returns the only algorithm of `key`.
    pub(super) const fn of(key: &PublicKey) -> Self {
        match key {
            PublicKey::Rs256 { .. } => Self::Rs256,
            PublicKey::Es256 { .. } => Self::Es256,
            PublicKey::EdDsa { .. } => Self::EdDsa,
        }
    }
}

/// A key and its id (`kid`).
type NamedKey = (Option<String>, PublicKey);

/// The keys of an issuer, and the state of their last fetch. Times are in seconds since 1970.
#[derive(Clone, Default)]
struct Issuer {
    keys: Vec<NamedKey>,
    /// The time after which the keys are fetched again.
    keys_expire: u64,
    /// The earliest time of the next fetch.
    next_fetch: u64,
    /// Whether the last fetch failed.
    is_down: bool,
    /// The time until which a fetch may be pending. Its request may end without notice.
    pending_until: u64,
}

thread_local! {
    /// The issuers by the URL of their keys.
    static ISSUERS: RefCell<BoundedCache<String, Issuer>> = const { RefCell::new(BoundedCache::new(ISSUER_COUNT)) };
}

/// Returns the keys at `url` that may have signed a token with the key id `id`. While the issuer is down, returns the last keys that it
/// published, for [`KEYS_OUTAGE_SECONDS`] after they expire.
///
/// # Errors
/// [`TokenRefusal::Invalid`] if there is no such key, and the errors of [`refetch`].
pub(super) async fn keys(
    url: &SecureUrl,
    id: Option<&str>,
    presented: PresentedToken<'_>,
) -> Result<Vec<PublicKey>, TokenRefusal> {
    let known = cached(url, id, presented.now(), 0);
    let keys = match known.filter(|keys| !keys.is_empty()) {
        Some(keys) => Some(keys),
        None => match refetch(url, id, presented).await {
            Err(outage @ TokenRefusal::Unavailable(_)) => {
                let last = cached(url, id, presented.now(), KEYS_OUTAGE_SECONDS);
                Some(last.filter(|keys| !keys.is_empty()).ok_or(outage)?)
            }
            fetched => fetched?.filter(|keys| !keys.is_empty()),
        },
    };
    keys.ok_or_else(|| invalid("its issuer does not have the key that it names"))
}

/// Fetches the keys again and returns those that may have signed a token with the key id `id`. Returns `None` if the keys were fetched
/// less than [`KEYS_AGAIN_SECONDS`] ago.
///
/// A failed fetch is cached too. Otherwise each token with an unknown key would cause a fetch while the issuer is down.
///
/// # Errors
/// [`TokenRefusal::Unavailable`] if the fetch fails, or failed less than [`KEYS_AFTER_FAILURE_SECONDS`] ago;
/// [`TokenRefusal::TooManyRequests`] if the caller's address has exceeded its rate limit.
pub(super) async fn refetch(
    url: &SecureUrl,
    id: Option<&str>,
    presented: PresentedToken<'_>,
) -> Result<Option<Vec<PublicKey>>, TokenRefusal> {
    if last_fetch(url, presented.now()) == LastFetch::Succeeded {
        return Ok(None);
    }
    presented.check_rate_limit().await?;
    // On Workers, a request cannot wait for a fetch of another request, but it can wait for its own timer.
    for _ in 0..POLLS {
        if last_fetch(url, presented.now()) != LastFetch::Pending {
            break;
        }
        presented.host().sleep(POLL).await;
    }
    match last_fetch(url, presented.now()) {
        LastFetch::Succeeded => Ok(cached(url, id, presented.now(), 0)),
        LastFetch::Failed => {
            Err(unavailable(format!("the last attempt failed less than {KEYS_AFTER_FAILURE_SECONDS} s ago")))
        }
        LastFetch::Pending => Err(unavailable("another request fetches them, and has no answer".into())),
        LastFetch::LongAgo => fetch_and_cache(url, id, presented).await.map(Some),
    }
}

/// The outcome of the last fetch of the keys at a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastFetch {
    /// The keys may be fetched.
    LongAgo,
    Pending,
    Succeeded,
    Failed,
}

fn last_fetch(url: &SecureUrl, now: u64) -> LastFetch {
    ISSUERS.with_borrow(|issuers| match issuers.get(url.as_str(), now) {
        Some(issuer) if now < issuer.pending_until => LastFetch::Pending,
        Some(issuer) if now < issuer.next_fetch && issuer.is_down => LastFetch::Failed,
        Some(issuer) if now < issuer.next_fetch => LastFetch::Succeeded,
        _ => LastFetch::LongAgo,
    })
}

/// Returns the cached keys with the key id `id`, or `None` if the keys are not cached, or expired more than `outage` seconds ago.
fn cached(url: &SecureUrl, id: Option<&str>, now: u64, outage: u64) -> Option<Vec<PublicKey>> {
    ISSUERS.with_borrow(|issuers| {
        let is_usable = |issuer: &&Issuer| now < issuer.keys_expire.saturating_add(outage);
        let issuer = issuers.get(url.as_str(), now).filter(is_usable)?;
        Some(with_id(&issuer.keys, id))
    })
}

/// Fetches the keys and caches the outcome. Returns the keys with the key id `id`.
///
/// The fetch is a task of its own. Otherwise, a caller that closes its connection would end the fetch on which other requests wait.
async fn fetch_and_cache(
    url: &SecureUrl,
    id: Option<&str>,
    presented: PresentedToken<'_>,
) -> Result<Vec<PublicKey>, TokenRefusal> {
    update(url, presented.now(), |issuer, now| issuer.pending_until = now.saturating_add(ISSUER_SECONDS));
    let (sender, outcome) = oneshot::channel();
    let (host, of_task) = (presented.host.clone(), url.clone());
    let task = async move {
        let fetched = fetch(&of_task, &host).await;
        cache(&of_task, &fetched, host.now_ms() / 1000);
        // A request that has ended does not need the keys any more.
        let _ = sender.send(fetched);
    };
    presented.host().spawn(task.boxed_local());
    let fetched = outcome.await.unwrap_or_else(|_| Err(unavailable("the platform has stopped the request".into())));
    Ok(with_id(&fetched?, id))
}

fn cache(url: &SecureUrl, fetched: &Result<Vec<NamedKey>, TokenRefusal>, now: u64) {
    update(url, now, |issuer, now| {
        issuer.pending_until = 0;
        issuer.is_down = fetched.is_err();
        let pause = if issuer.is_down { KEYS_AFTER_FAILURE_SECONDS } else { KEYS_AGAIN_SECONDS };
        issuer.next_fetch = now.saturating_add(pause);
        if let Ok(keys) = fetched {
            issuer.keys.clone_from(keys);
            issuer.keys_expire = now.saturating_add(KEYS_SECONDS);
        }
    });
}

/// Changes the cached state of an issuer. `change` gets the time in seconds.
fn update(url: &SecureUrl, now: u64, change: impl FnOnce(&mut Issuer, u64)) {
    ISSUERS.with_borrow_mut(|issuers| {
        let mut issuer = issuers.get(url.as_str(), now).cloned().unwrap_or_default();
        change(&mut issuer, now);
        let keys_until = issuer.keys_expire.saturating_add(KEYS_OUTAGE_SECONDS);
        let expires = keys_until.max(issuer.next_fetch).max(issuer.pending_until);
        issuers.insert(url.as_str().to_owned(), issuer, expires, now);
    });
}

/// Returns the keys with this id, or all keys if `id` is `None`.
fn with_id(keys: &[NamedKey], id: Option<&str>) -> Vec<PublicKey> {
    let mut found = Vec::new();
    for (name, key) in keys {
        if id.is_none_or(|id| name.as_deref() == Some(id)) {
            found.push(key.clone());
        }
    }
    found
}

async fn fetch(url: &SecureUrl, host: &Rc<dyn Host>) -> Result<Vec<NamedKey>, TokenRefusal> {
    let request = url.request(Method::GET, String::new());
    let answer = host.fetch(request, ISSUER_LIMITS).await.map_err(|error| unavailable(error.to_string()))?;
    if answer.status != 200 {
        return Err(unavailable(format!("its server answers with {}", answer.status_for_log())));
    }
    parse(&answer.body).ok_or_else(|| unavailable("the response is not a JSON Web Key Set".into()))
}

fn unavailable(problem: String) -> TokenRefusal {
    TokenRefusal::Unavailable(format!("the keys of the issuer cannot be fetched: {problem}").into())
}

/// Parses a key set. Returns at most [`KEYS`] signature keys of known types, and ignores the others.
fn parse(json: &[u8]) -> Option<Vec<NamedKey>> {
    let set = claims::parse_object(json)?;
    let mut keys = Vec::new();
    for key in set.get("keys")?.as_array()?.iter().filter_map(Value::as_object) {
        if keys.len() == KEYS {
            break;
        }
        if is_for_signatures(key)
            && let Some(public) = public_key(key)
        {
            keys.push((string(key, "kid").map(str::to_owned), public));
        }
    }
    Some(keys)
}

fn is_for_signatures(key: &Map<String, Value>) -> bool {
    let is_for_use = key.get("use").is_none_or(|purpose| purpose == "sig");
    let can_verify = key.get("key_ops").is_none_or(|operations| {
        operations.as_array().is_some_and(|all| all.iter().any(|operation| operation == "verify"))
    });
    is_for_use && can_verify
}

/// Parses a key. Returns `None` if its type is unknown, if it is malformed or if it is for another algorithm.
fn public_key(key: &Map<String, Value>) -> Option<PublicKey> {
    let bytes = |name: &str| URL_SAFE.decode(string(key, name)?);
    let point = |name: &str| bytes(name)?.try_into().ok();
    let public = match (string(key, "kty")?, string(key, "crv")) {
        ("RSA", _) => {
            let (n, e) = (bytes("n")?, bytes("e")?);
            let is_valid = MODULUS.contains(&n.len()) && n.first() != Some(&0) && (1..=8).contains(&e.len());
            is_valid.then_some(PublicKey::Rs256 { n, e })?
        }
        ("EC", Some("P-256")) => PublicKey::Es256 { x: point("x")?, y: point("y")? },
        ("OKP", Some("Ed25519")) => PublicKey::EdDsa { x: point("x")? },
        _ => return None,
    };
    let is_its_algorithm = |name: &Value| name.as_str().and_then(Algorithm::named) == Some(Algorithm::of(&public));
    key.get("alg").is_none_or(is_its_algorithm).then_some(public)
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

    /// A key with any defect is ignored.
    #[test]
    fn malformed_keys_are_ignored() {
        let rsa = |bytes: usize, first: u8, exponent: &[u8]| {
            let mut modulus = vec![0xff; bytes];
            modulus[0] = first;
            read(json!({ "kty": "RSA", "n": URL_SAFE.encode(modulus), "e": URL_SAFE.encode(exponent) })).is_some()
        };
        for (bytes, first, exponent, is_valid) in [
            (256, 0xff, &[1, 0, 1][..], true),
            (1024, 1, &[3], true),
            (255, 0xff, &[1, 0, 1], false),
            (1025, 0xff, &[1, 0, 1], false),
            (256, 0, &[1, 0, 1], false),
            (256, 0xff, &[], false),
            (256, 0xff, &[1; 8], true),
            (256, 0xff, &[1; 9], false),
        ] {
            assert_eq!(rsa(bytes, first, exponent), is_valid, "{bytes} {first} {exponent:?}");
        }
        let point = URL_SAFE.encode([7; 32]);
        for (algorithm, is_valid) in [("EdDSA", true), ("Ed25519", true), ("ES256", false), ("Ed448", false)] {
            let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": point, "alg": algorithm });
            assert_eq!(read(key).is_some(), is_valid, "{algorithm}");
        }
        for (algorithm, is_valid) in [("ES256", true), ("Ed25519", false), ("EdDSA", false)] {
            let key = json!({ "kty": "EC", "crv": "P-256", "x": point, "y": point, "alg": algorithm });
            assert_eq!(read(key).is_some(), is_valid, "{algorithm}");
        }
    }

    #[test]
    fn keys_beyond_the_limit_are_ignored() {
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": URL_SAFE.encode([7; 32]) });
        let set = json!({ "keys": vec![key; KEYS + 1] }).to_string();
        assert_eq!(parse(set.as_bytes()).map(|keys| keys.len()), Some(KEYS));
    }
}
