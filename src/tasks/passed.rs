//! Tasks of mounted servers, which callers follow themselves.
//!
//! The id of such a task is encrypted: it contains the id at the server. It is bound to the owner, so the id of another caller or server cannot
//! be read, and sends no request.

use std::rc::Rc;

use edge_json::deserialize::read_text;
use edge_json::write::{self, ObjectWriter};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::follow::{failed, unknown};
use super::id::Owner;
use super::methods;
use super::record::time;
use crate::auth::encryption_keys::NONCE;
use crate::base64::URL_SAFE;
use crate::call::client_need::ClientNeed;
use crate::call::context::{Context, PassTasks};
use crate::call::error::HandlerError;
use crate::call::input_error::{InputError, InputProblem};
use crate::call::passed_task::{PassedTask, TaskRequest};
use crate::call::result::ToolResult;
use crate::client::{ClientError, DetailedTask, Failure, TaskDetail};
use crate::gateway::passed_tasks;
use crate::limits::{UPSTREAM_POLL_DEFAULT_SECONDS, UPSTREAM_TASK_ID_BYTES};
use crate::protocol::error::ErrorCode;
use crate::protocol::task::{EXTENSION, ID, TaskMembers};
use crate::server::builder::McpServerBuilder;

/// The version of the format.
const PREFIX: &str = "g1.";
/// The longest id. A gateway in front of this one accepts no longer one from its servers.
const LONGEST: usize = UPSTREAM_TASK_ID_BYTES;
/// The number of bytes that the encryption adds.
const SEALED: usize = NONCE + 16;
const INVALID: i64 = ErrorCode::InvalidParams.number() as i64;

/// Passes tasks on.
struct Passing;

impl McpServerBuilder {
    /// Passes the [tasks](https://modelcontextprotocol.io/extensions/tasks) of mounted servers on to clients that support tasks. Without this setting,
    /// and for other clients, the [gateway](crate::gateway) waits for the result.
    ///
    /// A client then asks for the state of a task itself, as long as the server keeps the task. The endpoint needs `MCP_STATE_KEY`, which encrypts
    /// the ids of the tasks. It needs no durable tasks of its own.
    ///
    /// ```
    /// use edge_mcp::McpServer;
    /// use edge_mcp::gateway::Gateway;
    ///
    /// let gateway = Gateway::builder("edge", "1.0.0").build()?;
    /// let server = McpServer::builder("edge", "1.0.0").gateway(&gateway).pass_tasks().build()?;
    /// # Ok::<_, edge_mcp::BuildError>(())
    /// ```
    pub fn pass_tasks(mut self) -> Self {
        methods::install(&mut self.definitions.extension_methods);
        self.definitions.passed_tasks = Some(Rc::new(Passing));
        self
    }
}

impl PassTasks for Passing {
    fn longest_id(&self, mount: &str, tool: &str, cx: &Context) -> Option<usize> {
        let is_direct = cx.depth() == 0 && cx.rounds().journal().is_none() && cx.request().state_keys().is_some();
        if !is_direct || !cx.client_supports(EXTENSION).is_yes() {
            return None;
        }
        let bytes = LONGEST.saturating_sub(PREFIX.len()).saturating_mul(3) / 4;
        let others = write::to_string(&(mount, tool, "")).ok()?.len();
        // `others` has the quotes of the id.
        Some(bytes.saturating_sub(SEALED).saturating_sub(others).saturating_add(2))
    }

    fn describe(&self, task: &PassedTask, members: &TaskMembers, cx: &Context) -> Result<Box<RawValue>, HandlerError> {
        let mut nonce = [0; NONCE];
        cx.host().fill_random(&mut nonce)?;
        let json = write::to_vec(&(&task.mount, &task.tool, &task.id))?;
        let sealed = cx.request().state_keys().and_then(|keys| keys.seal_task(&Owner::of(cx).digest(), nonce, &json));
        let sealed = sealed.ok_or_else(|| failed("the id of a task cannot be encrypted".to_owned()))?;
        Ok(described(&format!("{PREFIX}{}", URL_SAFE.encode(sealed)), members, cx).finish_raw())
    }

