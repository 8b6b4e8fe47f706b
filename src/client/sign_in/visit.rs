//! A request of a browser to a page of a sign-in.

use http::StatusCode;

use super::pages::Refused;
use crate::call::context::Context;
use crate::config::SecureUrl;
use crate::host::origin_of;

/// The phase of a sign-in with a consent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visit {
    /// The person opened the page.
    Opened,
    /// The person pressed the button of the page.
    Consented,
}

/// Returns the phase of a request to the page of a consent. Only the page itself can send its button.
pub(super) fn visit(cx: &Context, url: &SecureUrl) -> Result<Visit, Refused> {
    if cx.request().method() != "POST" {
        return check_method(cx).map(|()| Visit::Opened);
    }
    let is_own_origin = cx.header("Origin").as_deref().is_some_and(|origin| Some(origin) == origin_of(url.as_str()));
    let is_same_origin = cx.header("Sec-Fetch-Site").map_or(is_own_origin, |site| site == "same-origin");
    if is_same_origin {
        return Ok(Visit::Consented);
    }
    Err(Refused::sentence("This button must be pressed on the page of the program that has it."))
}

/// Checks that the request is a GET. Other methods come from programs that look at a link before the person opens it.
pub(super) fn check_method(cx: &Context) -> Result<(), Refused> {
    if cx.request().method() == "GET" {
        return Ok(());
    }
    Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, "Open this page in a browser."))
}
