//! HTTP requests, as the host provides them.

use std::cell::Cell;
use std::future::Future;
use std::net::IpAddr;

use http::HeaderMap;

/// The reason why a body was not read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The body is longer than the limit.
    TooLarge,
    /// The connection failed. The text is for the log.
    Broken(String),
}

/// An HTTP request, as the host provides it.
///
/// The core reads headers one at a time. On Workers they are JavaScript values. A request has about twenty headers, and the core reads
/// six of them. For most requests, the conversion of all headers would take longer than everything else.
///
/// `http::Request<Cell<Vec<u8>>>` implements this trait, and so does [`http::request::Parts`], which has no body. Both take the
/// [`client_address`](Self::client_address) from an extension of the type [`IpAddr`].
pub trait Request {
    /// Returns the method, as it was sent.
    fn method(&self) -> String;

    /// Returns the whole URL. It has no scheme and host name if they are unknown.
    fn url(&self) -> String;

    /// Returns the value of the header `name`. Names are case-insensitive. The values of several headers with the same name are joined
    /// by `, `. A byte that is not ASCII may become any character that is not ASCII.
    fn header(&self, name: &str) -> Option<String>;

    /// Reads the body, if it has at most `limit` bytes. The core calls this method at most once. The default implementation returns an
    /// empty body.
    ///
    /// The implementation must count the bytes that arrive, because a `Content-Length` header may be wrong.
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

    /// Returns the IP address that the request came from, if it is known.
    ///
    /// The address must come from the connection or from a trusted proxy, never from a header that the client can set. Rate limits count
    /// unauthenticated callers by this address, and [`without_auth`](crate::Endpoint::without_auth) serves only loopback addresses. The
    /// default implementation knows no address, so `without_auth` then serves no caller.
    fn client_address(&self) -> Option<IpAddr> {
        None
    }

    /// Returns the id of the request in the host's own logs, if it has one. The log line of the request contains it.
    fn request_id(&self) -> Option<String> {
        None
    }
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

    fn client_address(&self) -> Option<IpAddr> {
        self.extensions.get().copied()
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

    fn client_address(&self) -> Option<IpAddr> {
        self.extensions().get().copied()
    }
}

/// Returns the values of the headers `name`, joined by `, `. Returns `None` if there is no such header.
fn joined(headers: &HeaderMap, name: &str) -> Option<String> {
    let values: Vec<_> = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", "))
}
