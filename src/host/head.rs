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
