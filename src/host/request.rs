//! An HTTP request, as the host holds it.

use std::cell::Cell;
use std::future::Future;
use std::net::IpAddr;

use http::HeaderMap;

/// Why a body was not read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The body is longer than the limit.
    TooLarge,
    /// The connection failed. The text is for the log.
    Broken(String),
}

/// An HTTP request, as the host holds it.
///
/// Headers are read one at a time. On Workers they are JavaScript values, and converting all of them would cost more than most answers
/// need: a request has about twenty headers, and six are read.
///
/// An [`http::Request`] whose body is a `Cell<Vec<u8>>` is one, and so is [`http::request::Parts`], which has no body.
pub trait Request {
    /// Returns the method, in the case in which it was sent.
    fn method(&self) -> String;

    /// Returns the whole URL, with scheme and host where the host knows them.
    fn url(&self) -> String;

    /// Returns the header `name`, whose case does not matter. Several headers of one name are joined by `, `. A byte that is not ASCII
    /// may become any character that is not ASCII.
    fn header(&self, name: &str) -> Option<String>;

    /// Reads the body, if it has at most `limit` bytes. It is called at most once; the default is an empty body.
    ///
    /// The length must be checked against the bytes that arrive, since a `Content-Length` header may be wrong.
    ///
    /// # Errors
    /// [`BodyError::TooLarge`] as soon as byte `limit + 1` has arrived; [`BodyError::Broken`] if the connection fails.
    fn body(&self, limit: usize) -> impl Future<Output = Result<Vec<u8>, BodyError>>
    where
        Self: Sized,
    {
        let _ = limit;
        std::future::ready(Ok(Vec::new()))
    }

    /// Returns the IP address that the request came from, if the host knows it.
    ///
    /// The address must come from the connection or from a proxy that the host trusts, never from a header that the client can set:
    /// callers without a token are counted by it, and [`without_auth`](crate::http::Endpoint::without_auth) serves loopback addresses
    /// only.
    fn client_address(&self) -> Option<IpAddr> {
        None
    }

    /// Returns the id of the request in the host's own logs, if it has one. It is written to the log line of the request.
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

impl Request for http::request::Parts {
    fn method(&self) -> String {
        self.method.as_str().to_owned()
    }

    fn url(&self) -> String {
        self.uri.to_string()
    }

    fn header(&self, name: &str) -> Option<String> {
        joined(&self.headers, name)
    }
}

impl Request for http::Request<Cell<Vec<u8>>> {
    fn method(&self) -> String {
        self.method().as_str().to_owned()
    }

    fn url(&self) -> String {
        self.uri().to_string()
    }

    fn header(&self, name: &str) -> Option<String> {
        joined(self.headers(), name)
    }

    fn body(&self, limit: usize) -> impl Future<Output = Result<Vec<u8>, BodyError>> {
        let body = self.body().take();
        std::future::ready(if body.len() > limit { Err(BodyError::TooLarge) } else { Ok(body) })
    }
}

/// The headers `name`, joined.
fn joined(headers: &HeaderMap, name: &str) -> Option<String> {
    let values: Vec<_> = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", "))
}
