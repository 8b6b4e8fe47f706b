//! A sign-in between its two requests. Its state is in a cookie, encrypted, so that it belongs to one browser and needs no store.

use http::HeaderValue;
use serde::{Deserialize, Serialize};

use super::settings::SignInSettings;
use super::stored_tokens::TokenIssuer;
use crate::limits::{SIGN_IN_COOKIES, SIGN_IN_COOKIES_BYTES, SIGN_IN_SECONDS};

/// The state of a sign-in.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct PendingSignIn {
    /// The parameter `state` of the authorization request.
    pub state: String,
    pub code_verifier: String,
    /// The time at which the sign-in expires, in milliseconds since 1970.
    pub expires: u64,
    /// The person who signs in: see [`person_key`](super::account::person_key).
    pub person: String,
    /// The name and the URL of the server.
    pub server: String,
    pub url: String,
    /// Whether a user of the program chose the URL.
    pub is_untrusted: bool,
    pub issuer: TokenIssuer,
    /// Whether each answer of the authorization server names the issuer (RFC 9207).
    pub names_issuer: bool,
    pub scopes: Vec<String>,
    /// The path of this program to which the browser goes in the end.
    pub return_to: Option<String>,
}

/// The characters of the `state` that are a part of the name of the cookie.
const NAMED: usize = 8;

/// Returns the beginning of the names of the cookies. Browsers accept a cookie with `__Host-` only from this host, over https.
fn prefix(settings: &SignInSettings) -> &'static str {
    if settings.url.is_https() { "__Host-mcp-sign-in-" } else { "mcp-sign-in-" }
}

/// Returns the name of the cookie for a sign-in, or `None` if the text is not a `state`.
pub(super) fn name(settings: &SignInSettings, state: &str) -> Option<String> {
    let named = state.get(..NAMED).filter(|named| is_named(named))?;
    Some(format!("{}{named}", prefix(settings)))
}

fn is_named(text: &str) -> bool {
    text.len() == NAMED && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Returns the cookies of sign-ins in the header of a request, the oldest first.
pub(super) fn cookies<'h>(settings: &SignInSettings, header: &'h str) -> Vec<(&'h str, &'h str)> {
    /// More cookies than a browser sends.
    const MOST: usize = 200;
    let cookies = header.split(';').take(MOST).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.filter(|(name, _)| name.strip_prefix(prefix(settings)).is_some_and(is_named)).collect()
}

/// Returns the headers that set the cookie of a sign-in, and delete the oldest ones if the browser has too many. A browser sends the cookies
/// with each request, and many servers reject headers of 16 KiB.
pub(super) fn set(settings: &SignInSettings, name: &str, value: &str, header: &str) -> Vec<HeaderValue> {
    let known = cookies(settings, header);
    let (mut count, mut bytes) = (1_usize, value.len());
    let fits = |(_, value): &&(&str, &str)| {
        count = count.saturating_add(1);
        bytes = bytes.saturating_add(value.len());
        count <= SIGN_IN_COOKIES && bytes <= SIGN_IN_COOKIES_BYTES
    };
    let kept = known.iter().rev().take_while(fits).count();
    let surplus = known.len().saturating_sub(kept);
    let mut headers: Vec<HeaderValue> =
        known.iter().take(surplus).filter_map(|(name, _)| delete(settings, name)).collect();
    headers.extend(cookie(settings, name, value, SIGN_IN_SECONDS));
    headers
}

/// Returns the header that deletes the cookie of a sign-in.
pub(super) fn delete(settings: &SignInSettings, name: &str) -> Option<HeaderValue> {
    cookie(settings, name, "", 0)
}

fn cookie(settings: &SignInSettings, name: &str, value: &str, seconds: u64) -> Option<HeaderValue> {
    let secure = if settings.url.is_https() { "; Secure" } else { "" };
    let text = format!("{name}={value}; HttpOnly{secure}; SameSite=Lax; Path=/; Max-Age={seconds}");
    HeaderValue::from_str(&text).ok()
}
