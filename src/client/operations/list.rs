//! Listing tools, resources, resource templates and prompts.

use std::rc::Rc;

use futures::FutureExt;

use super::listing::{ListResult, Listing, Toolset};
use crate::client::connection::{Connection, Peer};
use crate::client::conversation::Conversation;
use crate::client::error::ClientError;
use crate::client::mcp_client::Server;
use crate::limits::UPSTREAM_PARALLEL;
use crate::parallel::parallel;
use crate::server::list::ListKind;

impl Connection {
    /// Lists the tools of all servers. If a server fails, [`Listing::missing`] has its error.
    ///
    /// ```
    /// use edge_mcp::client::McpClient;
    /// use edge_mcp::Context;
    ///
    /// async fn names(client: McpClient, cx: Context) -> Vec<String> {
    ///     let listing = client.connect(&cx).list_tools().await;
    ///     let names = listing.items.iter().map(|tool| tool.full_name().to_owned());
    ///     names.chain(listing.missing.iter().map(ToString::to_string)).collect()
    /// }
    /// ```
    pub async fn list_tools(&self) -> Listing {
        self.list(ListKind::Tools).await
    }

    /// Lists the tools of all servers, by server.
    pub async fn list_toolsets(&self) -> Vec<Toolset> {
        let toolset = |(conversation, tools): (Rc<Conversation>, ListResult)| Toolset {
            server: conversation.server.name.clone(),
            tools: tools.map(Rc::unwrap_or_clone),
        };
        self.each_list(ListKind::Tools, |_| true).await.into_iter().map(toolset).collect()
    }

    /// Lists the resources of all servers.
    pub async fn list_resources(&self) -> Listing {
        self.list(ListKind::Resources).await
    }

    /// Lists the resource templates of all servers.
    pub async fn list_resource_templates(&self) -> Listing {
        self.list(ListKind::ResourceTemplates).await
    }

    /// Lists the prompts of all servers.
    pub async fn list_prompts(&self) -> Listing {
        self.list(ListKind::Prompts).await
    }

    /// Joins the lists of all servers. A server that fails does not affect the others.
    async fn list(&self, kind: ListKind) -> Listing {
        let mut all = Listing::default();
        for (_, list) in self.each_list(kind, |_| true).await {
            match list {
                Ok(list) => {
                    all.items.extend_from_slice(&list.items);
                    all.left_out.extend_from_slice(&list.left_out);
                    all.is_truncated |= list.is_truncated;
                    all.is_stale |= list.is_stale;
                }
                Err(error) => all.missing.push(error),
            }
        }
        all
    }

    /// Returns the lists of the servers that are `wanted`. Several servers are asked at the same time.
    pub(in crate::client) async fn each_list(
        &self,
        kind: ListKind,
        wanted: impl Fn(&Server) -> bool,
    ) -> Vec<(Rc<Conversation>, ListResult)> {
        let servers = self.conversations().iter().filter(|conversation| wanted(&conversation.server)).cloned();
        let lists = servers.map(|conversation| async move {
            let list = conversation.list(kind).await;
            (conversation, list)
        });
        parallel(lists.map(FutureExt::boxed_local), UPSTREAM_PARALLEL).await
    }
}

impl Peer {
    /// Returns a list from the cache, or `None`. The list may be stale. It does not ask the server.
    #[cfg(feature = "gateway")]
    pub(crate) async fn cached_list(&self, kind: ListKind) -> Result<Option<Rc<Listing>>, ClientError> {
        self.0.cached_list(kind).await
    }

    /// Reads a list from the server.
    #[cfg(feature = "gateway")]
    pub(crate) async fn new_list(&self, kind: ListKind) -> ListResult {
        self.0.new_list(kind).await
    }

    /// Lists the tools.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer is not valid.
    pub async fn list_tools(&self) -> Result<Listing, ClientError> {
        self.0.list(ListKind::Tools).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the resources.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_resources(&self) -> Result<Listing, ClientError> {
        self.0.list(ListKind::Resources).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the resource templates.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_resource_templates(&self) -> Result<Listing, ClientError> {
        self.0.list(ListKind::ResourceTemplates).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the prompts.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> Result<Listing, ClientError> {
        self.0.list(ListKind::Prompts).await.map(Rc::unwrap_or_clone)
    }
}
