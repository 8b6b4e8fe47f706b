//! The answers of the pages of a sign-in: a redirect, or a page with one sentence.

use std::rc::Rc;

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};

use crate::call::failure;
use crate::client::oauth::error::OAuthError;
use crate::host::Host;
use crate::text::{escaped, line};

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
    let text = escaped(sentence);
    let body = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Sign-in</title><p>{text}</p></html>\n"
    );
    html(status, body)
}

fn html(status: StatusCode, body: String) -> Page {
    let mut page = answer(status, body.into_bytes());
    page.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    page
}

/// What a person is asked to allow.
pub(super) struct Consent<'a> {
    pub(super) program: &'a str,
    /// The name and the URL of the server.
    pub(super) server: (&'a str, &'a str),
    pub(super) issuer: &'a str,
    pub(super) scopes: &'a [String],
}

/// Returns the page that asks a person before a sign-in begins. Its button sends the same URL with POST.
pub(super) fn consent(Consent { program, server: (name, url), issuer, scopes }: Consent<'_>) -> Page {
    let scopes = if scopes.is_empty() { "what the server allows".to_owned() } else { scopes.join(", ") };
    let row = |name: &str, value: &str| format!("<dt>{name}</dt><dd>{}</dd>", escaped(&line(value, 500)));
    let rows = [("Server", name), ("Its URL", url), ("You sign in at", issuer), ("Access to", &*scopes)];
    let rows: String = rows.into_iter().map(|(name, value)| row(name, value)).collect();
    let program = escaped(program);
    let body = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Sign-in</title><h1>{program} asks for access</h1><dl>{rows}</dl>\
         <form method=\"post\"><button>Continue</button></form>\
         <p>Close this page if you did not ask for this.</p></html>\n"
    );
    html(StatusCode::OK, body)
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
pub(super) struct Refused {
    status: StatusCode,
    /// The sentence for the person.
    sentence: String,
    /// The cause for the log, if the person is not the cause.
    cause: Option<String>,
}

impl Refused {
    pub(super) fn new(status: StatusCode, sentence: &str) -> Self {
        Self { status, sentence: sentence.to_owned(), cause: None }
    }

    pub(super) fn sentence(text: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// Explains an error of OAuth to the person.
    pub(super) fn of(error: &OAuthError, server: &str) -> Self {
        let mut refused = match error {
            OAuthError::StoreFailed { .. } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "The sign-in failed. Try again later.")
            }
            error => Self::sentence(&format!("You cannot sign in to the server {server}, because {error}")),
        };
        refused.cause = Some(format!("the sign-in to {server} failed: {}", error.cause()));
        refused
    }

    /// Returns the page with the sentence, and logs the cause.
    pub(super) fn into_page(self, host: &Rc<dyn Host>) -> Page {
        if let Some(cause) = &self.cause {
            failure::log(host, "sign-in", cause);
        }
        sentence(self.status, &self.sentence)
    }
}
