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
use crate::call::tool_event::ToolEvent;
use crate::client::{ClientError, DetailedTask, RemoteTask, TaskDetail};
use crate::server::hook::{notify, of_result};
use crate::text::visible;

/// Sends a request about a task to `mount`, the mounted server of its tool. Returns the state, if the request asks for it. Returns `None` if the
/// task belongs to another server.
pub(crate) async fn send(
    mount: Rc<dyn Any>,
    task: &PassedTask,
    request: TaskRequest,
    cx: &Context,
) -> Option<Result<Option<DetailedTask>, ClientError>> {
    let mount = mount.downcast::<Mounted>().ok().filter(|mount| mount.name == *task.mount)?;
    Some(send_to(&mount, task, request, cx).await)
}

async fn send_to(
    mount: &Rc<Mounted>,
    task: &PassedTask,
    request: TaskRequest,
    cx: &Context,
) -> Result<Option<DetailedTask>, ClientError> {
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
    let Some(DetailedTask { members, detail }) = mount.guard(&peer, cx, sent).await? else { return Ok(None) };
    let tool = settings_of(mount, &task.tool);
    let (detail, event) = match detail {
        TaskDetail::None => (TaskDetail::None, None),
        TaskDetail::Questions(questions) => {
            let for_caller = |(key, request)| (format!("{}.{key}", mount.name), request);
            (TaskDetail::Questions(questions.into_iter().map(for_caller).collect()), None)
        }
        TaskDetail::Result(result) => {
            let mut result = content::shown_result(mount, result);
            if let Some(clean) = tool.clean {
                result = cleaned_or_failure(clean, result, tool.name(), cx.host());
            }
            let event = of_result(&result);
            (TaskDetail::Result(result), event)
        }
        TaskDetail::Error(code, sentence) => {
            let sentence = if tool.clean.is_some() { visible(&sentence) } else { sentence };
            let event = ToolEvent::Error(sentence.clone().into());
            (TaskDetail::Error(code, sentence), Some(event))
        }
    };
    if let Some(event) = event {
        let of_server = cx.tools().map(|tools| tools.hooks().to_vec()).unwrap_or_default();
        notify(&[of_server, tool.hooks].concat(), &tool.metadata.name, event, None, cx).await;
    }
    Ok(Some(DetailedTask { members, detail }))
}

/// Returns answers by the keys of the server. Keys that are not those of its questions are left out.
fn own_answers(mount: &Mounted, answers: Vec<(String, Box<RawValue>)>) -> Vec<(String, Box<RawValue>)> {
    let own = |(key, answer): (String, _)| {
        let own = key.strip_prefix(&*mount.name)?.strip_prefix('.')?;
        Some((own.to_owned(), answer))
    };
    answers.into_iter().filter_map(own).collect()
}
