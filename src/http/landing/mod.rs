//! The landing page, at `/`.
//!
//! `page.html` and `page.css` are the document and its style. `page.md` is the document for programs without a browser, such as `curl`. The
//! script of the page consists of several files. `ask.js` is a client of 2026-07-28. `page.js` shows the lists of tools, resources and
//! prompts, with a `form.js` for each JSON Schema, and `show.js` shows results and errors. `connect.js` has the instructions for connecting
//! each client. `search.js` and `search.css` are the search box, if the endpoint has one. It shows passages with `passage.js` and
//! `passage.css`: `markdown.js` turns Markdown into elements, and `words.js` finds the words to mark. The app of the knowledge base includes
//! these files and `element.js` too.
//!
//! The page is the same for every visitor. Its script requests the lists from the endpoint, with the token that the visitor types in. So
//! the endpoint decides which items a visitor sees.

use std::borrow::Cow;

use http::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use sha2::{Digest, Sha256};

use super::constant_header::set;
use super::guard;
use super::http_error::HttpError;
use super::stream::Body;
use crate::base64::STANDARD;
use crate::config::SecureUrl;
use crate::engine::head::BoundedRequest;
use crate::host::Request;
use crate::protocol::description::Implementation;
use crate::protocol::revision::Revision;
use crate::text::{Text, escaped, sentence};

const DOCUMENT: &str = include_str!("page.html");
const TEXT: &str = include_str!("page.md");
/// The parts of `TEXT` about values that a server may not have.
const OPTIONAL: [(&str, &str); 2] = [("description", "{{description}}\n\n"), ("website", "- Website: {{website}}\n")];
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("ask.js"),
    include_str!("element.js"),
    include_str!("show.js"),
    include_str!("form.js"),
    include_str!("connect.js"),
    include_str!("page.js"),
);

/// The search box of a page. The default adds nothing to the page.
///
/// Only `new` refers to the style and the script, so the wasm module of a program that does not call
/// [`Endpoint::page_search`](crate::Endpoint::page_search) does not contain them.
#[derive(Default)]
pub(super) struct SearchBox {
    tool: Text,
    style: &'static str,
    script: &'static str,
}

impl SearchBox {
    /// Creates a search box that calls the tool with this name.
    pub(super) fn new(tool: Text) -> Self {
        Self {
            tool,
            style: concat!(include_str!("search.css"), include_str!("passage.css")),
            script: concat!(
                include_str!("words.js"),
                include_str!("markdown.js"),
                include_str!("passage.js"),
                include_str!("search.js"),
            ),
        }
    }
}

/// Returns the Content-Security-Policy. It allows only this style, this script, requests to this server, and images in results. Trusted
/// Types prevent the browser from interpreting text as markup, even if the script has a mistake.
fn policy(search: &SearchBox) -> HeaderValue {
    let digest = |parts: [&str; 2]| STANDARD.encode(Sha256::digest(parts.concat()));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        digest([SCRIPT, search.script]),
        digest([STYLE, search.style])
    );
    // The policy is ASCII, so the conversion does not fail. The fallback blocks the style and the script.
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // The visitor types a token into the page, so browsers must not store it or restore its form.
    (CACHE_CONTROL, "no-store"),
    (VARY, "Accept"),
];

/// The format of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Html,
    Markdown,
}

/// Returns the format in which a request asks for the page, or `None` if it does not. A browser names HTML. Other programs get Markdown if
/// they accept it, as `curl` does. An MCP client that opens a stream accepts `text/event-stream`, so it does not get the page. If the
/// endpoint is at `/`, only a request that names a format gets the page, and others get the answer of the endpoint.
pub(super) fn requested(head: &BoundedRequest, path: &str, endpoint: &str) -> Result<Option<Format>, Box<HttpError>> {
    if path != "/" || !matches!(&*head.method(), "GET" | "HEAD") {
        return Ok(None);
    }
    let accept = head.standard_header("accept")?.unwrap_or_default();
    let format = if guard::names(&accept, "text/event-stream") {
        None
    } else if guard::names(&accept, "text/markdown") {
        Some(Format::Markdown)
    } else if guard::names(&accept, "text/html") {
        Some(Format::Html)
    } else {
        (path != endpoint && guard::accepts_markdown(&accept)).then_some(Format::Markdown)
    };
    Ok(format)
}

/// Returns the page of `server`, whose endpoint is at `path`. `url` is the URL of the endpoint, if it is known.
pub(super) fn answer(
    format: Format,
    server: &Implementation,
    path: &str,
    url: Option<&SecureUrl>,
    search: &SearchBox,
    method: &str,
) -> Response<Body> {
    let bytes = if method == "HEAD" { Vec::new() } else { document(format, server, path, url, search).into_bytes() };
    let mut response = Response::new(Body::Bytes(bytes));
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        set(headers, name, value);
    }
    match format {
        Format::Html => drop(headers.insert(CONTENT_SECURITY_POLICY, policy(search))),
        Format::Markdown => set(headers, CONTENT_TYPE, "text/markdown; charset=utf-8"),
    }
    response
}

fn document(
    format: Format,
    server: &Implementation,
    path: &str,
    url: Option<&SecureUrl>,
    search: &SearchBox,
) -> String {
    let url = url.map(SecureUrl::as_str).unwrap_or_default();
    let address = if url.is_empty() { format!("https://HOST{path}") } else { url.to_owned() };
    let mut revisions = Revision::ALL.map(Revision::name);
    revisions.reverse();
    let is_web_url = |url: &&str| ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
    let values = [
        ("title", server.title.as_deref().unwrap_or(&server.name)),
        ("name", &server.name),
        ("version", &server.version),
        ("description", server.description.as_deref().unwrap_or_default()),
        ("website", server.website_url.as_deref().filter(is_web_url).unwrap_or_default()),
        ("path", path),
        ("url", url),
        ("address", &address),
        ("revisions", &revisions.join(", ")),
        ("search tool", &search.tool),
    ];
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    match format {
        Format::Markdown => {
            let is_left_out = |(name, _): &&(&str, &str)| value(name).is_empty();
            let text =
                OPTIONAL.iter().filter(is_left_out).fold(TEXT.to_owned(), |text, (_, part)| text.replace(part, ""));
            fill(&text, |name| sentence(value(name), usize::MAX).into())
        }
        Format::Html => fill(DOCUMENT, |name| match name {
            "style" => STYLE.into(),
            "search style" => search.style.into(),
            "script" => SCRIPT.into(),
            "search script" => search.script.into(),
            // An apostrophe would end an attribute in single quotes.
            _ => escaped(value(name)).replace('\'', "&#39;").into(),
        }),
    }
}

/// Replaces each `{{name}}` in `template` with `value(name)`.
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
