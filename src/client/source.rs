//! Tools of other servers as tools of this server.

use std::rc::Rc;

use edge_json::{Value, object};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::connection::Link;
use super::error::{ClientError, Failure};
use super::mcp_client::{McpClient, Server};
use super::operations::definition::Definition;
use super::operations::listing::ListResult;
use crate::call::call_path::Callee;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::log;
use crate::protocol::method::Method;
use crate::schema::{Schema, SchemaError};
use crate::server::check::name_problem;
use crate::server::list::ListKind;
use crate::server::source::{AskSignIn, MISSING, Source, SourceItems};
use crate::server::tool::Tool;
use crate::server::tool_handler::{AnyToolHandler, ToolFuture};
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
            None => is_read_only(tool) && !tool.is_for_app_only(),
        }
    }

    /// Returns the tool for a definition, or `None` for a tool that a server cannot list.
    fn tool_of(&self, listed: &Definition, is_trusted: bool, cx: &Context) -> Option<Tool> {
        if name_problem(listed.full_name()).is_some() {
            return None;
        }
        listed.input()?;
        let handler = RemoteHandler {
            source: self.clone(),
            server: listed.server().to_owned(),
            tool: listed.name().to_owned(),
            listed: Some((listed.clone(), cx.clone())),
        };
        let (name, description) = (listed.full_name().to_owned(), listed.description().to_owned());
        let mut tool = Tool::of_handler(name.into(), description.into(), Box::new(handler));
        if let Some(title) = listed.title() {
            tool = tool.title(title.to_owned());
        }
        if listed.is_for_app_only() {
            tool = tool.for_app_only();
        }
        // Annotations of a server that is not trusted are ignored.
        Some(if is_trusted && is_read_only(listed) { tool.read_only() } else { tool })
    }
}

impl Source for RemoteTools {
    fn tool(&self, name: &str) -> Option<Tool> {
        let (server, tool) = name.split_once('_')?;
        self.client.server(server).filter(|known| self.includes_server(known))?;
        if self.names.as_ref().is_some_and(|names| names.iter().all(|known| known != name)) {
            return None;
        }
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let handler = RemoteHandler { source: self.clone(), server, tool, listed: None };
        Some(Tool::of_handler(name.to_owned().into(), Text::Borrowed(""), Box::new(handler)))
    }

    fn find(&self, list: ListKind, cx: &Context) -> LocalBoxFuture<'static, SourceItems> {
        if list != ListKind::Tools {
            return std::future::ready(SourceItems::default()).boxed_local();
        }
        let (source, cx) = (self.clone(), cx.clone());
        let found = async move {
            let connection = source.client.connect(&cx);
            let mut found = SourceItems::default();
            for (link, list) in connection.each_list(ListKind::Tools, |server| source.includes_server(server)).await {
                if let Err(error) = &list
                    && let Failure::SignInRequired { url } = error.failure()
                {
                    let sign_in = source.clone().after_sign_in(link.clone(), error.clone(), url.clone());
                    found = found.after_sign_in(error.server(), sign_in);
                }
                found = source.with_list(found, &link, list, &cx);
            }
            found
        };
        found.boxed_local()
    }
}

impl RemoteTools {
    /// Adds the tools of a server, or the reason why they are missing.
    fn with_list(&self, mut found: SourceItems, link: &Link, list: ListResult, cx: &Context) -> SourceItems {
        let list = match list {
            Ok(list) => list,
            Err(error) => return found.missing(error.server(), error.to_string()),
        };
        found = found.answered();
        for listed in list.items.iter().filter(|tool| self.includes(tool)) {
            match self.tool_of(listed, link.channel.upstream().is_trusted, cx) {
                Some(tool) => found = found.tool(tool),
                None => warn_of_invalid(listed.server(), cx),
            }
        }
        found
    }

    /// Returns a function that asks a caller to sign in at `url`, and then lists the tools of the server. If the caller cannot be asked, they are
    /// missing because of `error`.
    fn after_sign_in(self, link: Rc<Link>, error: ClientError, url: String) -> AskSignIn {
        Box::new(move |cx: Context| {
            let listed = async move {
                let method = Method::ListTools.name();
                // The question belongs to this request, so that it is the same in each round.
                let asking = cx.at_call(Callee { server: Some(&link.channel.server().name), tool: method }, "{}");
                let list = match link.channel.sign_in(&url, &asking).await {
                    Ok(true) => link.lists.new_list(ListKind::Tools).await,
                    Ok(false) => Err(error),
                    Err(failed) => Err(link.channel.failed(method.into(), failed)),
                };
                self.with_list(SourceItems::default(), &link, list, &cx)
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

/// Calls a tool of another server.
struct RemoteHandler {
    source: RemoteTools,
    server: String,
    tool: String,
    /// The definition, and the context of the list. `None` if the tool was not listed in this request.
    listed: Option<(Definition, Context)>,
}

impl AnyToolHandler for RemoteHandler {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        let known = self.listed.as_ref().and_then(|(listed, _)| listed.input().cloned());
        Ok(known.unwrap_or_else(|| Schema::unenforced(RawValue::NULL.to_owned(), true)))
    }

    /// Returns the output schema for a list. The client checks each result, so the schema is not enforced a second time.
    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        let (listed, cx) = self.listed.as_ref()?;
        listed.listed_output()?.published(&cx.request().foreign_steps().compilation, cx.host()).map(Ok)
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        let arguments = arguments.to_raw();
        let (source, server, tool) = (self.source.clone(), self.server.clone(), self.tool.clone());
        let must_be_listed = source.names.is_none() && self.listed.is_none();
        let call = async move {
            let server = source.client.connect(&cx).server(&server)?;
            if must_be_listed {
                let list = server.list_tools().await?;
                if !list.items.iter().any(|listed| listed.name() == tool && source.includes(listed)) {
                    let name = shortened(&tool);
                    return Err(HandlerError::new(format!(
                        "The server `{}` has no read-only tool `{name}`.",
                        server.0.channel.server().name
                    )));
                }
            }
            let result = server.call(&tool, arguments).ask_caller(&cx).cancel_late_task().await;
            Ok(result.map_err(naming_sign_in)?.into_tool_result())
        };
        Ok(call.boxed_local())
    }
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

/// Returns whether the annotations of a tool say that it is read-only. Annotations that contradict one another say nothing.
fn is_read_only(tool: &Definition) -> bool {
    tool.has_hint("readOnlyHint") && !tool.has_hint("destructiveHint")
}
