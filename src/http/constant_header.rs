//! Response headers whose values are constants.

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};

/// Sets a header to a constant.
#[inline(never)]
pub(super) fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}
