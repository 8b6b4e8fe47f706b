//! The head of a request: everything but its body.

use std::net::IpAddr;

/// The head of an HTTP request, as the host holds it.
///
/// A host that keeps its headers elsewhere, as Workers do in JavaScript, fetches each one when it is asked for: a request
/// has twenty headers, and answering it takes six.
pub trait RequestHead {
    /// The method, in the case it was sent in.
    fn method(&self) -> String;

    /// The whole URL, with scheme and host where the host knows them.
    fn url(&self) -> String;

    /// The header of that name, whatever its case. Several of one name are joined by `, `. A byte that is not ASCII may
    /// come as any character that is not ASCII.
    fn header(&self, name: &str) -> Option<String>;

    /// The IP address that the request came from, if the host knows it.
    ///
    /// The address must come from the connection or from a proxy that the host trusts, never from a header that the client can set:
    /// callers without a token are counted by it, and [`without_auth`](crate::http::Endpoint::without_auth) serves loopback addresses
    /// only.
    fn client_address(&self) -> Option<IpAddr> {
        None
    }

    /// The id by which the host's own logs name the request, if it has one. It is written to the log line of the request.
    fn request_id(&self) -> Option<String> {
        None
    }
}

/// The path of a URL: what is between its authority and its query. `/` if there is none.
///
/// ```
/// use edge_mcp::host::path_of;
///
/// assert_eq!(path_of("https://example.com/mcp?x=1#y"), "/mcp");
/// assert_eq!(path_of("https://example.com?x=/mcp"), "/");
/// assert_eq!(path_of("/mcp"), "/mcp");
/// ```
pub fn path_of(url: &str) -> &str {
    let before_query = url.split(['?', '#']).next().unwrap_or_default();
    let after_scheme = before_query.split_once("://").map_or(before_query, |(_, rest)| rest);
    after_scheme.find('/').and_then(|start| after_scheme.get(start..)).unwrap_or("/")
}

/// The hosts of the user's own machine.
pub const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether a host is the user's own machine.
pub(crate) fn is_local(host: &str) -> bool {
    LOCAL_HOSTS.iter().any(|local| local.eq_ignore_ascii_case(host))
}

/// The scheme and the authority of a URL, where it has them.
pub(crate) fn origin_of(url: &str) -> Option<&str> {
    let scheme = url.find("://")?;
    let authority = url.get(scheme..)?.get(3..)?;
    let length = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    url.get(..scheme.checked_add(3)?.checked_add(length)?)
}

/// The host of `scheme://host[:port]`, with the brackets of an IPv6 address; `None` if `origin` has another form.
pub(crate) fn host_of(origin: &str) -> Option<&str> {
    let (scheme, authority) = origin.split_once("://")?;
    let foreign = |byte: u8| !byte.is_ascii_graphic() || b"/?#@\\,".contains(&byte);
    if scheme.is_empty() || authority.bytes().any(foreign) {
        return None;
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, "0"),
    };
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_port && !host.is_empty()).then_some(host)
}

impl RequestHead for http::request::Parts {
    fn method(&self) -> String {
        self.method.as_str().to_owned()
    }

    fn url(&self) -> String {
        self.uri.to_string()
    }

    fn header(&self, name: &str) -> Option<String> {
        let values: Vec<_> =
            self.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}
