//! A browser of a person who allows everything: it opens the link of a sign-in, and follows the redirects back to this program.

use std::rc::Rc;

use edge_mcp::auth::Principal;
use edge_mcp::client::{McpClient, SignIn};
use edge_mcp::host::Host;
use edge_mcp::{Context, RequestInfo};
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{Request, Response};

use crate::Failed;

/// The URL of the page that begins a sign-in. No server listens there: the browser hands the requests to the program.
pub(crate) const SIGN_IN: &str = "http://localhost:3000/sign-in";

/// The person who signs in, and who calls.
pub(crate) fn person() -> Principal {
    Principal::new("ada")
}

/// Opens the link of a sign-in, and returns when the program has saved the tokens.
pub(crate) async fn open(link: &str, sign_in: &SignIn, client: &McpClient, host: &Rc<dyn Host>) -> Result<(), Failed> {
    let begun = sign_in.begin(client, &visit(link, "", host)?, &person()).await;
    let authorize = location(&begun)?;
    let cookie = begun.headers().get(SET_COOKIE).ok_or("the program sets no cookie")?.to_str()?;
    let cookie = cookie.split(';').next().unwrap_or_default();
    let answered = host.open(Request::get(authorize).body(String::new())?.into()).await?;
    let back = answered.headers.get(LOCATION).ok_or("the authorization server does not redirect")?.to_str()?;
    let finished = sign_in.finish(&visit(back, cookie, host)?, &person()).await;
    if finished.status() == 200 { Ok(()) } else { Err(sentence(&finished).into()) }
}

/// Returns the context of a request of the browser to the program.
fn visit(url: &str, cookie: &str, host: &Rc<dyn Host>) -> Result<Context, Failed> {
    let (head, ()) = Request::get(url).header(COOKIE, cookie).body(())?.into_parts();
    Ok(Context::for_program(RequestInfo::new(Rc::new(head), None), host.clone()))
}

fn location(page: &Response<Vec<u8>>) -> Result<&str, Failed> {
    let location = page.headers().get(LOCATION).ok_or_else(|| sentence(page))?;
    Ok(location.to_str()?)
}

fn sentence(page: &Response<Vec<u8>>) -> String {
    String::from_utf8_lossy(page.body()).into_owned()
}
