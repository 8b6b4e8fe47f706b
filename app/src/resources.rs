//! The documents as resources.

use std::rc::Rc;

use edge_mcp::{Completion, CompletionRequest, HandlerError, ResourceContents, ResourceDescription, ResourceTemplate};
use serde::Deserialize;

use crate::document::{MARKDOWN, Slug};
use crate::scopes;
use crate::store::{Store, with_store};

/// The variables of the URI template.
#[derive(Deserialize)]
struct Address {
    slug: Slug,
}

/// Returns the template that stands for all documents. It also lists them and completes their slugs.
pub(crate) fn documents<S: Store>(store: &Rc<S>) -> ResourceTemplate {
    ResourceTemplate::new("kb://documents/{slug}", with_store(store, read))
        .name("document")
        .title("Document")
        .description("A document of the knowledge base, in Markdown.")
        .mime_type(MARKDOWN)
        .scopes([scopes::READ])
        .list({
            let store = store.clone();
            move || list(store.clone())
        })
        .complete("slug", {
            let store = store.clone();
            Completion::with(move |request, _| complete_slug(store.clone(), request))
        })
}

async fn read<S: Store>(store: Rc<S>, Address { slug }: Address) -> Result<Option<ResourceContents>, HandlerError> {
    let document = store.read(&slug).await?;
    Ok(document.map(|document| ResourceContents::text(slug.uri(), document.text)))
}

async fn list<S: Store>(store: Rc<S>) -> Result<Vec<ResourceDescription>, HandlerError> {
    let describe = |(slug, title): (Slug, String)| {
        ResourceDescription::new(slug.uri(), slug.as_str().to_owned()).title(title).mime_type(MARKDOWN)
    };
    Ok(store.list().await?.into_iter().map(describe).collect())
}

/// Returns the slugs that begin with the typed text.
async fn complete_slug<S: Store>(
    store: Rc<S>,
    CompletionRequest { value, .. }: CompletionRequest,
) -> Result<Vec<String>, HandlerError> {
    let slugs = store.list().await?.into_iter().map(|(slug, _)| slug.as_str().to_owned());
    Ok(slugs.filter(|slug| slug.starts_with(&value)).collect())
}
