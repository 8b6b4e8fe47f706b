//! The session of a browser: the page that begins it, and the person who uses the browser.
//!
//! A real program has its own login here, for example with passkeys or at the company's identity provider. It must identify each person as
//! the validator of the MCP endpoint does, because the tokens for the tracker belong to the principal of the tool call. This example has no
//! login: the person types in the access token for the MCP endpoint, and the cookie contains this token.

use edge_mcp::auth::Principal;
use edge_mcp::http::PageRequest;
use edge_mcp::{Context, HandlerError, StaticTokens};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, SET_COOKIE};
use http::{Response, StatusCode};

pub type Page = Response<Vec<u8>>;

/// The settings of sessions.
pub struct Session {
    /// The tokens of the MCP endpoint.
    pub tokens: StaticTokens,
    /// Whether this program has an `https:` URL.
    pub is_secure: bool,
}

impl Session {
    /// Returns the name of the cookie. Browsers accept a cookie with `__Host-` only from this host, over https.
    fn cookie(&self) -> &'static str {
        if self.is_secure { "__Host-desk-session" } else { "desk-session" }
    }

    fn check(&self, token: &str, cx: &Context) -> Option<Principal> {
        self.tokens.check(token, cx.now_ms() / 1000).ok()
    }
}

/// Returns who uses the browser. It checks the token in the cookie, so a removed token ends the session.
pub fn person(cx: &Context) -> Result<Option<Principal>, HandlerError> {
    let session = cx.state::<Session>()?;
    let cookies = cx.header("Cookie").unwrap_or_default();
    let mut cookies = cookies.split(';').filter_map(|cookie| cookie.trim().split_once('='));
    let token = cookies.find(|(name, _)| *name == session.cookie());
    Ok(token.and_then(|(_, token)| session.check(token, cx)))
}

/// Sends the browser to the page that begins a session. Then the browser comes back to the page of this request.
pub fn ask(cx: &Context) -> Result<Page, HandlerError> {
    let url = cx.url();
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("return_to", &format!("/{path}")).finish();
    redirect(&format!("/session?{query}"))
}

/// Answers requests to `/session`: a form for the token, and the cookie for a valid token.
///
/// The endpoint accepts no form from the page of another site, so another site cannot begin a session here.
pub async fn page(request: PageRequest, cx: Context) -> Result<Page, HandlerError> {
    if request.method != "POST" {
        let url = cx.url();
        let query = url.split_once('?').map_or("", |(_, query)| query);
        return form(StatusCode::OK, "", &value(query.as_bytes(), "return_to"));
    }
    let session = cx.state::<Session>()?;
    let [token, return_to] = ["token", "return_to"].map(|name| value(&request.body, name));
    if session.check(&token, &cx).is_none() {
        return form(StatusCode::FORBIDDEN, "This token is not valid.", &return_to);
    }
    let secure = if session.is_secure { "; Secure" } else { "" };
    let cookie = format!("{}={token}; HttpOnly{secure}; SameSite=Lax; Path=/", session.cookie());
    let mut page = redirect(if is_own_path(&return_to) { &return_to } else { "/" })?;
    page.headers_mut().insert(SET_COOKIE, cookie.parse()?);
    Ok(page)
}

/// Returns a field of a form or a query, or an empty text.
fn value(form: &[u8], name: &str) -> String {
    form_urlencoded::parse(form).find(|(known, _)| known == name).map_or_else(String::new, |(_, value)| value.into())
}

/// Returns whether a text is a path of this program. Browsers read `//` and `/\` as the beginning of another host.
fn is_own_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.starts_with("//")
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

fn redirect(path: &str) -> Result<Page, HandlerError> {
    Ok(answer(StatusCode::SEE_OTHER).header(LOCATION, path).body(Vec::new())?)
}

fn form(status: StatusCode, problem: &str, return_to: &str) -> Result<Page, HandlerError> {
    let return_to = return_to.replace('&', "&amp;").replace('"', "&quot;");
    let body = format!(
        r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Desk</title>
<form method="post" action="/session">
  <p>{problem}
  <p><label>Access token <input name="token" type="password" required autofocus></label>
  <input name="return_to" type="hidden" value="{return_to}">
  <button>Continue</button>
</form></html>
"#
    );
    Ok(answer(status).header(CONTENT_TYPE, "text/html; charset=utf-8").body(body.into())?)
}

/// Begins an answer with the headers of all pages. With the policy `no-referrer`, a browser would send the form with the origin `null`, which
/// the endpoint rejects. The directive `form-action` would also apply to the redirect to the authorization server.
fn answer(status: StatusCode) -> http::response::Builder {
    Response::builder()
        .status(status)
        .header(CACHE_CONTROL, "no-store")
        .header(REFERRER_POLICY, "same-origin")
        .header(CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
}
