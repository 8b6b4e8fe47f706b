//! The parts of a URL, and the comparison of URLs.
//!
//! There is no type for parsed URLs. A function that returns a part of a URL returns a slice of its argument. Only the comparison
//! allocates.

/// Returns the path of a URL: the part between authority and query, or `/` if it is empty.
///
/// ```
/// use edge_mcp::host::path_of;
///
/// assert_eq!(path_of("https://example.com/mcp?x=1#y"), "/mcp");
/// assert_eq!(path_of("https://example.com?x=/mcp"), "/");
/// assert_eq!(path_of("/mcp"), "/mcp");
/// ```
pub fn path_of(url: &str) -> &str {
    let end = url.bytes().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(url.len());
    let before_query = url.get(..end).unwrap_or_default();
    let rest = after_scheme(before_query).unwrap_or(before_query);
    rest.find('/').and_then(|start| rest.get(start..)).unwrap_or("/")
}

/// Returns the query of a URL, or an empty text.
pub(crate) fn query_of(url: &str) -> &str {
    let before_fragment = url.split('#').next().unwrap_or_default();
    before_fragment.split_once('?').map_or("", |(_, query)| query)
}

/// Returns the part of a URL after `scheme://`, or `None` if it has no scheme.
fn after_scheme(url: &str) -> Option<&str> {
    url.split_once(':')?.1.strip_prefix("//")
}

/// The names of the loopback host in URLs.
pub const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Returns whether `host` is one of [`LOCAL_HOSTS`].
pub(crate) fn is_local(host: &str) -> bool {
    LOCAL_HOSTS.iter().any(|local| local.eq_ignore_ascii_case(host))
}

/// Returns whether the host of `url` is one of [`LOCAL_HOSTS`].
pub(crate) fn is_on_localhost(url: &str) -> bool {
    origin_of(url).and_then(host_of).is_some_and(is_local)
}

/// Returns the scheme and the authority of a URL, or `None` if the URL has no scheme.
pub(crate) fn origin_of(url: &str) -> Option<&str> {
    let rest = after_scheme(url)?;
    let authority = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    url.get(..url.len().checked_sub(rest.len())?.checked_add(authority)?)
}

/// Returns the host of `scheme://host[:port]`, with the brackets of an IPv6 address. Returns `None` if `origin` has another form.
pub(crate) fn host_of(origin: &str) -> Option<&str> {
    let (scheme, authority) = origin.split_once("://")?;
    let is_forbidden = |byte: u8| !byte.is_ascii_graphic() || b"/?#@\\,".contains(&byte);
    if scheme.is_empty() || authority.bytes().any(is_forbidden) {
        return None;
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, "0"),
    };
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_port && !host.is_empty()).then_some(host)
}

/// Returns whether two URLs identify the same resource. The comparison ignores the case of scheme and host, a default port, one slash at
/// the end, and a fragment.
pub(crate) fn is_same_url(one: &str, other: &str) -> bool {
    canonical(one) == canonical(other)
}

fn canonical(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let origin = origin_of(url).unwrap_or_default();
    let rest = url.get(origin.len()..).unwrap_or_default();
    let origin = origin.to_ascii_lowercase();
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    format!("{}{}", origin.strip_suffix(port).unwrap_or(&origin), rest.strip_suffix('/').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule 103: an audience may be another spelling of this server's URL, but not another URL.
    #[test]
    fn equivalent_spellings_of_a_url_are_equal() {
        for (other, is_same) in [
            ("https://kb.example.com/mcp", true),
            ("https://kb.example.com/mcp/", true),
            ("HTTPS://KB.Example.com/mcp", true),
            ("https://kb.example.com:443/mcp#x", true),
            ("https://kb.example.com/MCP", false),
            ("https://kb.example.com/mcp//", false),
            ("https://kb.example.com/mcp/x", false),
            ("https://kb.example.com", false),
            ("https://kb.example.com:8443/mcp", false),
            ("http://kb.example.com/mcp", false),
            ("https://kb.example.com.evil.example/mcp", false),
            ("https://evil.example/?https://kb.example.com/mcp", false),
            ("kb.example.com/mcp", false),
            ("", false),
        ] {
            assert_eq!(is_same_url("https://kb.example.com/mcp", other), is_same, "{other:?}");
        }
    }

    #[test]
    fn only_the_exact_names_of_the_loopback_host_are_localhost() {
        for (url, is_local) in [
            ("http://localhost", true),
            ("http://LOCALHOST:8787/mcp?x", true),
            ("http://127.0.0.1/", true),
            ("http://[::1]:1/mcp", true),
            ("http://localhost.evil.example/", false),
            ("http://localhost@evil.example/", false),
            ("http://evil.example/?http://localhost/", false),
            ("localhost", false),
            ("", false),
        ] {
            assert_eq!(is_on_localhost(url), is_local, "{url:?}");
        }
    }
}
