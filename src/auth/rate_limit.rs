//! How often a caller may call: by who it is, and, as long as that is not known, by its address.
//!
//! Callers who are known do not count against their address: many share one. Source of 429: RFC 6585 §4.

use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::auth::Principal;
use crate::host::warning;
use crate::host::{Host, RateLimit, Request};

/// The log's word for callers that are not counted.
const EVENT: &str = "unlimited";

/// How requests are counted.
pub(crate) enum RateLimiting {
    /// They are not, and nobody has said that this is meant.
    Unbound,
    /// They are not.
    Off,
    /// By this.
    By(RateLimit),
}

impl RateLimiting {
    /// Counts a request: whether it is within the limit. A counter that fails lets it pass.
    pub(crate) async fn admits(&self, key: impl FnOnce() -> String, host: &Rc<dyn Host>) -> bool {
        match self {
            Self::Off => true,
            Self::Unbound => {
                warning::once(
                    host,
                    EVENT,
                    "no rate limit is bound as MCP_RATE_LIMIT: callers may call as often as they like",
                );
                true
            }
            Self::By(limit) => limit.admits(key()).await.unwrap_or_else(|error| {
                warning::once(host, EVENT, &format!("the rate limit fails, and callers pass uncounted: {error}"));
                true
            }),
        }
    }

    /// The time after which a caller that was refused may try again.
    pub(crate) fn period(&self) -> Duration {
        match self {
            Self::By(limit) => limit.period(),
            // A validator has limits of its own.
            Self::Unbound | Self::Off => Duration::from_mins(1),
        }
    }
}

/// Whoever counts is not told who calls: a key is a digest.
pub(crate) fn key_of_principal(principal: &Principal) -> String {
    let Principal { issuer, subject, client_id, .. } = principal;
    digest(&format!("{:?}", (issuer, subject, client_id)))
}

/// The key of the address that a request came from: an IPv4 address, or the first 64 bits of an IPv6 address, since one caller
/// usually has a whole /64. All requests whose address the host does not know share one key.
pub(crate) fn key_of_address(head: &dyn Request) -> String {
    let network = head.client_address().map(|address| match address.to_canonical() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().into_iter().take(8).collect(),
    });
    digest(&format!("address {network:?}"))
}

fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}
