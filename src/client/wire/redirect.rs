//! Redirects to another path of the same origin, such as from `/mcp` to `/mcp/`. Servers with Starlette or FastAPI send them.
//!
//! Source: RFC 9110, 15.4.8 and 15.4.9.

use http::header::LOCATION;

use super::headers;
use crate::config::SecureUrl;
use crate::host::{Opened, is_same_url, origin_of};

/// Returns the URL to which a response to a request at `url` redirects, if it asks for the same request, and if the URL is on the same origin.
/// Another origin must not get the credential.
pub(in crate::client) fn target(opened: &Opened, url: &str) -> Option<String> {
    if !matches!(opened.status, 307 | 308) {
        return None;
    }
    let (location, origin) = (headers::text(opened.headers.get(LOCATION))?, origin_of(url)?);
    let is_path = location.starts_with('/') && !location.starts_with("//");
    let target = if is_path { format!("{origin}{location}") } else { location.to_owned() };
    let is_same_origin = SecureUrl::parse(&target).is_ok_and(|target| is_same_url(target.origin(), origin));
    is_same_origin.then_some(target)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    /// The token of the server stays on its origin. Statuses that change the method are not followed.
    #[test]
    fn only_the_same_request_on_the_same_origin_is_followed() {
        for (status, location, expected) in [
            (307, "/mcp/", Some("https://a.example/mcp/")),
            (308, "https://a.example/mcp/?x=1", Some("https://a.example/mcp/?x=1")),
            (308, "https://A.example:443/mcp/", Some("https://A.example:443/mcp/")),
            (301, "/mcp/", None),
            (302, "/mcp/", None),
            (303, "/mcp/", None),
            (200, "/mcp/", None),
            (307, "http://a.example/mcp/", None),
            (307, "https://a.example:8443/mcp/", None),
            (307, "https://b.example/mcp/", None),
            (307, "https://a.example.evil.example/mcp/", None),
            (307, "https://a.example@evil.example/mcp/", None),
            (307, "//evil.example/mcp/", None),
            (307, "/mcp/#x", None),
            (307, "mcp/", None),
            (307, "", None),
        ] {
            let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]);
            let found = target(&Opened::new(status, headers, ""), "https://a.example/mcp?key=1");
            assert_eq!(found.as_deref(), expected, "{status} {location}");
        }
        assert_eq!(target(&Opened::new(307, HeaderMap::new(), ""), "https://a.example/mcp"), None);
    }
}
