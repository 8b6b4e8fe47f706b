//! Tools of other servers as tools of this server.

use std::rc::Rc;

use edge_json::object;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::conversation::Conversation;
use super::error::{ClientError, Failure};
use super::foreign_tool::foreign_tool;
use super::mcp_client::{McpClient, Server};
use super::operations::definition::Definition;
use super::operations::listing::ListResult;
use crate::call::call_path::Callee;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::host::log;
use crate::protocol::method::Method;
use crate::server::check::name_problem;
use crate::server::list::ListKind;
use crate::server::source::{AskSignIn, MISSING, Source, SourceItems};
use crate::server::tool::Tool;
use crate::text::{Text, shortened};

/// Tools of the servers of a client, as a source of a server or an agent. The name of a tool is `<server>_<tool>`.
#[derive(Clone)]
pub struct RemoteTools {
    client: McpClient,
    /// The names of the tools. `None` means the read-only tools of trusted servers.
    names: Option<Rc<[Text]>>,
}

impl McpClient {
    /// Returns a source for an agent or a server: the tools with these full names, such as `weather_get-forecast`. If a server shows one of
    /// them to its user interfaces only, no agent is offered it, and a server lists it [for apps only](crate::Tool::for_app_only).
    pub fn tools<T: Into<Text>>(&self, names: impl IntoIterator<Item = T>) -> RemoteTools {
        RemoteTools { client: self.clone(), names: Some(names.into_iter().map(Into::into).collect()) }
    }

    /// Returns a source for an agent or a server: the read-only tools of the servers that the program [trusts](super::Upstream::trusted),
    /// without the tools that a server shows to its user interfaces only.
    pub fn read_only_tools(&self) -> RemoteTools {
        RemoteTools { client: self.clone(), names: None }
    }
}

impl RemoteTools {
    /// Returns whether tools of this server can belong to the source.
    fn includes_server(&self, server: &Server) -> bool {
        match &self.names {
            Some(names) => names.iter().any(|name| name.split_once('_').is_some_and(|(of, _)| of == server.name)),
            None => server.upstream.is_trusted,
        }
    }

    /// Returns whether a tool of such a server belongs to the source.
    fn includes(&self, tool: &Definition) -> bool {
        match &self.names {
            Some(names) => names.iter().any(|name| name == tool.full_name()),
            None => tool.is_read_only() && !tool.is_for_app_only(),
        }
    }

    /// Returns the tool for a definition, or `None` for a tool that a server cannot list.
    fn tool_of(&self, listed: &Definition, is_trusted: bool, cx: &Context) -> Option<Tool> {
        let can_be_listed = name_problem(listed.full_name()).is_none() && listed.input().is_some();
        let mut tool = can_be_listed.then(|| self.tool_at(listed.server(), listed.name(), Some((listed, cx))))?;
        if listed.is_for_app_only() {
            tool = tool.for_app_only();
        }
        // Annotations of a server that is not trusted are ignored.
        Some(if is_trusted && listed.is_read_only() { tool.read_only() } else { tool })
    }

    /// Returns the tool `tool` of a server, with its definition in the list of a call.
    fn tool_at(&self, server: &str, tool: &str, listed: Option<(&Definition, &Context)>) -> Tool {
        let full_name = format!("{server}_{tool}");
        let (source, server, tool) = (self.clone(), server.to_owned(), tool.to_owned());
        let must_be_listed = self.names.is_none() && listed.is_none();
        foreign_tool(full_name, listed, None, move |arguments, cx| {
            let (source, server, tool) = (source.clone(), server.clone(), tool.clone());
            async move { source.call(&server, &tool, arguments, must_be_listed, &cx).await }.boxed_local()
        })
    }

    async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Box<RawValue>,
        must_be_listed: bool,
        cx: &Context,
    ) -> Result<ToolResult, HandlerError> {
        let peer = self.client.connect(cx).server(server)?;
        if must_be_listed
            && !peer.list_tools().await?.items.iter().any(|listed| listed.name() == tool && self.includes(listed))
        {
            let name = shortened(tool);
            return Err(HandlerError::new(format!("The server `{server}` has no read-only tool `{name}`.")));
        }
        let result = peer.call(tool, arguments).ask_caller(cx).cancel_late_task().await;
        Ok(result.map_err(naming_sign_in)?.into_tool_result())
    }
}

