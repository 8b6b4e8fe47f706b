//! The URLs in challenges and metadata that the client uses. If an MCP server is hostile, these URLs are those of an attacker: they could
//! make this program send requests into its own network.
//!
//! The rules cannot see that a name resolves to a private address.
//!
//! Sources: RFC 9728 §7.7; 2026-07-28, basic/security_best_practices, "Server-Side Request Forgery"; WHATWG URL, "ends in a number checker".

use crate::config::SecureUrl;
use crate::host::host_of;
use crate::limits::UPSTREAM_OAUTH_URL_BYTES;

/// A rule for the host in lower case, without a dot at its end: the problem with a URL, and whether the host has it.
type HostRule = (&'static str, fn(&str) -> bool);

/// The rules for a host, unless the MCP server itself is on localhost.
const RULES: &[HostRule] = &[
    ("has an IP address instead of a host name", |host| host.starts_with('[') || is_ipv4(host)),
    ("has a host name that is not valid", |host| !host.bytes().all(is_host_byte) || host.split('.').any(str::is_empty)),
    ("has the host name of a private network", |host| !host.contains('.')),
    ("has the host name of a private network", |host| PRIVATE_SUFFIXES.iter().any(|suffix| host.ends_with(suffix))),
];

/// The names that resolve only in private networks (RFC 6761, RFC 6762, RFC 8375, and the name that ICANN reserved for internal use).
const PRIVATE_SUFFIXES: [&str; 4] = [".localhost", ".local", ".internal", ".home.arpa"];

/// Reads a URL that an MCP server or its authorization server names. If the MCP server is on localhost (`is_local`), the URL need not be
/// public.
///
/// # Errors
/// The client does not use the URL. The text continues a sentence that begins with the URL.
pub(in crate::client) fn parse(text: &str, is_local: bool) -> Result<SecureUrl, &'static str> {
    if text.len() > UPSTREAM_OAUTH_URL_BYTES {
        return Err("is too long");
    }
    let url = SecureUrl::parse(text)?;
    if is_local { Ok(url) } else { public(url) }
}

/// Returns the URL if it is public: an `https:` URL with port 443 whose host is not an address or a name of a private network.
///
/// # Errors
/// The URL is not public. The text continues a sentence that begins with the URL.
pub(in crate::client) fn public(url: SecureUrl) -> Result<SecureUrl, &'static str> {
    if !url.is_https() {
        return Err("must be an https: URL");
    }
    let host = host_of(url.origin()).ok_or("has a host name that is not valid")?;
    let port = url.origin().rsplit_once(host).map_or("", |(_, port)| port);
    if !matches!(port, "" | ":443") {
        return Err("has a port other than 443");
    }
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    match RULES.iter().find(|(_, has_problem)| has_problem(host)) {
        Some((problem, _)) => Err(problem),
        None => Ok(url),
    }
}

/// Returns whether a URL parser reads a host as an IPv4 address: its last label is a number, in any notation.
fn is_ipv4(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    !last.is_empty() && (last.bytes().all(|byte| byte.is_ascii_digit()) || last.strip_prefix("0x").is_some_and(is_hex))
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str, is_local: bool) -> Option<&'static str> {
        parse(text, is_local).err()
    }

    /// C70, C71, hostile case 46: URLs of a hostile server do not lead into private networks.
    #[test]
    fn only_public_https_urls_are_used() {
        let (address, private) = ("has an IP address instead of a host name", "has the host name of a private network");
        let (https, invalid) =
            ("must be an https: URL, unless it is on localhost", "has a host name that is not valid");
        let long = format!("https://auth.example.com/{}", "x".repeat(2048));
        for (text, expected) in [
            ("https://auth.example.com", None),
            ("https://AUTH.example.com:443/tenant?x=y", None),
            ("https://auth.example.com.", None),
            ("https://10.example.com/", None),
            ("https://0xab.example/", None),
            (long.as_str(), Some("is too long")),
            ("http://auth.example.com/", Some(https)),
            ("javascript:alert(1)", Some("must be a URL such as https://example.com/mcp, in ASCII")),
            ("data:text/html,x", Some("must be a URL such as https://example.com/mcp, in ASCII")),
            ("myapp://auth.example.com/", Some(https)),
            ("https://user@auth.example.com/", Some("must be a URL with a host, and without a user name")),
            ("https://auth.example.com/#x", Some("must be a URL without a fragment")),
            ("https://auth.example.com:8443/", Some("has a port other than 443")),
            ("https://169.254.169.254/latest", Some(address)),
            ("https://0x7f.1/", Some(address)),
            ("https://127.0.0.0X1/", Some(address)),
            ("https://0177.0.0.01/", Some(address)),
            ("https://2130706433/", Some(address)),
            ("https://10.0.0.1./", Some(address)),
            ("https://[::ffff:7f00:1]/", Some(address)),
            ("https://auth..example.com/", Some(invalid)),
            ("https://%31%32%37.0.0.1x/", Some("must be a URL such as https://example.com/mcp, in ASCII")),
            ("http://localhost:8787/", Some("must be an https: URL")),
            ("https://localhost/", Some(private)),
            ("https://a.localhost/", Some(private)),
            ("https://LOCALHOST./", Some(private)),
            ("https://printer.local/", Some(private)),
            ("https://vault.internal/", Some(private)),
            ("https://router.home.arpa/", Some(private)),
            ("https://intranet/", Some(private)),
        ] {
            assert_eq!(problem(text, false), expected, "{text}");
        }
    }

    /// C70: a server on localhost is that of a developer, whose authorization server may be on localhost too.
    #[test]
    fn a_server_on_localhost_may_name_localhost() {
        for text in ["http://localhost:9000", "https://auth.example.com:8443/", "http://127.0.0.1:1/"] {
            assert_eq!(problem(text, true), None, "{text}");
        }
        assert!(problem("http://auth.example.com/", true).is_some());
    }
}
