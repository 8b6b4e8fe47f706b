//! The documents as resources.

use edge_mcp::{
    Completion, CompletionRequest, Context, HandlerError, ResourceContents, ResourceDescription, ResourceTemplate,
};
use serde::Deserialize;

use crate::document::{MARKDOWN, Slug};
use crate::scopes;
use crate::store::Documents;

/// The most documents that `resources/list` shows.
const LISTED: u32 = 5000;

/// The most slugs that a completion reads. The client gets 100 of them, and learns whether there are more.
const COMPLETED: u32 = 101;

/// The variables of the URI template.
#[derive(Deserialize)]
struct Address {
    slug: Slug,
}

/// Returns the resource template for all documents. It also lists the documents and completes slugs.
pub(crate) fn documents() -> ResourceTemplate {
    ResourceTemplate::new("kb://documents/{slug}", read)
        .name("document")
        .title("Document")
        .description("A document of the knowledge base, in Markdown.")
        .mime_type(MARKDOWN)
        .scopes([scopes::READ])
        .list(list)
        .complete("slug", Completion::with(complete_slug))
}

async fn read(Address { slug }: Address, cx: Context) -> Result<Option<ResourceContents>, HandlerError> {
    let text = cx.state::<Documents>()?.read(&slug).await?;
    Ok(text.map(|text| ResourceContents::text(slug.uri(), text)))
}

async fn list(cx: Context) -> Result<Vec<ResourceDescription>, HandlerError> {
    let describe = |(slug, title): (Slug, String)| {
        ResourceDescription::new(slug.uri(), slug.as_str().to_owned()).title(title).mime_type(MARKDOWN)
    };
    Ok(cx.state::<Documents>()?.list("", "", LISTED).await?.into_iter().map(describe).collect())
}

/// Returns the slugs that begin with the text that the user has typed.
async fn complete_slug(
    CompletionRequest { value, .. }: CompletionRequest,
    cx: Context,
) -> Result<Vec<String>, HandlerError> {
    let listed = cx.state::<Documents>()?.list(&value, "", COMPLETED).await?;
    Ok(listed.into_iter().map(|(slug, _)| slug.as_str().to_owned()).collect())
}
