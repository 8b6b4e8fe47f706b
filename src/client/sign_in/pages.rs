//! The answers of the pages of a sign-in: a redirect, or a page with one sentence.

use std::rc::Rc;

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};

use sha2::{Digest, Sha256};

use crate::base64::URL_SAFE;
use crate::client::oauth::error::OAuthError;
use crate::config::SecureUrl;
use crate::host::{Host, log};
use crate::text::{escaped, line};

/// The answer of a page.
pub(super) type Page = Response<Vec<u8>>;

/// Headers of each answer. The URL of a page has a code or a ticket, so it must not be in a `Referer` header for another site. No other page
/// may show a page in a frame.
///
/// With the policy `no-referrer`, a browser would send the button of a page with the origin `null`, which the endpoint rejects.
const HEADERS: [(HeaderName, &str); 4] = [
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "same-origin"),
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

/// The parameter with the digest of what a person was shown.
pub(super) const CONSENT: &str = "consent";

/// What a person is asked to allow.
pub(super) struct Consent<'a> {
    pub(super) program: &'a str,
    /// The name and the URL of the server.
    pub(super) server: (&'a str, &'a str),
    /// The URL to which the browser goes.
    pub(super) endpoint: &'a SecureUrl,
    /// The URL that gets the code.
    pub(super) token_endpoint: &'a SecureUrl,
    pub(super) issuer: &'a str,
    /// The resource for which the token is valid.
    pub(super) resource: &'a str,
    pub(super) scopes: &'a [String],
}

impl Consent<'_> {
    fn rows(&self) -> [(&'static str, String); 5] {
        let Self { server: (name, url), endpoint, issuer, scopes, .. } = self;
        let scopes = if scopes.is_empty() { "what the server allows".to_owned() } else { scopes.join(", ") };
        let row = |text: &str| line(text, usize::MAX).into_owned();
        [
            ("Server", row(name)),
            ("Its URL", row(url)),
            ("You sign in at", row(endpoint.origin())),
            ("Authorization server", row(issuer)),
            ("Access to", row(&scopes)),
        ]
    }

    /// Returns a digest of what the page shows, and of the URLs that belong to it.
    pub(super) fn digest(&self) -> String {
        let rows = self.rows();
        let shown = rows.iter().flat_map(|(name, value)| [*name, value]);
        let used = [self.endpoint.as_str(), self.token_endpoint.as_str(), self.resource];
        let mut digest = Sha256::new();
        for text in shown.chain(used) {
            digest.update(text);
            digest.update([0]);
        }
        URL_SAFE.encode(digest.finalize())
    }
}

/// Returns the page that asks a person before a sign-in begins. Its button sends the `query` of the page again with POST, and the digest of what
/// the page shows.
pub(super) fn consent(asked: &Consent<'_>, query: &str) -> Page {
    let mut action = form_urlencoded::Serializer::new(String::new());
    action.extend_pairs(form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != CONSENT));
    action.append_pair(CONSENT, &asked.digest());
    let action = action.finish();
    let row = |(name, value): (&str, String)| format!("<dt>{name}</dt><dd>{}</dd>", escaped(&value));
    let rows: String = asked.rows().into_iter().map(row).collect();
    let (program, action) = (escaped(asked.program), escaped(&action));
    let body = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Sign-in</title><h1>{program} asks for access</h1><dl>{rows}</dl>\
         <form method=\"post\" action=\"?{action}\"><button>Continue</button></form>\
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
            log::failure(host, "sign-in", cause);
        }
        sentence(self.status, &self.sentence)
    }
}
