//! Tasks of mounted servers that callers follow themselves.

use std::any::Any;
use std::rc::Rc;

use serde_json::value::RawValue;

use super::content;
use super::mounted::Mounted;
use super::tools::settings_of;
use crate::call::clean::cleaned_or_failure;
use crate::call::context::Context;
use crate::call::passed_task::{PassedTask, TaskRequest};
use crate::call::result::ToolResult;
use crate::call::tool_event::ToolEvent;
use crate::client::{Added, ClientError, RemoteTask};
use crate::protocol::task::TaskMembers;
use crate::server::hook::{notify, of_result};
use crate::server::tool::Tool;
use crate::text::visible;

/// The state of a task for its caller.
pub(crate) struct State {
    pub members: TaskMembers,
    pub added: Shown,
}

/// The members that the state of a task adds to its description, as the caller sees it.
pub(crate) enum Shown {
    Nothing,
    /// The questions, by the keys for the caller.
    Questions(Vec<(String, serde_json::Value)>),
    Result(ToolResult),
    /// The code of the error, and a sentence about it.
    Error(i32, String),
}

/// Sends a request about a task to `mount`, the mounted server of its tool. Returns the state, if the request asks for it. Returns `None` if the
/// task belongs to another server.
pub(crate) async fn send(
    mount: Rc<dyn Any>,
    task: &PassedTask,
    request: TaskRequest,
    cx: &Context,
) -> Option<Result<Option<State>, ClientError>> {
    let mount = mount.downcast::<Mounted>().ok().filter(|mount| mount.name == *task.mount)?;
    Some(send_to(&mount, task, request, cx).await)
}

async fn send_to(
    mount: &Rc<Mounted>,
    task: &PassedTask,
    request: TaskRequest,
    cx: &Context,
) -> Result<Option<State>, ClientError> {
    let remote = RemoteTask::new(mount.name.clone(), &*task.tool, &*task.id);
    let peer = mount.connect(cx)?;
    let sent = async {
        match request {
            TaskRequest::Get => peer.task_state(&remote, cx).await.map(Some),
            TaskRequest::Update(answers) => {
                peer.answer_task(&remote, &own_answers(mount, answers), cx).await.map(|()| None)
            }
            TaskRequest::Cancel => peer.cancel_task(&remote).await.map(|()| None),
        }
    };
    let Some((members, added)) = mount.guard(&peer, cx, sent).await? else { return Ok(None) };
    let tool = settings_of(mount, &task.tool);
    let added = shown(mount, &tool, added, cx);
    let event = match &added {
        Shown::Result(result) => of_result(result),
        Shown::Error(_, sentence) => Some(ToolEvent::Error(sentence.clone().into())),
        Shown::Nothing | Shown::Questions(_) => None,
    };
    if let Some(event) = event {
        let of_server = cx.tools().map(|tools| tools.hooks().to_vec()).unwrap_or_default();
        notify(&[of_server, tool.hooks].concat(), &tool.metadata.name, event, None, cx).await;
    }
    Ok(Some(State { members, added }))
}

fn shown(mount: &Rc<Mounted>, tool: &Tool, added: Added, cx: &Context) -> Shown {
    match added {
        Added::Nothing => Shown::Nothing,
        Added::Questions(questions) => {
            let shown = |(key, request)| (format!("{}.{key}", mount.name), request);
            Shown::Questions(questions.into_iter().map(shown).collect())
        }
        Added::Result(result) => {
            let result = content::shown_result(mount, result.into_tool_result());
            Shown::Result(match tool.clean {
                Some(clean) => cleaned_or_failure(clean, result, tool.name(), cx.host()),
                None => result,
            })
        }
        Added::Error(code, sentence) if tool.clean.is_some() => Shown::Error(code, visible(&sentence)),
        Added::Error(code, sentence) => Shown::Error(code, sentence),
    }
}

/// Returns answers by the keys of the server. Keys that are not those of its questions are left out.
fn own_answers(mount: &Mounted, answers: Vec<(String, Box<RawValue>)>) -> Vec<(String, Box<RawValue>)> {
    let own = |(key, answer): (String, _)| {
        let own = key.strip_prefix(&*mount.name)?.strip_prefix('.')?;
        Some((own.to_owned(), answer))
    };
    answers.into_iter().filter_map(own).collect()
}
