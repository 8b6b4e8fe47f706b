//! A request of a browser to a page of a sign-in.

use http::StatusCode;

use super::pages::Refused;
use crate::call::context::Context;

/// Checks that the request is a GET. Other methods come from programs that look at a link before the person opens it.
pub(super) fn check_method(cx: &Context) -> Result<(), Refused> {
    if cx.request().method() == "GET" {
        return Ok(());
    }
    Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, "Open this page in a browser."))
}
