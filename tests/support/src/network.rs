//! Hosts whose outgoing requests are answered by one test server.

use std::future::ready;

use edge_mcp::host::{FetchError, FetchLimits, Fetched};
use edge_mcp::testing::TestHost;

/// Returns a host whose outgoing requests `respond` answers.
pub fn of(respond: impl Fn(&http::Request<String>) -> Result<Fetched, FetchError> + 'static) -> TestHost {
    TestHost::new().fetch(move |request, _| ready(respond(&request)))
}

/// Returns a host whose outgoing requests always get this status and body.
pub fn answering(status: u16, body: &(impl ToString + ?Sized)) -> TestHost {
    let body = body.to_string().into_bytes();
    of(move |_| Ok(Fetched::new(status, body.clone())))
}

/// Lets `respond` answer all later requests of `host`.
pub fn change(host: &TestHost, respond: impl Fn(&http::Request<String>) -> Result<Fetched, FetchError> + 'static) {
    drop(host.clone().fetch(move |request, _| ready(respond(&request))));
}

/// Returns the limits of the last outgoing request.
pub fn limits(host: &TestHost) -> Option<FetchLimits> {
    host.requests().last()?.extensions().get().copied()
}