    fn is_passed(&self, id: &str) -> bool {
        id.starts_with(PREFIX)
    }

    fn send(
        &self,
        id: String,
        request: TaskRequest,
        cx: Context,
    ) -> LocalBoxFuture<'static, Result<Box<RawValue>, HandlerError>> {
        let sent = async move {
            let task = read(&id, &cx).ok_or_else(unknown)?;
            // The caller may have lost the tool since it made the call.
            let tools = cx.tools().filter(|tools| tools.may_use(&task.tool, &cx)).ok_or_else(unknown)?;
            let mount = tools.mount_of(&task.tool).ok_or_else(unknown)?;
            let sent = passed_tasks::send(mount, &task, request, &cx).await.ok_or_else(unknown)?;
            match sent.map_err(of_server)? {
                Some(state) => detailed(&id, state, &cx),
                None => Ok(ObjectWriter::new().finish_raw()),
            }
        };
        sent.boxed_local()
    }
}

/// Reads the id of a task of the caller. Returns `None` for every other text.
fn read(id: &str, cx: &Context) -> Option<PassedTask> {
    let sealed = URL_SAFE.decode(id.strip_prefix(PREFIX).filter(|_| id.len() <= LONGEST)?)?;
    let json = cx.request().state_keys()?.open_task(&Owner::of(cx).digest(), &sealed)?;
    let (mount, tool, id) = read_text(&json)?;
    Some(PassedTask { mount, tool, id })
}

/// Returns the error of a request to the server of a task.
fn of_server(error: ClientError) -> HandlerError {
    match error.failure() {
        Failure::TaskUnknown => unknown(),
        // An answer does not fit its question, or the task has ended.
        Failure::Rpc { code, .. } if *code == INVALID => HandlerError::invalid(error.to_string()),
        _ => error.into(),
    }
}

/// Returns the description of a task with what its state adds.
fn detailed(id: &str, task: DetailedTask, cx: &Context) -> Result<Box<RawValue>, HandlerError> {
    let DetailedTask { members, detail } = task;
    let task = described(id, &members, cx);
    Ok(match detail {
        TaskDetail::None => task,
        TaskDetail::Questions(questions) => {
            let mut requests = ObjectWriter::new();
            for (key, request) in questions {
                let kind = ClientNeed::of(&request);
                if !kind.is_declared(cx.client_capabilities()) {
                    return Err(InputError::from(InputProblem::MissingCapability(kind)).into());
                }
                requests = requests.json(&key, &write::text(&request));
            }
            task.json("inputRequests", &requests.finish())
        }
        TaskDetail::Result(result) => task.json("result", &complete(&result)?),
        TaskDetail::Error(code, sentence) => {
            let error = ObjectWriter::new().json("code", &code.to_string()).text("message", &sentence);
            task.json("error", &error.finish())
        }
    }
    .finish_raw())
}

/// Writes the members that each description of a task has.
fn described(id: &str, members: &TaskMembers, cx: &Context) -> ObjectWriter {
    let now = time(cx.now_ms());
    let ttl = members.ttl_ms.map_or_else(|| "null".to_owned(), |ttl| ttl.to_string());
    let interval = members.poll_interval_ms.unwrap_or(UPSTREAM_POLL_DEFAULT_SECONDS.saturating_mul(1000));
    let mut task = ObjectWriter::new().text(ID, id).text("status", members.status);
    if let Some(message) = &members.message {
        task = task.text("statusMessage", message);
    }
    task.text("createdAt", members.created_at.as_ref().unwrap_or(&now))
        .text("lastUpdatedAt", members.updated_at.as_ref().unwrap_or(&now))
        .json("ttlMs", &ttl)
        .json("pollIntervalMs", &interval.to_string())
}

/// Writes the result of a call, as the call itself would have returned it.
fn complete(result: &ToolResult) -> Result<String, HandlerError> {
    let json = write::to_string(result)?;
    let mut json = json.strip_suffix('}').unwrap_or_default().to_owned();
    json.push_str(",\"resultType\":\"complete\"");
    if let Some(meta) = &result.meta {
        json.extend([",\"_meta\":", &write::to_string(meta)?]);
    }
    json.push('}');
    Ok(json)
}
