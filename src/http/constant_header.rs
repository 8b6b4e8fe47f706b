//! Response headers whose values are constants.

use http::HeaderMap;
use http::header::{ALLOW, HeaderName, HeaderValue};

/// Sets a header to a constant.
#[inline(never)]
pub(super) fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}

/// Sets the header that lists the methods of the endpoint.
pub(super) fn allow_header(headers: &mut HeaderMap) {
    set(headers, ALLOW, "POST, OPTIONS");
}
