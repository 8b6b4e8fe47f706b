//! The lists of servers, from their first page to their last.

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use super::connection::{Connection, Link, Peer};
use super::definition::{Kind, Listed};
use super::error::{ClientError, Failure};
use super::message::Params;
use super::request::Outgoing;
use crate::json::{Document, JsonLimits, Value};
use crate::limits::{UPSTREAM_CURSOR_BYTES, UPSTREAM_ITEMS, UPSTREAM_PAGES};
use crate::protocol::method::Method;

/// The items of a list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The items, in the order of the servers and then of each server's list.
    pub items: Vec<Listed>,
    /// The servers whose list could not be read, with the reason.
    pub missing: Vec<ClientError>,
    /// The items that were left out, with the reason.
    pub left_out: Vec<String>,
    /// Whether a list was longer than the limits.
    pub is_cut: bool,
}

const TOOLS: (Method, Kind) = (Method::ListTools, Kind { list: "tools", key: "name" });
const RESOURCES: (Method, Kind) = (Method::ListResources, Kind { list: "resources", key: "uri" });
const TEMPLATES: (Method, Kind) =
    (Method::ListResourceTemplates, Kind { list: "resourceTemplates", key: "uriTemplate" });
const PROMPTS: (Method, Kind) = (Method::ListPrompts, Kind { list: "prompts", key: "name" });

impl Connection {
    /// Lists the tools of all servers.
    pub async fn list_tools(&self) -> Listing {
        self.list(TOOLS).await
    }

    /// Lists the resources of all servers.
    pub async fn list_resources(&self) -> Listing {
        self.list(RESOURCES).await
    }

    /// Lists the resource templates of all servers.
    pub async fn list_resource_templates(&self) -> Listing {
        self.list(TEMPLATES).await
    }

    /// Lists the prompts of all servers.
    pub async fn list_prompts(&self) -> Listing {
        self.list(PROMPTS).await
    }

    /// Asks all servers at the same time. A server that fails does not affect the others.
    async fn list(&self, what: (Method, Kind)) -> Listing {
        let mut asked: FuturesUnordered<_> =
            self.links().iter().enumerate().map(|(nth, link)| async move { (nth, link.list(what).await) }).collect();
        let mut lists = Vec::new();
        while let Some(list) = asked.next().await {
            lists.push(list);
        }
        lists.sort_by_key(|(nth, _)| *nth);
        let mut all = Listing::default();
        for (_, list) in lists {
            match list {
                Ok(list) => {
                    all.items.extend(list.items);
                    all.left_out.extend(list.left_out);
                    all.is_cut |= list.is_cut;
                }
                Err(error) => all.missing.push(error),
            }
        }
        all
    }
}

impl Peer {
    /// Lists the tools.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer is not valid.
    pub async fn list_tools(&self) -> Result<Listing, ClientError> {
        self.0.list(TOOLS).await
    }

    /// Lists the resources.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_resources(&self) -> Result<Listing, ClientError> {
        self.0.list(RESOURCES).await
    }

    /// Lists the resource templates.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_resource_templates(&self) -> Result<Listing, ClientError> {
        self.0.list(TEMPLATES).await
    }

    /// Lists the prompts.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> Result<Listing, ClientError> {
        self.0.list(PROMPTS).await
    }
}

impl Link {
    /// Reads a list page by page. Beyond a limit, the items so far are returned.
    async fn list(&self, (method, kind): (Method, Kind)) -> Result<Listing, ClientError> {
        let mut listing = Listing::default();
        let mut cursors: Vec<String> = Vec::new();
        for _ in 0..UPSTREAM_PAGES {
            let params =
                cursors.last().map_or_else(Params::default, |cursor| Params::default().with_text("cursor", cursor));
            let outgoing = Outgoing::new(method, params, self.upstream().list_timeout);
            let result = self.request(&outgoing).await?;
            let malformed = |problem| ClientError::new(&self.server().name, method.name(), Failure::Malformed(problem));
            let document = Document::parse(result.get().as_bytes(), JsonLimits::MOST);
            let document = document.map_err(|_| malformed("has a result that is not JSON"))?;
            let items = document.root().get(kind.list).ok_or_else(|| malformed("has a result without the list"))?;
            for item in items.items() {
                if listing.items.len() >= UPSTREAM_ITEMS {
                    listing.is_cut = true;
                    return Ok(listing);
                }
                match Listed::read(&self.server().name, kind, item) {
                    Ok(item) => listing.items.push(item),
                    Err(problem) => listing.left_out.push(format!("an item of `{}` {problem}", self.server().name)),
                }
            }
            match next_cursor(document.root()) {
                None => return Ok(listing),
                // A cursor that leads back would never end.
                Some(cursor) if cursors.contains(&cursor) || cursor.len() > UPSTREAM_CURSOR_BYTES => break,
                Some(cursor) => cursors.push(cursor),
            }
        }
        listing.is_cut = true;
        Ok(listing)
    }
}

fn next_cursor(result: Value<'_>) -> Option<String> {
    result.string("nextCursor")
}
