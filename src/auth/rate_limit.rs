//! Rate limits, which count requests per caller, or per address while the caller is unknown.
//!
//! An authenticated request does not count against its address, because many callers may share one. It counts if the validator asks
//! another server about the token, because the caller is still unknown at that time.
//!
//! Source of 429: RFC 6585 §4.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::principal::Principal;
use crate::base64::URL_SAFE;
use crate::bounded_cache::BoundedCache;
use crate::host::{Host, RateLimit, Request, log};
use crate::limits::BLOCKED_ADDRESSES;

/// The `event` of warnings about requests that are not limited.
const EVENT: &str = "unlimited";

/// The rate limit setting of an endpoint.
pub(crate) enum RateLimiting {
    /// Requests are not limited, because a rate limit is not configured. A warning is logged.
    Unset,
    /// Requests are not limited, because the program disabled the rate limit.
    Off,
    /// Requests are limited.
    On(RateLimit),
}

impl RateLimiting {
    /// Counts a request of `principal` and returns whether it is within the limit.
    pub(crate) async fn allows(&self, principal: &Principal, host: &Rc<dyn Host>) -> bool {
        self.count(|| key_of_principal(principal), host).await
    }

    /// Counts a request and returns whether it is within the limit. A request that cannot be counted passes.
    async fn count(&self, key: impl FnOnce() -> String, host: &Rc<dyn Host>) -> bool {
        let problem = match self {
            Self::Off => return true,
            Self::Unset => "no rate limit is bound as MCP_RATE_LIMIT: requests are not limited".to_owned(),
            Self::On(limit) => match limit.admits(key()).await {
                Ok(is_within) => return is_within,
                Err(error) => format!("the rate limit fails, and requests are not limited: {error}"),
            },
        };
        log::warning_once(host, EVENT, &problem);
        true
    }

    /// Returns the time after which a caller that exceeded the limit may try again.
    pub(crate) fn period(&self) -> Duration {
        match self {
            Self::On(limit) => limit.period(),
            // A validator may have its own limit. Its callers may try again after 1 minute.
            Self::Unset | Self::Off => Duration::from_mins(1),
        }
    }
}

thread_local! {
    /// The keys of the addresses that have exceeded their limit with forged tokens, until the period ends.
    static BLOCKED: RefCell<BoundedCache<String, ()>> = const { RefCell::new(BoundedCache::new(BLOCKED_ADDRESSES)) };
}

/// The rate limit for the address that a request came from. It counts the request once, at the first check.
pub(crate) struct AddressLimit<'a> {
    limiting: &'a RateLimiting,
    head: &'a dyn Request,
    host: &'a Rc<dyn Host>,
    result: Cell<Option<bool>>,
}

impl<'a> AddressLimit<'a> {
    pub(crate) const fn new(limiting: &'a RateLimiting, head: &'a dyn Request, host: &'a Rc<dyn Host>) -> Self {
        Self { limiting, head, host, result: Cell::new(None) }
    }

    /// Returns whether the request is within the limit.
    pub(crate) async fn allows(&self) -> bool {
        if let Some(is_within) = self.result.get() {
            return is_within;
        }
        let is_within = self.limiting.count(|| key_of_address(self.head.client_address()), self.host).await;
        self.result.set(Some(is_within));
        is_within
    }

    /// Counts a request with a forged token, and returns whether it is within the limit. If it is not, the address is
    /// [blocked](Self::is_blocked) for a period, because the check of a signature is expensive.
    pub(crate) async fn allows_forgery(&self) -> bool {
        let is_within = self.allows().await;
        if !is_within {
            let (key, now) = (key_of_address(self.head.client_address()), self.now());
            let until = now.saturating_add(self.limiting.period().as_secs());
            BLOCKED.with_borrow_mut(|blocked| blocked.insert(key, (), until, now));
        }
        is_within
    }

    /// Returns whether no signature is checked for this address at the moment.
    pub(crate) fn is_blocked(&self) -> bool {
        BLOCKED.with_borrow(|blocked| {
            let is_limited = matches!(self.limiting, RateLimiting::On(_)) && !blocked.is_empty();
            is_limited && blocked.get(&key_of_address(self.head.client_address()), self.now()).is_some()
        })
    }

    /// Returns the time in seconds since 1970.
    fn now(&self) -> u64 {
        self.host.now_ms() / 1000
    }
}

/// Returns the key of a caller. It is a digest, so it does not reveal the caller to the service that counts requests.
pub(crate) fn key_of_principal(principal: &Principal) -> String {
    digest(&format!("caller {}", principal.identity()))
}

/// Returns the key of an IPv4 address, or of the first 64 bits of an IPv6 address, because one caller usually has a whole /64. All
/// requests without a known address share one key.
pub(crate) fn key_of_address(address: Option<IpAddr>) -> String {
    let network = address.map(|address| match address.to_canonical() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().into_iter().take(8).collect(),
    });
    digest(&format!("address {network:?}"))
}

fn digest(text: &str) -> String {
    URL_SAFE.encode(Sha256::digest(text))
}
