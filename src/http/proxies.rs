//! Requests that a proxy has passed on.

use crate::host::Request;

/// The headers that proxies add. Clients on the same machine do not send them.
const HEADERS: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// Returns whether a proxy may have passed on a request. Its address is then that of the proxy. Any client can send these headers, so they
/// must only be a reason to refuse a request. Their values are not read.
pub(super) fn passed_a_proxy(head: &dyn Request) -> bool {
    HEADERS.iter().any(|name| head.header(name).is_some())
}
