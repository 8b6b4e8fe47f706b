//! The check of the `Origin` header.
//!
//! A browser sends the origin of the calling page in `Origin`. Without this check, an attacker could resolve the host of a page to the
//! address of this server (DNS rebinding). Then the page would send requests from inside the user's network. Every revision requires the
//! check (basic/transports, "Security Warning"). Since 2025-11-25 the status is 403. Clients other than browsers send no `Origin`, and
//! pass the check.

use crate::host::{LOCAL_HOSTS, host_of};

/// The origins of web pages that may call an endpoint.
#[derive(Clone, Debug)]
#[must_use]
pub struct AllowedOrigins(Vec<String>);

impl Default for AllowedOrigins {
    fn default() -> Self {
        Self::local()
    }
}

impl AllowedOrigins {
    /// Creates a list without origins.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Creates a list that allows pages from the user's machine, with every scheme and port: `localhost`, `127.0.0.1`, `[::1]`.
    pub fn local() -> Self {
        Self(LOCAL_HOSTS.map(String::from).to_vec())
    }

    /// Adds `origin` to the list. A host such as `app.example.com` allows every scheme and port, but not its subdomains. A whole origin
    /// such as `https://app.example.com:8443` must match exactly, except for its case and the default port of its scheme.
    pub fn and(mut self, origin: impl Into<String>) -> Self {
        let mut origin = origin.into();
        // Browsers leave the default port out.
        for (scheme, port) in [("https://", ":443"), ("http://", ":80")] {
            if origin.starts_with(scheme) && origin.ends_with(port) {
                origin.truncate(origin.len().saturating_sub(port.len()));
            }
        }
        self.0.push(origin);
        self
    }

    /// Returns whether pages of `origin` may call the endpoint. Returns `false` for `null` and for a malformed origin.
    pub fn allows(&self, origin: &str) -> bool {
        let Some(host) = host_of(origin) else { return false };
        self.0.iter().any(|allowed| {
            let requested = if allowed.contains("://") { origin } else { host };
            allowed.eq_ignore_ascii_case(requested)
        })
    }
}

/// Returns whether `text` is a host or a whole origin, as [`AllowedOrigins::and`] expects.
pub(super) fn is_origin(text: &str) -> bool {
    let is_host = |host: &str| {
        host.split('.')
            .all(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
    };
    host_of(text).map_or(!text.contains("://") && is_host(text), |host| host.starts_with('[') || is_host(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule 28: a request with an origin that is not allowed is rejected.
    #[test]
    fn only_allowed_origins_pass() {
        let origins = AllowedOrigins::local()
            .and("app.example.com")
            .and("https://one.example:8443")
            .and("https://two.example:443");
        for (origin, passes) in [
            ("http://localhost:5173", true),
            ("http://localhost", true),
            ("http://[::1]:8787", true),
            ("http://[::1]", true),
            ("https://APP.example.com", true),
            ("http://app.example.com:81", true),
            ("https://one.example:8443", true),
            ("https://two.example", true),
            ("http://two.example", false),
            ("https://one.example", false),
            ("http://one.example:8443", false),
            ("https://sub.app.example.com", false),
            ("https://evil.example", false),
            ("http://localhost.evil.example", false),
            ("http://evil.example/localhost", false),
            ("http://localhost@evil.example", false),
            ("http://evil.example#@localhost", false),
            ("http://localhost:80x", false),
            ("http://localhost:", false),
            ("http://localhost, http://evil.example", false),
            ("http://", false),
            ("://localhost", false),
            ("localhost", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(origins.allows(origin), passes, "{origin:?}");
        }
        assert!(!AllowedOrigins::none().allows("http://localhost"));
    }
}
