//! The page for people, at `/`.
//!
//! | file in `landing/` | what it holds |
//! |---|---|
//! | `page.html`, `page.css` | what a server says of itself, and how that looks |
//! | `ask.js` | a client of 2026-07-28 |
//! | `show.js` | results and errors |
//! | `form.js` | a form for a schema |
//! | `connect.js` | how each client is connected |
//! | `page.js` | the lists, and everything that can be tried |
//!
//! What is served is the same for everybody. The script asks the endpoint for the rest, with the token of whoever reads, so that it
//! shows what they may list, and nothing here has to decide that a second time.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use sha2::{Digest, Sha256};

use super::guard;
use super::stream::Body;
use crate::auth::SecureUrl;
use crate::host::RequestHead;
use crate::protocol::description::Implementation;
use crate::protocol::revision::Revision;

const DOCUMENT: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("ask.js"),
    include_str!("show.js"),
    include_str!("form.js"),
    include_str!("connect.js"),
    include_str!("page.js"),
);

/// Nothing but this style and this script, which may talk to this server alone. Text never becomes markup, not even by a mistake in
/// the script: that is what Trusted Types are for.
fn policy() -> HeaderValue {
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        digest(SCRIPT),
        digest(STYLE)
    );
    // It is ASCII. If it were not, the page would stand there without style and script.
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // A token is typed into it: a browser is not to keep the page, nor to bring it back with what was typed.
    (CACHE_CONTROL, "no-store"),
    (VARY, "Accept"),
];

/// Whether it is a browser that asks, and for a page. A client of the protocol that opens a stream names `text/event-stream`, and gets
/// the endpoint's answer where that is at `/` too.
pub(super) fn is_asked_for(head: &dyn RequestHead, path: &str) -> bool {
    path == "/"
        && matches!(&*head.method(), "GET" | "HEAD")
        && head
            .header("accept")
            .is_some_and(|accept| guard::names(&accept, "text/html") && !guard::names(&accept, "text/event-stream"))
}

/// The page of `server`, whose endpoint is at `path`, and at `url` as far as that is known.
pub(super) fn answer(server: &Implementation, path: &str, url: Option<&SecureUrl>, method: &str) -> Response<Body> {
    let bytes = if method == "HEAD" { Vec::new() } else { document(server, path, url).into_bytes() };
    let mut response = Response::new(Body::Bytes(bytes));
    let headers = response.headers_mut();
    headers.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    headers.insert(CONTENT_SECURITY_POLICY, policy());
    response
}

fn document(server: &Implementation, path: &str, url: Option<&SecureUrl>) -> String {
    let url = url.map(SecureUrl::as_str).unwrap_or_default();
    let address = if url.is_empty() { format!("https://HOST{path}") } else { url.to_owned() };
    let mut revisions = Revision::ALL.map(Revision::name);
    revisions.reverse();
    let is_on_the_web = |url: &&str| ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
    let said = [
        ("title", server.title.as_deref().unwrap_or(&server.name)),
        ("name", &server.name),
        ("version", &server.version),
        ("description", server.description.as_deref().unwrap_or_default()),
        ("website", server.website_url.as_deref().filter(is_on_the_web).unwrap_or_default()),
        ("path", path),
        ("url", url),
        ("address", &address),
        ("revisions", &revisions.join(", ")),
    ];
    fill(DOCUMENT, |name| match name {
        "style" => STYLE.into(),
        "script" => SCRIPT.into(),
        _ => escaped(said.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)),
    })
}

/// `template` with what `value` gives for each `{{name}}`.
fn fill<'v>(template: &str, value: impl Fn(&str) -> Cow<'v, str>) -> String {
    let mut pieces = template.split("{{");
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, after) = piece.split_once("}}").unwrap_or(("", piece));
        filled.push_str(&value(name));
        filled.push_str(after);
    }
    filled
}

/// A text as it is written in HTML, also between quotes.
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped.into()
}
