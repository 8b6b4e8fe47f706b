//! The answers of the pages of a sign-in: a redirect, or a page with one sentence.

use std::rc::Rc;

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};

use crate::call::error::HandlerError;
use crate::call::failure;
use crate::client::oauth::error::OAuthError;
use crate::host::Host;

/// The answer of a page.
pub(super) type Page = Response<Vec<u8>>;

/// Headers of each answer. The URL of a page has a code or a ticket, so it must not be in a `Referer` header. No other page may show a page
/// in a frame.
const HEADERS: [(HeaderName, &str); 4] = [
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// Returns a page with a sentence. It contains nothing of the request.
pub(super) fn sentence(status: StatusCode, sentence: &str) -> Page {
    let text = sentence.replace('&', "&amp;").replace('<', "&lt;");
    let body = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Sign-in</title><p>{text}</p></html>\n"
    );
    let mut page = answer(status, body.into_bytes());
    page.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    page
}

/// Returns a redirect. Returns `None` if no header can contain the URL.
pub(super) fn redirect(status: StatusCode, url: &str) -> Option<Page> {
    let mut page = answer(status, Vec::new());
    page.headers_mut().insert(LOCATION, HeaderValue::from_str(url).ok()?);
    Some(page)
}

/// Adds cookies to an answer.
pub(super) fn with_cookies(mut page: Page, cookies: impl IntoIterator<Item = HeaderValue>) -> Page {
    for cookie in cookies {
        page.headers_mut().append(SET_COOKIE, cookie);
    }
    page
}

fn answer(status: StatusCode, body: Vec<u8>) -> Page {
    let mut page = Response::new(body);
    *page.status_mut() = status;
    for (name, value) in HEADERS {
        page.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    page
}

/// The reason why a page does not continue.
pub(super) enum Refused {
    /// A sentence for the person.
    Sentence(StatusCode, String),
    /// The program itself fails. The text is for the log.
    Failed(String),
}

impl Refused {
    pub(super) fn sentence(text: &str) -> Self {
        Self::Sentence(StatusCode::BAD_REQUEST, text.to_owned())
    }

    /// Explains an error of OAuth to the person.
    pub(super) fn of(error: OAuthError, server: &str) -> Self {
        match error {
            OAuthError::StoreFailed { cause } => Self::Failed(cause),
            error => Self::sentence(&format!("You cannot sign in to the server {server}, because {error}")),
        }
    }

    /// Returns the page with the sentence.
    ///
    /// # Errors
    /// The program itself fails.
    pub(super) fn into_page(self, host: &Rc<dyn Host>) -> Result<Page, HandlerError> {
        match self {
            Self::Sentence(status, text) => Ok(sentence(status, &text)),
            Self::Failed(cause) => {
                failure::log(host, "sign-in", &cause);
                Err(HandlerError::new("The sign-in failed. Try again later."))
            }
        }
    }
}