impl Source for RemoteTools {
    fn tool(&self, name: &str) -> Option<Tool> {
        let (server, tool) = name.split_once('_')?;
        self.client.server(server).filter(|known| self.includes_server(known))?;
        if self.names.as_ref().is_some_and(|names| names.iter().all(|known| known != name)) {
            return None;
        }
        Some(self.tool_at(server, tool, None))
    }

    fn find(&self, list: ListKind, cx: &Context) -> LocalBoxFuture<'static, SourceItems> {
        if list != ListKind::Tools {
            return std::future::ready(SourceItems::default()).boxed_local();
        }
        let (source, cx) = (self.clone(), cx.clone());
        let found = async move {
            let connection = source.client.connect(&cx);
            let mut found = SourceItems::default();
            for (conversation, list) in
                connection.each_list(ListKind::Tools, |server| source.includes_server(server)).await
            {
                if let Err(error) = &list
                    && let Failure::SignInRequired { url } = error.failure()
                {
                    let sign_in = source.clone().after_sign_in(conversation.clone(), error.clone(), url.clone());
                    found = found.after_sign_in(error.server(), sign_in);
                }
                found = source.with_list(found, &conversation, list, &cx);
            }
            found
        };
        found.boxed_local()
    }
}

impl RemoteTools {
    /// Adds the tools of a server, or the reason why they are missing.
    fn with_list(
        &self,
        mut found: SourceItems,
        conversation: &Conversation,
        list: ListResult,
        cx: &Context,
    ) -> SourceItems {
        let list = match list {
            Ok(list) => list,
            Err(error) => return found.missing(error.server(), error.to_string()),
        };
        found = found.answered();
        for listed in list.items.iter().filter(|tool| self.includes(tool)) {
            match self.tool_of(listed, conversation.server.upstream.is_trusted, cx) {
                Some(tool) => found = found.tool(tool),
                None => warn_of_invalid(listed.server(), cx),
            }
        }
        found
    }

    /// Returns a function that asks a caller to sign in at `url`, and then lists the tools of the server. If the caller cannot be asked, they are
    /// missing because of `error`.
    fn after_sign_in(self, conversation: Rc<Conversation>, error: ClientError, url: String) -> AskSignIn {
        Box::new(move |cx: Context| {
            let listed = async move {
                let method = Method::ListTools.name();
                // The question belongs to this request, so that it is the same in each round.
                let asking = cx.at_call(Callee { server: Some(&conversation.server.name), tool: method }, "{}");
                let list = match conversation.sign_in(&url, &asking).await {
                    Ok(true) => conversation.new_list(ListKind::Tools).await,
                    Ok(false) => Err(error),
                    Err(error) => Err(conversation.error_of(method)(error)),
                };
                self.with_list(SourceItems::default(), &conversation, list, &cx)
            };
            listed.boxed_local()
        })
    }
}

/// Logs that a server has tools that are left out. The text does not depend on the tool: the number of warnings about a server is limited.
fn warn_of_invalid(server: &str, cx: &Context) {
    let problem = format!(
        "Tools of the server `{server}` are left out: they have no input schema, or a name that a server cannot list."
    );
    log::warning_once_about(cx.host(), "client", [server, &problem], &problem);
}

/// Converts the error of a call. If the caller must sign in, the `_meta` of the result names the server.
fn naming_sign_in(error: ClientError) -> HandlerError {
    let is_sign_in = matches!(error.failure(), Failure::SignInRequired { .. });
    let missing = is_sign_in.then(|| object(vec![(error.server(), error.to_string().into())]));
    let converted = HandlerError::from(error);
    match missing {
        Some(missing) => converted.meta(MISSING, missing),
        None => converted,
    }
}
