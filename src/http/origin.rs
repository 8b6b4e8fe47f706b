//! Which web pages may call this server.
//!
//! A browser names the calling page in `Origin`. Without this check, a page whose name an attacker points at this server's
//! address (DNS rebinding) would act from the user's place in the network. Every revision asks for it
//! (basic/transports, "Security Warning"); since 2025-11-25 the answer is 403. Callers that are no browser send no
//! `Origin`, and pass.

use crate::host::{LOCAL_HOSTS, host_of};

/// The web pages that may call.
#[derive(Clone, Debug)]
pub struct AllowedOrigins(Vec<String>);

impl Default for AllowedOrigins {
    fn default() -> Self {
        Self::local()
    }
}

impl AllowedOrigins {
    /// No page at all.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Pages served from the user's own machine, at any scheme and port: `localhost`, `127.0.0.1`, `[::1]`.
    pub fn local() -> Self {
        Self(LOCAL_HOSTS.map(String::from).to_vec())
    }

    /// Also pages of `origin`: a host (`app.example.com`, at any scheme and port; its subdomains are not included) or a
    /// whole origin (`https://app.example.com:8443`, which then must match to the letter, but for its case).
    #[must_use]
    pub fn and(mut self, origin: impl Into<String>) -> Self {
        self.0.push(origin.into());
        self
    }

    /// Whether a page of `origin` may call. `null`, and what is no origin, may not.
    pub fn allows(&self, origin: &str) -> bool {
        let Some(host) = host_of(origin) else { return false };
        self.0.iter().any(|allowed| {
            let asked = if allowed.contains("://") { origin } else { host };
            allowed.eq_ignore_ascii_case(asked)
        })
    }
}

/// Whether `text` is something that [`AllowedOrigins::and`] takes: a host, or a whole origin.
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

    /// Rule 28: an Origin that is there and not allowed is refused.
    #[test]
    fn only_named_pages_pass() {
        let origins = AllowedOrigins::local().and("app.example.com").and("https://one.example:8443");
        for (origin, passes) in [
            ("http://localhost:5173", true),
            ("http://localhost", true),
            ("http://[::1]:8787", true),
            ("http://[::1]", true),
            ("https://APP.example.com", true),
            ("http://app.example.com:81", true),
            ("https://one.example:8443", true),
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
