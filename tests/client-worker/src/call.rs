//! The tools that call a tool of a server.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{CallResult, McpClient, Peer};
use edge_mcp::protocol::LogLevel;
use edge_mcp::{Context, HandlerError, Json, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use worker::Delay;

use crate::clients::Answering;
use crate::peer;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CallArguments {
    server: String,
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    /// The time limit, in milliseconds.
    timeout: Option<u64>,
    /// The number of calls, which share one connection.
    times: Option<u8>,
    /// Whether the tools are listed first.
    #[serde(default)]
    is_listed: bool,
    /// The time that the tool waits after the calls, in milliseconds.
    #[serde(default)]
    pause: u64,
}

impl CallArguments {
    fn to(&self, peer: &Peer) -> edge_mcp::client::Call {
        let call = peer.call(&self.name, &self.arguments);
        match self.timeout {
            Some(timeout) => call.timeout(Duration::from_millis(timeout)),
            None => call,
        }
    }
}

pub(crate) async fn call(arguments: CallArguments, cx: Context) -> Result<ToolResult, HandlerError> {
    let result = call_repeatedly(&arguments, &cx).await;
    Delay::from(Duration::from_millis(arguments.pause)).await;
    result
}

async fn call_repeatedly(arguments: &CallArguments, cx: &Context) -> Result<ToolResult, HandlerError> {
    let peer = peer(&arguments.server, cx)?;
    let definitions = if arguments.is_listed { peer.list_tools().await?.items } else { Vec::new() };
    let definition = definitions.iter().find(|tool| tool.name() == arguments.name);
    let mut last = None;
    for _ in 0..arguments.times.unwrap_or(1) {
        let mut call = arguments.to(&peer);
        if let Some(definition) = definition {
            call = call.definition(definition);
        }
        last = Some(call.await?);
    }
    last.map(CallResult::into_tool_result).ok_or_else(|| HandlerError::new("`times` must be at least 1."))
}

#[derive(Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Watched {
    text: String,
    /// The progress, the total and the message of each notification.
    progress: Vec<(f64, Option<f64>, Option<String>)>,
    /// The level and the data of each log message.
    log: Vec<(String, Value)>,
}

/// Calls a tool, and passes its progress on to the caller.
pub(crate) async fn watch(arguments: CallArguments, cx: Context) -> Result<Json<Watched>, HandlerError> {
    let seen = Rc::new(RefCell::new(Watched::default()));
    let (progress, log, caller) = (seen.clone(), seen.clone(), cx.clone());
    let call = arguments
        .to(&peer(&arguments.server, &cx)?)
        .on_progress(move |it| {
            progress.borrow_mut().progress.push((it.progress, it.total, it.message.clone()));
            caller.progress(it.progress, it.total, it.message.clone().unwrap_or_default());
        })
        .on_log(LogLevel::Info, move |it| log.borrow_mut().log.push((format!("{:?}", it.level), it.data.clone())));
    let text = call.await?.text();
    let seen = seen.borrow().clone();
    Ok(Json(Watched { text, ..seen }))
}

pub(crate) async fn ask(arguments: CallArguments, cx: Context) -> Result<ToolResult, HandlerError> {
    let Answering(client) = &*cx.state::<Answering>()?;
    Ok(arguments.to(&client.connect(&cx).server(&arguments.server)?).await?.into_tool_result())
}

pub(crate) async fn pass(arguments: CallArguments, cx: Context) -> Result<ToolResult, HandlerError> {
    let peer = cx.state::<McpClient>()?.connect(&cx).server(&arguments.server)?;
    Ok(arguments.to(&peer).ask_caller(&cx).await?.into_tool_result())
}
