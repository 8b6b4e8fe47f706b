//! Hosts whose network has one server on it.

use std::future::ready;

use edge_mcp::host::{FetchError, FetchLimits, Fetched};
use edge_mcp::testing::TestHost;

/// A host on whose network a server responds like this.
pub fn of(respond: impl Fn(&http::Request<String>) -> Result<Fetched, FetchError> + 'static) -> TestHost {
    TestHost::new().fetch(move |request, _| ready(respond(&request)))
}

/// One that always answers this.
pub fn answering(status: u16, body: &(impl ToString + ?Sized)) -> TestHost {
    let body = body.to_string().into_bytes();
    of(move |_| Ok(Fetched::new(status, body.clone())))
}

/// The server responds like this from now on.
pub fn change(host: &TestHost, respond: impl Fn(&http::Request<String>) -> Result<Fetched, FetchError> + 'static) {
    drop(host.clone().fetch(move |request, _| ready(respond(&request))));
}

/// The limits of the last request.
pub fn limits(host: &TestHost) -> Option<FetchLimits> {
    host.requests().last()?.extensions().get().copied()
}
