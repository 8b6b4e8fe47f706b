//! The pages of the sign-in to the tracker.

use edge_mcp::client::{McpClient, SignIn};
use edge_mcp::http::PageRequest;
use edge_mcp::{Context, HandlerError};

use crate::session::{self, Page};

/// Sends the browser to the authorization server of the tracker.
pub async fn begin(_: PageRequest, cx: Context) -> Result<Page, HandlerError> {
    let Some(person) = session::person(&cx)? else { return session::ask(&cx) };
    Ok(cx.state::<SignIn>()?.begin(&*cx.state::<McpClient>()?, &cx, &person).await)
}

/// Saves the tokens with which the browser comes back.
pub async fn finish(_: PageRequest, cx: Context) -> Result<Page, HandlerError> {
    let Some(person) = session::person(&cx)? else { return session::ask(&cx) };
    Ok(cx.state::<SignIn>()?.finish(&cx, &person).await)
}

/// Describes this program to authorization servers.
pub async fn client(_: PageRequest, cx: Context) -> Result<Page, HandlerError> {
    Ok(cx.state::<SignIn>()?.metadata_document())
}
