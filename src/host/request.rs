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
    /// callers without a token are counted by it, and [`without_auth`](crate::Endpoint::without_auth) serves loopback addresses
    /// only.
    fn client_address(&self) -> Option<IpAddr> {
        None
    }

    /// Returns the id of the request in the host's own logs, if it has one. It is written to the log line of the request.
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
